/** Tests requests that pages of other sites can make a browser send: forms and text with cookies, requests to an
 *  engine without an admin secret, host names that an attacker points at it, WebSockets. None may change or read
 *  anything. */
import { createServer, request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { SignJWT } from 'jose';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createDatabase, type TestDatabase } from '../../testing/database.ts';
import { startTestEngine, type TestEngine } from '../../testing/engine.ts';
import { openSocket } from '../../testing/websocket.ts';
import { loadOptions } from '../config/load-options.ts';
import { type RunningEngine, startEngine } from '../main.ts';

const KEY = 'a shared secret of at least 32 bytes';
const JWT = { type: 'HS256', key: KEY, header: { type: 'Cookie', name: 'token' } };
const APP = 'https://app.example';

let database: TestDatabase;
let closed: TestEngine;
let hooked: TestEngine;
let open: RunningEngine;
let wide: RunningEngine;
let hook: Server;
let cookie: string;

const start = (...argv: string[]) =>
  startEngine(
    loadOptions(
      ['--database-url', database.url, '--server-port', '0', '--server-host', '127.0.0.1', ...argv],
      {},
    ),
  );

beforeAll(async () => {
  database = await createDatabase();
  await database.sql('create table note (id int primary key)');
  const role = 'user';
  // The session cookie of the victim is all this hook requires.
  hook = createServer(({ headers }, response) => {
    response.statusCode = headers.cookie === 'session=1' ? 200 : 401;
    response.end(JSON.stringify({ 'X-Engine-Role': role }));
  });
  await new Promise<void>((resolve) => hook.listen(0, '127.0.0.1', resolve));
  const authHook = `http://127.0.0.1:${(hook.address() as AddressInfo).port}`;
  const { jwtSecret } = loadOptions(
    ['--database-url', 'postgres://x', '--admin-secret', 'x', '--jwt-secret', JSON.stringify(JWT)],
    {},
  );
  closed = await startTestEngine({
    databaseUrl: database.url,
    unauthorizedRole: role,
    jwtSecret,
    corsDomain: `*, ${APP}`,
  });
  await done('pg_track_table', { table: 'note' });
  await done('pg_create_insert_permission', { table: 'note', role, permission: { check: {}, columns: '*' } });
  await done('pg_create_select_permission', {
    table: 'note',
    role,
    permission: { filter: {}, columns: '*' },
  });
  const queries = [
    { name: 'add', query: MUTATION },
    { name: 'list', query: '{ note { id } }' },
  ];
  await done('create_query_collection', { name: 'stored', definition: { queries } });
  for (const query_name of ['add', 'list']) {
    const definition = { query: { collection_name: 'stored', query_name } };
    const methods = ['GET', 'POST', 'PUT'];
    await done('create_rest_endpoint', { name: query_name, url: query_name, methods, definition });
  }
  hooked = await startTestEngine({ databaseUrl: database.url, authHook });
  open = await start('--allowed-hosts', '*.svc.local', '--cors-domain', `*, ${APP}`);
  wide = await start('--allow-simple-requests', '--allowed-hosts', '*', '--cors-any-origin-credentials');
  const claims = { 'x-engine-allowed-roles': [role], 'x-engine-default-role': role };
  const token = new SignJWT({ 'https://hasura.io/jwt/claims': claims }).setProtectedHeader({ alg: 'HS256' });
  cookie = `token=${await token.sign(new TextEncoder().encode(KEY))}`;
});

beforeEach(() => database.sql('delete from note'));

afterAll(async () => {
  for (const engine of [wide, open, hooked, closed]) await engine?.close();
  hook?.close();
  await database?.drop();
});

async function done(type: string, args: unknown): Promise<void> {
  const { status, body } = await closed.admin(type, args);
  expect(status, JSON.stringify(body)).toBe(200);
}

type Sent = { readonly status: number; readonly text: string; readonly allowed: unknown };

/** Sends a request with exactly these headers; `fetch` adds some of its own. */
function send(
  { url }: { readonly url: string },
  path: string,
  headers: Record<string, string>,
  body = '',
  method = 'POST',
): Promise<Sent> {
  return new Promise((resolve, reject) => {
    const asking = request(url + path, { method, headers }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('end', () => {
        const allowed = response.headers['access-control-allow-origin'];
        resolve({ status: response.statusCode!, text: String(Buffer.concat(chunks)), allowed });
      });
    });
    asking.on('error', reject).end(body);
  });
}

const rows = async () => (await database.sql('select id from note')).length;

const MUTATION = 'mutation { insert_note_one(object: { id: 1 }) { id } }';
const GRAPHQL = JSON.stringify({ query: MUTATION });
const SQL = JSON.stringify({ type: 'run_sql', args: { sql: 'insert into note values (1)' } });
const INSERT = JSON.stringify({ type: 'insert', args: { table: 'note', objects: [{ id: 1 }] } });
const SIMPLE_TYPES = [
  'text/plain',
  'text/plain; application/json',
  'application/x-www-form-urlencoded',
  'multipart/form-data; boundary=x',
  '',
];
const PATHS: readonly (readonly [string, string])[] = [
  ['/v1/graphql', GRAPHQL],
  ['/v1alpha1/graphql', GRAPHQL],
  [
    '/v1beta1/relay',
    JSON.stringify({ query: 'mutation { insert_note_one(object: { id: 1 }) { __typename } }' }),
  ],
  ['/v1/query', INSERT],
  ['/api/rest/add', ''],
];
const typed = (type: string): Record<string, string> => (type === '' ? {} : { 'content-type': type });

describe.each(PATHS)('%s', (path, body) => {
  describe.each(SIMPLE_TYPES)('content type %j', (type) => {
    test.each([
      ['a cookie with a token', () => closed, () => ({ cookie })],
      ['a cookie the hook knows', () => hooked, () => ({ cookie: 'session=1' })],
      ['nothing, with an unauthorized role', () => closed, () => ({})],
      ['nothing, without an admin secret', () => open, () => ({})],
      ['a password of the browser', () => closed, () => ({ authorization: 'Basic YTpi' })],
    ])('%s writes nothing', async (_, engine, headers) => {
      const { status } = await send(engine(), path, { ...headers(), ...typed(type) }, body);
      expect([status, await rows()]).toEqual([415, 0]);
    });

    test.each([
      ['the admin secret', () => closed, () => ({ 'x-engine-admin-secret': closed.adminSecret })],
      ['a header pages cannot set', () => closed, () => ({ cookie, 'x-requested-with': 'fetch' })],
      ['--allow-simple-requests', () => wide, () => ({})],
    ])('%s writes', async (_, engine, headers) => {
      await expect
        .poll(async () => {
          await send(engine(), path, { ...headers(), ...typed(type) }, body);
          return rows();
        })
        .toBe(1);
    });
  });

  test.each(['application/json', 'Application/JSON; charset=utf-8', 'application/graphql-response+json'])(
    '%s with a cookie writes',
    async (type) => {
      await send(closed, path, { cookie, 'content-type': type }, body);
      expect(await rows()).toBe(1);
    },
  );
});

test.each(['/v1/metadata', '/v2/query', '/v1/query', '/v1/graphql/explain', '/v1alpha1/pg_dump'])(
  '%s: text is refused without credentials or an admin secret',
  async (path) => {
    expect((await send(open, path, typed('text/plain'), SQL)).status).toBe(415);
    expect(await rows()).toBe(0);
  },
);

test('REST: a link reads but does not write; methods with a preflight need no content type', async () => {
  expect((await send(closed, '/api/rest/add', { cookie }, '', 'GET')).status).toBe(415);
  expect(await rows()).toBe(0);
  expect((await send(closed, '/api/rest/list', { cookie }, '', 'GET')).status).toBe(200);
  expect((await send(closed, '/api/rest/list', { cookie })).status).toBe(200);
  expect((await send(closed, '/api/rest/add', { cookie }, '', 'PUT')).status).toBe(200);
  expect(await rows()).toBe(1);
});

describe('an engine without an admin secret', () => {
  const json = typed('application/json');
  const PORT = () => new URL(open.url).port;
  const ENDPOINTS: readonly (readonly [string, string, string])[] = [
    ['POST', '/v2/query', SQL],
    ['POST', '/v1/query', SQL],
    ['POST', '/v1/graphql', GRAPHQL],
    ['POST', '/api/rest/add', ''],
    ['GET', '/api/rest/list', ''],
    ['GET', '/v1alpha1/config', ''],
    ['OPTIONS', '/v1/graphql', ''],
  ];

  test.each(ENDPOINTS)('%s %s: foreign origins and foreign hosts are refused', async (method, path, body) => {
    const preflight = { 'access-control-request-method': 'POST' };
    const ask = async (headers: Record<string, string>) => {
      const own = { ...json, host: `localhost:${PORT()}`, ...(method === 'OPTIONS' ? preflight : {}) };
      return send(open, path, { ...own, ...headers }, body, method);
    };
    for (const origin of [
      'https://evil.example',
      'null',
      'http://localhost.evil.example',
      `https://${APP}`,
    ]) {
      const { status, text } = await ask({ origin });
      expect([status, text]).toEqual([400, expect.stringContaining('origin header does not match')]);
    }
    for (const host of ['evil.example', `evil.example:${PORT()}`, '127.0.0.1.evil.example', 'svc.local']) {
      // A name of the attacker for this address: page and request have the same origin.
      expect((await ask({ host, origin: `http://${host}` })).status).toBe(403);
      expect((await ask({ host })).status).toBe(403);
    }
    expect(await rows()).toBe(0);
  });

  test.each([
    ['a loopback name', () => ({ host: 'LOCALHOST' })],
    ['a loopback address', () => ({ host: `[::1]:${PORT()}` })],
    ['an address', () => ({ host: '10.1.2.3:8080' })],
    ['--allowed-hosts', () => ({ host: 'engine.svc.local:80' })],
    ['an origin on this machine', () => ({ host: 'localhost', origin: 'http://localhost:3000' })],
    ['its own origin', () => ({ host: 'engine.svc.local', origin: 'https://engine.svc.local' })],
    ['an origin of --cors-domain', () => ({ host: 'localhost', origin: APP })],
  ])('%s is answered', async (_, headers) => {
    const { status } = await send(open, '/v1/query', { ...json, ...headers() }, SQL);
    expect([status, await rows()]).toEqual([200, 1]);
  });

  test('health endpoints answer under any name', async () => {
    for (const path of ['/healthz?strict=false', '/livez', '/healthz/sources', '/v1/version']) {
      expect((await send(open, path, { host: 'evil.example' }, '', 'GET')).status).toBe(200);
    }
  });

  test('WebSockets: foreign origins and foreign hosts are refused', async () => {
    const attempt = (headers: Record<string, string>) => openSocket(open.url, 'graphql-ws', headers);
    await expect(attempt({ origin: 'https://evil.example' })).rejects.toThrow('400');
    await expect(attempt({ host: 'evil.example', origin: 'http://evil.example' })).rejects.toThrow('403');
    (await attempt({ origin: open.url })).close();
  });
});

test.each([
  ['a foreign origin', () => 'https://evil.example', 'connection_error'],
  ['null', () => 'null', 'connection_error'],
  ['a listed origin', () => APP, 'connection_ack'],
  ['its own origin', () => closed.url, 'connection_ack'],
])('a WebSocket of %s: the cookie counts only if the origin may use credentials', async (_, origin, type) => {
  const engine = await startTestEngine({
    databaseUrl: database.url,
    adminSecret: closed.adminSecret,
    authHook: `http://127.0.0.1:${(hook.address() as AddressInfo).port}`,
    corsDomain: `*, ${APP}`,
  });
  const from = origin() === closed.url ? engine.url : origin();
  const socket = await openSocket(engine.url, 'graphql-ws', { cookie: 'session=1', origin: from });
  socket.send({ type: 'connection_init' });
  expect((await socket.next()).type).toBe(type);
  socket.close();
  await engine.close();
});
