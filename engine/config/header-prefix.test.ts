/** Tests session variables with another prefix, in documents and messages. */
import { expect, test } from 'vitest';
import { fromWire, textToWire, toWire } from './header-prefix.ts';

const permission = (variable: string) => ({
  role: 'user',
  permission: {
    columns: ['id'],
    filter: { _or: [{ owner: { _eq: variable } }, { team: { _in: [variable] } }] },
  },
});

test('values of filters, checks and presets are renamed, in any case', () => {
  expect(fromWire(permission('X-Other-User-Id'), 'x-other-')).toEqual(permission('X-Engine-User-Id'));
  expect(fromWire({ check: { a: { _eq: 'x-other-id' } }, set: { b: 'X-OTHER-ID' } }, 'x-other-')).toEqual({
    check: { a: { _eq: 'x-engine-id' } },
    set: { b: 'X-Engine-ID' },
  });
});

test('rewriting out and in returns the same document', () => {
  const inside = permission('X-Engine-User-Id');
  expect(fromWire(toWire(inside, 'x-other-'), 'x-other-')).toEqual(inside);
});

test('strings elsewhere, and strings without the prefix, are unchanged', () => {
  const document = { comment: 'x-other-user-id', sql: 'X-Other-', filter: { a: { _eq: 'not x-other-id' } } };
  expect(fromWire(document, 'x-other-')).toEqual(document);
});

test('with the default prefix documents are not even copied', () => {
  const document = permission('X-Engine-User-Id');
  expect(fromWire(document, 'x-engine-')).toBe(document);
});

test('messages have the prefix of the wire', () => {
  expect(textToWire('missing session variable: "x-engine-id"', 'x-other-')).toBe(
    'missing session variable: "x-other-id"',
  );
  expect(textToWire('X-Engine-User-Id should be an integer', 'x-other-')).toBe(
    'X-Other-User-Id should be an integer',
  );
});
