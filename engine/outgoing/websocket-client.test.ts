/** Sockets to real servers: whose certificates are taken, and what cannot be an address. */
import { once } from 'node:events';
import { expect, onTestFinished, test } from 'vitest';
import { NoResponse } from './http-client.ts';
import { type CERTIFICATES, startTlsServer } from './testing/tls-server.ts';
import { openWebsocket } from './websocket-client.ts';

const SOCKET = { protocols: ['a'], headers: {}, mostBytes: 1000 };

/** What goes wrong with a server that answers requests, and takes no sockets. */
async function failure(certificate: keyof typeof CERTIFICATES, trusts: boolean): Promise<string> {
  const server = await startTlsServer(certificate, (_, response) => void response.end('a'));
  onTestFinished(server.close);
  const socket = openWebsocket({ ...SOCKET, url: server.url, trusts: () => trusts });
  const [error] = (await once(socket, 'error')) as [Error];
  return 'code' in error ? String(error.code) : error.message;
}

test('a certificate that is self-signed is refused, and taken of a host that is trusted', async () => {
  expect(await failure('selfSigned', false)).toBe('DEPTH_ZERO_SELF_SIGNED_CERT');
  expect(await failure('selfSigned', true)).toBe('Unexpected server response: 200');
});

test('one that has expired is refused of any host', async () => {
  expect(await failure('expired', true)).toBe('CERT_HAS_EXPIRED');
});

test.each([
  [{ url: 'nonsense' }, 'ERR_INVALID_URL'],
  [{ url: 'http://127.0.0.1:1/', headers: { a: 'b\nc' } }, 'ERR_INVALID_CHAR'],
])('%j cannot be', (wrong, code) => {
  expect(() => openWebsocket({ ...SOCKET, ...wrong })).toThrow(new NoResponse('invalid', code));
});
