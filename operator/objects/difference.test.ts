/** Tests the text of differences between two definitions. */
import type { MetadataObject } from '@pergola/engine/metadata';
import { expect, test } from 'vitest';
import { differencesOf, summarise } from './difference.ts';

const object = (definition: unknown): MetadataObject => ({
  key: 'k',
  kind: 'table',
  parent: null,
  definition,
});
const between = (before: unknown, after: unknown) =>
  summarise(differencesOf(before === undefined ? undefined : object(before), object(after)), 10);

test.each([
  [{ a: 1 }, { a: 1 }, ''],
  [{ a: 1 }, { a: 2 }, 'a: 1 → 2'],
  [{ a: { b: { c: 1 } } }, { a: { b: { c: 2, d: 3 } } }, 'a.b.c: 1 → 2; a.b.d: + 3'],
  [{ a: 1, b: 2 }, { a: 1 }, 'b: - 2'],
  [{ columns: ['a', 'b'] }, { columns: ['b', 'c'] }, 'columns[]: - "a"; columns[]: + "c"'],
  [{ columns: ['a', 'b'] }, { columns: ['b', 'a'] }, 'columns: ["a","b"] → ["b","a"]'],
  [{ columns: '*' }, { columns: ['a'] }, 'columns: "*" → ["a"]'],
  [{}, { filter: {} }, 'filter: + {}'],
  [{ filter: { a: 1 } }, { filter: {} }, 'filter.a: - 1'],
  [undefined, { a: { b: 1 } }, 'a.b: + 1'],
])('the difference from %j to %j is listed by field', (before, after, text) => {
  expect(between(before, after)).toBe(text);
});

test('a difference masks connection URLs but not references to them', async () => {
  const at = (database_url: unknown) => ({ configuration: { connection_info: { database_url } } });
  const text = between(at({ from_env: 'PG_URL' }), at('postgres://user:password@host/db'));
  expect(text).toContain('{"from_env":"PG_URL"} → "(secret)"');
  expect(between(undefined, at('postgres://user:password@host/db'))).not.toContain('password');
});

test('a difference masks connection URLs of read replicas', () => {
  const at = (...urls: string[]) => ({ read_replicas: urls.map((database_url) => ({ database_url })) });
  expect(between(at('postgres://a:password@b'), at('postgres://a:password@b', 'postgres://c'))).toBe(
    'read_replicas: [{"database_url":"(secret)"}] → [{"database_url":"(secret)"},{"database_url":"(secret)"}]',
  );
});

test('a difference masks values of headers but not names of variables', () => {
  const at = (...headers: object[]) => ({ definition: { headers } });
  const text = between(
    at(
      { name: 'authorization', value: 'token-1' },
      { name: 'x-env', value_from_env: 'A' },
      { name: 'same', value: 's' },
    ),
    at(
      { name: 'authorization', value: 'token-2' },
      { name: 'x-env', value_from_env: 'B' },
      { name: 'same', value: 's' },
    ),
  );
  expect(text).toBe(
    'definition.headers.authorization: "(secret)" → "(secret)"; definition.headers.x-env: "A" → "B"',
  );
  expect(between(at(), at({ name: 'n', value: 'token' }))).toBe('definition.headers.n: + "(secret)"');
});

test('a long list of differences is cut', () => {
  const many = Object.fromEntries(Array.from({ length: 9 }, (_, i) => [`f${i}`, i]));
  expect(summarise(differencesOf(object({}), object(many)))).toBe('f0: + 0; f1: + 1; f2: + 2; and 6 more');
});
