/** Tests how the client handles responses that a healthy engine never sends. Not here: a healthy engine
 *  (end-to-end/reconcile.engine.test.ts). */
import { execFileSync } from 'node:child_process';
import { createServer, type RequestListener, type Server } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { emptyMetadata } from '@pergola/engine/metadata';
import { afterEach, describe, expect, test } from 'vitest';
import { openProxy } from '../../engine/wire/testing/proxy.ts';
import { agentFor, fetchOver } from '../outgoing/http-request.ts';
import type { AdmissionRequest } from '../ports/admission.ts';
import type { EnginePort } from '../ports/engine.ts';
import { EngineProblem } from '../ports/engine-problem.ts';
import { engineClient } from './client.ts';

const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    server.close();
  }
});

async function serve(listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const answering = (status: number, body: string) =>
  serve((_, response) => response.writeHead(status).end(body));

const problemOf = (url: string) => problemIn(() => engineClient({ url, adminSecret: 's' }).read());

async function problemIn(send: () => Promise<unknown>): Promise<EngineProblem> {
  const error = await send().then(
    () => expect.fail('the request succeeded'),
    (error: unknown) => error,
  );
  expect(error).toBeInstanceOf(EngineProblem);
  return error as EngineProblem;
}

function selfSigned(): { readonly key: string; readonly certificate: string } {
  const options = ['-newkey', 'rsa:2048', '-nodes', '-subj', '/CN=engine', '-keyout', '-', '-out', '-'];
  const pem = execFileSync('openssl', ['req', '-x509', ...options], { encoding: 'utf8', stdio: 'pipe' });
  const partOf = (pattern: RegExp) => pem.match(pattern)![0];
  return {
    key: partOf(/-----BEGIN PRIVATE KEY-----[\s\S]*?-----END PRIVATE KEY-----/),
    certificate: partOf(/-----BEGIN CERTIFICATE-----[\s\S]*?-----END CERTIFICATE-----/),
  };
}

test('an endpoint without a listener is reported as unreachable, with its URL and the cause', async () => {
  const { kind, message } = await problemOf('http://127.0.0.1:9');
  expect(kind).toBe('unreachable');
  expect(message).toContain('http://127.0.0.1:9 does not answer');
});

test.each([
  [401, '{}'],
  [400, '{"code":"access-denied","error":"restricted access: admin only"}'],
])('a rejected admin secret is reported as unauthorized: %s %s', async (status, body) => {
  expect((await problemOf(await answering(status, body))).kind).toBe('unauthorized');
});

test('a newer version is reported as a conflict', async () => {
  expect((await problemOf(await answering(409, '{"code":"conflict","error":"x"}'))).kind).toBe('conflict');
});

test('a request that the engine cannot parse is reported as rejected with its message', async () => {
  const { kind, message } = await problemOf(
    await answering(400, '{"code":"parse-failed","error":"key missing","path":"$.args"}'),
  );
  expect([kind, message]).toEqual(['rejected', expect.stringContaining('answers 400: key missing')]);
});

type Request = (client: EnginePort) => Promise<unknown>;

const NO_EDITS: AdmissionRequest = { edits: [], foreign: [], needs: new Map(), unsentValues: [] };

/** The requests of the client, each with the response of an empty engine. */
const REQUESTS: readonly (readonly [name: string, send: Request, healthy: unknown])[] = [
  ['version', (client) => client.version(), { resource_version: 1 }],
  [
    'read',
    (client) => client.read(),
    [
      { resource_version: 1, metadata: { version: 3, sources: [] } },
      { is_consistent: true, inconsistent_objects: [] },
      { id: 'x', operator_state: {} },
    ],
  ],
  ['inconsistent', (client) => client.inconsistent(1), { inconsistent_objects: [] }],
  ['admit', (client) => client.admit(NO_EDITS), { inconsistent_objects: [], left_out: [] }],
  [
    'write',
    (client) =>
      client.write({
        edits: [],
        document: emptyMetadata,
        ledger: { manager: 'm', objects: {} },
        expectedVersion: 1,
        mustFit: true,
      }),
    [{ resource_version: 2, inconsistent_objects: [] }, { message: 'success' }],
  ],
  ['reload', (client) => client.reload(), { message: 'success', is_consistent: true }],
];

const json = (value: unknown): RequestListener => {
  return (_, response) => response.setHeader('content-type', 'application/json').end(JSON.stringify(value));
};
const html: RequestListener = (_, response) =>
  response.setHeader('content-type', 'text/html').end('<html>\n<h1>Welcome</h1>');

/** Services that may respond at an endpoint instead of an engine, each with the text the message must contain. */
const STRANGERS: readonly (readonly [name: string, listener: RequestListener, said: string])[] = [
  ['a web page', html, 'It sent 200 text/html. Check'],
  ['nothing', (_, response) => response.end(), 'its answer is empty'],
  ['text', (_, response) => response.end('ok'), 'its answer is not JSON'],
  ['JSON of another service', json({ status: 'ok' }), 'It sent 200 application/json. Check'],
  ['an empty object', json({}), 'Check the endpoint'],
  ['null', json(null), 'at $'],
  ['a number', json(7), 'at $'],
  ['an empty list', json([]), 'at $'],
  ['a list of nulls', json([null, null, null]), 'at $'],
  ['lists in lists', json([[], [], []]), 'at $'],
  ['wrong types', json({ resource_version: '1', inconsistent_objects: {}, message: 1 }), 'at $'],
  ['a negative version', json({ resource_version: -1, inconsistent_objects: [7], message: [] }), 'at $'],
  [
    'the content type of a page',
    (_, response) => response.setHeader('content-type', 'text/html').end('{"resource_version":1}'),
    'its content type is not JSON',
  ],
  ['404', (_, response) => response.writeHead(404).end('not here'), 'it answers 404'],
  ['404 in JSON', (_, response) => response.writeHead(404).end('{"error":7}'), 'It sent 404'],
  ['500', (_, response) => response.writeHead(500).end('oops'), 'answers 500: the answer is not an error'],
  ['503 without a body', (_, response) => response.writeHead(503).end(), 'answers 503'],
  [
    '500 with a code',
    (_, response) => response.writeHead(500).end('{"code":"unexpected","error":"x","path":"$"}'),
    '500: x',
  ],
  [
    'a redirect',
    (_, response) => response.writeHead(302, { location: 'http://127.0.0.1:9/login' }).end(),
    'it redirects to another path on its host',
  ],
  [
    'a redirect to HTTPS',
    (_, response) => response.writeHead(301, { location: 'https://127.0.0.1/' }).end(),
    'it redirects to https on its host',
  ],
  ['a redirect to nowhere', (_, response) => response.writeHead(308).end(), 'it redirects elsewhere'],
  ['204', (_, response) => response.writeHead(204).end(), 'it answers 204'],
  [
    'an answer cut off in the middle',
    (_, response) => {
      response.writeHead(200, { 'content-length': '100' }).write('[{"resource');
      setTimeout(() => response.destroy(), 20);
    },
    'does not answer',
  ],
  ['a connection that is reset', (request) => request.socket.resetAndDestroy(), 'does not answer'],
  ['silence', () => {}, 'does not answer'],
  [
    'an answer that drips',
    (_, response) => {
      const drip = setInterval(() => response.write(' '), 10);
      response.on('close', () => clearInterval(drip));
    },
    'does not answer',
  ],
];

describe.each(REQUESTS)('the request %s', (name, send, healthy) => {
  const isSlow = (stranger: string) => stranger === 'silence' || stranger === 'an answer that drips';

  test.each(STRANGERS)(
    'reports an unreachable engine and what it received: %s',
    async (stranger, listener, said) => {
      const url = await serve(listener);
      const client = engineClient({
        url,
        adminSecret: 'secret',
        ...(isSlow(stranger) ? { timeoutMs: 100 } : {}),
      });
      const error = await problemIn(() => send(client));
      expect(error.kind).toBe('unreachable');
      expect(error.message).toContain(url);
      expect(error.message).toContain(said);
      expect(error.message.length).toBeLessThan(700);
    },
  );

  test('ends in time on a kept connection that has gone silent, and the next one succeeds', async () => {
    const url = await serve(json(healthy));
    const proxy = await openProxy(url);
    const through = proxy.url.replace(/\/$/, '');
    const agent = agentFor(through);
    try {
      const client = engineClient({
        url: through,
        adminSecret: 's',
        fetch: fetchOver(agent, () => {}),
        timeoutMs: 200,
      });
      await send(client);
      await new Promise((resolve) => setTimeout(resolve, 10));
      proxy.freeze();
      const began = performance.now();
      expect((await problemIn(() => send(client))).kind).toBe('unreachable');
      expect(performance.now() - began).toBeLessThan(2000);
      await send(client);
    } finally {
      agent.destroy();
      await proxy.close();
    }
  });

  test('accepts the response of an engine', async () => {
    await expect(send(engineClient({ url: await serve(json(healthy)) }))).resolves.not.toThrow();
  });

  test('rejects the response to any other request', async () => {
    for (const [other, , answer] of REQUESTS) {
      // Both are reports of inconsistencies, or an engine is older than the question.
      if (isSame(answer, healthy) || [name, other].toSorted().join() === 'admit,inconsistent') continue;
      const client = engineClient({ url: await serve(json(answer)) });
      const found = await send(client).then(
        () => 'an answer',
        (error: EngineProblem) => error.kind,
      );
      expect([name, other, found]).toEqual([name, other, 'unreachable']);
    }
  });
});

const isSame = (a: unknown, b: unknown) => JSON.stringify(a) === JSON.stringify(b);

test('a ledger of an invalid shape is an error, not an empty ledger', async () => {
  const bulk = (operator_state: unknown) => [
    { resource_version: 1, metadata: { version: 3, sources: [] } },
    { inconsistent_objects: [] },
    { id: 'x', operator_state },
  ];
  for (const state of ['text', 7, [], { objects: [] }]) {
    const client = engineClient({ url: await serve(json(bulk(state))) });
    expect((await problemIn(() => client.read())).message).toContain('at $[2].operator_state');
  }
});

test('the error for metadata that this version cannot read names the path', async () => {
  const metadata = { version: 3, sources: [{ name: 7 }] };
  const answer = [{ resource_version: 1, metadata }, { inconsistent_objects: [] }, { id: 'x' }];
  const client = engineClient({ url: await serve(json(answer)) });
  expect((await problemIn(() => client.read())).message).toContain('at $[0].metadata.sources[0]');
});

test('the error for an engine too old to name inconsistent objects by key says so', async () => {
  const old = { inconsistent_objects: [{ type: 'table', name: 'table a', reason: 'gone', definition: 'a' }] };
  const { kind, message } = await problemIn(async () =>
    engineClient({ url: await serve(json(old)) }).inconsistent(1),
  );
  expect(kind).toBe('unreachable');
  expect(message).toContain('at $.inconsistent_objects[0]');
  expect(message).toContain('not older than the operator');
});

test('a character that two parts of a response share is read as one', async () => {
  const body = Buffer.from(JSON.stringify({ resource_version: 7, version: 'é€😀' }));
  const url = await serve(async (_, response) => {
    for (const byte of body) {
      response.write(Buffer.of(byte));
      await new Promise((resolve) => setImmediate(resolve));
    }
    response.end();
  });
  const state = await engineClient({ url, adminSecret: 's' }).state({ isUnchecked: true });
  expect(state).toMatchObject({ resourceVersion: 7, engineVersion: 'é€😀' });
});

test('the client stops reading a response larger than 64 MiB', async () => {
  let sent = 0;
  const url = await serve((_, response) => {
    const megabyte = Buffer.alloc(1024 * 1024, ' ');
    const more = () => {
      while (!response.destroyed && response.write(megabyte)) sent++;
    };
    response.on('drain', more);
    more();
  });
  const { kind, message } = await problemIn(() => engineClient({ url }).version());
  expect([kind, message]).toEqual(['unreachable', expect.stringContaining('larger than 64 MiB')]);
  expect(sent).toBeLessThan(200);
});

test.each([
  ['in the body', (secret: string) => secret],
  ['in JSON', (secret: string) => JSON.stringify({ headers: { 'x-engine-admin-secret': secret } })],
  ['cut in two by the end of the excerpt', (secret: string) => `${'a'.repeat(150)}${secret}`],
])('the message does not contain the admin secret when a service repeats it %s', async (_, body) => {
  const adminSecret = 'very "secret" words';
  for (const status of [200, 302, 400, 403, 404, 500]) {
    const url = await serve((_, response) => response.writeHead(status).end(body(adminSecret)));
    const { message } = await problemIn(() => engineClient({ url, adminSecret }).version());
    expect(message).not.toContain('very');
  }
});

/** Answers of services that are no engine, with a text in every part that a service chooses. */
const PLANTED = 'planted-token';
const PLANTERS: readonly (readonly [name: string, listener: RequestListener])[] = [
  ['a text', (_, response) => response.end(PLANTED)],
  ['a page', (_, response) => response.setHeader('content-type', 'text/html').end(`<p>${PLANTED}`)],
  ['a content type', (_, response) => response.setHeader('content-type', `text/${PLANTED}`).end('a')],
  ['JSON text', json(PLANTED)],
  ['a list', json([PLANTED, PLANTED, PLANTED])],
  [
    'a value of each field',
    json({ resource_version: PLANTED, inconsistent_objects: PLANTED, message: [PLANTED] }),
  ],
  ['a field of a list', json([{ resource_version: 1, metadata: PLANTED }, { [PLANTED]: PLANTED }, {}])],
  [
    'an inconsistent object',
    json({ inconsistent_objects: [{ key: [PLANTED], type: PLANTED, [PLANTED]: 1 }] }),
  ],
  [
    'a redirect',
    (_, response) => response.writeHead(302, { location: `http://${PLANTED}/${PLANTED}` }).end(),
  ],
  ...[400, 401, 403, 404, 409, 413, 429, 500, 503].flatMap((status) =>
    [
      PLANTED,
      { error: PLANTED },
      { code: PLANTED, error: PLANTED },
      { code: 'not-found', error: PLANTED },
      { code: 'access-denied', error: PLANTED, path: `/${PLANTED}` },
      { code: 'unexpected', error: { message: PLANTED }, path: '$' },
      { Code: 'Success', Token: PLANTED },
    ].map((body): readonly [string, RequestListener] => [
      `${status} ${JSON.stringify(body)}`,
      (_, response) => response.writeHead(status, PLANTED).end(JSON.stringify(body)),
    ]),
  ),
];

test.each(PLANTERS)(
  'nothing that a service other than an engine answers is in a message: %s',
  async (_, listener) => {
    for (const [name, send] of REQUESTS) {
      const client = engineClient({ url: await serve(listener) });
      // A conflict of one request means that there is nothing to report.
      const said = await send(client).catch((error: EngineProblem) => [error.message, error.reason]);
      expect(JSON.stringify(said ?? null), name).not.toContain(PLANTED);
    }
  },
);

test.each(['?', '#', '/latest/meta-data#', '/a?b=', '\\x'])(
  'the address of an engine ends with a path: %j is not requested',
  async (more) => {
    let requests = 0;
    const url = await serve((_, response) => void response.end(String(requests++)));
    const { kind } = await problemIn(() => engineClient({ url: url + more }).version());
    expect([kind, requests]).toEqual(['unreachable', 0]);
  },
);

test('the client does not follow redirects, which would reveal the admin secret', async () => {
  const elsewhere: unknown[] = [];
  const other = createServer((request, response) => {
    elsewhere.push(request.headers);
    response.end('{"resource_version":1}');
  });
  await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
  const location = `http://127.0.0.1:${(other.address() as AddressInfo).port}/`;
  const url = await serve((_, response) => response.writeHead(307, { location }).end());
  await problemIn(() => engineClient({ url, adminSecret: 'secret' }).version());
  other.close();
  expect(elsewhere).toEqual([]);
});

test('no message contains the password of the URL', async () => {
  for (const url of ['http://me:hunter2@127.0.0.1:9', 'http://me:hunter2@127.0.0.1:99999']) {
    expect((await problemIn(() => engineClient({ url }).version())).message).not.toContain('hunter2');
  }
});

test('the errors for plain HTTP instead of TLS and for an untrusted certificate give advice', async () => {
  const plain = (await serve(json({}))).replace('http:', 'https:');
  expect((await problemIn(() => engineClient({ url: plain }).version())).message).toContain(
    'https, or http?',
  );
  const { key, certificate } = selfSigned();
  const secure = createSecureServer({ key, cert: certificate }, json({ resource_version: 1 }));
  await new Promise<void>((resolve) => secure.listen(0, '127.0.0.1', resolve));
  const url = `https://127.0.0.1:${(secure.address() as AddressInfo).port}`;
  const { kind, message } = await problemIn(() => engineClient({ url }).version());
  secure.close();
  expect([kind, message]).toEqual(['unreachable', expect.stringContaining('spec.tls.caRef')]);
});

describe('an engine that is older than a question', () => {
  const refusing = (argument: string) => ({
    ...{ code: 'parse-failed', error: 'unexpected field', path: `$.args.${argument}` },
  });
  const ignoring = { is_consistent: true, inconsistent_objects: [] };
  const effects: Request = (client) => client.schemaEffects([]);
  const admit: Request = (client) => client.admit(NO_EDITS);

  test.each<[string, Request, number, object]>([
    ['refuses what a change breaks', effects, 400, refusing('include_effects')],
    ['ignores what a change breaks', effects, 200, ignoring],
    ['refuses what fits', admit, 400, refusing('admit')],
    ['ignores what fits', admit, 200, ignoring],
  ])('is unsupported when it %s', async (_, send, status, body) => {
    const url = await answering(status, JSON.stringify(body));
    const { kind, message } = await problemIn(() => send(engineClient({ url })));
    expect([kind, message]).toEqual(['unsupported', expect.stringContaining('update the engine')]);
  });

  test('is not one that rejects the change, or answers with something else', async () => {
    const rejecting = await answering(
      400,
      JSON.stringify({ code: 'parse-failed', error: 'no', path: '$.args' }),
    );
    expect((await problemIn(() => engineClient({ url: rejecting }).schemaEffects([]))).kind).toBe('rejected');
    const strange = await answering(200, '{"effects": {}}');
    expect((await problemIn(() => engineClient({ url: strange }).schemaEffects([]))).kind).toBe(
      'unreachable',
    );
  });
});

test('every request has the admin secret in a header with the configured prefix', async () => {
  const headers: unknown[] = [];
  const url = await serve((request, response) => {
    headers.push(request.headers['x-other-admin-secret']);
    response.end('{"inconsistent_objects":[],"resource_version":1,"message":"success"}');
  });
  const client = engineClient({ url: `${url}/`, adminSecret: 's', headerPrefix: 'x-other-' });
  await client.inconsistent(1);
  await client.version();
  await client.reload();
  expect(headers).toEqual(['s', 's', 's']);
});
