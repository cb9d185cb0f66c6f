/** Tests the size of cached plans, which includes the texts that are sent to remote schemas, since clients choose their length, and the end
 *  of cached plans with their model. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createDatabase, type TestDatabase } from '../../testing/database.ts';
import { replaceMetadata, startTestEngine, type TestEngine } from '../../testing/engine.ts';
import { type RemoteService, startRemote } from '../../testing/remote.ts';
import { SHARED_BUDGET } from '../limits/cache-budget.ts';
import { planCacheCounts } from './plan-cache.ts';

/** The length of a text, which is two bytes a character. */
const LONG = 100_000;

let database: TestDatabase;
let engine: TestEngine;
let remote: RemoteService;

beforeAll(async () => {
  database = await createDatabase();
  await database.sql('create table item (id int primary key)');
  remote = await startRemote('type Query { far(id: Int): Far } type Far { id: Int }', {
    'Query.far': () => ({ id: 1 }),
  });
  engine = await startTestEngine({ databaseUrl: database.url });
  const remote_field = { far: { arguments: { id: '$id' } } };
  const to_remote_schema = { remote_schema: 'far', lhs_fields: ['id'], remote_field };
  const table = { schema: 'public', name: 'item' };
  const tables = [{ table, remote_relationships: [{ name: 'far', definition: { to_remote_schema } }] }];
  const remote_schemas = [{ name: 'far', definition: { url: remote.url } }];
  expect(await replaceMetadata(engine, { tables }, { remote_schemas })).toMatchObject({ status: 200 });
});
afterAll(async () => {
  await engine?.close();
  await remote?.close();
  await database?.drop();
});

const bytesOfPlans = () => SHARED_BUDGET.sizes.get('plans')?.bytes ?? 0;

test.each([
  ['the request to a remote schema', (alias: string) => `{ far { ${alias}: id } }`],
  ['the selection of a remote join', (alias: string) => `{ item { far { ${alias}: id } } }`],
])('%s counts towards the size of a cached plan', async (_, query) => {
  const before = bytesOfPlans();
  expect(await engine.graphql(query('a'))).not.toHaveProperty('errors');
  const short = bytesOfPlans() - before;
  // The plan counts, and not what the service answers.
  remote.misbehave((_, response) => response.end('{"data":{"far":null}}'));
  await engine.graphql(query('a'.padEnd(LONG, '_')));
  remote.misbehave(null);
  const long = bytesOfPlans() - before - short;
  expect(short).toBeGreaterThan(0);
  expect(long - short).toBeGreaterThanOrEqual(2 * (LONG - 1));
});

test('cached plans and documents are dropped with the model they belong to', async () => {
  const query = '{ item { id } }';
  const sizes = () => ['plans', 'documents'].map((kind) => SHARED_BUDGET.sizes.get(kind)!.entries);
  await engine.graphql(query);
  expect(Math.min(...sizes())).toBeGreaterThan(0);
  await engine.admin('pg_untrack_table', {
    source: 'default',
    table: { schema: 'public', name: 'item' },
    cascade: true,
  });
  expect(sizes()).toEqual([0, 0]);
  await engine.admin('pg_track_table', { source: 'default', table: { schema: 'public', name: 'item' } });
  await engine.graphql(query);
  const { hits } = planCacheCounts();
  await engine.graphql(query);
  expect(planCacheCounts().hits).toBe(hits + 1);
});
