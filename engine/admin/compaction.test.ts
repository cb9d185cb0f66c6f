/** A document that has changed much is written whole, beside whoever writes to it and reads it meanwhile. */
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { type AdminTestEngine, op, startTestEngine } from './testing/engine.ts';

let replicas: readonly [AdminTestEngine, AdminTestEngine];

beforeAll(async () => {
  const first = await startTestEngine();
  replicas = [first, await startTestEngine({}, first)];
});
afterAll(async () => {
  await replicas[1].close();
  await replicas[0].close();
});

const entries = (from: number, to: number, n: number) =>
  Object.fromEntries(
    Array.from({ length: to - from }, (_, i) => [`k${from + i}`, { n, text: 'x'.repeat(200) }]),
  );
const patch = (engine: AdminTestEngine, objects: object) =>
  engine.must(op('patch_catalog_state', { type: 'operator', patch: { objects } }));
const ledger = (engine: AdminTestEngine) =>
  engine.state.snapshot().catalogStates.operator as { objects: object };
/** Of the ledger as it was last written whole. */
async function wholeAt(): Promise<number> {
  const sql = `select max(resource_version)::int as version from pergola.whole where part = 'operator_state'`;
  return (await replicas[0].database.sql(sql))[0]!['version'] as number;
}

test('two replicas that patch the ledger concurrently both see every patch, and so does an engine that starts later', async () => {
  await patch(replicas[0], entries(0, 500, 0));
  const first = await wholeAt();
  expect(first).toBe(replicas[0].state.snapshot().resourceVersion);
  for (let i = 0; i < 30; i++) {
    const engine = replicas[i % 2]!;
    await engine.state.refresh();
    await patch(engine, entries(i * 10, i * 10 + 20, i + 1));
    await engine.must(op('create_query_collection', { name: `c${i}`, definition: { queries: [] } }));
  }
  await vi.waitFor(async () => expect(await wholeAt()).toBeGreaterThan(first), {
    timeout: 10_000,
    interval: 50,
  });
  const third = await startTestEngine({}, replicas[0]);
  const versions = [...replicas, third].map(async ({ state }) => {
    await state.refresh();
    return state.snapshot().resourceVersion;
  });
  expect(new Set(await Promise.all(versions)).size).toBe(1);
  const all = Object.assign(
    entries(0, 500, 0),
    ...Array.from({ length: 30 }, (_, i) => entries(i * 10, i * 10 + 20, i + 1)),
  );
  for (const engine of [...replicas, third]) {
    expect(ledger(engine)).toEqual({ objects: all });
    expect(engine.state.snapshot().metadata).toEqual(replicas[0].state.snapshot().metadata);
  }
  expect(third.state.snapshot().metadata.query_collections).toHaveLength(30);
  await third.close();
});
