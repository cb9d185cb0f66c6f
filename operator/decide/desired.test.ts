/** Tests which objects stay in memory: an object that the engine already has as the resource defines it is the engine's. */
import { type MetadataObject, objectKey } from '@pergola/engine/metadata';
import { expect, test } from 'vitest';
import { hashOf } from '../objects/normal-form.ts';
import { OPTIONS, resource, snapshotOf } from '../testing/resources.ts';
import { desire } from './desired.ts';

const TABLE = objectKey('table', 'default', 'public', 'author');
const PERMISSION = objectKey('select_permission', 'default', 'public', 'author', 'user');

/** Returns the objects of a Table with one permission, as a pass wants them beside the objects of the engine. */
function claimed(live: ReadonlyMap<string, MetadataObject>): ReadonlyMap<string, MetadataObject> {
  const cr = resource('Table', 'author', {
    source: 'default',
    table: 'author',
    permissions: [{ role: 'user', select: { columns: ['id'], filter: { id: { _eq: 'X-Engine-User-Id' } } } }],
  });
  const ledger = { manager: OPTIONS.manager, objects: new Map() };
  const { claims, outcomes } = desire(snapshotOf([cr]), ledger, live, OPTIONS);
  expect([...outcomes.values()]).toEqual([]);
  return new Map([...claims].map(([key, claim]) => [key, checkedObject(claim.object, claim.hash)]));
}

function checkedObject(object: MetadataObject, hash: string): MetadataObject {
  expect(hash).toBe(hashOf(object));
  return object;
}

test('an object that equals one of the engine is the one of the engine, and any other is not', () => {
  const alone = claimed(new Map());
  const equal = structuredClone(alone.get(TABLE)!);
  const permission = structuredClone(alone.get(PERMISSION)!);
  const different = {
    ...permission,
    definition: { role: 'user', permission: { columns: ['id'], filter: {} } },
  };
  const beside = claimed(
    new Map([
      [TABLE, equal],
      [PERMISSION, different],
    ]),
  );
  expect(beside.get(TABLE)).toBe(equal);
  expect(beside.get(PERMISSION)).not.toBe(different);
  expect([...beside]).toEqual([...alone]);
});

test('an object of the engine that only means the same stays apart, since it is not in normal form', () => {
  const wanted = claimed(new Map()).get(TABLE)!;
  const live = {
    ...wanted,
    definition: { ...(wanted.definition as object), configuration: {} },
  };
  const object = claimed(new Map([[TABLE, live]])).get(TABLE)!;
  expect(object).not.toBe(live);
  expect(object).toEqual(wanted);
});
