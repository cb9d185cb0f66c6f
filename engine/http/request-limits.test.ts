/** Tests the limits of a whole engine for the bytes of a body and the bytes and number of headers, and requests that
 *  are not HTTP. Each is refused with its status and a body like any other error, and the next request is answered. */
import { connect } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createDatabase, type TestDatabase } from '../../testing/database.ts';
import { startTestEngine, type TestEngine } from '../../testing/engine.ts';

let database: TestDatabase;
let engine: TestEngine;

beforeAll(async () => {
  database = await createDatabase();
  engine = await startTestEngine({
    databaseUrl: database.url,
    maxTotalHeaderLength: 65_536,
    maxRequestBodyLength: 4096,
  });
});
afterAll(async () => {
  await engine?.close();
  await database?.drop();
});

/** Sends bytes unchanged, and returns everything that is received until the engine closes the connection or has sent
 *  the announced length. */
function record(text: string): Promise<{ readonly status: number; readonly body: unknown }> {
  return new Promise((resolve, reject) => {
    let answer = '';
    const socket = connect(Number(new URL(engine.url).port), '127.0.0.1', () => socket.write(text));
    socket.setEncoding('utf8').on('error', reject);
    socket.on('data', (chunk) => {
      answer += chunk;
      const [head = '', body] = answer.split('\r\n\r\n');
      const length = Number(/content-length: (\d+)/i.exec(head)?.[1] ?? Number.NaN);
      if (body === undefined || Buffer.byteLength(body) < length) return;
      socket.destroy();
      resolve({ status: Number(head.split(' ')[1]), body: JSON.parse(body) });
    });
  });
}

const request = (path: string, headers: readonly string[], body = '{"query":"{ __typename }"}') =>
  [
    `POST ${path} HTTP/1.1`,
    'host: localhost',
    `x-engine-admin-secret: ${engine.adminSecret}`,
    ...headers,
    `content-length: ${Buffer.byteLength(body)}`,
    '',
    body,
  ].join('\r\n');

const many = (count: number) => Array.from({ length: count }, (_, i) => `a${i}: b`);
const refusal = (error: string, code = 'bad-request') => ({ path: '$', error, code });
const OVERFLOW = refusal('request headers are more than 1000 or larger than 65536 bytes');
const ENDPOINTS = ['/v1/graphql', '/v1/metadata', '/api/rest/x', '/v1/version'];

test.each(ENDPOINTS)('%s: headers above the limit are refused with 431', async (path) => {
  expect(await record(request(path, [`x-long: ${'a'.repeat(70_000)}`]))).toEqual({
    status: 431,
    body: OVERFLOW,
  });
});

test.each(ENDPOINTS)(
  '%s: more than a thousand headers are refused with 431, whatever the last ones contain',
  async (path) => {
    expect(await record(request(path, [...many(1000), 'x-engine-role: user']))).toEqual({
      status: 431,
      body: OVERFLOW,
    });
  },
);

test('a thousand headers are all read', async () => {
  const { status, body } = await record(
    request('/v1/metadata', [...many(996), 'x-engine-role: user'], '{"type":"export_metadata","args":{}}'),
  );
  expect([status, body]).toEqual([400, expect.objectContaining({ code: 'access-denied' })]);
});

test.each(['/v1/graphql', '/v1/metadata', '/api/rest/x'])(
  '%s: a chunked body has the same limit',
  async (path) => {
    const chunk = `1000\r\n${'a'.repeat(4096)}\r\n`;
    const head = request(path, ['transfer-encoding: chunked'], '').replace('content-length: 0\r\n', '');
    const { status } = await record(`${head}${chunk}${chunk}0\r\n\r\n`);
    expect(status).toBe(413);
  },
);

test.each(['no HTTP at all\r\n\r\n', 'GET / HTTP/1.1\r\nbad header\r\n\r\n'])('%j is 400', async (text) => {
  expect(await record(text)).toEqual({
    status: 400,
    body: refusal('the request is no HTTP', 'parse-failed'),
  });
});

test('refused requests do not affect the engine', async () => {
  expect(await engine.graphql('{ __typename }')).toEqual({ data: { __typename: 'query_root' } });
});
