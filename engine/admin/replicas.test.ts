/** Two replicas that are written to at once: every write is applied or refused with 409, none overwrites another. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type AdminTestEngine, op, startTestEngine } from './testing/engine.ts';

const WRITES = 30;
let replicas: readonly [AdminTestEngine, AdminTestEngine];

beforeAll(async () => {
  const first = await startTestEngine();
  replicas = [first, await startTestEngine({}, first)];
});
afterAll(async () => {
  await replicas[1].close();
  await replicas[0].close();
});

const collection = (name: string) => op('create_query_collection', { name, definition: { queries: [] } });

/** The whole document with one collection more, on the version it was read at: what an operator or a person with a file does. */
async function replaceWith(engine: AdminTestEngine, name: string) {
  const { body } = await engine.metadata({ type: 'export_metadata', version: 2, args: {} });
  const { resource_version, metadata } = body as {
    resource_version: number;
    metadata: { query_collections?: readonly object[] };
  };
  const query_collections = [...(metadata.query_collections ?? []), collection(name).args];
  const args = { metadata: { ...metadata, query_collections } };
  return engine.metadata({ type: 'replace_metadata', version: 2, resource_version, args });
}

async function stored(): Promise<readonly string[]> {
  const { document } = await replicas[0].state.gateway.store.load();
  return (document.query_collections ?? []).map(({ name }) => name).toSorted();
}

test('documents replaced through both replicas: acknowledged writes are stored, refused ones are not', async () => {
  const names = Array.from({ length: WRITES }, (_, i) => `whole_${i}`);
  const writes = names.map(async (name, i) => ({ name, ...(await replaceWith(replicas[i % 2]!, name)) }));
  const answers = await Promise.all(writes);
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200, 409]));
  const applied = answers.filter(({ status }) => status === 200).map(({ name }) => name);
  expect((await stored()).filter((name) => name.startsWith('whole_'))).toEqual(applied.toSorted());
});

test('objects changed through both replicas without a version: each change is stored or refused with 409', async () => {
  const names = Array.from({ length: WRITES }, (_, i) => `single_${i}`);
  const writes = names.map(async (name, i) => ({
    name,
    ...(await replicas[i % 2]!.metadata(collection(name))),
  }));
  const answers = await Promise.all(writes);
  expect(answers.filter(({ status }) => status !== 200 && status !== 409)).toEqual([]);
  const applied = answers.filter(({ status }) => status === 200).map(({ name }) => name);
  expect((await stored()).filter((name) => name.startsWith('single_'))).toEqual(applied.toSorted());
});

test('SQL through both replicas: acknowledged changes are in the database and in the metadata', async () => {
  const tables = Array.from({ length: 12 }, (_, i) => `t${i}`);
  const writes = tables.map(async (table, i) => {
    const sql = op('run_sql', { source: 'default', sql: `create table ${table} (id int primary key)` });
    return { table, ...(await replicas[i % 2]!.query(op('bulk', [sql, op('track_table', { table })]))) };
  });
  const applied = (await Promise.all(writes))
    .filter(({ status }) => status === 200)
    .map(({ table }) => table);
  expect(applied.length).toBeGreaterThan(0);
  const { document } = await replicas[0].state.gateway.store.load();
  expect(document.sources[0]!.tables.map(({ table }) => table.name).toSorted()).toEqual(applied.toSorted());
  const found = await replicas[0].database.sql(
    `select relname from pg_class where relkind = 'r' and relnamespace = 'public'::regnamespace order by relname`,
  );
  expect(found.map(({ relname }) => relname)).toEqual(applied.toSorted());
});
