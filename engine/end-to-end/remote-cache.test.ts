/** Tests cached answers of remote schemas end to end: which requests are not sent, and that clients do not get
 *  answers of others. */
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { startTestEngine } from '../../testing/engine.ts';
import { type RemoteService, startRemote } from '../../testing/remote.ts';
import { testWorld } from '../../testing/world.ts';

let remote: RemoteService;
let count = 0;
const next = () => ++count;
const RESOLVERS = { 'Query.n': next, 'Query.of': next, 'Mutation.n': next };

afterAll(() => remote?.close());

const { database, engine } = testWorld(
  async (database) => {
    await database.sql('create table author (id int primary key); insert into author values (1), (2)');
    remote = await startRemote('type Query { n: Int of(id: Int): Int } type Mutation { n: Int }', RESOLVERS);
  },
  () => ({
    enableRemoteSchemaPermissions: false,
    remoteSchemaCacheSize: 1_000_000,
    enabledApis: ['metadata', 'graphql', 'metrics'],
  }),
);

beforeAll(async () => {
  const definition = { url: remote.url, forward_client_headers: true };
  await engine.admin('add_remote_schema', { name: 'counter', definition });
  await engine.admin('pg_track_table', { table: 'author' });
  const field = { of: { arguments: { id: '$id' } } };
  const to = { to_remote_schema: { remote_schema: 'counter', lhs_fields: ['id'], remote_field: field } };
  await engine.admin('pg_create_remote_relationship', { table: 'author', name: 'far', definition: to });
});
beforeEach(() => {
  remote.headers['cache-control'] = 'max-age=60';
});

/** Returns the number of requests that reached the service. */
async function sent(ask: () => Promise<unknown>): Promise<number> {
  const before = remote.asked.length;
  await ask();
  return remote.asked.length - before;
}

test('the same query is sent once, and another one is sent', async () => {
  const first = await engine.graphql('{ a: n }');
  expect(await sent(async () => expect(await engine.graphql('{ a: n }')).toEqual(first))).toBe(0);
  expect(await sent(() => engine.graphql('{ b: n }'))).toBe(1);
});

test('answers of another role, session or client are not used', async () => {
  const ask = (role: string, headers = {}) => sent(() => engine.graphql('{ c: n }', { role, headers }));
  expect([await ask('admin'), await ask('admin')]).toEqual([1, 0]);
  expect([await ask('user'), await ask('user')]).toEqual([1, 0]);
  expect(await ask('user', { 'x-engine-user-id': '1' })).toBe(1);
  expect(await ask('user', { 'x-engine-user-id': '2' })).toBe(1);
  expect(await ask('user', { authorization: 'Bearer me' })).toBe(1);
  expect(await ask('user')).toBe(0);
});

test('answers that may not be cached are fetched again, and every mutation is sent', async () => {
  remote.headers['cache-control'] = 'private, max-age=60';
  const ask = () => engine.graphql('{ d: n }');
  expect([await sent(ask), await sent(ask)]).toEqual([1, 1]);
  remote.headers['cache-control'] = 'max-age=60';
  const write = () => engine.graphql('mutation { n }');
  expect([await sent(write), await sent(write)]).toEqual([1, 1]);
});

test('joins are cached, too', async () => {
  const ask = () => engine.graphql('{ author { far } }');
  expect([await sent(ask), await sent(ask)]).toEqual([1, 0]);
});

test('reloading the remote schema clears its cached answers', async () => {
  const ask = () => engine.graphql('{ f: n }');
  expect([await sent(ask), await sent(ask)]).toEqual([1, 0]);
  await engine.admin('reload_remote_schema', { name: 'counter' });
  expect([await sent(ask), await sent(ask)]).toEqual([1, 0]);
  await engine.admin('reload_metadata', { reload_remote_schemas: ['counter'] });
  expect([await sent(ask), await sent(ask)]).toEqual([1, 0]);
});

test('hits and misses are counted', async () => {
  const text = await (await engine.fetch('/v1/metrics')).text();
  expect(text).toMatch(/pergola_remote_cache_requests_total\{result="hit"\} [1-9]/);
  expect(text).toMatch(/pergola_remote_cache_requests_total\{result="miss"\} [1-9]/);
});

test('nothing is cached by default', async () => {
  const plain = await startTestEngine({ databaseUrl: database.url });
  const ask = () => plain.graphql('{ e: n }');
  expect([await sent(ask), await sent(ask)]).toEqual([1, 1]);
  await plain.close();
});
