import { createServer, type IncomingHttpHeaders, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, test } from 'vitest';
import { adminSecretOf, keepLastHeader } from './session-variables.ts';

/** Returns the headers a server receives for these lines. */
function received(lines: readonly [string, string][]): Promise<IncomingHttpHeaders> {
  return new Promise((resolve, reject) => {
    const server = createServer((incoming, response) => {
      keepLastHeader(incoming, 'x-engine-');
      resolve(incoming.headers);
      response.end();
      server.close();
    });
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address() as AddressInfo;
      request({ port, host: '127.0.0.1', headers: lines.flat() }).on('error', reject).end();
    });
  });
}

test('the last of two session headers counts, in any case of its name', async () => {
  const headers = await received([
    ['Host', 'here'],
    ['X-Engine-Role', 'employee'],
    ['x-engine-role', 'admin'],
    ['X-Engine-User-Id', '4'],
  ]);
  expect(headers['x-engine-role']).toBe('admin');
  expect(headers['x-engine-user-id']).toBe('4');
});

test('repeated headers with other names stay lists', async () => {
  const headers = await received([
    ['Host', 'here'],
    ['X-Other', 'a'],
    ['X-Other', 'b'],
  ]);
  expect(headers['x-other']).toBe('a, b');
});

test('the admin secret is read as UTF-8', () => {
  const received = Buffer.from('clé').toString('latin1');
  expect(adminSecretOf({ 'x-engine-admin-secret': received }, 'x-engine-')).toBe('clé');
});
