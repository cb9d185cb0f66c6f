/** Tests WebSockets to real servers: accepted certificates, and invalid addresses. */
import { once } from 'node:events';
import { expect, onTestFinished, test } from 'vitest';
import { NoResponse } from './no-response.ts';
import { type CERTIFICATES, startTlsServer } from './testing/tls-server.ts';
import { openWebsocket } from './websocket-client.ts';

const SOCKET = { protocols: ['a'], headers: {}, mostBytes: 1000 };

/** Returns the error with a server that answers requests but accepts no WebSockets. */
async function failure(certificate: keyof typeof CERTIFICATES, trusts: boolean): Promise<string> {
  const server = await startTlsServer(certificate, (_, response) => void response.end('a'));
  onTestFinished(server.close);
  const socket = openWebsocket({ ...SOCKET, url: server.url, trusts: () => trusts });
  const [error] = (await once(socket, 'error')) as [Error];
  return 'code' in error ? String(error.code) : error.message;
}

test('values of headers are sent as UTF-8', async () => {
  const received: unknown[] = [];
  const server = await startTlsServer('selfSigned', (request, response) => {
    received.push(request.headers['x-name']);
    response.end();
  });
  onTestFinished(server.close);
  const headers = { 'x-name': '日本' };
  const socket = openWebsocket({ ...SOCKET, headers, url: server.url, trusts: () => true });
  await once(socket, 'error');
  // Node shows one character for each byte.
  expect(received).toEqual([Buffer.from('日本').toString('latin1')]);
});

test('a self-signed certificate is refused, and accepted from a trusted host', async () => {
  expect(await failure('selfSigned', false)).toBe('DEPTH_ZERO_SELF_SIGNED_CERT');
  expect(await failure('selfSigned', true)).toBe('Unexpected server response: 200');
});

test('an expired one is refused from any host', async () => {
  expect(await failure('expired', true)).toBe('CERT_HAS_EXPIRED');
});

test.each([
  [{ url: 'nonsense' }, 'ERR_INVALID_URL'],
  [{ url: 'http://127.0.0.1:1/', headers: { a: 'b\nc' } }, 'ERR_INVALID_CHAR'],
])('%j is invalid', (wrong, code) => {
  expect(() => openWebsocket({ ...SOCKET, ...wrong })).toThrow(new NoResponse('invalid', code));
});
