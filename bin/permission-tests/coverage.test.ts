/** Tests which permissions a request exercises, with the API of a real engine and database. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Api, coverageOf } from '../../engine/admin/test-coverage/coverage.ts';
import { startTestEngine, type TestEngine } from '../../testing/engine.ts';
import { testDatabase } from '../../testing/world.ts';
import { printTable, readApi } from './api.ts';
import { percentOf, printCoverage } from './coverage.ts';
import type { PermissionTest } from './folder-tests.ts';

const permissionsOf = (role: string) => ({
  select_permissions: [{ role, permission: { columns: '*', filter: {}, allow_aggregations: true } }],
  insert_permissions: [{ role, permission: { columns: '*', check: {} } }],
  update_permissions: [{ role, permission: { columns: '*', filter: {} } }],
  delete_permissions: [{ role, permission: { filter: {} } }],
});
const metadataFor = (databaseUrl: string) => ({
  version: 3,
  sources: [
    {
      name: 'default',
      kind: 'postgres',
      configuration: { connection_info: { database_url: databaseUrl } },
      tables: [
        {
          table: { schema: 'public', name: 'author' },
          configuration: { custom_name: 'Writer' },
          array_relationships: [
            {
              name: 'books',
              using: {
                foreign_key_constraint_on: { table: { schema: 'shelf', name: 'book' }, column: 'author_id' },
              },
            },
          ],
          ...permissionsOf('editor'),
        },
        {
          table: { schema: 'shelf', name: 'book' },
          object_relationships: [{ name: 'author', using: { foreign_key_constraint_on: 'author_id' } }],
          ...permissionsOf('editor'),
        },
      ],
    },
  ],
  inherited_roles: [
    { role_name: 'lead', role_set: ['chief'] },
    { role_name: 'chief', role_set: ['editor'] },
  ],
});

const database = testDatabase();
let engine: TestEngine;
let api: Api;
beforeAll(async () => {
  await database.sql(`
    create schema shelf;
    create table author (id int primary key, name text);
    create table shelf.book (id int primary key, author_id int references author, title text);`);
  engine = await startTestEngine({ databaseUrl: database.url });
  const { status, body } = await engine.admin('replace_metadata', metadataFor(database.url));
  expect([status, body]).toEqual([200, { message: 'success' }]);
  api = await readApi({ url: engine.url, adminSecret: engine.adminSecret }, database.url);
});
afterAll(() => engine?.close());

function testOf(
  query: string,
  role = 'editor',
  variables: Readonly<Record<string, unknown>> = {},
): PermissionTest {
  return { name: query, position: '', spec: { role, query, variables, expect: { error: {} } } };
}

/** Returns the permissions that the test exercises, as `operation table`. */
function exercised(...given: Parameters<typeof testOf>): readonly string[] {
  return coverageOf([testOf(...given)], api)
    .filter(({ tests }) => tests.length > 0)
    .map(({ permission }) => `${permission.operation} ${printTable(permission)}`);
}

test.each([
  ['{ Writer { name } }', ['select author']],
  ['{ one: Writer_by_pk(id: 1) { books { title } } }', ['select author', 'select shelf.book']],
  ['{ Writer_aggregate { aggregate { count } } }', ['select author']],
  ['{ Writer { books_aggregate { nodes { id } } } }', ['select author', 'select shelf.book']],
  ['subscription { shelf_book { id } }', ['select shelf.book']],
  ['query { ...part } fragment part on query_root { shelf_book { id } }', ['select shelf.book']],
  ['{ shelf_book { no_such_field } }', ['select shelf.book']],
  ['{ no_such_field { id } }', []],
  ['{ not a document', []],
  ['{ __typename }', []],
  ['{ __schema { types { name } } }', []],
  ['{ __type(name: "Writer") { fields { name } } }', ['select author']],
  ['{ __type(name: "Writer_insert_input") { inputFields { name } } }', ['insert author']],
  ['{ __type(name: "shelf_book_set_input") { inputFields { name } } }', ['update shelf.book']],
  ['mutation { insert_Writer(objects: []) { affected_rows } }', ['insert author']],
  ['mutation { insert_Writer(objects: []) { returning { id } } }', ['insert author', 'select author']],
  ['mutation { insert_Writer_one(object: { id: 1 }) { id } }', ['insert author', 'select author']],
  [
    'mutation { insert_Writer(objects: [{ id: 1, books: { data: [{ id: 1 }] } }]) { affected_rows } }',
    ['insert author', 'insert shelf.book'],
  ],
  [
    'mutation { insert_shelf_book(objects: [{ id: 1, author: { data: { id: 1 }, on_conflict: { constraint: author_pkey } } }]) { affected_rows } }',
    ['insert author', 'insert shelf.book', 'update author'],
  ],
  [
    'mutation { insert_Writer(objects: [], on_conflict: { constraint: author_pkey }) { affected_rows } }',
    ['insert author', 'update author'],
  ],
  ['mutation { update_Writer(where: {}, _set: { name: "a" }) { affected_rows } }', ['update author']],
  [
    'mutation { update_Writer_by_pk(pk_columns: { id: 1 }, _set: { name: "a" }) { id } }',
    ['select author', 'update author'],
  ],
  ['mutation { update_Writer_many(updates: []) { affected_rows } }', ['update author']],
  ['mutation { delete_shelf_book(where: {}) { affected_rows } }', ['delete shelf.book']],
])('%s exercises %j', (query, expected) => {
  expect(exercised(query).toSorted()).toEqual(expected);
});

test('rows that variables insert count', () => {
  const query =
    'mutation ($rows: [Writer_insert_input!]!) { insert_Writer(objects: $rows) { affected_rows } }';
  const rows = [{ id: 1, books: { data: [{ id: 1 }] } }];
  expect(exercised(query, 'editor', { rows }).toSorted()).toEqual(['insert author', 'insert shelf.book']);
  expect(exercised(query, 'editor', { rows: [{ id: 1 }] })).toEqual(['insert author']);
});

test('an inherited role exercises the permissions of its parents, and a role those of no other', () => {
  expect(exercised('{ Writer { name } }', 'lead')).toEqual(['select author']);
  expect(exercised('{ Writer { name } }', 'reader')).toEqual([]);
});

test('the table shows the number of tests for each role and table', () => {
  const coverage = coverageOf([testOf('{ Writer { name } }'), testOf('{ Writer { books { id } } }')], api);
  expect(percentOf(coverage)).toBe(25);
  expect(printCoverage(coverage)).toBe(
    [
      'role    table       select  insert  update  delete',
      'editor  author           2       0       0       0',
      'editor  shelf.book       1       0       0       0',
      '2 of 8 permissions are tested (25 %).',
      '',
    ].join('\n'),
  );
  expect(percentOf(coverageOf([], { ...api, permissions: [] }))).toBe(100);
});
