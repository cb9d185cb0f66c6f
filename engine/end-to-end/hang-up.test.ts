/** Tests clients that disconnect, over every transport: what runs only for them is cancelled in Postgres within a
 *  second, mutations leave no changes, requests to services are aborted, and work that others wait for goes on. */
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { startTestEngine, type TestEngine } from '../../testing/engine.ts';
import { openSocket } from '../../testing/websocket.ts';
import { testDatabase } from '../../testing/world.ts';

const database = testDatabase();
let engine: TestEngine;
/** Requests to the webhook that were aborted before it answered; it never answers. */
let aborted: string[] = [];
let asked: string[] = [];
const webhook = createServer((request: IncomingMessage, response) => {
  asked.push(request.url!);
  request.resume();
  response.once('close', () => aborted.push(request.url!));
});

/** Returns the number of statements that sleep. */
const sleeping = async () => {
  const [row] = await database.sql(
    `select count(*)::int as n from pg_stat_activity where datname = current_database() and wait_event = 'PgSleep'`,
  );
  return row?.['n'];
};
const poll = <T>(body: () => T) => expect.poll(body, { timeout: 10_000, interval: 20 });
const items = () => database.sql('select id from item order by id');

beforeAll(async () => {
  await database.sql(`
    create table item (id int primary key);
    insert into item values (1);
    create view slow as select id from item where pg_sleep(30) is not null;
    create table late (id int primary key);
    create function nap() returns trigger language plpgsql as
      $$ begin insert into item values (new.id); perform pg_sleep(30); return new; end $$;
    create trigger nap before insert on late for each row execute function nap()`);
  await new Promise<void>((done) => webhook.listen(0, '127.0.0.1', done));
  engine = await startTestEngine({ databaseUrl: database.url, liveQueriesMultiplexedRefetchInterval: 50 });
  for (const table of ['item', 'slow', 'late']) {
    await engine.must('pg_track_table', { table });
    await engine.must('pg_create_select_permission', {
      table,
      role: 'user',
      permission: { columns: '*', filter: {} },
    });
  }
  await engine.must('pg_create_insert_permission', {
    table: 'late',
    role: 'user',
    permission: { columns: '*', check: {} },
  });
  const queries = [
    { name: 'slow', query: '{ slow { id } }' },
    { name: 'late', query: 'mutation { insert_late(objects: {id: 2}) { affected_rows } }' },
  ];
  await engine.must('create_query_collection', { name: 'stored', definition: { queries } });
  for (const [name, method] of [
    ['slow', 'GET'],
    ['late', 'POST'],
  ] as const) {
    const definition = { query: { collection_name: 'stored', query_name: name } };
    await engine.must('create_rest_endpoint', { name, url: name, methods: [method], definition });
  }
  const url = `http://127.0.0.1:${(webhook.address() as AddressInfo).port}`;
  await engine.must('set_custom_types', {
    objects: [{ name: 'Answer', fields: [{ name: 'text', type: 'String' }] }],
  });
  for (const type of ['query', 'mutation']) {
    const definition = { kind: 'synchronous', type, output_type: 'Answer', handler: `${url}/${type}` };
    await engine.must('create_action', { name: `ask_${type}`, definition });
  }
});
afterAll(async () => {
  await engine.close();
  webhook.close();
});
beforeEach(async () => {
  await poll(sleeping).toBe(0);
  await database.sql('delete from item where id <> 1; delete from late');
  [asked, aborted] = [[], []];
});

type Headers = Readonly<Record<string, string>>;
type Way = [name: string, path: string, body: object | null, headers?: Headers];

const user = { 'x-engine-role': 'user' };
const SLOW = { query: '{ slow { id } }' };
const LATE = { query: 'mutation { insert_late(objects: {id: 2}) { affected_rows } }' };
const TWO = {
  query: `mutation {
    insert_item(objects: {id: 3}) { affected_rows }
    insert_late(objects: {id: 2}) { affected_rows }
    again: insert_item(objects: {id: 4}) { affected_rows } }`,
};
const sql = (text: string, more: object = {}) => ({ type: 'run_sql', args: { sql: text, ...more } });
const rows = (type: string, args: object) => ({ type, args: { source: 'default', ...args } });

const WAYS: Way[] = [
  ['a query', '/v1/graphql', SLOW],
  ['a query of a role', '/v1/graphql', SLOW, user],
  [
    'a query with variables',
    '/v1/graphql',
    { query: 'query ($n: Int) { slow(limit: $n) { id } }', variables: { n: 1 } },
  ],
  ['a query over the older path', '/v1alpha1/graphql', SLOW],
  ['a batch', '/v1/graphql', [SLOW, SLOW]],
  ['two roots', '/v1/graphql', { query: '{ slow { id } item { id } }' }],
  ['a mutation', '/v1/graphql', LATE],
  ['a mutation of a role', '/v1/graphql', LATE, user],
  ['a mutation in a transaction', '/v1/graphql', TWO],
  ['a REST endpoint', '/api/rest/slow', null],
  ['a REST endpoint that writes', '/api/rest/late', {}],
  ['rows', '/v2/query', rows('select', { table: 'slow', columns: ['id'] })],
  ['rows of a role', '/v2/query', rows('select', { table: 'slow', columns: ['id'] }), user],
  ['rows that are written', '/v2/query', rows('insert', { table: 'late', objects: [{ id: 2 }] })],
  ['run_sql', '/v2/query', sql('insert into item values (3); select pg_sleep(30)')],
  ['run_sql that reads', '/v2/query', sql('select pg_sleep(30)', { read_only: true })],
  ['run_sql without a transaction', '/v2/query', sql('select pg_sleep(30)', { no_transaction: true })],
  [
    'run_sql that changes the schema',
    '/v2/query',
    sql('create table other as select 1 as id from pg_sleep(30)'),
  ],
  [
    'a bulk',
    '/v2/query',
    { type: 'bulk', args: [sql('insert into item values (3)'), sql('select pg_sleep(30)')] },
  ],
];

describe('the statements of a client that disconnects are cancelled', () => {
  test.each(WAYS)('%s', async (...[, path, body, headers = {}]: Way) => {
    const client = new AbortController();
    const answer = engine.fetch(path, {
      method: body === null ? 'GET' : 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      signal: client.signal,
      ...(body !== null && { body: JSON.stringify(body) }),
    });
    const failed = expect(answer).rejects.toThrow('abort');
    await poll(sleeping).toBe(1);
    client.abort();
    await failed;
    const since = performance.now();
    await poll(sleeping).toBe(0);
    expect(performance.now() - since).toBeLessThan(2000);
    // The next request finds a connection, and no trace of the request before.
    expect(await engine.graphql('{ item { id } late { id } }')).toEqual({
      data: { item: [{ id: 1 }], late: [] },
    });
    expect(await database.sql(`select to_regclass('other') as other`)).toEqual([{ other: null }]);
  });

  const begin = async (query: string) => {
    const socket = await openSocket(engine.url, 'graphql-transport-ws', {
      'x-engine-admin-secret': engine.adminSecret,
    });
    socket.send({ type: 'connection_init' });
    await socket.next();
    socket.send({ type: 'subscribe', id: '1', payload: { query } });
    return socket;
  };
  const stream = 'subscription { slow_stream(batch_size: 1, cursor: {initial_value: {id: 0}}) { id } }';
  const operations = [SLOW.query, LATE.query, TWO.query, `subscription ${SLOW.query}`, stream];

  test.each(operations)('over a WebSocket that closes: %s', async (query) => {
    const socket = await begin(query);
    await poll(sleeping).toBe(1);
    socket.close();
    await poll(sleeping).toBe(0);
    expect(await items()).toEqual([{ id: 1 }]);
  });

  test.each(operations)('over a WebSocket when the operation is stopped: %s', async (query) => {
    const socket = await begin(query);
    await poll(sleeping).toBe(1);
    socket.send({ type: 'complete', id: '1' });
    await poll(sleeping).toBe(0);
    expect(await items()).toEqual([{ id: 1 }]);
    socket.send({ type: 'subscribe', id: '2', payload: { query: '{ item { id } }' } });
    expect(await socket.next()).toMatchObject({ id: '2', payload: { data: { item: [{ id: 1 }] } } });
    socket.close();
  });

  test('a statement shared by several subscriptions, when the last of them has ended', async () => {
    const query = `subscription ${SLOW.query}`;
    const [first, second] = [await begin(query), await begin(query)];
    await poll(sleeping).toBe(1);
    first.close();
    await first.closed;
    // Longer than a cancellation takes.
    await new Promise((done) => setTimeout(done, 300));
    expect(await sleeping()).toBe(1);
    second.close();
    await poll(sleeping).toBe(0);
  });

  test('a statement for several live queries, when the last of them has ended', async () => {
    const of = (n: number) => `subscription { slow(where: {id: {_lt: ${n}}}) { id } }`;
    const sockets = [await begin(of(10)), await begin(of(11)), await begin(of(12))];
    await poll(sleeping).toBeGreaterThan(0);
    for (const socket of sockets) socket.close();
    await poll(sleeping).toBe(0);
  });

  test.each(['query', 'mutation'])('the request to the webhook of an action: %s', async (type) => {
    const client = new AbortController();
    const body = JSON.stringify({ query: `${type} { ask_${type} { text } }` });
    const answer = engine.fetch('/v1/graphql', { method: 'POST', signal: client.signal, body });
    const failed = expect(answer).rejects.toThrow('abort');
    await poll(() => asked).toEqual([`/${type}`]);
    client.abort();
    await failed;
    await poll(() => aborted).toEqual([`/${type}`]);
  });
});

describe('a statement of a role', () => {
  let limited: TestEngine;
  beforeAll(async () => {
    limited = await startTestEngine({ databaseUrl: database.url, defaultTimeLimit: 1 });
  });
  afterAll(() => limited.close());
  const LIMIT = { extensions: { code: 'time-limit-exceeded' } };

  test.each([
    ['a query', SLOW.query],
    ['a mutation', LATE.query],
    [
      'a mutation in a transaction',
      `mutation { a: insert_late(objects: {id: 2}) { affected_rows }
      b: insert_late(objects: {id: 5}) { affected_rows } }`,
    ],
  ])('has a time limit: %s', async (_, query) => {
    expect(await limited.graphql(query, { role: 'user' })).toMatchObject({ errors: [LIMIT] });
    await poll(sleeping).toBe(0);
    expect(await items()).toEqual([{ id: 1 }]);
  });

  test('has a time limit in row operations of the admin API', async () => {
    const args = { source: 'default', table: 'slow', columns: ['id'] };
    const answer = await limited.admin('select', args, { endpoint: '/v2/query', headers: user });
    expect(answer.body).toMatchObject({ code: 'time-limit-exceeded' });
  });

  test('has the time limit of the metadata if there is one, and administrators have none', async () => {
    onTestFinished(() => engine.must('remove_api_limits', {}));
    await engine.must('set_api_limits', { disabled: false, time_limit: { global: 30 } });
    await poll(async () => JSON.stringify((await limited.admin('export_metadata', {})).body)).toContain(
      'time_limit',
    );
    for (const role of ['user', 'admin']) {
      const client = new AbortController();
      const answer = limited.fetch('/v1/graphql', {
        method: 'POST',
        headers: { 'x-engine-role': role },
        body: JSON.stringify(SLOW),
        signal: client.signal,
      });
      const failed = expect(answer).rejects.toThrow('abort');
      await poll(sleeping).toBe(1);
      await new Promise((done) => setTimeout(done, 1500));
      expect(await sleeping()).toBe(1);
      client.abort();
      await failed;
      await poll(sleeping).toBe(0);
    }
  });
});
