/** Replicas asked one by one: stand-ins that answer, lag, hang and refuse, each at a loopback address of its own. */
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { laggingReplicasOf, resolveByDns } from './replicas.ts';

const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    server.close();
  }
});

async function serve(host: string, port: number, listener: RequestListener): Promise<number> {
  const server = createServer(listener);
  servers.push(server);
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(port, host, resolve);
  });
  return (server.address() as AddressInfo).port;
}

const at =
  (version: number): RequestListener =>
  (_, response) =>
    response.end(JSON.stringify({ resource_version: version }));

function ask(port: number, addresses: readonly string[], { timeoutMs = 30_000, onRequest = () => {} } = {}) {
  const options = {
    adminSecret: 's',
    authority: undefined,
    onRequest,
    timeoutMs,
    resolve: async () => addresses,
  };
  // The name is nobody's: what answers was found by its address.
  return laggingReplicasOf({ host: 'pods', port }, { ...options, url: 'http://engine.api.svc:8080' })(7);
}

test('each is asked by its own address, by the name of the endpoint and with the secret', async () => {
  const seen: unknown[] = [];
  const noting =
    (version: number): RequestListener =>
    (request, response) => {
      seen.push([request.url, request.headers.host, request.headers['x-engine-admin-secret']]);
      at(version)(request, response);
    };
  const port = await serve('127.0.0.1', 0, noting(7));
  await serve('127.0.0.2', port, noting(8));
  let requests = 0;
  expect(await ask(port, ['127.0.0.2', '127.0.0.1'], { onRequest: () => requests++ })).toEqual([]);
  expect(seen).toEqual([1, 2].map(() => ['/v1alpha1/config', 'engine.api.svc:8080', 's']));
  expect(requests).toBe(2);
});

test('who serves less, is not there or refuses is behind, and the others are not', async () => {
  const port = await serve('127.0.0.1', 0, at(7));
  await serve('127.0.0.2', port, at(6));
  await serve('127.0.0.4', port, (_, response) => response.writeHead(401).end('{}'));
  const addresses = [1, 2, 3, 4].map((last) => `127.0.0.${last}`);
  expect(await ask(port, addresses)).toEqual([
    { replica: '127.0.0.2', problem: 'serves an older version' },
    { replica: '127.0.0.3', problem: 'does not answer' },
    { replica: '127.0.0.4', problem: expect.stringContaining('does not accept the admin secret') },
  ]);
});

test('one that hangs is behind when its time is over', async () => {
  const port = await serve('127.0.0.1', 0, () => {});
  expect(await ask(port, ['127.0.0.1'], { timeoutMs: 200 })).toEqual([
    { replica: '127.0.0.1', problem: 'does not answer' },
  ]);
});

test('a name without an address is itself what is behind', async () => {
  const options = { url: 'http://e', adminSecret: undefined, authority: undefined, onRequest: () => {} };
  const behind = laggingReplicasOf({ host: 'pods.invalid', port: 1 }, { ...options, resolve: resolveByDns });
  expect(await behind(1)).toEqual([
    { replica: 'pods.invalid', problem: expect.stringContaining('has no address') },
  ]);
});
