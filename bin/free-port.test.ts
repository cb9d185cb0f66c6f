/** Tests that ports in use are not chosen, and that chosen ports are not those of outgoing connections. */
import { once } from 'node:events';
import { createServer } from 'node:net';
import { expect, test } from 'vitest';
import { freePort, isFree } from './free-port.ts';

test('a port on which a server listens is not free', async () => {
  const port = await freePort();
  expect(await isFree(port)).toBe(true);
  const server = createServer().listen(port, '127.0.0.1');
  await once(server, 'listening');
  expect(await isFree(port)).toBe(false);
  await new Promise((resolve) => server.close(resolve));
});

test('free ports are below those of outgoing connections', async () => {
  const ports = await Promise.all(Array.from({ length: 50 }, freePort));
  expect(Math.min(...ports)).toBeGreaterThanOrEqual(10_000);
  expect(Math.max(...ports)).toBeLessThan(32_768);
});
