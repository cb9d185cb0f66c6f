/** Tests request policies end to end: what clients of each role receive, and that a change of the metadata takes
 *  effect at once. */
import { afterAll, afterEach, beforeAll, expect, onTestFinished, test, vi } from 'vitest';
import { type GraphqlAnswer, startTestEngine, type TestEngine } from '../../testing/engine.ts';
import { openSocket } from '../../testing/websocket.ts';
import { testDatabase } from '../../testing/world.ts';

const database = testDatabase();
let engine: TestEngine;
let closed: TestEngine;

beforeAll(async () => {
  await database.sql(`create table book (id int primary key, title text);
    insert into book values (1, 'Emma'), (2, 'Ulysses');
    create view slow as select 1 as id, pg_sleep(20)::text as slept;
    create table task (id int primary key);
    create function work() returns trigger language plpgsql as
      $$ begin if new.id > 1 then perform pg_sleep(20); end if; return new; end $$;
    create trigger work before insert on task for each row execute function work();`);
  engine = await startTestEngine({
    databaseUrl: database.url,
    schemaSyncPollInterval: 100,
    liveQueriesMultiplexedRefetchInterval: 50,
    trustedProxies: 1,
  });
  await done('pg_track_table', { table: 'book' });
  for (const role of ['user', 'guest']) {
    const permission = { columns: ['id', 'title'], filter: { id: { _lte: role === 'user' ? 2 : 1 } } };
    await done('pg_create_select_permission', { table: 'book', role, permission });
  }
  for (const table of ['slow', 'task']) await done('pg_track_table', { table });
  const slow = { columns: '*', filter: {} };
  await done('pg_create_select_permission', { table: 'slow', role: 'user', permission: slow });
  const task = { columns: '*', check: {} };
  await done('pg_create_insert_permission', { table: 'task', role: 'user', permission: task });
  closed = await startTestEngine({ databaseUrl: database.url, enableAllowlist: true });
});
afterEach(async () => {
  await done('remove_api_limits', {});
  await done('set_graphql_schema_introspection_options', { disabled_for_roles: [] });
});
afterAll(async () => {
  await closed?.close();
  await engine?.close();
});

async function done(type: string, args: unknown, at = engine): Promise<void> {
  await at.must(type, args);
}

const told = ({ data, errors }: GraphqlAnswer<unknown>) =>
  errors ? `${errors[0]?.extensions.code} ${errors[0]?.extensions.path}: ${errors[0]?.message}` : data;
const BOOKS = '{ book(order_by: { id: asc }) { id } }';
const ofUser = { book: [{ id: 1 }, { id: 2 }] };
const NOT_ALLOWED = 'validation-failed $: query is not allowed';

test('an allow list accepts what its collections contain, for the roles in their scope', async () => {
  const ask = async (role: string) => told(await closed.graphql(BOOKS, { role }));
  expect(await ask('user')).toBe(NOT_ALLOWED);
  expect(await ask('admin')).toEqual(ofUser);
  const definition = {
    queries: [{ name: 'books', query: `query ${BOOKS.replace('id }', '__typename id }')}` }],
  };
  await done('create_query_collection', { name: 'shelf', definition }, closed);
  await done('add_collection_to_allowlist', { collection: 'shelf' }, closed);
  expect([await ask('user'), await ask('guest')]).toEqual([ofUser, { book: [{ id: 1 }] }]);
  const scope = { global: false, roles: ['guest'] };
  await done('update_scope_of_collection_in_allowlist', { collection: 'shelf', scope }, closed);
  expect([await ask('user'), await ask('guest')]).toEqual([NOT_ALLOWED, { book: [{ id: 1 }] }]);
  await done('rename_query_collection', { name: 'shelf', new_name: 'rack' }, closed);
  expect([await ask('user'), await ask('guest')]).toEqual([NOT_ALLOWED, { book: [{ id: 1 }] }]);
  await done('drop_query_from_collection', { collection_name: 'rack', query_name: 'books' }, closed);
  expect(await ask('guest')).toBe(NOT_ALLOWED);
  await done('drop_collection_from_allowlist', { collection: 'rack' }, closed);
  const config = await closed.fetch('/v1alpha1/config');
  expect(await config.json()).toMatchObject({ is_allow_list_enabled: true });
});

test('an allow list that is not enforced refuses nothing', async () => {
  expect(told(await engine.graphql(BOOKS, { role: 'user' }))).toEqual(ofUser);
});

test('limits take effect when they are set and end when they are removed, for their roles', async () => {
  const ask = async (role: string) => told(await engine.graphql(BOOKS, { role }));
  await done('set_api_limits', { node_limit: { global: 1, per_role: { user: 0 } } });
  expect(await ask('user')).toMatch(/^node-limit-exceeded \$: node limit exceeded/);
  expect([await ask('guest'), await ask('admin')]).toEqual([{ book: [{ id: 1 }] }, ofUser]);
  await done('set_api_limits', { disabled: true, node_limit: { global: 0 } });
  expect(await ask('user')).toEqual(ofUser);
  const { body } = await engine.admin<{ api_limits?: unknown }>('export_metadata', {});
  expect(body.api_limits).toEqual({ disabled: true, node_limit: { global: 0 } });
  await done('remove_api_limits', {});
  expect((await engine.admin<object>('export_metadata', {})).body).not.toHaveProperty('api_limits');
});

test('invalid limits are refused', async () => {
  const { status, body } = await engine.admin('set_api_limits', { depth_limit: { global: -1 } });
  expect([status, body]).toMatchObject([400, { code: 'parse-failed' }]);
});

test('introspection can be disabled for one role only', async () => {
  const ask = async (role: string) =>
    told(await engine.graphql('{ __schema { queryType { name } } }', { role }));
  await done('set_graphql_schema_introspection_options', { disabled_for_roles: ['user'] });
  expect(await ask('user')).toBe('not-supported $: introspection is disabled for role: "user"');
  expect(await ask('guest')).toEqual({ __schema: { queryType: { name: 'query_root' } } });
  await done('set_graphql_schema_introspection_options', { disabled_for_roles: [] });
  expect(await ask('user')).toEqual({ __schema: { queryType: { name: 'query_root' } } });
});

async function post(body: unknown, role = 'user'): Promise<unknown> {
  const headers = { 'content-type': 'application/json', 'x-engine-role': role };
  const response = await engine.fetch('/v1/graphql', { method: 'POST', headers, body: JSON.stringify(body) });
  return response.json();
}

test('a persisted query is refused, other extensions are accepted', async () => {
  const persistedQuery = { version: 1, sha256Hash: 'abc' };
  for (const [query, message] of [
    [BOOKS, 'Automatic Persisted Queries is not enabled'],
    [undefined, 'PersistedQueryNotSupported'],
  ])
    expect(told((await post({ query, extensions: { persistedQuery } })) as never)).toBe(
      `not-supported $: ${message}`,
    );
  expect(await post({ query: BOOKS, extensions: { tracing: true } })).toEqual({ data: ofUser });
  expect(await post({ query: BOOKS, extensions: null })).toEqual({ data: ofUser });
});

test('a batch has a maximum number of operations', async () => {
  await done('set_api_limits', { batch_limit: { global: 2 } });
  const one = { query: BOOKS };
  expect(await post([one, one])).toEqual([{ data: ofUser }, { data: ofUser }]);
  expect(told((await post([one, one, one])) as never)).toBe(
    'batch-limit-exceeded $: batch limit exceeded: the body has 3 operations, the limit is 2',
  );
  expect(await post([one, one, one], 'admin')).toHaveLength(3);
});

const TOO_OFTEN = 'rate-limit-exceeded $: rate limit exceeded: no more than 2 operations a minute';

test('a role has a maximum rate that counts each operation of a batch; administrators have none', async () => {
  await done('set_api_limits', { rate_limit: { per_role: { user: { max_reqs_per_min: 2 } } } });
  const one = { query: BOOKS };
  const [first, second, third] = (await post([one, one, one])) as GraphqlAnswer<unknown>[];
  expect([told(first!), told(second!), told(third!)]).toEqual([ofUser, ofUser, TOO_OFTEN]);
  expect(told(await engine.graphql(BOOKS, { role: 'user' }))).toBe(TOO_OFTEN);
  expect(told(await engine.graphql(BOOKS, { role: 'guest' }))).toEqual({ book: [{ id: 1 }] });
  expect(told(await engine.graphql(BOOKS))).toEqual(ofUser);
  const older = await engine.fetch('/v1alpha1/graphql', {
    method: 'POST',
    headers: { 'x-engine-role': 'user' },
    body: JSON.stringify(one),
  });
  expect(older.status).toBe(429);
});

test('addresses in X-Forwarded-For that a client added itself are ignored', async () => {
  await done('set_api_limits', { rate_limit: { global: { max_reqs_per_min: 2, unique_params: 'IP' } } });
  const from = async (address: string) =>
    told(await engine.graphql(BOOKS, { role: 'user', headers: { 'x-forwarded-for': address } }));
  expect([await from('9.9.9.9, 1.1.1.1'), await from('8.8.8.8, 1.1.1.1')]).toEqual([ofUser, ofUser]);
  expect(await from('7.7.7.7, 1.1.1.1')).toBe(TOO_OFTEN);
  expect(await from('1.1.1.1, 2.2.2.2')).toEqual(ofUser);
});

async function statementsAtWork(): Promise<number> {
  const [row] = await database.sql(`select count(*)::int as n from pg_stat_activity
    where datname = current_database() and state = 'active' and pid <> pg_backend_pid()`);
  return Number(row?.['n']);
}

const TOO_LONG = 'time-limit-exceeded $: time limit exceeded: the operation took longer than 1 s';

test('a query that exceeds its time limit is ended, in Postgres too', async () => {
  await done('set_api_limits', { time_limit: { global: 1 } });
  const before = performance.now();
  expect(told(await engine.graphql('{ slow { slept } }', { role: 'user' }))).toBe(TOO_LONG);
  expect(performance.now() - before).toBeLessThan(5000);
  // Postgres reports the end of a cancelled statement a moment later.
  await vi.waitFor(async () => expect(await statementsAtWork()).toBe(0));
  expect(told(await engine.graphql(BOOKS, { role: 'user' }))).toEqual(ofUser);
});

test('a mutation that exceeds its time limit leaves no changes, and its connection usable', async () => {
  await done('set_api_limits', { time_limit: { global: 1 } });
  const insert = (id: number) => `insert_task(objects: [{ id: ${id} }]) { affected_rows }`;
  const both = `mutation { a: ${insert(1)} b: ${insert(2)} }`;
  for (const text of [both, `mutation { ${insert(2)} }`])
    expect(told(await engine.graphql(text, { role: 'user' }))).toBe(TOO_LONG);
  expect(await database.sql('select id from task')).toEqual([]);
  // Postgres reports the end of a cancelled statement a moment later.
  await vi.waitFor(async () => expect(await statementsAtWork()).toBe(0));
  expect(told(await engine.graphql(`mutation { ${insert(1)} }`, { role: 'user' }))).toEqual({
    insert_task: { affected_rows: 1 },
  });
  const { body } = await engine.admin('run_sql', { sql: 'show statement_timeout', read_only: true });
  expect(body).toMatchObject({ result: [['statement_timeout'], ['0']] });
});

test('waiting for a connection counts against the time limit', async () => {
  const tight = await startTestEngine({ databaseUrl: database.url, pgConnections: 1 });
  onTestFinished(() => tight.close());
  await done('set_api_limits', { time_limit: { per_role: { user: 1 } } }, tight);
  const holding = tight.graphql('{ slow { slept } }');
  await expect.poll(statementsAtWork).toBe(1);
  expect(told(await tight.graphql(BOOKS, { role: 'user' }))).toBe(TOO_LONG);
  await database.sql(`select pg_cancel_backend(pid) from pg_stat_activity
    where datname = current_database() and state = 'active' and pid <> pg_backend_pid()`);
  expect(told(await holding)).not.toBe(TOO_LONG);
});

test('request policies apply to WebSockets: too many operations are refused, and a slow live query reports its time limit', async () => {
  await done('set_api_limits', {
    time_limit: { global: 1 },
    rate_limit: { global: { max_reqs_per_min: 2, unique_params: ['x-engine-user-id'] } },
  });
  const socket = await openSocket(engine.url, 'graphql-transport-ws', {});
  onTestFinished(() => socket.socket.terminate());
  const headers = {
    'x-engine-admin-secret': engine.adminSecret,
    'x-engine-role': 'user',
    'x-engine-user-id': 'ws',
  };
  socket.send({ type: 'connection_init', payload: { headers } });
  expect(await socket.next()).toEqual({ type: 'connection_ack' });
  const ask = (id: string, query: string) => socket.send({ type: 'subscribe', id, payload: { query } });
  ask('live', 'subscription { slow { slept } }');
  expect(await socket.next()).toMatchObject({
    type: 'next',
    id: 'live',
    payload: { errors: [{ extensions: { code: 'time-limit-exceeded' } }] },
  });
  socket.send({ type: 'complete', id: 'live' });
  ask('two', BOOKS);
  expect(await socket.next()).toMatchObject({ id: 'two', payload: { data: ofUser } });
  expect(await socket.next()).toMatchObject({ id: 'two', type: 'complete' });
  ask('three', BOOKS);
  expect(await socket.next()).toMatchObject({
    id: 'three',
    type: 'error',
    payload: [{ message: TOO_OFTEN.split('$: ')[1] }],
  });
});

test('request policies apply to REST endpoints: their queries must be on the allow list, their requests count', async () => {
  const definition = { queries: [{ name: 'books', query: BOOKS }] };
  await done('create_query_collection', { name: 'rest', definition });
  const query = { collection_name: 'rest', query_name: 'books' };
  const endpoint = { name: 'books', url: 'books', methods: ['GET'], definition: { query } };
  await done('create_rest_endpoint', endpoint);
  const get = async (at: TestEngine) => {
    const response = await at.fetch('/api/rest/books', { headers: { 'x-engine-role': 'user' } });
    return [response.status, await response.json()];
  };
  await expect.poll(() => get(closed)).toMatchObject([400, { error: 'query is not allowed' }]);
  await done('add_collection_to_allowlist', { collection: 'rest' }, closed);
  expect(await get(closed)).toEqual([200, ofUser]);
  await done('set_api_limits', { rate_limit: { global: { max_reqs_per_min: 1, unique_params: 'IP' } } });
  expect(await get(engine)).toEqual([200, ofUser]);
  expect(await get(engine)).toMatchObject([429, { code: 'rate-limit-exceeded' }]);
  await done('drop_rest_endpoint', { name: 'books' });
});
