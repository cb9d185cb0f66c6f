import { afterEach, beforeEach, expect, test } from 'vitest';
import { runAdmin } from './run.ts';
import { type AdminTestEngine, op, startTestEngine } from './testing/engine.ts';

let engine: AdminTestEngine;

beforeEach(async () => {
  engine = await startTestEngine({ metadataRevisions: 4 });
  await engine.must(
    op('run_sql', { sql: 'create table author (id int primary key); create table book (id int)' }),
  );
});
afterEach(() => engine.close());

type Listed = {
  resource_version: number;
  written_at: string;
  author: string;
  client: string | null;
  operations: string[];
};

const revisions = async (args: unknown = {}): Promise<readonly Listed[]> =>
  (await engine.metadata(op('list_metadata_revisions', args))).body as Listed[];
const version = () => engine.state.snapshot().resourceVersion;
const tracked = () => engine.state.snapshot().metadata.sources[0]?.tables.map(({ table }) => table.name);

test('every version of the document is a revision, with when, by whom and with which operations', async () => {
  const before = Date.now();
  const session = { role: 'admin', variables: { 'x-engine-user-id': 'ada' }, mayUseBackendOnly: true };
  const body = op('bulk', [op('track_table', 'author'), op('track_table', 'book')]);
  await runAdmin(engine.state, body, { endpoint: '/v1/query', session, client: 'curl/8' });
  const [newest, before1] = await revisions();
  expect(newest).toEqual({
    resource_version: version(),
    written_at: expect.any(String),
    author: 'ada',
    client: 'curl/8',
    operations: ['track_table'],
  });
  expect(Math.abs(Date.parse(newest!.written_at) - before)).toBeLessThan(60_000);
  expect(before1).toMatchObject({ resource_version: version() - 1, author: 'engine', operations: [] });
});

test('a refused request creates no revision, nor does one that changes only the version or the state of a client', async () => {
  const before = await revisions();
  await engine.metadata(op('pg_track_table', { table: 'nobody' }));
  await engine.must(op('reload_metadata'));
  await engine.must(op('set_catalog_state', { type: 'cli', state: { a: 1 } }));
  expect(await revisions()).toEqual(before);
});

test('only the configured number of revisions is kept', async () => {
  for (const name of ['a', 'b', 'c', 'd', 'e']) {
    await engine.must(op('create_query_collection', { name, definition: { queries: [] } }));
  }
  const kept = await revisions();
  expect(kept.map((revision) => revision.resource_version)).toEqual([0, 1, 2, 3].map((n) => version() - n));
  expect(await revisions({ limit: 2 })).toEqual(kept.slice(0, 2));
});

test('no revision is kept if the number is 0', async () => {
  const replica = await startTestEngine({ metadataRevisions: 0 }, engine);
  await replica.must(op('track_table', 'author'));
  expect(await revisions()).toEqual([]);
  await replica.close();
});

test('rollback_metadata restores the document as a new revision', async () => {
  await engine.must(op('track_table', 'author'));
  const then = version();
  await engine.must(op('bulk', [op('untrack_table', 'author'), op('track_table', 'book')]));
  expect(tracked()).toEqual(['book']);
  expect(await engine.metadata(op('rollback_metadata', { resource_version: then }))).toEqual({
    status: 200,
    body: { is_consistent: true, inconsistent_objects: [] },
  });
  expect(tracked()).toEqual(['author']);
  expect((await revisions())[0]).toMatchObject({
    resource_version: version(),
    operations: ['rollback_metadata'],
  });
});

test('rollback_metadata to an inconsistent document is refused, unless that is allowed', async () => {
  await engine.must(op('track_table', 'author'));
  const then = version();
  await engine.must(op('untrack_table', 'author'));
  await engine.must(op('run_sql', { sql: 'drop table author' }));
  const args = { resource_version: then };
  expect(await engine.metadata(op('rollback_metadata', args))).toMatchObject({
    status: 400,
    body: { path: '$.args', internal: [{ type: 'table' }] },
  });
  expect(await engine.metadata(op('rollback_metadata', { ...args, dry_run: true }))).toMatchObject({
    status: 200,
    body: { is_consistent: false, inconsistent_objects: [{ type: 'table' }] },
  });
  expect(tracked()).toEqual([]);
  await engine.must(op('rollback_metadata', { ...args, allow_inconsistent_metadata: true }));
  expect(tracked()).toEqual(['author']);
});

test('a deleted revision cannot be restored', async () => {
  expect(await engine.metadata(op('rollback_metadata', { resource_version: 999 }))).toEqual({
    status: 400,
    body: { path: '$.args', error: 'metadata revision 999 does not exist', code: 'not-exists' },
  });
});
