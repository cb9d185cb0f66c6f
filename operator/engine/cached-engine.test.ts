/** Tests when the cached engine reads the document again, and when it uses its cache. */
import { editObjects, objectsOf } from '@pergola/engine/metadata';
import { expect, test } from 'vitest';
import { inconsistent, ScriptedEngine, withDefaultSource } from '../testing/scripted-engine.ts';
import { cachedEngine } from './cached-engine.ts';

const KEY = 'table/default/public/t';
const edit = { key: KEY, definition: { table: { schema: 'public', name: 't' } } };
const entry = {
  manager: 'm',
  uid: '1',
  cr: 'Table a/t',
  generation: 1,
  hash: 'x',
  deletionPolicy: 'Delete',
} as const;
const change = {
  edits: [edit],
  document: editObjects(withDefaultSource, [edit]),
  ledger: { manager: 'm', objects: { [KEY]: entry } },
  mustFit: false,
};

function rig() {
  const engine = new ScriptedEngine();
  let reads = 0;
  engine.before = (request) => {
    if (request === 'read') reads++;
  };
  const time = { nowMs: 0 };
  const port = cachedEngine(engine.port, { nowMs: () => time.nowMs, maxAgeMs: () => 1000 });
  return { engine, port, time, reads: () => reads };
}

test('the document of an unchanged version is not read again, but inconsistent objects are', async () => {
  const { engine, port, reads } = rig();
  const first = await port.read();
  engine.judge = () => [inconsistent('source/default')];
  const second = await port.read();
  expect(reads()).toBe(1);
  expect(second.metadata).toBe(first.metadata);
  expect(second.inconsistent).toHaveLength(1);
});

test('after a write the cache has the document and the ledger of the engine without another read', async () => {
  const { engine, port, reads } = rig();
  const { resourceVersion } = await port.read();
  await port.write({ ...change, expectedVersion: resourceVersion });
  const known = await port.read();
  expect(reads()).toBe(1);
  expect(known.resourceVersion).toBe(engine.resourceVersion);
  expect(Object.fromEntries(known.ledger)).toEqual(engine.ledger.objects);
  expect([...objectsOf(known.metadata).keys()]).toEqual([...objectsOf(engine.metadata).keys()]);
});

test('the document is read again after a foreign write, a failed write, or some time', async () => {
  const { engine, port, reads, time } = rig();
  await port.read();
  engine.put({ ...edit, kind: 'table', parent: 'source/default' });
  expect(objectsOf((await port.read()).metadata).has(KEY)).toBe(true);
  expect(reads()).toBe(2);
  await expect(port.write({ ...change, expectedVersion: 1 })).rejects.toThrow('another version');
  await port.read();
  expect(reads()).toBe(3);
  time.nowMs = 1001;
  await port.read();
  expect(reads()).toBe(4);
});
