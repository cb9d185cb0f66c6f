/** The bound of the plan cache: the texts of a plan count, also those that are sent to remote schemas, since clients choose their length. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createDatabase, type TestDatabase } from '../../testing/database.ts';
import { replaceMetadata, startTestEngine, type TestEngine } from '../../testing/engine.ts';
import { type RemoteService, startRemote } from '../../testing/remote.ts';
import { planCacheCounts } from './plan-cache.ts';

/** Two bytes a character: the cache of 64,000,000 bytes holds fewer than 80 plans with one such text. */
const LONG = 400_000;
const REQUESTS = 85;

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

test.each([
  ['the request to a remote schema', (alias: string) => `{ far { ${alias}: id } }`],
  ['the selection of a remote join', (alias: string) => `{ item { far { ${alias}: id } } }`],
])(
  '%s counts towards the size of a cached plan',
  async (_, query) => {
    expect(await engine.graphql(query('a'))).not.toHaveProperty('errors');
    // The plans count, and not what the service answers.
    remote.misbehave((_, response) => response.end('{"data":{"far":null}}'));
    for (let i = 0; i < REQUESTS; i++) await engine.graphql(query(`a${i}`.padEnd(LONG, '_')));
    remote.misbehave(null);
    const { plans } = planCacheCounts();
    expect(plans).toBeGreaterThan(10);
    expect(plans).toBeLessThan(64_000_000 / (2 * LONG));
  },
  120_000,
);
