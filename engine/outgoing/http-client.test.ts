/** Tests requests to real servers, well-behaved and faulty. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { type AddressInfo, createServer as createTcpServer } from 'node:net';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import {
  type OutgoingOptions,
  type OutgoingRequest,
  type OutgoingResponse,
  sendRequest,
} from './http-client.ts';
import { NoResponse } from './no-response.ts';
import { type CERTIFICATES, startTlsServer } from './testing/tls-server.ts';

type Handle = (request: IncomingMessage, response: ServerResponse) => void;

const OPTIONS: OutgoingOptions = { timeoutMs: 5000, mostBytes: 1000, isRepeatable: false };

let url: string;
let handle: Handle;
let connections = 0;
beforeAll(async () => {
  const server = createServer((request, response) => handle(request, response));
  server.on('connection', () => connections++);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  return () => {
    server.close();
    server.closeAllConnections();
  };
});

function send(
  more: Partial<OutgoingRequest> = {},
  options: Partial<OutgoingOptions> = {},
): Promise<OutgoingResponse> {
  return sendRequest({ url, method: 'GET', headers: [], body: null, ...more }, { ...OPTIONS, ...options });
}

const failure = (asked: Promise<unknown>) =>
  asked.then(
    () => 'an answer',
    (error: unknown) => (error instanceof NoResponse ? `${error.why}: ${error.message}` : error),
  );

async function textOf(request: IncomingMessage): Promise<string> {
  let text = '';
  for await (const chunk of request) text += String(chunk);
  return text;
}

test('a request is sent as given, without a User-Agent', async () => {
  let seen: { headers: IncomingMessage['headers']; body: string } | undefined;
  handle = async (request, response) => {
    seen = { headers: request.headers, body: await textOf(request) };
    response.setHeader('x-one', 'a').writeHead(201).end('made');
  };
  const headers = [
    ['x-a', 'b'],
    ['content-length', '999'],
  ] as const;
  const answer = await send({ method: 'POST', headers, body: 'grüß' });
  expect(seen).toEqual({
    headers: { 'x-a': 'b', 'content-length': '6', connection: 'keep-alive', host: new URL(url).host },
    body: 'grüß',
  });
  expect([answer.status, answer.headers['x-one'], answer.body.toString()]).toEqual([201, 'a', 'made']);
});

test('user and password of a URL are sent as Basic credentials', async () => {
  handle = (request, response) => void response.end(request.headers.authorization);
  const { body } = await send({ url: url.replace('//', '//me:pass@') });
  expect(body.toString()).toBe(`Basic ${btoa('me:pass')}`);
});

test('a connection is reused', async () => {
  handle = (_, response) => void response.end('a');
  await send();
  const before = connections;
  for (let i = 0; i < 5; i++) await send();
  expect(connections).toBe(before);
});

test('a redirect is returned as a response', async () => {
  handle = (_, response) => void response.writeHead(302, { location: '/elsewhere' }).end();
  expect((await send()).status).toBe(302);
});

test.each([
  ['gzip', gzipSync],
  ['deflate', deflateSync],
  ['br', brotliCompressSync],
] as const)('a body in %s is decoded, within the limit', async (coding, encode) => {
  let text = 'a'.repeat(1000);
  handle = (_, response) => void response.setHeader('content-encoding', coding).end(encode(text));
  expect((await send()).body.toString()).toBe(text);
  text += 'a';
  expect(await failure(send())).toBe('too long: the answer is longer than 1000 bytes');
});

test.each<[string, Handle, string]>([
  ['says nothing', () => {}, 'timeout: no answer in 0.2 s'],
  ['stops in the middle', (_, response) => void response.write('a'), 'timeout: no answer in 0.2 s'],
  ['hangs up', (_, response) => void response.destroy(), 'connection: ECONNRESET'],
  [
    'hangs up in the middle',
    (_, response) => {
      response.setHeader('content-length', 10).write('a');
      setTimeout(() => response.destroy(), 20);
    },
    'cut off: the answer was cut off',
  ],
  [
    'announces too much',
    (_, response) => void response.setHeader('content-length', 1001).write('a'),
    'too long: the answer is longer than 1000 bytes',
  ],
  [
    'says too much',
    (_, response) => {
      response.write('a'.repeat(600));
      response.end('a'.repeat(401));
    },
    'too long: the answer is longer than 1000 bytes',
  ],
  [
    'is not what it says',
    (_, response) => void response.setHeader('content-encoding', 'gzip').end('plain'),
    'cut off: the body is not what its content-encoding says',
  ],
])('a service that %s has given no response', async (_, misbehave, expected) => {
  handle = misbehave;
  expect(await failure(send({}, { timeoutMs: 200 }))).toBe(expected);
});

test.each([
  [{ url: 'nonsense' }, 'invalid: ERR_INVALID_URL'],
  [{ url: 'ftp://localhost/' }, 'invalid: ERR_INVALID_PROTOCOL'],
  [{ url: 'http://127.0.0.1:1/' }, 'connection: ECONNREFUSED'],
  [{ method: 'NO METHOD' }, 'invalid: ERR_INVALID_HTTP_TOKEN'],
  [{ headers: [['a', 'b\nc']] as const }, 'invalid: ERR_INVALID_CHAR'],
])('%j fails with its cause, and without the URL', async (wrong, expected) => {
  expect(await failure(send(wrong))).toBe(expected);
});

test('on an idle connection that was lost, only repeatable requests are sent again', async () => {
  // Answers once on every connection, and closes it at the second request.
  const server = createTcpServer((socket) => {
    let count = 0;
    socket.on('error', () => {});
    socket.on('data', () => {
      if (count++ === 0) socket.write('HTTP/1.1 200 OK\r\ncontent-length: 1\r\n\r\na');
      else socket.resetAndDestroy();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const there = { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/` };
  await send(there);
  expect(await failure(send(there))).toBe('connection: ECONNRESET');
  await send(there);
  expect((await send(there, { isRepeatable: true })).body.toString()).toBe('a');
});

describe('certificates', () => {
  async function trying(certificate: keyof typeof CERTIFICATES, trusts: boolean) {
    let requests = 0;
    const server = await startTlsServer(certificate, (_, response) => {
      requests++;
      response.end('a');
    });
    onTestFinished(server.close);
    const asked = await failure(send({ url: server.url }, { trusts: () => trusts }));
    return [asked, requests];
  }

  test.each([
    ['selfSigned', 'connection: DEPTH_ZERO_SELF_SIGNED_CERT'],
    ['elsewhere', 'connection: DEPTH_ZERO_SELF_SIGNED_CERT'],
  ] as const)('%s is refused, and accepted from a trusted host', async (certificate, refusal) => {
    expect(await trying(certificate, false)).toEqual([refusal, 0]);
    expect(await trying(certificate, true)).toEqual(['an answer', 1]);
  });

  test.each([
    ['expired', 'connection: CERT_HAS_EXPIRED'],
    ['unknownAuthority', 'connection: UNABLE_TO_VERIFY_LEAF_SIGNATURE'],
  ] as const)('%s is refused from any host, before anything is sent', async (certificate, refusal) => {
    expect(await trying(certificate, true)).toEqual([refusal, 0]);
  });
});
