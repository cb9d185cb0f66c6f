/** Tests the limits of subscriptions: their number, and the bytes that wait for clients that do not read. */
import { connect } from 'node:net';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { startTestEngine, type TestEngine } from '../../testing/engine.ts';
import { openSocket, type TestSocket } from '../../testing/websocket.ts';
import { testDatabase } from '../../testing/world.ts';

const database = testDatabase();
let engine: TestEngine;
let tight: TestEngine;

const LIVE = 'subscription { note { id } }';
const STREAM = 'subscription { note_stream(batch_size: 1, cursor: { initial_value: { id: 100 } }) { id } }';
const CALLED = 'subscription { note_aggregate { aggregate { count } } }';

beforeAll(async () => {
  await database.sql(`create table note (id int primary key, owner text); insert into note values (1, 'a');
    create view big as select id, repeat('ü', 6000000 * id) as text from generate_series(1, 3) as id;
    create view middling as select 1 as id, repeat('ü', 20000) as text`);
  engine = await startTestEngine({
    databaseUrl: database.url,
    liveQueriesMultiplexedRefetchInterval: 100,
    maxSubscriptionsPerConnection: 3,
    maxSubscriptionsPerSession: 5,
    maxSubscriptionsPerRole: 8,
  });
  for (const table of ['note', 'big', 'middling']) {
    await engine.must('pg_track_table', { table });
    for (const role of ['user', 'anonymous']) {
      const permission = { columns: '*', filter: {}, allow_aggregations: true };
      await engine.admin('pg_create_select_permission', { table, role, permission });
    }
  }
  tight = await startTestEngine({
    databaseUrl: database.url,
    adminSecret: engine.adminSecret,
    maxQueuedBytes: 128 * 1024,
    enabledApis: ['graphql', 'metadata', 'metrics'],
  });
});

afterAll(async () => {
  await tight?.close();
  await engine?.close();
});

async function ready(
  variables: Readonly<Record<string, string>>,
  protocol = 'graphql-transport-ws',
  at = engine,
): Promise<TestSocket> {
  const socket = await openSocket(at.url, protocol);
  onTestFinished(() => socket.socket.terminate());
  const headers = { 'x-engine-admin-secret': at.adminSecret, ...variables };
  socket.send({ type: 'connection_init', payload: { headers } });
  expect((await socket.next()).type).toBe('connection_ack');
  return socket;
}

/** The types of the first message under each id, and the reason of a refusal. */
async function begun(socket: TestSocket, queries: readonly string[], from = 0): Promise<readonly string[]> {
  const type = socket.protocol === 'graphql-ws' ? 'start' : 'subscribe';
  const told = [];
  for (const [i, query] of queries.entries()) {
    socket.send({ type, id: String(from + i), payload: { query } });
    if (query === STREAM) {
      told.push('stream');
      continue;
    }
    let message = await socket.next();
    while (message.id !== String(from + i)) message = await socket.next();
    const code = /"code":"([^"]+)"/.exec(JSON.stringify(message.payload))?.[1];
    told.push(code ?? message.type);
  }
  return told;
}

const LIMIT = 'subscription-limit-exceeded';
const user = (id: string) => ({ 'x-engine-role': 'user', 'x-engine-user-id': id });

test.each(['graphql-ws', 'graphql-transport-ws'])(
  '%s: a connection has so many subscriptions of any kind, and room again when one ends',
  async (protocol) => {
    const data = protocol === 'graphql-ws' ? 'data' : 'next';
    for (const who of [user('1'), {}]) {
      const socket = await ready(who, protocol);
      expect(await begun(socket, [LIVE, STREAM, CALLED, LIVE])).toEqual([data, 'stream', data, LIMIT]);
      // Queries are not counted.
      expect(await begun(socket, ['{ note { id } }'], 10)).toEqual([data]);
      socket.send({ type: protocol === 'graphql-ws' ? 'stop' : 'complete', id: '0' });
      expect(await begun(socket, [LIVE, LIVE], 20)).toEqual([data, LIMIT]);
      socket.close();
      await socket.closed;
    }
  },
);

test('a session has so many over its connections, and a role over its sessions', async () => {
  const three = [LIVE, LIVE, LIVE];
  const [one, two, other, third] = await Promise.all(['a', 'a', 'b', 'c'].map((id) => ready(user(id))));
  expect(await begun(one!, three)).toEqual(['next', 'next', 'next']);
  expect(await begun(two!, three)).toEqual(['next', 'next', LIMIT]);
  expect(await begun(other!, three)).toEqual(['next', 'next', 'next']);
  expect(await begun(third!, [LIVE])).toEqual([LIMIT]);
  const anonymous = await ready({ 'x-engine-role': 'anonymous' });
  expect(await begun(anonymous, three)).toEqual(['next', 'next', 'next']);
  for (let i = 0; i < 4; i++) expect(await begun(await ready({}), three)).toEqual(['next', 'next', 'next']);
  one!.socket.terminate();
  await one!.closed;
  await expect.poll(() => begun(third!, [LIVE], Math.random())).toEqual(['next']);
});

test('without session variables an address is a session', async () => {
  const three = [LIVE, LIVE, LIVE];
  const [one, two] = await Promise.all([1, 2].map(() => ready({ 'x-engine-role': 'anonymous' })));
  expect(await begun(one!, three)).toEqual(['next', 'next', 'next']);
  expect(await begun(two!, three)).toEqual(['next', 'next', LIMIT]);
});

test('a subscription that cannot begin does not count', async () => {
  const socket = await ready(user('z'));
  const wrong = 'subscription { nothing }';
  expect(await begun(socket, [wrong, wrong, wrong, wrong, LIVE])).toEqual([
    'validation-failed',
    'validation-failed',
    'validation-failed',
    'validation-failed',
    'next',
  ]);
});

test.each(['graphql-ws', 'graphql-transport-ws'])('%s: a long result arrives whole', async (protocol) => {
  const socket = await ready({}, protocol);
  const type = protocol === 'graphql-ws' ? 'start' : 'subscribe';
  for (const kind of ['query', 'subscription']) {
    socket.send({ type, id: kind, payload: { query: `${kind} { middling { text } }` } });
    let message = await socket.next();
    while (message.id !== kind || message.payload === undefined) message = await socket.next();
    expect(message.payload).toEqual({ data: { middling: [{ text: 'ü'.repeat(20_000) }] } });
  }
});

test('a WebSocket whose client reads nothing is closed where too much waits; others are served', async () => {
  const stalled = await ready({}, 'graphql-transport-ws', tight);
  const reading = await ready({}, 'graphql-transport-ws', tight);
  stalled.send({ type: 'subscribe', id: '1', payload: { query: 'subscription { big { text } }' } });
  stalled.socket.pause();
  await expect.poll(() => queued(), { timeout: 20_000 }).toBeGreaterThan(1_000_000);
  reading.send({ type: 'subscribe', id: '1', payload: { query: LIVE } });
  expect((await reading.next()).type).toBe('next');
  await expect.poll(() => queued(), { timeout: 20_000 }).toBe(0);
  stalled.socket.resume();
  await stalled.closed;
  expect(await metric('pergola_overload_refusals_total{limit="queued-bytes"}')).toBe(1);
  reading.send({ type: 'subscribe', id: '2', payload: { query: LIVE } });
  expect(await reading.next()).toMatchObject({ id: '2', type: 'next' });
}, 180_000);

test('an HTTP client that reads nothing is cut off where too much waits', async () => {
  const body = JSON.stringify({ query: '{ big { text } }' });
  const socket = connect(Number(new URL(tight.url).port), '127.0.0.1');
  onTestFinished(() => void socket.destroy());
  socket.on('error', () => {});
  socket.pause();
  socket.write(
    `POST /v1/graphql HTTP/1.1\r\nhost: x\r\nx-engine-admin-secret: ${tight.adminSecret}\r\n` +
      `content-length: ${body.length}\r\n\r\n${body}`,
  );
  await expect.poll(() => queued(), { timeout: 20_000 }).toBeGreaterThan(1_000_000);
  await expect.poll(() => queued(), { timeout: 20_000 }).toBe(0);
  expect(await tight.graphql('{ __typename }')).toEqual({ data: { __typename: 'query_root' } });
}, 180_000);

async function metric(name: string): Promise<number> {
  const text = await (await tight.fetch('/v1/metrics')).text();
  return Number(
    text
      .split('\n')
      .find((line) => line.startsWith(`${name} `))
      ?.slice(name.length) ?? 0,
  );
}

const queued = () => metric('pergola_queued_bytes');
