/** Tests requests to single replicas: fakes that respond, lag, hang and refuse, each at its own loopback address. */
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
  // The name does not resolve, so every response comes from a given address.
  return laggingReplicasOf({ host: 'pods', port }, { ...options, url: 'http://engine.api.svc:8080' })(7);
}

test('each replica is requested at its own address, with the host name of the endpoint and the admin secret', async () => {
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

test('replicas that serve an older version, do not respond or refuse the request count as lagging', async () => {
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

test('a replica that hangs counts as lagging after the time limit', async () => {
  const port = await serve('127.0.0.1', 0, () => {});
  expect(await ask(port, ['127.0.0.1'], { timeoutMs: 200 })).toEqual([
    { replica: '127.0.0.1', problem: 'does not answer' },
  ]);
});

test('a host name without an address counts as a lagging replica', async () => {
  const options = { url: 'http://e', adminSecret: undefined, authority: undefined, onRequest: () => {} };
  const behind = laggingReplicasOf({ host: 'pods.invalid', port: 1 }, { ...options, resolve: resolveByDns });
  expect(await behind(1)).toEqual([
    { replica: 'pods.invalid', problem: expect.stringContaining('has no address') },
  ]);
});
