/** The table of errors against the specification's: every row it prints, and nothing a client could not make sense of. */
import { expect, test } from 'vitest';
import { EngineError } from './engine-error.ts';
import { ERRORS, type ErrorName } from './errors.ts';
import { SPECIFIED_ERRORS } from './testing/specified-errors.ts';

/** One value for every parameter any row takes: messages are compared with the specification's, placeholders filled in. */
const PARAMS = {
  table: 'T',
  column: 'C',
  name: 'N',
  role: 'R',
  type: 'P',
  field: 'F',
  header: 'H',
  version: '1',
  dependents: 'D',
  dependency: 'D',
  kind: 'K',
  names: { toString: () => 'X', join: () => 'X' },
  left: 'A',
  right: 'B',
  types: 'T1,T2',
  text: 'TEXT',
  with: 'W',
  source: 'S',
};

/** Rows to come may take other parameters, and lists: any has some text. */
const ANY_PARAMS = new Proxy<Record<string, unknown>>(PARAMS, {
  get: (params, name) => params[String(name)] ?? { toString: () => 'some-text', join: () => 'some-text' },
});

const NAMES = Object.keys(ERRORS) as ErrorName[];
const raised = (name: ErrorName): EngineError => new EngineError(name, ANY_PARAMS);

test.each(SPECIFIED_ERRORS)('the specification has %i %s: %s', (status, code, message, name) => {
  const error = raised(name);
  expect([error.status, error.messageIn('specification')]).toEqual([status, message]);
  expect(error.codeIn('specification')).toBe(code ?? 'unexpected-payload');
});

test('the specification has 61 rows', () => {
  expect(SPECIFIED_ERRORS).toHaveLength(61);
});

test.each(NAMES)('%s has a message without holes in either wording', (name) => {
  const error = raised(name);
  const texts = [error.messageIn('specification'), error.messageIn('newer')];
  expect(texts.map(String).filter((text) => text.trim() === '' || text.includes('[object'))).toEqual([]);
});

test('codes are words in lower case, joined by dashes', () => {
  const codes = NAMES.filter((name) => name !== 'inconsistentObject').flatMap((name) => [
    raised(name).codeIn('specification'),
    raised(name).codeIn('newer'),
  ]);
  expect(codes.filter((code) => !/^[a-z]+(-[a-z]+)*$/.test(code))).toEqual([]);
});

test('a newer wording is given only where it differs', () => {
  const idle = NAMES.filter((name) => {
    const error = raised(name);
    const hasNewer = 'newer' in ERRORS[name];
    const isSame =
      error.messageIn('newer') === error.messageIn('specification') &&
      error.codeIn('newer') === error.codeIn('specification');
    return hasNewer && isSame;
  });
  expect(idle).toEqual([]);
});

test('an existing permission is reported in the wording of each endpoint', () => {
  const error = new EngineError('permissionExists', { type: 'select', table: 'author', role: 'user' });
  expect([error.codeIn('specification'), error.messageIn('specification')]).toEqual([
    'permission-error',
    'select permission on author for role user already exists',
  ]);
  expect([error.codeIn('newer'), error.messageIn('newer')]).toEqual([
    'already-exists',
    'select permission already defined on table "author" with role "user"',
  ]);
});
