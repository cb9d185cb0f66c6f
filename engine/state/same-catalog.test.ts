/** A catalog is the same as another exactly when nothing differs but how it was read. */
import { expect, test } from 'vitest';
import type { Catalog, CatalogTable } from '../catalog/types.ts';
import { finish } from '../metadata/steps.ts';
import { isSameCatalog } from './same-catalog.ts';

const table = (name: string, oid: number): CatalogTable => ({
  ...{ schema: 'public', name, oid, kind: 'table', comment: null, columns: [], primaryKey: null },
  ...{ uniqueKeys: [], uniqueIndexes: [], foreignKeys: [] },
  ...{ isInsertable: true, isUpdatable: true, isDeletable: true },
});
const catalog = (changes: Partial<Catalog> = {}): Catalog => ({
  serverVersion: 150004,
  tables: new Map([['author', table('author', 1)]]),
  functions: new Map(),
  reactions: { own: new Map([['author', 'after']]), writers: new Map() },
  types: new Map(),
  preparedQueries: new Map([['q', null]]),
  enumRows: new Map([['kind', [{ value: 'a', comment: null }]]]),
  fingerprints: new Map([['author', 1n]]),
  ...changes,
});
const isSame = (one: Catalog, other: Catalog) => finish(isSameCatalog(one, other));

test.each<[string, Partial<Catalog>]>([
  ['equal members', {}],
  ['another fingerprint', { fingerprints: new Map([['author', 2n]]) }],
  ['no fingerprints', { fingerprints: undefined as never }],
])('is the same with %s', (_, changes) => expect(isSame(catalog(), catalog(changes))).toBe(true));

test.each<[string, Partial<Catalog>]>([
  ['another version', { serverVersion: 160000 }],
  ['an extension', { hasCitus: true }],
  ['another table', { tables: new Map([['author', table('author', 2)]]) }],
  ['one more table', { tables: new Map(['author', 'book'].map((name) => [name, table(name, 1)])) }],
  ['a table of another name', { tables: new Map([['book', table('author', 1)]]) }],
  ['another reaction', { reactions: { own: new Map([['author', 'during']]), writers: new Map() } }],
  ['another verdict of a query', { preparedQueries: new Map([['q', 'no such table']]) }],
  ['another value of an enum', { enumRows: new Map([['kind', [{ value: 'b', comment: null }]]]) }],
])('differs with %s, in both directions', (_, changes) => {
  expect([isSame(catalog(), catalog(changes)), isSame(catalog(changes), catalog())]).toEqual([false, false]);
});

test('a catalog in doubt is never the same', () => {
  expect(isSame(catalog({ lost: 'away' }), catalog())).toBe(false);
  expect(isSame(catalog({ awaits: {} }), catalog())).toBe(false);
});

test('a query that was tried earlier makes no difference, one that was tried first now does', () => {
  const more = catalog({ preparedQueries: new Map(['q', 'r'].map((signature) => [signature, null])) });
  expect([isSame(more, catalog()), isSame(catalog(), more)]).toEqual([true, false]);
});
