/** What the authentication hook receives, and what each of its answers means. Rules: docs/reference/behaviour/authentication.md. */
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestEngine, type TestEngine } from '../../testing/engine.ts';
import { openSocket } from '../../testing/websocket.ts';
import { testDatabase } from '../../testing/world.ts';

type Reply = { readonly status: number; readonly body: string; readonly headers?: Record<string, string> };

const database = testDatabase();
let hook: Server;
let running: TestEngine | undefined;
/** The next answer of the hook; without one it closes the connection. */
let reply: Reply | undefined;
let received: { method: string; headers: IncomingHttpHeaders; body: string } | undefined;

beforeAll(async () => {
  await database.sql(
    'create table item (id int primary key, owner text); insert into item values (1, $$me$$)',
  );
  hook = createServer(async (request, response) => {
    received = { method: request.method!, headers: request.headers, body: await text(request) };
    if (reply) response.writeHead(reply.status, reply.headers).end(reply.body);
    else request.socket.destroy();
  });
  await new Promise<void>((resolve) => hook.listen(0, '127.0.0.1', resolve));
  await engineWith({});
  for (const [type, args] of [
    ['pg_track_table', { table: 'item' }],
    [
      'pg_create_select_permission',
      { table: 'item', role: 'user', permission: { columns: ['id'], filter: { owner: 'X-Engine-User-Id' } } },
    ],
  ] as const) {
    expect((await running!.admin(type, args)).status).toBe(200);
  }
});
afterAll(async () => {
  await running?.close();
  hook.close();
});

async function engineWith(options: Partial<Parameters<typeof startTestEngine>[0]>): Promise<void> {
  await running?.close();
  running = undefined;
  const authHook = `http://127.0.0.1:${(hook.address() as AddressInfo).port}/`;
  running = await startTestEngine({ authHook, ...options, databaseUrl: database.url });
}

const QUERY = {
  query: 'query Items($n: Int) { item(limit: $n) { id } }',
  variables: { n: 5 },
  operationName: 'Items',
};

async function send(path: string, headers: Record<string, string> = {}): Promise<[number, unknown]> {
  const response = await fetch(running!.url + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(QUERY),
  });
  return [response.status, await response.json()];
}

const json = (value: object) => ({ status: 200, body: JSON.stringify(value) });
const ME = { 'X-Engine-User-Id': 'me' };
const MALFORMED = 'Invalid response from authorization hook';
const NOT_JSON = `${MALFORMED}: expected a JSON object`;

/** The answers: the rows that the request then reads, or the status, code and message of its refusal. */
const REPLIES: readonly (readonly [
  Reply | undefined,
  readonly number[] | readonly [number, string, string],
])[] = [
  [json({ 'X-Engine-Role': 'user', ...ME }), [1]],
  [json({ 'x-engine-role': 'user', 'x-ENGINE-user-id': 'me', Other: 'x' }), [1]],
  [json({ 'X-Hasura-Role': 'user', 'X-Hasura-User-Id': 'me' }), [1]],
  [json({ 'X-Engine-Role': 'user', 'X-Engine-User-Id': 'other' }), []],
  // Names of the two prefixes are never mixed.
  [
    json({ 'X-Engine-Role': 'user', 'X-Hasura-User-Id': 'me' }),
    [400, 'not-found', 'missing session variable: "x-engine-user-id"'],
  ],
  [
    json({ ...ME, 'X-Hasura-Role': 'user' }),
    [400, 'invalid-params', 'x-engine-role not found in session variables'],
  ],
  [json({}), [400, 'invalid-params', 'x-engine-role not found in session variables']],
  [json([]), [500, 'unexpected', NOT_JSON]],
  ...['', 'OK', '{', 'null', '"x"', '1'].map(
    (body) => [{ status: 200, body }, [500, 'unexpected', NOT_JSON]] as const,
  ),
  ...[201, 204, 302, 400, 403, 404, 500, 503].map(
    (status) => [{ status, body: '' }, [500, 'unexpected', MALFORMED]] as const,
  ),
  [{ status: 401, body: '{}' }, [401, 'access-denied', 'Authentication hook unauthorized this request']],
  [undefined, [500, 'unexpected', 'webhook authentication request failed']],
];

for (const authHookMode of ['GET', 'POST'] as const) {
  test(`each answer of the hook means the same in mode ${authHookMode}, at every endpoint`, async () => {
    await engineWith({ authHookMode });
    for (const [given, expected] of REPLIES) {
      reply = given;
      const about = JSON.stringify(given);
      const [status, body] = await send('/v1/graphql');
      expect(status, about).toBe(200);
      if (typeof expected[1] !== 'string') {
        expect(body, about).toEqual({ data: { item: expected.map((id) => ({ id })) } });
        continue;
      }
      const [refusedWith, code, message] = expected;
      const error = { message, extensions: { path: '$', code } };
      expect(body, about).toEqual({ errors: [error] });
      if (code === 'not-found') continue;
      expect(await send('/v1alpha1/graphql'), about).toEqual([refusedWith, { errors: [error] }]);
      expect(await send('/v1/metadata'), about).toEqual([refusedWith, { path: '$', error: message, code }]);
      const socket = await openSocket(running!.url, 'graphql-ws');
      socket.send({ type: 'connection_init' });
      expect(await socket.next(), about).toEqual({ type: 'connection_error', payload: message });
      socket.close();
    }
  });
}

test('with --preserve-401-errors only a 401 keeps its status', async () => {
  await engineWith({ preserve401Errors: true });
  for (const [status, kept] of [
    [401, 401],
    [500, 200],
    [403, 200],
  ] as const) {
    reply = { status, body: '' };
    expect((await send('/v1/graphql'))[0], String(status)).toBe(kept);
  }
});

test('the hook receives the headers of the client, and with POST the request', async () => {
  reply = json({ 'X-Engine-Role': 'user', ...ME });
  const sent = { authorization: 'Bearer x', cookie: 'a=b', 'X-Engine-Role': 'wanted', 'x-other': 'y' };
  const about = { 'user-agent': 'client', referer: 'http://a', 'accept-language': 'de', dnt: '1' };
  await engineWith({ authHookMode: 'GET' });
  await send('/v1/graphql', { ...sent, ...about });
  const lower = Object.fromEntries(Object.entries(sent).map(([name, value]) => [name.toLowerCase(), value]));
  expect(received).toMatchObject({ method: 'GET', body: '', headers: lower });
  for (const [name, value] of Object.entries({ ...about, 'content-type': 'application/json' })) {
    expect(received!.headers[name], name).not.toBe(value);
  }
  for (const authHookSendRequestBody of [true, false]) {
    await engineWith({ authHookMode: 'POST', authHookSendRequestBody });
    await send('/v1/graphql', { ...sent, ...about });
    const { headers, ...rest } = JSON.parse(received!.body);
    expect(headers).toMatchObject({ ...lower, ...about, 'content-type': 'application/json' });
    expect(rest).toEqual(authHookSendRequestBody ? { request: QUERY } : {});
  }
});

test('an answer never makes an administrator of a request that names a role itself, and backend-only stays closed', async () => {
  await engineWith({});
  reply = json({ 'X-Engine-Role': 'user', 'X-Engine-Use-Backend-Only-Permissions': 'true', ...ME });
  const [, body] = await send('/v1/metadata', { 'x-engine-role': 'admin' });
  expect(body).toMatchObject({ code: 'access-denied' });
});
