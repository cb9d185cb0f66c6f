/** Tests the invariants of a pass with random resources, manual changes and faults.
 *  Not here: single behaviours (pass/reconcile.test.ts). */
import '../../testing/seed.ts';
import { isSameJson, type MetadataObject, objectKey, objectsOf } from '@pergola/engine/metadata';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { CustomResource } from '../kinds.ts';
import { reconcile } from '../pass/reconcile.ts';
import { OPTIONS, permission, table } from '../testing/resources.ts';
import { broken } from '../testing/scripted-engine.ts';
import { ScriptedPorts } from '../testing/scripted-ports.ts';

const NAMES = ['a', 'b', 'c'] as const;
const ROLES = ['r', 's'] as const;
const COLUMNS = ['id', 'name', 'born'] as const;

const name = fc.constantFrom(...NAMES);
const role = fc.constantFrom(...ROLES);
const columns = fc.subarray([...COLUMNS], { minLength: 1 });

const tableCr = fc
  .record({ name, customName: fc.option(fc.constantFrom('X', 'Y'), { nil: undefined }) })
  .map((t) => table(t.name, { spec: t.customName ? { configuration: { customName: t.customName } } : {} }));
const permissionCr = fc
  .record({ on: name, role, columns, author: fc.constantFrom('one', 'two') })
  .map((p) => permission(`${p.author}-${p.on}-${p.role}`, p.on, p.role, p.columns));

const resources = fc.uniqueArray(fc.oneof(tableCr, permissionCr), {
  selector: (cr) => cr.metadata.uid,
  maxLength: 10,
});

/** Objects created by hand, for roles that no resource names. */
const foreign = fc.uniqueArray(fc.record({ on: name, role: fc.constantFrom('x', 'y'), columns }), {
  selector: (f) => `${f.on}/${f.role}`,
  maxLength: 4,
});
/** Changes by hand to existing objects. */
const tampering = fc.array(fc.record({ on: name, role, columns }), { maxLength: 3 });
const brokenTables = fc.subarray([...NAMES]);
const brokenRoles = fc.subarray(NAMES.flatMap((on) => ROLES.map((r) => ({ on, role: r }))));

const selectObject = (f: { on: string; role: string; columns: readonly string[] }): MetadataObject => ({
  key: objectKey('select_permission', 'default', 'public', f.on, f.role),
  kind: 'select_permission',
  parent: objectKey('table', 'default', 'public', f.on),
  definition: { role: f.role, permission: { columns: f.columns, filter: {} } },
});

/** Returns the keys that the resource claims. */
function keysOf(cr: CustomResource): readonly string[] {
  const { table: on, role: of } = cr.spec as { table: string; role?: string };
  if (of === undefined) return [objectKey('table', 'default', 'public', on)];
  return [objectKey('select_permission', 'default', 'public', on, of)];
}

type World = {
  before: CustomResource[];
  after: CustomResource[];
  foreign: { on: string; role: string; columns: string[] }[];
  tampering: { on: string; role: string; columns: string[] }[];
  brokenTables: string[];
  brokenRoles: { on: string; role: string }[];
};

const world: fc.Arbitrary<World> = fc.record({
  before: resources,
  after: resources,
  foreign,
  tampering,
  brokenTables,
  brokenRoles,
});

/** Applies resources, changes objects by hand, breaks database objects, and applies other resources. */
async function live(given: World) {
  const ports = new ScriptedPorts();
  ports.resources = given.before;
  await reconcile(ports, OPTIONS);
  const exists = (key: string | null) => key !== null && objectsOf(ports.engine.metadata).has(key);
  const made = given.foreign.map(selectObject).filter(({ parent }) => exists(parent));
  for (const object of made) ports.engine.put(object);
  for (const object of given.tampering.map(selectObject).filter(({ key }) => exists(key)))
    ports.engine.put(object);
  const brokenKeys = [
    ...given.brokenTables.map((on) => objectKey('table', 'default', 'public', on)),
    ...given.brokenRoles.map((p) => objectKey('select_permission', 'default', 'public', p.on, p.role)),
  ];
  ports.engine.judge = broken(...brokenKeys);
  const writesBefore = ports.engine.writes.length;
  ports.resources = given.after;
  await reconcile(ports, OPTIONS);
  return { ports, made, brokenKeys: new Set(brokenKeys), writes: ports.engine.writes.length - writesBefore };
}

const property = (body: (given: World) => Promise<void>) =>
  fc.assert(fc.asyncProperty(world, body), { numRuns: 150 });

test('a pass does not change objects that no resource owns', async () => {
  await property(async (given) => {
    const { ports, made } = await live(given);
    const objects = objectsOf(ports.engine.metadata);
    for (const object of made) {
      expect(JSON.stringify(objects.get(object.key)?.definition)).toBe(JSON.stringify(object.definition));
    }
  });
});

test('a pass writes at most once, further passes write nothing, and statuses stop changing', async () => {
  await property(async (given) => {
    const { ports, writes } = await live(given);
    expect(writes).toBeLessThanOrEqual(1);
    const { length } = ports.engine.writes;
    // An owner whose object was deleted with its parent is no longer the owner, and another waiting resource may become it.
    await reconcile(ports, OPTIONS);
    expect(ports.engine.writes).toHaveLength(length);
    await reconcile(ports, OPTIONS);
    expect(ports.engine.writes).toHaveLength(length);
    expect(ports.published).toEqual([]);
  });
});

test('the engine has the objects of every Ready resource', async () => {
  await property(async (given) => {
    const { ports } = await live(given);
    const objects = objectsOf(ports.engine.metadata);
    const ready = given.after.filter((cr) => ports.readiness(cr) === 'True Applied');
    for (const cr of ready.filter(({ kind }) => kind === 'TablePermission')) {
      const spec = cr.spec as { table: string; role: string; select: { columns: string[] } };
      const expected = selectObject({ on: spec.table, role: spec.role, columns: spec.select.columns });
      expect(isSameJson(objects.get(expected.key)?.definition, expected.definition)).toBe(true);
    }
  });
});

test('every valid resource is applied, whatever errors the others have', async () => {
  await property(async (given) => {
    const { ports, brokenKeys } = await live(given);
    const tables = new Set(given.after.filter(({ kind }) => kind === 'Table').map((cr) => cr.metadata.name));
    for (const cr of given.after.filter(({ kind }) => kind === 'Table')) {
      const isBroken = brokenKeys.has(objectKey('table', 'default', 'public', cr.metadata.name));
      expect(ports.readiness(cr)).toBe(isBroken ? 'False RejectedByEngine' : 'True Applied');
    }
    for (const cr of given.after.filter(({ kind }) => kind === 'TablePermission')) {
      const { table: on, role: of } = cr.spec as { table: string; role: string };
      const own = selectObject({ on, role: of, columns: [] });
      const isGood = tables.has(on) && !brokenKeys.has(own.key) && !brokenKeys.has(own.parent!);
      const isConflict = ports.readiness(cr) === 'False Conflict';
      if (isGood && !isConflict) expect(ports.readiness(cr)).toBe('True Applied');
    }
  });
});

test('the ledger lists exactly the owned objects, and all of them exist', async () => {
  await property(async (given) => {
    const { ports } = await live(given);
    const objects = objectsOf(ports.engine.metadata);
    const claimed = new Set(given.after.flatMap(keysOf));
    for (const key of Object.keys(ports.engine.ledger?.objects ?? {})) {
      expect(objects.has(key)).toBe(true);
      // A deletion waits only while an object that no resource owns depends on it.
      const hasGuests = [...objects.values()].some((o) => o.parent === key && /\/[xy]$/.test(o.key));
      expect(claimed.has(key) || hasGuests).toBe(true);
    }
  });
});
