/** Tests the authentication hook over real HTTP: the request it receives, and the meaning of its answers. */
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { beforeAll, expect, test } from 'vitest';
import { EngineError } from '../errors/engine-error.ts';
import { freshnessMs } from './freshness.ts';
import { type AuthHook, sessionOfHook } from './webhook.ts';

type Asked = { method: string; headers: IncomingMessage['headers']; body: string };
type Reply = { status: number; headers?: Record<string, string>; body: string };

let url: string;
let asked: Asked;
let reply: Reply;

beforeAll(async () => {
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += String(chunk);
    asked = { method: request.method!, headers: request.headers, body };
    response.writeHead(reply.status, reply.headers).end(reply.body);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/auth`;
  return () => server.close();
});

const HEADERS = {
  authorization: 'Bearer x',
  cookie: 'a=b',
  host: 'engine',
  'x-engine-user-id': '9',
  dnt: '1',
};
const USER = { status: 200, body: '{"X-Engine-Role":"user","X-Engine-User-Id":1,"secret":"no"}' };

function ask(given: Reply, hook: Partial<AuthHook> = {}, body: unknown = { query: '{ a }' }) {
  reply = given;
  const usual = { url, mode: 'GET', sendsRequestBody: true, timeoutSeconds: 30 } as const;
  return sessionOfHook({ ...usual, ...hook }, HEADERS, 'x-engine-', async () => body);
}

test('its answer is the session; claims of the client and other keys are ignored', async () => {
  expect(await ask(USER)).toEqual({
    role: 'user',
    variables: { 'x-engine-role': 'user', 'x-engine-user-id': '1' },
    mayUseBackendOnly: false,
    setCookies: [],
  });
});

test('with GET it receives the headers that describe the client', async () => {
  await ask(USER);
  expect(asked.method).toBe('GET');
  expect(asked.headers).toMatchObject({ authorization: 'Bearer x', cookie: 'a=b' });
  expect([asked.headers.host, asked.headers['dnt']]).toEqual([new URL(url).host, undefined]);
});

test('with POST it receives all headers, and the GraphQL request unless that is off', async () => {
  await ask(USER, { mode: 'POST' });
  expect(JSON.parse(asked.body)).toEqual({ headers: HEADERS, request: { query: '{ a }' } });
  await ask(USER, { mode: 'POST', sendsRequestBody: false });
  expect(JSON.parse(asked.body)).toEqual({ headers: HEADERS });
});

test('its cookies are forwarded, and its caching headers limit the session', async () => {
  const before = Date.now();
  const session = await ask({ ...USER, headers: { 'cache-control': 'max-age=60', 'set-cookie': 'a=1' } });
  expect(session.setCookies).toEqual(['a=1']);
  expect(session.expiresAt).toBeGreaterThanOrEqual(before + 60_000);
  const own = await ask({ ...USER, body: '{"X-Engine-Role":"user","Cache-Control":"max-age=6"}' });
  expect(own.expiresAt! - Date.now()).toBeLessThanOrEqual(6000);
  expect((await ask({ ...USER, headers: { expires: 'nonsense' } })).expiresAt).toBeUndefined();
});

test.each(['no-cache', 'no-store', 'max-age=0, private, must-revalidate', 'private'])(
  'the header Cache-Control: %s of a framework does not end the session',
  async (control) => {
    expect((await ask({ ...USER, headers: { 'cache-control': control } })).expiresAt).toBeUndefined();
  },
);

test('the body may end the session at once, and its Expires counts without an age', async () => {
  const ending = (keys: object) =>
    ask({ ...USER, body: JSON.stringify({ 'X-Engine-Role': 'user', ...keys }) });
  expect((await ending({ 'Cache-Control': 'max-age=0' })).expiresAt).toBeLessThanOrEqual(Date.now());
  const expires = new Date(Date.now() + 60_000).toUTCString();
  expect((await ending({ Expires: expires })).expiresAt).toBeLessThanOrEqual(Date.now() + 60_000);
  expect((await ending({ 'Cache-Control': 'no-cache' })).expiresAt).toBeUndefined();
});

test.each([
  ['max-age=5', 5],
  ['s-maxage=7, max-age=5', 7],
  ['max-age=5, must-revalidate', 5],
  ['must-revalidate', 0],
  ['no-cache, max-age=5', 0],
  ['no-store', 0],
  ['public', Number.POSITIVE_INFINITY],
  [null, Number.POSITIVE_INFINITY],
])('keys with Cache-Control: %s are fresh for %s s', (cacheControl, seconds) => {
  expect(freshnessMs({ cacheControl, expires: null }, 0)).toBe(seconds * 1000);
});

test.for([
  [{ status: 401, body: '' }, 401, 'access-denied', 'Authentication hook unauthorized this request'],
  [{ status: 500, body: '' }, 500, 'unexpected', 'Invalid response from authorization hook'],
  [
    { status: 200, body: 'OK' },
    500,
    'unexpected',
    'Invalid response from authorization hook: expected a JSON object',
  ],
  [
    { status: 200, body: '{"X-Other-Role":"admin"}' },
    400,
    'invalid-params',
    'x-engine-role not found in session variables',
  ],
] as const)('%j refuses the request', async ([given, status, code, message]) => {
  const error = await ask(given).catch((thrown: unknown) => thrown);
  if (!(error instanceof EngineError)) throw new Error('was not refused', { cause: error });
  expect([error.status, error.codeIn('newer'), error.message]).toEqual([status, code, message]);
});
