/** Tests databases and remote schemas that fail slowly or never answer: the engine requests them once for all dry runs of a pass, and
 *  the other changes of the pass do not wait for them, however often the resource is edited. */

import type { AddressInfo } from 'node:net';
import { createServer, type Server } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { isWithin } from '../../testing/machine-speed.ts';
import { GoodWorld } from '../testing/good-world.ts';
import { permission, resource, table } from '../testing/resources.ts';

let world: GoodWorld;
let server: Server;
let connections = 0;
/** The engine remembers failures that take this long (engine/state/target-readings.ts). */
let silenceMs = 2500;
/** The longest pass: the wait of the operator for targets, and what a busy machine adds. */
const LONGEST_PASS_MS = 4000;

beforeAll(async () => {
  server = createServer((socket) => {
    connections++;
    socket.on('error', () => {});
    setTimeout(() => socket.destroy(), silenceMs).unref();
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

/** Resources that name something which accepts connections and never answers; `edit` makes each pass another connection. */
const PITS = {
  RemoteSchema: (port: number, edit: number) => ({
    name: 'void',
    url: { value: `http://127.0.0.1:${port}/${edit}` },
    timeoutSeconds: 600,
  }),
  Source: (port: number, edit: number) => ({
    name: 'void',
    connection: { url: { value: `postgres://u@127.0.0.1:${port}/d${edit}` } },
  }),
} as const;

test.each(Object.entries(PITS))(
  'a permission is revoked at once beside a %s that never answers and is edited again and again',
  async (kind, specOf) => {
    silenceMs = 600_000;
    const { port } = server.address() as AddressInfo;
    const given = { namespace: 'intruder', creationTimestamp: '2026-01-01T00:00:00Z' };
    for (let edit = 0; edit < 3; edit++) {
      const pit = resource(kind, 'void', specOf(port, edit), given);
      const granted = permission('brief', 'good_0', 'brief', ['id'], { namespace: 'good' });
      const began = performance.now();
      const { problem } = await world.pass(edit % 2 === 0 ? [pit, granted] : [pit]);
      expect(problem).toBeUndefined();
      expect(isWithin(performance.now() - began, LONGEST_PASS_MS)).toBe(true);
      expect(world.readiness(pit)).toMatch(/^False (Remote|Source)Unavailable/);
      if (edit % 2 === 0) expect(world.readiness(granted)).toMatch(/^True Applied/);
    }
  },
  60_000,
);

test('a Source is served without a replica that never answers, and says so', async () => {
  silenceMs = 600_000;
  const { port } = server.address() as AddressInfo;
  const given = { namespace: 'intruder', creationTimestamp: '2026-01-01T00:00:00Z' };
  const shop = resource(
    'Source',
    'shop',
    {
      name: 'shop',
      connection: { url: { value: world.database.url } },
      readReplicas: [{ name: 'near', url: { value: `postgres://u@127.0.0.1:${port}/d` } }],
    },
    given,
  );
  const spec = { source: 'shop', table: 'spare', configuration: { customName: 'shop_spare' } };
  const stock = resource('Table', 'shop-spare', spec, given);
  const began = performance.now();
  await world.pass([shop, stock]);
  expect(isWithin(performance.now() - began, LONGEST_PASS_MS)).toBe(true);
  expect(world.readiness(stock)).toMatch(/^True Applied/);
  expect(world.readiness(shop)).toMatch(
    /^False SourceUnavailable: .*at spec\.readReplicas\[0\].*cannot connect to shop replica 1: there is no answer yet/,
  );
}, 60_000);
