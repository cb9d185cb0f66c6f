/** Tests the invariants of namespaces that share an engine, while resources, grants and time change at random: nothing is owned without
 *  a grant, a reserved name does not change its owner early, and an incremental pass has the same result as a full one.
 *  Not here: single behaviours (tenants.test.ts). */
import '../../testing/seed.ts';
import { objectKey } from '@pergola/engine/metadata';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type CustomResource, kindAndNamespaceOf } from '../kinds.ts';
import { permission, table } from '../testing/resources.ts';
import { World } from '../testing/tenant-world.ts';

const NAMESPACES = ['api', 'team-a', 'team-b'] as const;
const ROLES = ['r', 's'] as const;

const grant = fc.record({
  namespace: fc.constantFrom('team-a', 'team-b'),
  roles: fc.subarray(['r', 's', 't']),
});

const step = fc.record({
  /** The permissions that exist, as `namespace/role`. */
  present: fc.subarray(NAMESPACES.flatMap((namespace) => ROLES.map((role) => ({ namespace, role })))),
  odd: fc.boolean(),
  grants: fc.option(fc.array(grant, { maxLength: 3 }), { nil: undefined, freq: 4 }),
  allowed: fc.constantFrom('All', 'All', 'All', 'Same'),
  minutes: fc.constantFrom(0, 1, 5, 10),
});
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

const AUTHOR = table('author', { namespace: 'api' });

function resourcesOf({ present, odd }: Step): readonly CustomResource[] {
  const permissions = present.map(({ namespace, role }, i) =>
    permission(role, 'author', role, ['id'], {
      namespace,
      uid: `${namespace}-${role}`,
      creationTimestamp: `2025-01-0${1 + NAMESPACES.indexOf(namespace)}T00:00:00Z`,
      spec: odd && i === 0 ? { colour: 'green' } : {},
    }),
  );
  return [AUTHOR, ...permissions];
}

function apply(world: World, { grants, allowed, minutes }: Step): void {
  world.wait(minutes);
  world.allowed = { from: allowed };
  if (!grants) return;
  world.grants = grants.map(({ namespace, roles }, i) => ({
    name: `g${i}`,
    namespaces: [namespace],
    sources: ['default'],
    tables: ['public.author'],
    roles,
  }));
}

const keyOf = (role: string) => objectKey('select_permission', 'default', 'public', 'author', role);

/** Returns for each role the namespace of the resource that owns its permission. */
function owners(world: World): ReadonlyMap<string, string> {
  const { objects } = world.ports.engine.ledger ?? { objects: {} };
  return new Map(
    ROLES.flatMap((role) => {
      const entry = objects[keyOf(role)];
      return entry ? [[role, kindAndNamespaceOf(entry.cr).namespace] as const] : [];
    }),
  );
}

function isGranted(world: World, namespace: string, role: string): boolean {
  if (namespace === 'api') return true;
  const grants = world.grants as readonly { namespaces: string[]; roles: string[] }[];
  const isLetIn = (world.allowed as { from: string }).from === 'All';
  const covers = (one: { namespaces: string[]; roles: string[] }) =>
    one.namespaces.includes(namespace) && (one.roles.includes(role) || one.roles.includes('*'));
  return isLetIn && grants.some(covers);
}

test('no object is owned without a grant after the grace period, and no reserved name changes its owner early', async () => {
  const worlds = fc.array(step, { minLength: 2, maxLength: 8 });
  await fc.assert(
    fc.asyncProperty(worlds, async (steps) => {
      const world = new World();
      const lastOwned = new Map<string, { namespace: string; at: number }>();
      const revokedSince = new Map<string, number>();
      for (const one of steps) {
        apply(world, one);
        await world.pass(...resourcesOf(one));
        const now = world.ports.time.getTime();
        const owned = owners(world);
        for (const role of ROLES) {
          const namespace = owned.get(role);
          const before = lastOwned.get(role);
          // A name is no longer reserved once it is not granted.
          if (before && !isGranted(world, before.namespace, role)) lastOwned.delete(role);
          if (namespace === undefined) continue;
          const isReserved =
            before && before.namespace !== namespace && isGranted(world, before.namespace, role);
          if (isReserved && namespace !== 'api') expect(now - before.at).toBeGreaterThanOrEqual(600_000);
          lastOwned.set(role, { namespace, at: now });
          if (isGranted(world, namespace, role)) revokedSince.delete(role);
          else {
            const since = revokedSince.get(role) ?? now;
            revokedSince.set(role, since);
            expect(now - since).toBeLessThan(600_000);
          }
        }
        for (const role of ROLES) if (!owned.has(role)) revokedSince.delete(role);
      }
    }),
    { numRuns: 300 },
  );
});

test('an incremental pass has the same result as a full pass', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 2, maxLength: 8 }), async (steps) => {
      const [fresh, remembering] = [new World(), new World({ remembers: true })];
      const specs = new Map<string, CustomResource['spec']>();
      for (const one of steps) {
        // A watch keeps the same spec value while the spec is unchanged.
        const resources = resourcesOf(one).map((cr) => {
          const id = `${cr.metadata.uid} ${JSON.stringify(cr.spec)}`;
          specs.set(id, specs.get(id) ?? cr.spec);
          return { ...cr, spec: specs.get(id)! };
        });
        for (const world of [fresh, remembering]) {
          apply(world, one);
          await world.pass(...resources);
        }
        expect(remembering.ports.engine.metadata).toEqual(fresh.ports.engine.metadata);
        expect(remembering.ports.engine.operatorState).toEqual(fresh.ports.engine.operatorState);
        for (const cr of resources) {
          expect(remembering.ports.message(cr)).toBe(fresh.ports.message(cr));
        }
      }
    }),
    { numRuns: 200 },
  );
});
