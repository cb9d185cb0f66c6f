/** Tests the connection that an Engine resource describes. */
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, test } from 'vitest';
import type { CustomResource } from '../kinds.ts';
import { EngineConnections } from './engine-connections.ts';
import type { References } from './references.ts';

test.each([undefined, 'x-hasura-'])('the admin secret is sent with the prefix %s', async (headerPrefix) => {
  let received: IncomingHttpHeaders = {};
  const server = createServer((request, response) => {
    received = request.headers;
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ resource_version: 7, state_version: 'a' }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const connections = new EngineConnections({
    references: {} as References,
    nowMs: () => 0,
    onRequest: () => {},
    resolve: async () => [],
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const engine = {
    metadata: { name: 'main', namespace: 'a' },
    spec: { endpoint: { url }, ...(headerPrefix && { headerPrefix }) },
  } as unknown as CustomResource;
  expect(await connections.portOf('a/main', engine, 'hush').version()).toBe(7);
  const expected = `${headerPrefix ?? 'x-engine-'}admin-secret`;
  expect(Object.keys(received).filter((name) => name.endsWith('-admin-secret'))).toEqual([expected]);
  expect(received[expected]).toBe('hush');
  await connections.stop();
  server.close();
});
