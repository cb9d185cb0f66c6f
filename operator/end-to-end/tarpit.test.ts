/** Tests a remote schema that fails slowly: the engine requests it once for all dry runs of a pass, so that other changes wait for one
 *  timeout, not for one per dry run. */

import type { AddressInfo } from 'node:net';
import { createServer, type Server } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { GoodWorld } from '../testing/good-world.ts';
import { permission, resource, table } from '../testing/resources.ts';

let world: GoodWorld;
let server: Server;
let connections = 0;
/** The engine caches failures that take this long (FailureCache in engine/admin/gateway.ts). */
const SILENCE_MS = 2500;

beforeAll(async () => {
  server = createServer((socket) => {
    connections++;
    socket.on('error', () => {});
    setTimeout(() => socket.destroy(), SILENCE_MS);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  world = await GoodWorld.start();
  await world.pass();
}, 180_000);
afterAll(async () => {
  server.close();
  await world?.close();
});

test('a remote schema that fails slowly is requested once, and the other changes are applied', async () => {
  const given = { namespace: 'intruder', creationTimestamp: '2026-01-01T00:00:00Z' };
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  const pit = resource(
    'RemoteSchema',
    'pit',
    { name: 'pit', url: { value: url }, timeoutSeconds: 600 },
    given,
  );
  // The engine rejects it, and the search for the cause takes several dry runs.
  const clash = table('spare', { ...given, spec: { configuration: { customName: 'login' } } });
  const spare = permission('spare-reader', 'good_0', 'newcomer', ['id'], { namespace: 'good' });
  const { problem } = await world.pass([pit, clash, spare]);
  expect(problem).toBeUndefined();
  expect(world.readiness(spare)).toMatch(/^True Applied/);
  expect(world.readiness(pit)).toMatch(/^False RemoteUnavailable/);
  expect(connections).toBe(1);
}, 120_000);
