/** Tests that requests are answered while a large document is parsed and resolved, and that edits at the same time keep their order. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type AdminTestEngine, op, startTestEngine } from './testing/engine.ts';

const TABLES = 150;
const names = Array.from({ length: TABLES }, (_, i) => `t${i}`);
const ROLES = Array.from({ length: 30 }, (_, i) => `r${i}`);
const permissions = (columns: readonly string[]) =>
  ROLES.map((role) => ({ role, permission: { columns: [...columns], filter: { id: { _gt: 0 } } } }));

let engine: AdminTestEngine;

beforeAll(async () => {
  engine = await startTestEngine();
  await engine.sql(names.map((name) => `create table ${name} (id int primary key, title text);`).join('\n'));
});
afterAll(() => engine?.close());

/** Returns a document with every table; the columns are those that the roles may read. */
function documentWith(columns: readonly string[]) {
  const tables = names.map((name) => ({ table: name, select_permissions: permissions(columns) }));
  const url = { from_env: 'ENGINE_GRAPHQL_DATABASE_URL' };
  const source = {
    name: 'default',
    kind: 'postgres',
    configuration: { connection_info: { database_url: url } },
  };
  return { version: 3, sources: [{ ...source, tables }] };
}

const tableOf = (name: string) =>
  engine.state
    .snapshot()
    .model.sources.get('default')!
    .tables.get(JSON.stringify(['public', name]));

test('requests have turns of the event loop, on the previous snapshot until the next one is whole', async () => {
  const before = engine.state.snapshot();
  let isDone = false;
  const replacing = engine.metadata(op('replace_metadata', documentWith(['id']))).finally(() => {
    isDone = true;
  });
  const sizes: number[] = [];
  while (!isDone) {
    const { model } = engine.state.snapshot();
    sizes.push(model.sources.get('default')!.tables.size);
    await nextTurn();
  }
  expect(await replacing).toMatchObject({ status: 200 });
  expect(engine.state.snapshot()).not.toBe(before);
  expect(sizes.length).toBeGreaterThan(10);
  expect(new Set(sizes)).toEqual(new Set([0, ...(sizes.at(-1) === TABLES ? [TABLES] : [])]));
});

test('an edit during a replacement follows it, and a replacement during an edit follows that', async () => {
  const all = await Promise.all([
    engine.metadata(op('replace_metadata', documentWith(['id', 'title']))),
    engine.metadata(op('pg_untrack_table', { source: 'default', table: 't0' })),
    engine.metadata(op('replace_metadata', documentWith(['id']))),
    engine.metadata(op('pg_untrack_table', { source: 'default', table: 't1' })),
  ]);
  expect(all.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
  expect([tableOf('t0'), tableOf('t1')].map((table) => table !== undefined)).toEqual([true, false]);
  expect([...tableOf('t0')!.permissions.get('r0')!.select!.columns]).toEqual(['id']);
});

test('a replacement that is refused leaves the document, and the next one is not affected', async () => {
  const before = engine.state.snapshot();
  const wrong = documentWith(['id', 'missing']);
  const [refused, next] = await Promise.all([
    engine.metadata(op('replace_metadata', wrong)),
    engine.metadata(op('pg_untrack_table', { source: 'default', table: 't2' })),
  ]);
  expect(refused.status).toBe(400);
  expect(next.status).toBe(200);
  expect(engine.state.snapshot().resourceVersion).toBe(before.resourceVersion + 1);
  expect(tableOf('t3')).toBeDefined();
});

test('a client that names the version of before a replacement gets a conflict', async () => {
  const version = engine.state.snapshot().resourceVersion;
  const stale = { ...op('pg_untrack_table', { source: 'default', table: 't4' }), resource_version: version };
  const [replaced, edited] = await Promise.all([
    engine.metadata(op('replace_metadata', documentWith(['id']))),
    engine.metadata(stale),
  ]);
  expect([replaced.status, edited.status]).toEqual([200, 409]);
  expect(tableOf('t4')).toBeDefined();
});

test('tables that a replacement does not change keep their model', async () => {
  const before = ['t5', 't6'].map(tableOf);
  const next = documentWith(['id']);
  const [source] = next.sources;
  const tables = source!.tables.map((table) =>
    table.table === 't5' ? { ...table, select_permissions: [] } : table,
  );
  const replaced = op('replace_metadata', { ...next, sources: [{ ...source!, tables }] });
  expect(await engine.metadata(replaced)).toMatchObject({ status: 200 });
  expect(tableOf('t5')).not.toBe(before[0]);
  expect(tableOf('t6')).toBe(before[1]);
});
