/** Which origins may call, the headers of answers to them, and which cookies count.
 *  Rules: docs/reference/behaviour/authentication.md, docs/reference/behaviour/endpoints.md. */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startTestEngine, type TestEngine } from '../../testing/engine.ts';
import { openSocket } from '../../testing/websocket.ts';
import { testDatabase } from '../../testing/world.ts';

const database = testDatabase();
let hook: Server;
let running: TestEngine | undefined;
let cookiesOfHook: readonly string[] = [];

beforeAll(async () => {
  // Accepts the cookie `session=good`.
  hook = createServer((request, response) => {
    if (request.headers.cookie !== 'session=good') return void response.writeHead(401).end();
    for (const cookie of cookiesOfHook) response.appendHeader('set-cookie', cookie);
    response.end(JSON.stringify({ 'X-Engine-Role': 'user' }));
  });
  await new Promise<void>((resolve) => hook.listen(0, '127.0.0.1', resolve));
});
afterAll(async () => {
  await running?.close();
  hook.close();
});

async function engineWith(options: Partial<Parameters<typeof startTestEngine>[0]>): Promise<TestEngine> {
  await running?.close();
  running = undefined;
  const authHook = `http://127.0.0.1:${(hook.address() as AddressInfo).port}/`;
  running = await startTestEngine({ authHook, ...options, databaseUrl: database.url });
  return running;
}

const COOKIE = { cookie: 'session=good' };
const LISTED = 'http://*.localhost, http://localhost:3000, https://*.foo.bar.com, https://one.example';
/** The origins, and whether each is in the list. A star stands for one label, and a port belongs to the name. */
const ORIGINS: Readonly<Record<string, boolean>> = {
  'http://localhost:3000': true,
  'http://localhost:3001': false,
  'http://app.localhost': true,
  'http://app.localhost:8080': false,
  'https://app.localhost': false,
  'https://a.foo.bar.com': true,
  'https://a.b.foo.bar.com': false,
  'https://foo.bar.com': false,
  'https://a.foo.bar.com.evil.example': false,
  'https://one.example': true,
  'https://ONE.example': true,
  'http://one.example': false,
  null: false,
};

/** The policies: their options, whether an origin may call, and whether its cookies count. */
const POLICIES = {
  list: {
    options: { corsDomain: LISTED },
    allows: (listed: boolean) => listed,
    trusts: (listed: boolean) => listed,
  },
  any: { options: { corsDomain: '*' }, allows: () => true, trusts: () => false },
  none: { options: { corsDomain: '' }, allows: () => false, trusts: () => false },
  disabled: { options: { disableCors: true }, allows: () => false, trusts: () => false },
};

const COMMON = {
  'access-control-allow-methods': 'GET,POST,PUT,PATCH,DELETE,OPTIONS',
  'access-control-expose-headers': 'X-Engine-Query-Cache-Key,X-Engine-Query-Family-Cache-Key,Warning',
};

/** Requests without an origin, and of pages of the engine itself: directly, behind TLS, and behind a proxy that changes the host. */
function ownOrigins(): readonly Record<string, string>[] {
  const { host } = new URL(running!.url);
  return [
    {},
    { origin: `http://${host}` },
    { origin: `https://${host}` },
    { origin: 'https://shown.example', 'sec-fetch-site': 'same-origin' },
  ];
}

function corsHeadersOf(response: Response): Record<string, string> {
  return Object.fromEntries([...response.headers].filter(([name]) => name.startsWith('access-control-')));
}

describe.for(Object.entries(POLICIES))('%s', ([, { options, allows, trusts }]) => {
  beforeAll(async () => {
    await engineWith(options);
  });

  test('preflights and answers of every endpoint', async () => {
    for (const [origin, isListed] of Object.entries(ORIGINS)) {
      const expected = allows(isListed)
        ? {
            'access-control-allow-origin': origin,
            ...COMMON,
            ...(trusts(isListed) ? { 'access-control-allow-credentials': 'true' } : {}),
          }
        : {};
      for (const path of ['/v1/graphql', '/v1/metadata', '/api/rest/none', '/v1/version', '/nothing']) {
        const about = `${origin} ${path}`;
        const asked = { 'access-control-request-method': 'POST', 'access-control-request-headers': 'a,b' };
        const preflight = await fetch(running!.url + path, {
          method: 'OPTIONS',
          headers: { origin, ...asked },
        });
        const allowed = { 'access-control-allow-headers': 'a,b', 'access-control-max-age': '1728000' };
        expect(preflight.status, about).toBe(204);
        expect(corsHeadersOf(preflight), about).toEqual(allows(isListed) ? { ...expected, ...allowed } : {});
        const answer = await fetch(running!.url + path, { method: 'GET', headers: { origin } });
        expect(corsHeadersOf(answer), about).toEqual(expected);
      }
    }
    const sameOrigin = await fetch(`${running!.url}/v1/version`);
    expect(corsHeadersOf(sameOrigin)).toEqual({});
  });

  test('cookies of requests', async () => {
    const body = '{"query": "{ __typename }"}';
    const isAnswered = async (path: string, headers: Record<string, string>) => {
      const sent = { 'content-type': 'application/json', ...headers, ...COOKIE };
      const response = await fetch(running!.url + path, { method: 'POST', headers: sent, body });
      return !(await response.text()).includes('access-denied');
    };
    for (const path of ['/v1/graphql', '/v1alpha1/graphql', '/v1beta1/relay']) {
      for (const [origin, isListed] of Object.entries(ORIGINS)) {
        const isCounted = trusts(isListed) || options === POLICIES.disabled.options;
        expect(await isAnswered(path, { origin }), `${origin} ${path}`).toBe(isCounted);
      }
      for (const headers of ownOrigins()) expect(await isAnswered(path, headers), path).toBe(true);
    }
  });

  test("WebSockets of the engine's own origin", async () => {
    for (const protocol of ['graphql-ws', 'graphql-transport-ws']) {
      for (const headers of ownOrigins()) {
        const socket = await openSocket(running!.url, protocol, { ...headers, ...COOKIE });
        socket.send({ type: 'connection_init' });
        // With CORS disabled, cookies of WebSockets need an option.
        const isCounted = options !== POLICIES.disabled.options;
        const { type } = await socket.next().catch(() => ({ type: 'closed' }));
        expect(type === 'connection_ack', JSON.stringify(headers)).toBe(isCounted);
        socket.close();
      }
    }
  });

  test('WebSockets', async () => {
    for (const [origin, isListed] of Object.entries(ORIGINS)) {
      const isOpen = allows(isListed) || options === POLICIES.disabled.options;
      const opened = openSocket(running!.url, 'graphql-ws', { origin, ...COOKIE });
      if (!isOpen) {
        await expect(opened, origin).rejects.toThrow('400');
        continue;
      }
      const socket = await opened;
      socket.send({ type: 'connection_init' });
      const type = trusts(isListed) ? 'connection_ack' : 'connection_error';
      expect((await socket.next()).type, origin).toBe(type);
      socket.close();
    }
  });
});

test('with CORS disabled, --ws-read-cookie lets WebSockets of every origin use cookies', async () => {
  await engineWith({ disableCors: true, wsReadCookie: true });
  for (const headers of [{ origin: 'https://evil.example' }, {}]) {
    const socket = await openSocket(running!.url, 'graphql-ws', { ...headers, ...COOKIE });
    socket.send({ type: 'connection_init' });
    expect((await socket.next()).type).toBe('connection_ack');
    socket.close();
  }
});

test('cookies of the hook are all passed on, the newest first', async () => {
  await engineWith({});
  const all = ['a=1; Path=/', 'b=2; HttpOnly', 'c=3; Secure; SameSite=Lax'];
  for (let count = 0; count <= all.length; count++) {
    cookiesOfHook = all.slice(0, count);
    const response = await fetch(`${running!.url}/v1/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...COOKIE },
      body: '{"query": "{ __typename }"}',
    });
    expect(response.status).toBe(200);
    expect(response.headers.getSetCookie()).toEqual(all.slice(0, count).toReversed());
  }
  cookiesOfHook = [];
});
