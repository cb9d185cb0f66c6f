/** Tests the last results of PermissionTests, and the permissions that they cover in the current document. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type AdminTestEngine, op, startTestEngine } from './testing/engine.ts';

let engine: AdminTestEngine;

beforeEach(async () => {
  engine = await startTestEngine();
  await engine.must(op('run_sql', { sql: 'create table book (id int primary key, title text)' }));
  await engine.must(op('track_table', 'book'));
  const permission = { columns: ['id'], filter: {} };
  for (const role of ['reader', 'other'])
    await engine.must(op('create_select_permission', { table: 'book', role, permission }));
  await engine.must(
    op('create_insert_permission', {
      table: 'book',
      role: 'reader',
      permission: { columns: ['id'], check: {} },
    }),
  );
  await engine.must(op('add_inherited_role', { role_name: 'both', role_set: ['reader', 'other'] }));
});
afterEach(() => engine.close());

const answer = async (args: unknown = {}) =>
  (await engine.metadata(op('get_permission_tests', args))).body as never;
const since = '2026-01-01T00:00:00.000Z';
const record = (role: string, query: string, more: object = {}) => ({
  ...{ manager: 'm', role, reason: 'TestPassed', message: 'why', since, request: JSON.stringify({ query }) },
  ...more,
});
const store = (tests: object) =>
  engine.must(op('set_catalog_state', { type: 'operator', state: { manager: 'm', objects: {}, tests } }));
const covers = (role: string, operation: string, ...tests: readonly string[]) => ({
  ...{ role, source: 'default', table: { schema: 'public', name: 'book' }, operation },
  tests: tests.map((name) => `PermissionTest a/${name}`),
});

test('without results nothing is covered', async () => {
  expect(await answer()).toEqual({ tests: [], permissions: { count: 3, tested: 0 }, covered: [] });
});

test('a test covers the permissions that its request uses, those of inherited roles, and none of another role', async () => {
  await store({
    'PermissionTest a/reads': record('reader', '{ book { id } }', { reason: 'TestFailed' }),
    'PermissionTest a/all': record('both', 'query { ...f } fragment f on query_root { book { id } }'),
    'PermissionTest a/long': record('reader', '', { request: '' }),
    'PermissionTest a/broken': 7,
    'PermissionTest a/syntax': record('reader', '{ book {'),
  });
  expect(await answer()).toEqual({
    tests: ['all both', 'long reader', 'reads reader', 'syntax reader'].map((text) => {
      const [name = '', role = ''] = text.split(' ');
      const reason = name === 'reads' ? 'TestFailed' : 'TestPassed';
      const about = { resource: `PermissionTest a/${name}`, role, is_request_stored: name !== 'long' };
      return { ...about, reason, message: 'why', since };
    }),
    permissions: { count: 3, tested: 2 },
    covered: [covers('other', 'select', 'all'), covers('reader', 'select', 'all', 'reads')],
  });
  expect(await answer({ role: 'other' })).toMatchObject({ covered: [covers('other', 'select', 'all')] });
  expect(await answer({ role: 'both' })).toMatchObject({ covered: [{ role: 'other' }, { role: 'reader' }] });
});

test('coverage follows the document: a permission or a table that is dropped is not covered any more', async () => {
  const query = 'mutation($rows: [book_insert_input!]!) { insert_book(objects: $rows) { affected_rows } }';
  const request = JSON.stringify({ query, variables: { rows: [{ id: 1 }] } });
  await store({ 'PermissionTest a/writes': record('reader', query, { request, reason: 'NotRun' }) });
  expect(await answer()).toMatchObject({ covered: [covers('reader', 'insert', 'writes')] });
  await engine.must(op('drop_insert_permission', { table: 'book', role: 'reader' }));
  expect(await answer()).toMatchObject({ permissions: { count: 2, tested: 0 }, covered: [] });
});
