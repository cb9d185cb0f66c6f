/** `patch_metadata` and `patch_catalog_state`, as the operator sends them. */
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type AdminTestEngine, op, startTestEngine } from './testing/engine.ts';

let engine: AdminTestEngine;

const AUTHOR = 'table/default/public/author';
const READER = 'select_permission/default/public/author/reader';
const author = { key: AUTHOR, definition: { table: 'author' } };
const rule = (...columns: readonly string[]) => ({
  key: READER,
  definition: { role: 'reader', permission: { columns, filter: {} } },
});
const patch = (args: object) => op('patch_metadata', args);
const tables = async () => {
  const { sources } = (await engine.must(op('export_metadata', {}))) as { sources: { tables: object[] }[] };
  return sources[0]!.tables;
};

beforeAll(async () => {
  engine = await startTestEngine();
  await engine.must(
    op('run_sql', { sql: 'create table author (id int, name text); create table book (id int)' }),
  );
  await engine.must(op('track_table', 'book'));
});
afterAll(() => engine.close());

test('puts objects with their nested objects in any order, and keeps the rest', async () => {
  const book = engine.state.snapshot().metadata.sources[0]!.tables[0];
  const answer = await engine.must(patch({ put: [rule('id'), author], include_keys: true }));
  expect(answer).toEqual({
    is_consistent: true,
    inconsistent_objects: [],
    resource_version: expect.any(Number),
  });
  expect(await tables()).toEqual([
    {
      table: { name: 'author', schema: 'public' },
      select_permissions: [{ role: 'reader', permission: { columns: ['id'], filter: {} } }],
    },
    { table: { name: 'book', schema: 'public' } },
  ]);
  expect(engine.state.snapshot().metadata.sources[0]!.tables[0]).toBe(book);
});

test('a dry run reports inconsistencies and stores nothing', async () => {
  const before = engine.state.snapshot();
  const answer = await engine.must(patch({ put: [rule('nothing')], dry_run: true, include_keys: true }));
  expect(answer).toMatchObject({
    is_consistent: false,
    inconsistent_objects: [{ key: READER, code: 'not-exists', path: ['permission', 'columns', 0] }],
  });
  expect(engine.state.snapshot().resourceVersion).toBe(before.resourceVersion);
});

test('an invalid schedule of a cleanup is reported with its path in the definition of the trigger', async () => {
  const trigger = {
    key: 'event_trigger/default/public/book/changed',
    definition: {
      name: 'changed',
      definition: { enable_manual: true },
      webhook: 'http://127.0.0.1:1',
      cleanup_config: { schedule: 'never', clear_older_than: 1 },
    },
  };
  const answer = await engine.must(patch({ put: [trigger], dry_run: true, include_keys: true }));
  expect(answer).toMatchObject({
    inconsistent_objects: [{ key: trigger.key, path: ['cleanup_config', 'schedule'] }],
  });
});

test('removes objects, and ignores missing ones', async () => {
  await engine.must(patch({ put: [rule('id', 'name')] }));
  await engine.must(patch({ remove: [READER, 'action/never'] }));
  expect((await tables())[0]).toEqual({ table: { name: 'author', schema: 'public' } });
});

test.each([
  [
    { put: [{ key: 'tabel/x', definition: {} }] },
    'tabel/x is not the key of a metadata object',
    '$.args.put[0]',
  ],
  [{ remove: ['x'] }, 'x is not the key of a metadata object', '$.args.remove[0]'],
  [{ put: [author], remove: [AUTHOR] }, `${AUTHOR} is both put and removed`, '$.args.remove[0]'],
  [
    { put: [{ key: AUTHOR, definition: { table: 'book' } }] },
    `the definition is that of table/default/public/book, not of ${AUTHOR}`,
    '$.args.put[0]',
  ],
  [{ put: [{ key: AUTHOR, definition: {} }] }, 'key "table" not found', '$.args.put[0].definition'],
  [
    { put: [{ key: 'table/other/public/author', definition: { table: 'author' } }] },
    'there is no source/other that table/other/public/author could be in',
    '$.args',
  ],
])('refuses %j', async (args, error, path) => {
  const { status, body } = await engine.query(patch(args));
  expect({ status, ...(body as object) }).toMatchObject({ status: 400, error, path, code: 'parse-failed' });
});

test('parts of the ledger are changed in the same transaction, by its writer without a warning', async () => {
  const entry = { manager: 'm', uid: '1', cr: 'Table app/author', hash: 'x' };
  const ledger = (objects: object) =>
    op('patch_catalog_state', { type: 'operator', patch: { manager: 'm', objects } });
  await engine.must(op('bulk_atomic', [patch({ put: [author] }), ledger({ [AUTHOR]: entry, other: entry })]));
  await engine.must(op('bulk_atomic', [patch({ put: [rule('id')] }), ledger({ other: null, third: entry })]));
  const state = (await engine.must(op('get_catalog_state', {}))) as { operator_state: unknown };
  expect(state.operator_state).toEqual({ manager: 'm', objects: { [AUTHOR]: entry, third: entry } });
  expect(engine.events.filter(({ kind }) => kind === 'managed objects changed')).toEqual([]);
});

test.each([
  ['alone', (args: object) => patch(args), '$.args'],
  [
    'in a batch',
    (args: object) => op('bulk_atomic', [op('drop_inconsistent_metadata'), patch(args)]),
    '$.args[1].args',
  ],
])(
  'a trigger that the database does not let the engine create names its edit: %s',
  async (_, request, at) => {
    await engine.must(op('run_sql', { sql: 'create table free (id int); create table held (id int)' }));
    const trigger = (table: string) => ({
      key: `event_trigger/default/public/${table}/on_${table}`,
      definition: {
        name: `on_${table}`,
        definition: { insert: { columns: '*' } },
        webhook: 'http://127.0.0.1:9',
        retry_conf: { num_retries: 0 },
      },
    });
    const tracked = ['free', 'held'].map((name) => ({
      key: `table/default/public/${name}`,
      definition: { table: name },
    }));
    const holder = new pg.Client({ connectionString: engine.database.url });
    await holder.connect();
    try {
      await holder.query('begin; lock table held in share mode');
      const refused = await engine.query(request({ put: [...tracked, trigger('free'), trigger('held')] }));
      expect(refused.body).toMatchObject({ path: `${at}.put[3]`, error: expect.stringContaining('on_held') });
    } finally {
      await holder.end();
    }
    await engine.must(op('run_sql', { sql: 'drop table free; drop table held' }));
  },
);
