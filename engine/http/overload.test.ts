/** Tests the limits of what an unauthenticated client can make the engine hold: bodies before authentication, bytes
 *  in flight, slow requests, frames and idle sockets. Each is refused early, other requests are answered meanwhile,
 *  and nothing stays reserved. */
import { createServer, type Server } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { createDatabase, type TestDatabase } from '../../testing/database.ts';
import { startTestEngine, type TestEngine } from '../../testing/engine.ts';
import { openSocket } from '../../testing/websocket.ts';
import { ByteBudget } from './body/byte-budget.ts';

const MIB = 2 ** 20;
const ROLE_BYTES = 256 * 1024;
const IN_FLIGHT = 300 * 1024;

let database: TestDatabase;
let engine: TestEngine;
let hooked: TestEngine;
let impatient: TestEngine;
let hook: Server;
let hookBytes = 0;

beforeAll(async () => {
  database = await createDatabase();
  hook = createServer((request, response) => {
    request.on('data', (chunk: Buffer) => (hookBytes += chunk.length));
    request.on('end', () => response.end('{"X-Engine-Role":"user"}'));
  });
  await new Promise<void>((resolve) => hook.listen(0, '127.0.0.1', resolve));
  const limits = {
    databaseUrl: database.url,
    enabledApis: ['metadata', 'graphql', 'config', 'pgdump', 'metrics'] as const,
    maxRoleBodyLength: ROLE_BYTES,
    maxBodyBytesInFlight: IN_FLIGHT,
    requestHeaderTimeout: 1,
    requestBodyTimeout: 1,
    maxUnauthenticatedWebsockets: 3,
    websocketConnectionInitTimeout: 30,
  };
  engine = await startTestEngine(limits);
  impatient = await startTestEngine({ ...limits, websocketConnectionInitTimeout: 1 });
  const authHook = `http://127.0.0.1:${(hook.address() as AddressInfo).port}`;
  hooked = await startTestEngine({ ...limits, authHook, authHookMode: 'POST' });
});

afterAll(async () => {
  await impatient?.close();
  await hooked?.close();
  await engine?.close();
  hook?.close();
  await database?.drop();
});

type Talk = {
  readonly socket: Socket;
  readonly write: (text: string) => void;
  /** The head and body of the first response. */
  readonly answer: Promise<string>;
  readonly closed: Promise<void>;
};

/** Opens a connection that sends exactly the given text. */
function talk({ url }: TestEngine, allowHalfOpen = false): Talk {
  const socket = connect({ port: Number(new URL(url).port), host: '127.0.0.1', allowHalfOpen });
  const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()));
  socket.on('error', () => {});
  let said = '';
  const answer = new Promise<string>((resolve) => {
    const look = () => {
      const [head = '', body] = said.split('\r\n\r\n');
      const length = Number(/content-length: (\d+)/i.exec(head)?.[1] ?? 0);
      if (body !== undefined && Buffer.byteLength(body) >= length) resolve(said);
    };
    socket.on('data', (chunk) => {
      said += chunk;
      look();
    });
    void closed.then(() => resolve(said));
  });
  onTestFinished(() => void socket.destroy());
  return { socket, write: (text) => void socket.write(text), answer, closed };
}

const head = (path: string, length: number | 'chunked', headers: readonly string[] = []) =>
  [
    `POST ${path} HTTP/1.1`,
    'host: localhost',
    'content-type: application/json',
    length === 'chunked' ? 'transfer-encoding: chunked' : `content-length: ${length}`,
    ...headers,
    '',
    '',
  ].join('\r\n');

const statusOf = async ({ answer }: Talk) => Number((await answer).split(' ')[1]);
const secret = () => `x-engine-admin-secret: ${engine.adminSecret}`;
const asUser = () => [secret(), 'x-engine-role: user'];
const isServed = async () => expect(await engine.graphql('{ __typename }')).toHaveProperty('data');
const gauge = async (name: string, of = engine) =>
  Number(new RegExp(`^${name} (\\d+)`, 'm').exec(await (await of.fetch('/v1/metrics')).text())![1]);
const nothingHeld = () =>
  expect.poll(() => gauge('pergola_request_bytes_in_flight'), { timeout: 10_000 }).toBe(0);

const ENDPOINTS = [
  '/v1/graphql',
  '/v1alpha1/graphql',
  '/v1beta1/relay',
  '/api/rest/x',
  '/v1/query',
  '/v1/metadata',
  '/v2/query',
  '/v1/graphql/explain',
  '/v1alpha1/pg_dump',
];

test.each(ENDPOINTS)('%s: a body without credentials is not read', async (path) => {
  const ways = ([100 * MIB, 'chunked'] as const).flatMap((length) =>
    [[], ['x-engine-admin-secret: wrong']].map((headers) => ({ length, headers })),
  );
  const refused = ways.map(async ({ length, headers }) => {
    const client = talk(engine);
    client.write(head(path, length, headers));
    expect(await client.answer).toMatch(/admin-secret/);
    await client.closed;
  });
  await Promise.all(refused);
  await nothingHeld();
});

test.each(ENDPOINTS.slice(0, 5))('%s: roles other than admin have a limit of their own', async (path) => {
  for (const [headers, length, status] of [
    [asUser(), ROLE_BYTES + 1, 413],
    [[secret()], 101 * MIB, 413],
  ] as const) {
    const client = talk(engine);
    client.write(head(path, length, headers));
    expect(await statusOf(client)).toBe(status);
  }
  const larger = JSON.stringify({ query: '{ __typename }', type: 'export_metadata', args: {} }).padEnd(
    ROLE_BYTES * 2,
  );
  const served = await engine.fetch(path, {
    method: 'POST',
    body: larger,
    headers: { 'content-type': 'application/json' },
  });
  expect(served.status).toBe(path === '/api/rest/x' ? 404 : 200);
  await nothingHeld();
});

test.each(ENDPOINTS.slice(0, 5))('%s: a chunked body has the limit of its role', async (path) => {
  const client = talk(engine);
  client.write(head(path, 'chunked', asUser()));
  const chunk = `10000\r\n${'a'.repeat(65_536)}\r\n`;
  for (let i = 0; i < 6; i++) client.write(chunk);
  expect(await statusOf(client)).toBe(413);
  await client.closed;
  await nothingHeld();
});

test('a hook that needs the body receives at most the limit of a role', async () => {
  const client = talk(hooked);
  client.write(head('/v1/graphql', ROLE_BYTES + 1));
  expect([await statusOf(client), hookBytes]).toEqual([413, 0]);
  const body = '{"query":"{ __typename }"}';
  const small = talk(hooked);
  small.write(head('/v1/graphql', body.length) + body);
  expect(await small.answer).toContain('{"data":{"__typename":"query_root"}}');
  expect(hookBytes).toBeGreaterThan(body.length);
});

test('large bodies wait for room and are refused with 503 after a while; small requests are answered meanwhile', async () => {
  const held = [1, 2].map(() => {
    const client = talk(engine);
    client.write(head('/v1/graphql', ROLE_BYTES, asUser()));
    // Fast enough for the time limit.
    const more = setInterval(() => client.write(' '.repeat(20_000)), 500);
    onTestFinished(() => clearInterval(more));
    return client;
  });
  await expect.poll(() => gauge('pergola_request_bytes_in_flight')).toBeGreaterThan(200_000);
  await isServed();
  const answers = await Promise.race(held.map(({ answer }) => answer));
  expect(answers).toMatch(/^HTTP\/1\.1 503/);
  expect(answers).toMatch(/retry-after: 5/);
  expect(JSON.parse(answers.split('\r\n\r\n')[1]!)).toMatchObject({ code: 'overloaded' });
  for (const { socket } of held) socket.destroy();
  await nothingHeld();
}, 15_000);

test('a body that stops arriving is refused with 408 on every endpoint', async () => {
  const slow = ENDPOINTS.map(async (path) => {
    const client = talk(engine);
    client.write(`${head(path, 1000, [secret()])}{`);
    expect([path, await statusOf(client)]).toEqual([path, 408]);
    await client.closed;
  });
  await Promise.all(slow);
  await nothingHeld();
});

test('headers that stop arriving are refused with 408, and a silent connection is closed', async () => {
  const slow = talk(engine);
  slow.write('POST /v1/graphql HTTP/1.1\r\nhost: x\r\n');
  const silent = talk(engine);
  expect(await statusOf(slow)).toBe(408);
  await silent.closed;
});

test('a refused client that never closes its side does not keep the connection', async () => {
  const upgrade = [
    'GET /elsewhere HTTP/1.1',
    'host: localhost',
    'connection: Upgrade',
    'upgrade: websocket',
    'sec-websocket-version: 13',
    `sec-websocket-key: ${Buffer.alloc(16, 'k').toString('base64')}`,
  ];
  const requests = [
    'POST /v1/graphql HTTP/1.1\r\nhost: x\r\n',
    'no HTTP\r\n\r\n',
    `${upgrade.join('\r\n')}\r\n\r\n`,
    `${upgrade.join('\r\n').replace('/elsewhere', '/v1/graphql')}\r\n\r\n`,
    head('/v1/graphql', 100 * MIB),
  ];
  const lasting = requests.map(async (text) => {
    const client = talk(impatient, true);
    client.write(text);
    // The answer to data on a closed connection is a reset.
    const drip = setInterval(() => client.write('x'), 200);
    await client.closed;
    clearInterval(drip);
  });
  await Promise.all(lasting);
});

test('a client that disconnects while it waits or sends leaves nothing reserved', async () => {
  for (let i = 0; i < 5; i++) {
    const client = talk(engine);
    client.write(head('/v1/graphql', ROLE_BYTES, asUser()) + ' '.repeat(30_000));
    await new Promise((resolve) => setImmediate(resolve));
    client.socket.destroy();
  }
  await nothingHeld();
});

test('a WebSocket accepts little before connection_init, and messages up to the limit of the role after it', async () => {
  const before = await openSocket(engine.url, 'graphql-transport-ws');
  before.socket.send(' '.repeat(200_000));
  expect((await before.closed).code).toBe(1009);
  for (const [headers, code] of [
    [{ 'x-engine-role': 'user' }, 1009],
    [{}, 4400],
  ] as const) {
    const socket = await openSocket(engine.url, 'graphql-transport-ws');
    const init = { 'x-engine-admin-secret': engine.adminSecret, ...headers };
    socket.send({ type: 'connection_init', payload: { headers: init } });
    expect((await socket.next()).type).toBe('connection_ack');
    socket.send(`{ "no message": "${'a'.repeat(ROLE_BYTES * 1.2)}" }`);
    expect((await socket.closed).code).toBe(code);
  }
  await nothingHeld();
});

test('the number of unauthenticated sockets is limited', async () => {
  const sockets = await Promise.all([1, 2, 3].map(() => openSocket(engine.url, 'graphql-transport-ws')));
  await expect(openSocket(engine.url, 'graphql-transport-ws')).rejects.toThrow('503');
  sockets[0]!.send({
    type: 'connection_init',
    payload: { headers: { 'x-engine-admin-secret': engine.adminSecret } },
  });
  await sockets[0]!.next();
  const another = await openSocket(engine.url, 'graphql-transport-ws');
  for (const { close } of [another, ...sockets]) close();
});

test('reservations are granted in order, and one larger than the budget waits until it is the only one', async () => {
  const budget = new ByteBudget(100);
  const [first, small] = [await budget.take(60), await budget.take(30)];
  const granted: string[] = [];
  const large = budget.take(1000).then((release) => {
    granted.push('large');
    return release;
  });
  const later = budget.take(10).then(() => granted.push('later'));
  expect(budget.tryTake(1)).toBeNull();
  small();
  small();
  expect([budget.held, granted]).toEqual([60, []]);
  first();
  (await large)();
  await later;
  expect([budget.held, granted]).toEqual([10, ['large', 'later']]);
});
