/** Tests that nothing that a hold has named is deleted without its confirmation: random deletions, and resources that come back in any order,
 *  with restarts of the operator in between. The ledger goes through the patches that the engine stores. */
import type { MetadataObject } from '@pergola/engine/metadata';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { reservationChanges } from '../grants/reservation.ts';
import {
  COUNTED_MINUTES,
  type LedgerEntries,
  ledgerPatch,
  patchedEntries,
  patchedReservations,
  type Reservations,
} from '../objects/ledger.ts';
import { hashOf, normalised } from '../objects/normal-form.ts';
import { DEFAULT_POLICIES } from '../ports/options.ts';
import { table } from '../testing/resources.ts';
import { decide, entryChanges } from './decide.ts';
import type { Claim } from './desired.ts';

const GUARD = { maxObjects: 3, maxPercent: 30 };
const COUNT = 12;
const policies = { drift: 'Correct', adoption: 'IfEqual', deletion: 'Delete' } as const;
const EVERY = Array.from({ length: COUNT }, (_, i) => `t${i}`);

const keyOf = (name: string) => `table/default/public/${name}`;
const objectOf = (name: string): MetadataObject =>
  normalised({
    key: keyOf(name),
    kind: 'table',
    parent: null,
    definition: { table: { schema: 'public', name } },
  });
const claimOf = (name: string): Claim => {
  const object = objectOf(name);
  return { object, hash: hashOf(object), cr: table(name), policies, values: new Map(), isAtHome: true };
};

/** An engine with its ledger, and the resources of a namespace. */
class World {
  readonly resources = new Set(EVERY);
  readonly live = new Map<string, MetadataObject>();
  ledger: LedgerEntries = new Map();
  reservations: Reservations = new Map();
  at = new Date(0);
  /** The keys that the hold has named and no resource has claimed since. */
  readonly named = new Set<string>();
  hash: string | undefined;

  /** Returns the keys that the pass deletes. */
  pass(
    options: {
      readonly mayPrune?: boolean;
      readonly confirmPrune?: string | undefined;
      readonly lost?: ReadonlySet<string>;
    } = {},
  ) {
    const claims = new Map([...this.resources].map((name) => [keyOf(name), claimOf(name)] as const));
    const present = new Set([...this.resources].map((name) => `Table default/${name}`));
    const empty = { kept: new Set<string>(), revoked: new Map(), reserved: new Map(), values: new Map() };
    const ledger = { manager: 'test', objects: this.ledger, reservations: this.reservations };
    const { decisions, pruneHold, counted } = decide(
      { ...empty, claims, present, outcomes: new Map() },
      ledger,
      this.live,
      { manager: 'test', pruneGuard: GUARD, mayPrune: true, at: this.at, ...options },
    );
    const deleted = decisions.filter(({ action }) => action === 'delete').map(({ key }) => key);
    for (const { key, action, claim } of decisions) {
      if (action === 'delete') this.live.delete(key);
      else if (claim) this.live.set(key, claim.object);
    }
    const entries = entryChanges(decisions, new Map(), this.live, 'test');
    const world = {
      snapshot: { at: this.at },
      ledger,
      options: { manager: 'test', policies: DEFAULT_POLICIES },
    };
    const released = reservationChanges(entries, world, () => false, counted);
    const patch = ledgerPatch(entries, released, 'test');
    // The engine stores the patch as JSON.
    const stored = patch && JSON.parse(JSON.stringify(patch));
    if (stored) this.ledger = patchedEntries(this.ledger, stored);
    if (stored) this.reservations = patchedReservations(this.reservations, stored);
    this.hash = pruneHold?.hash;
    for (const name of this.resources) this.named.delete(keyOf(name));
    for (const { key, isPruneHeld } of decisions) if (isPruneHeld) this.named.add(key);
    return deleted;
  }
}

const step = fc.oneof(
  { weight: 3, arbitrary: fc.record({ restore: fc.nat(COUNT - 1) }) },
  { weight: 2, arbitrary: fc.record({ remove: fc.nat(COUNT - 1) }) },
  { weight: 1, arbitrary: fc.constant({ restart: true } as const) },
  { weight: 1, arbitrary: fc.constant({ wrong: true } as const) },
);

test('what a hold has named is not deleted before it is confirmed or claimed again', () => {
  let holds = 0;
  fc.assert(
    fc.property(fc.subarray(EVERY, { minLength: 1 }), fc.array(step, { maxLength: 30 }), (removed, steps) => {
      const world = new World();
      world.pass();
      for (const name of removed) world.resources.delete(name);
      const check = (options?: Parameters<World['pass']>[0]) => {
        const named = new Set(world.named);
        const deleted = world.pass(options);
        expect(deleted.filter((key) => named.has(key))).toEqual([]);
      };
      check();
      holds += Number(world.hash !== undefined);
      for (const next of steps) {
        if ('restore' in next) world.resources.add(EVERY[next.restore]!);
        if ('remove' in next) world.resources.delete(EVERY[next.remove]!);
        check({ mayPrune: !('restart' in next), confirmPrune: 'wrong' in next ? '00000000' : undefined });
      }
      const named = [...world.named];
      check();
      const confirmed = world.pass({ confirmPrune: world.hash });
      expect(confirmed).toEqual(expect.arrayContaining(named));
      expect(world.pass()).toEqual([]);
      expect([...world.live.keys()].toSorted()).toEqual([...world.resources].map(keyOf).toSorted());
      expect([...world.ledger.values()].some((entry) => 'isPruneHeld' in entry)).toBe(false);
    }),
    { numRuns: 300 },
  );
  expect(holds).toBeGreaterThan(100);
});

/** Random deletions and returns, each followed by a pass, with pauses of up to two minutes. */
const trickle = fc.array(
  fc.record({
    table: fc.nat(COUNT - 1),
    isBack: fc.boolean(),
    seconds: fc.nat(120),
    isConfirmed: fc.boolean(),
  }),
  { minLength: 5, maxLength: 60 },
);

test('deletions that come one by one are held like those that come at once', () => {
  let [holds, freed] = [0, 0];
  fc.assert(
    fc.property(trickle, (steps) => {
      const world = new World();
      world.pass();
      /** When each missing object was deleted without a confirmation. */
      const deletedAt = new Map<string, number>();
      for (const { table: index, isBack, seconds, isConfirmed } of steps) {
        world.at = new Date(world.at.getTime() + seconds * 1000);
        if (isBack) world.resources.add(EVERY[index]!);
        else world.resources.delete(EVERY[index]!);
        const confirmPrune = isConfirmed ? world.hash : undefined;
        const named = new Set(world.named);
        const deleted = world.pass({ confirmPrune });
        for (const name of world.resources) deletedAt.delete(keyOf(name));
        const wasConfirmed = confirmPrune !== undefined && deleted.some((key) => named.has(key));
        if (wasConfirmed) deletedAt.clear();
        else for (const key of deleted) deletedAt.set(key, world.at.getTime());
        const since = world.at.getTime() - COUNTED_MINUTES * 60_000;
        const recent = [...deletedAt.values()].filter((at) => at > since).length;
        expect(recent).toBeLessThanOrEqual(Math.max(GUARD.maxObjects, (GUARD.maxPercent * COUNT) / 100));
        holds += Number(world.hash !== undefined);
        freed += deleted.length;
      }
    }),
    { numRuns: 500 },
  );
  expect(holds).toBeGreaterThan(300);
  expect(freed).toBeGreaterThan(1000);
});

test('deletions count for ten minutes, and no longer once they are confirmed', () => {
  const world = new World();
  world.pass();
  const remove = (...names: readonly string[]) => {
    for (const name of names) world.resources.delete(name);
    return world.pass();
  };
  const [first, second, third, fourth, ...rest] = EVERY as [string, string, string, string, ...string[]];
  for (const name of [first, second, third]) expect(remove(name)).toEqual([keyOf(name)]);
  expect(remove(fourth)).toEqual([]);
  expect(world.pass({ confirmPrune: world.hash })).toEqual([keyOf(fourth)]);
  for (const name of rest.slice(0, 3)) expect(remove(name)).toEqual([keyOf(name)]);
  expect(remove(rest[3]!)).toEqual([]);
  world.resources.add(rest[3]!);
  world.at = new Date(COUNTED_MINUTES * 60_000);
  expect(world.pass()).toEqual([]);
  expect(remove(rest[3]!)).toEqual([keyOf(rest[3]!)]);
  expect(world.reservations.size).toBe(1);
});

test('new deletions that are few do not wait with those that are held', () => {
  const world = new World();
  world.pass();
  for (const name of EVERY.slice(0, 4)) world.resources.delete(name);
  expect(world.pass()).toEqual([]);
  for (const name of EVERY.slice(1, 4)) world.resources.add(name);
  expect(world.pass()).toEqual([]);
  expect(world.named).toEqual(new Set([keyOf('t0')]));
  world.resources.delete('t5');
  expect(world.pass()).toEqual([keyOf('t5')]);
  expect(world.pass({ confirmPrune: world.hash })).toEqual([keyOf('t0')]);
});

test('objects whose resources were deleted with their definition are held, however few, in any state of the operator', () => {
  fc.assert(
    fc.property(
      fc.subarray(EVERY, { minLength: 1 }),
      fc.array(fc.boolean(), { maxLength: 5 }),
      fc.boolean(),
      (removed, passes, isConfirmedEarly) => {
        const world = new World();
        world.pass();
        for (const name of removed) world.resources.delete(name);
        const lost = new Set(removed.map((name) => `Table default/${name}`));
        // The first pass knows that they are lost; later ones, after a restart, do not.
        expect(world.pass({ lost, mayPrune: !isConfirmedEarly })).toEqual([]);
        expect(world.named).toEqual(new Set(removed.map(keyOf)));
        for (const mayPrune of passes) expect(world.pass({ mayPrune })).toEqual([]);
        const [back, ...rest] = removed;
        world.resources.add(back!);
        expect(world.pass()).toEqual([]);
        expect(world.pass({ confirmPrune: world.hash, mayPrune: !isConfirmedEarly }).toSorted()).toEqual(
          rest.map(keyOf).toSorted(),
        );
        expect([...world.ledger.values()].some((entry) => 'isPruneHeld' in entry)).toBe(false);
      },
    ),
    { numRuns: 200 },
  );
});
