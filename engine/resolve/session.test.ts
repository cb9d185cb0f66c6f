/** Text that was meant to be a session variable, and text that was not. */

import { expect, test } from 'vitest';
import { meantBy, refuseMistakes } from './session.ts';

test.each([
  ['X-Hasura-Slug', 'X-Engine-Slug'],
  ['x-hasura-user-id', 'x-engine-user-id'],
  ['X-Engin-Slug', 'X-Engine-Slug'],
  ['x-engnie-slug', 'x-engine-slug'],
  ['X-Engine_User_Id', 'X-Engine-User-Id'],
  ['X_Engine_User_Id', 'X-Engine-User-Id'],
  ['XEngine-Slug', 'X-Engine-Slug'],
  ['X-EngineSlug', 'X-Engine-Slug'],
  [' X-Engine-Slug', 'X-Engine-Slug'],
  ['X-Hausra-Org', 'X-Engine-Org'],
  ['X-Engine-', 'X-Engine-…'],
])('%s means %s', (text, meant) => {
  expect(meantBy(text)).toBe(meant);
});

test.each([
  'x-ray',
  'x-large-shirt',
  'X-Forwarded-For',
  'x-engine',
  'engine-oil',
  'x-files',
  'x-genie-lamp',
  'X-Engine-User-Id',
  'x-engine-slug',
  'xylophone',
  'x',
  '',
])('%s is text or a session variable as it stands', (text) => {
  expect(meantBy(text)).toBeUndefined();
});

test('a prefix of the engine’s own is known, and what is near it', () => {
  expect(meantBy('X-Acme-Slug', 'x-acme-')).toBeUndefined();
  expect(meantBy('X-Acm-Slug', 'x-acme-')).toBe('X-Engine-Slug');
  expect(meantBy('X-Acm-Slug')).toBeUndefined();
  expect(meantBy('X-Hasura-Slug', 'x-acme-')).toBe('X-Engine-Slug');
});

test('inside JSON no session variable is replaced, and so none may be named', () => {
  for (const name of ['X-Engine-Slug', 'X-Hasura-Slug']) {
    expect(() => refuseMistakes({ owner: [{ id: name }] }, 'x-engine-')).toThrow('inside a JSON value');
  }
  expect(() => refuseMistakes({ owner: ['x-ray', 1, null] }, 'x-engine-')).not.toThrow();
});
