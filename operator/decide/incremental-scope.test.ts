/** Tests that an incremental pass has the same result as a full pass, for random resources, manual changes and faults: one operator
 *  keeps its state between passes, the other never does. Also tests that an incremental pass processes few resources. */
import '../../testing/seed.ts';
import { type MetadataObject, objectKey } from '@pergola/engine/metadata';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { cachedEngine } from '../engine/cached-engine.ts';
import { type CustomResource, crName } from '../kinds.ts';
import { blockerAfter } from '../kubernetes/deletion.ts';
import { objectsIn } from '../objects/normal-form.ts';
import { type PreviousPass, reconcile } from '../pass/reconcile.ts';
import type { ReconcileOptions } from '../ports/options.ts';
import type { CrSnapshot } from '../ports/resources.ts';
import type { Report } from '../status/report.ts';
import { OPTIONS, permission, table } from '../testing/resources.ts';
import { broken, ScriptedEngine } from '../testing/scripted-engine.ts';
import { ScriptedPorts } from '../testing/scripted-ports.ts';
import { mostNewAt, paceAfter } from './incremental-scope.ts';

/** An operator that keeps its state between passes, as in a cluster, or starts anew with every pass, as on the command line. */
class Operator {
  readonly ports = new ScriptedPorts(new ScriptedEngine());
  readonly #remembers: boolean;
  readonly #engine = cachedEngine(this.ports.engine.port, { nowMs: () => 0, maxAgeMs: () => 1 });
  #past: PreviousPass = {};

  constructor(remembers: boolean) {
    this.#remembers = remembers;
  }

  /** Restarts it. */
  forget(): void {
    this.#past = {};
  }

  /** Passes until nothing waits for the next pass. */
  async passes(resources: readonly CustomResource[], given: Partial<CrSnapshot>, options: ReconcileOptions) {
    let report = await this.pass(resources, given, options);
    for (let left = 20; report.isCut && left > 0; left--) report = await this.pass(resources, given, options);
    return report;
  }

  async pass(
    resources: readonly CustomResource[],
    given: Partial<CrSnapshot> = {},
    options = OPTIONS,
    past: PreviousPass = {},
  ): Promise<Report> {
    this.ports.resources = resources;
    this.ports.given = { ...this.ports.given, ...given };
    const { source, sink, clock, engine } = this.ports;
    const own = this.#remembers ? this.#engine : engine.port;
    const report = await reconcile({ engine: own, source, sink, clock }, options, { ...this.#past, ...past });
    if (this.#remembers) this.#past = report;
    return report;
  }
}

const NAMES = ['a', 'b', 'c'] as const;
const name = fc.constantFrom(...NAMES);
const role = fc.constantFrom('r', 's');
const SPECS: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  plain: {},
  named: { configuration: { customName: 'Other' } },
  retained: { deletionPolicy: 'Retain' },
  odd: { colour: 'green' },
  lenient: { driftPolicy: 'Report' },
};
const spec = fc.constantFrom('plain', 'plain', 'plain', 'named', 'retained', 'odd', 'lenient');
const annotations = fc.constantFrom(
  {},
  {},
  {},
  { 'pergola.dev/pause': 'true' },
  { 'pergola.dev/adopt': 'true' },
);

/** The change of one step: a resource in another form, or its deletion. */
const step = fc.record({
  table: fc.option(fc.record({ name, spec, annotations, isGone: fc.boolean() }), { nil: undefined }),
  permission: fc.option(
    fc.record({
      on: name,
      role,
      author: fc.constantFrom('one', 'two'),
      columns: fc.subarray(['id', 'name', 'born'], { minLength: 1 }),
      isGone: fc.boolean(),
    }),
    { nil: undefined },
  ),
  /** Changes a permission by hand, possibly an owned one. */
  byHand: fc.option(fc.record({ on: name, role: fc.constantFrom('r', 'x') }), { nil: undefined }),
  broken: fc.constantFrom([], [], [], ['a'], ['b']),
  isComplete: fc.constantFrom(true, true, true, true, false),
});
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

function selectOf({ on, role: of }: { on: string; role: string }): MetadataObject {
  return {
    key: objectKey('select_permission', 'default', 'public', on, of),
    kind: 'select_permission',
    parent: objectKey('table', 'default', 'public', on),
    definition: { role: of, permission: { columns: ['secret'], filter: {} } },
  };
}

/** Applies a step; unchanged resources remain the same values. */
function applied(
  world: ReadonlyMap<string, CustomResource>,
  given: Step,
): ReadonlyMap<string, CustomResource> {
  const next = new Map(world);
  const put = (cr: CustomResource, isGone: boolean) => {
    const generation = (next.get(cr.metadata.uid)?.metadata.generation ?? 0) + 1;
    if (isGone) next.delete(cr.metadata.uid);
    else next.set(cr.metadata.uid, { ...cr, metadata: { ...cr.metadata, generation } });
  };
  const [t, p] = [given.table, given.permission];
  if (t) put(table(t.name, { spec: SPECS[t.spec]!, annotations: t.annotations }), t.isGone);
  if (p) put(permission(`${p.author}-${p.on}-${p.role}`, p.on, p.role, p.columns), p.isGone);
  return next;
}

test('an incremental pass has the same result as a full pass after every step', {
  timeout: 120_000,
}, async () => {
  let focused = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 2, maxLength: 12 }), async (steps) => {
      const [one, other] = [new Operator(true), new Operator(false)];
      let world: ReadonlyMap<string, CustomResource> = new Map(
        [...NAMES.map((n) => table(n)), permission('one-a-r', 'a', 'r')].map((cr) => [cr.metadata.uid, cr]),
      );
      for (const given of steps) {
        world = applied(world, given);
        const resources = [...world.values()];
        for (const operator of [one, other]) {
          const { engine } = operator.ports;
          const parent = given.byHand && selectOf(given.byHand).parent;
          const isThere = engine.metadata.sources[0]?.tables.some(
            (t) => objectKey('table', 'default', t.table.schema, t.table.name) === parent,
          );
          if (given.byHand && isThere) engine.put(selectOf(given.byHand));
          engine.judge = broken(...given.broken.map((n) => objectKey('table', 'default', 'public', n)));
          const report = await operator.pass(resources, { isComplete: given.isComplete });
          if (report.resources.length < resources.length) focused++;
        }
        expect(one.ports.engine.metadata).toEqual(other.ports.engine.metadata);
        expect(one.ports.engine.ledger?.objects).toEqual(other.ports.engine.ledger?.objects);
        for (const cr of resources) expect(one.ports.status(cr)).toEqual(other.ports.status(cr));
      }
    }),
    { numRuns: 100 },
  );
  expect(focused).toBeGreaterThan(40);
});

test('new resources in several passes have the same result as in one', { timeout: 120_000 }, async () => {
  let cuts = 0;
  const created = fc.record({
    tables: fc.uniqueArray(name, { maxLength: 3 }),
    permissions: fc.uniqueArray(fc.record({ on: name, role, author: fc.constantFrom('one', 'two') }), {
      minLength: 2,
      maxLength: 8,
      selector: ({ on, role: of, author }) => `${author}-${on}-${of}`,
    }),
  });
  const batches = fc.array(created, { minLength: 1, maxLength: 4 });
  await fc.assert(
    fc.asyncProperty(batches, fc.integer({ min: 1, max: 3 }), async (all, mostNew) => {
      const [one, other] = [new Operator(true), new Operator(false)];
      const options = { ...OPTIONS, mostNew };
      let world: ReadonlyMap<string, CustomResource> = new Map();
      await one.pass([], {}, options);
      for (const { tables, permissions } of all) {
        const fresh = [
          ...permissions.map(({ on, role: of, author }, i) =>
            permission(`${author}-${on}-${of}`, on, of, i % 2 === 0 ? ['id'] : ['id', 'name']),
          ),
          ...tables.map((n) => table(n)),
        ].filter(({ metadata }) => !world.has(metadata.uid));
        world = new Map([...world, ...fresh.map((cr) => [cr.metadata.uid, cr] as const)]);
        const resources = [...world.values()];
        const report = await one.pass(resources, {}, options);
        if (report.isCut) cuts++;
        await one.passes(resources, {}, options);
        await other.passes(resources, {}, OPTIONS);
        expect(objectsOf(one)).toEqual(objectsOf(other));
        expect(one.ports.engine.ledger?.objects).toEqual(other.ports.engine.ledger?.objects);
        for (const cr of resources) expect(one.ports.status(cr)).toEqual(other.ports.status(cr));
      }
    }),
    { numRuns: 100 },
  );
  expect(cuts).toBeGreaterThan(40);
});

test('a pass takes as many new resources as the passes before it have time for', () => {
  const slow = paceAfter(undefined, { count: 300, tookMs: 4700 });
  expect(mostNewAt(undefined)).toBe(50);
  expect(mostNewAt(slow)).toBe(50);
  expect(mostNewAt(paceAfter(slow, { count: 100, tookMs: 200 }))).toBe(150);
  expect(mostNewAt(paceAfter(slow, { count: 100, tookMs: 0 }))).toBe(1000);
  // One change says nothing.
  expect(paceAfter(slow, { count: 1, tookMs: 300 })).toBe(slow);
});

test('edits that come before creations and deletions have the same result', {
  timeout: 120_000,
}, async () => {
  let early = 0;
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.array(step, { minLength: 1, maxLength: 4 }), { minLength: 1, maxLength: 6 }),
      fc.integer({ min: 1, max: 3 }),
      async (batches, mostNew) => {
        const [one, other] = [new Operator(true), new Operator(false)];
        const options = { ...OPTIONS, mostNew };
        let world: ReadonlyMap<string, CustomResource> = new Map(
          [...NAMES.map((n) => table(n)), permission('one-a-r', 'a', 'r')].map((cr) => [cr.metadata.uid, cr]),
        );
        await one.passes([...world.values()], { hasStatuses: true }, options);
        await other.passes([...world.values()], { hasStatuses: true }, OPTIONS);
        for (const steps of batches) {
          for (const given of steps) world = applied(world, given);
          const resources = [...world.values()];
          const first = await one.pass(resources, { hasStatuses: true }, options);
          if (first.isOfEdits) early++;
          if (first.isCut) await one.passes(resources, {}, options);
          await other.passes(resources, { hasStatuses: true }, OPTIONS);
          expect(objectsOf(one)).toEqual(objectsOf(other));
          for (const cr of resources) expect(one.ports.readiness(cr)).toBe(other.ports.readiness(cr));
        }
      },
    ),
    { numRuns: 100 },
  );
  expect(early).toBeGreaterThan(20);
});

const TABLES = Array.from({ length: 8 }, (_, i) => `t${i}`);
/** Every resource of the world of holds: tables, and two permissions on each. */
const EVERY = TABLES.flatMap((n) => [n, `${n}-r`, `${n}-s`]);
const GUARD = {
  ...OPTIONS,
  policies: { ...OPTIONS.policies, pruneGuard: { maxObjects: 3, maxPercent: 10 } },
};

function resourceOf(named: string, generation: number): CustomResource {
  const [on, of] = named.split('-') as [string, string | undefined];
  const columns = generation % 2 === 0 ? ['id'] : ['id', 'name'];
  const spec = generation % 2 === 0 ? { configuration: { customName: `Other${on}` } } : {};
  return of === undefined
    ? table(on, { spec, generation })
    : permission(named, on, of, columns, { generation });
}

/** Changes between two passes. Several deletions are more likely than one: they are held. */
const turn = fc.record({
  edited: fc.subarray(EVERY, { maxLength: 3 }),
  removed: fc.oneof(fc.constant([]), fc.subarray(EVERY, { maxLength: 12 })),
  created: fc.oneof(fc.constant([]), fc.subarray(EVERY, { maxLength: 4 })),
  isForEdits: fc.boolean(),
  isConfirmed: fc.constantFrom(false, false, false, true),
  isRestarted: fc.constantFrom(false, false, false, false, true),
});

test('passes for edits beside deletions that are held have the same result, and let go of nothing', {
  timeout: 120_000,
}, async () => {
  let [early, held, stayed] = [0, 0, 0];
  await fc.assert(
    fc.asyncProperty(fc.array(turn, { minLength: 2, maxLength: 8 }), async (turns) => {
      const [one, other] = [new Operator(true), new Operator(false)];
      const generations = new Map(EVERY.map((named) => [named, 1]));
      const world = new Map(EVERY.map((named) => [named, resourceOf(named, 1)]));
      const gone = new Map<string, CustomResource>();
      const given = { hasStatuses: true } as const;
      let hash: string | undefined;
      for (const operator of [one, other]) await operator.passes([...world.values()], given, GUARD);
      const put = (named: string) => {
        const generation = generations.get(named)! + 1;
        generations.set(named, generation);
        gone.delete(named);
        world.set(named, resourceOf(named, generation));
      };
      for (const { edited, removed, created, isForEdits, isConfirmed, isRestarted } of turns) {
        for (const named of edited) if (world.has(named)) put(named);
        for (const named of removed) {
          const cr = world.get(named);
          if (cr && world.delete(named)) gone.set(named, cr);
        }
        for (const named of created) if (!world.has(named)) put(named);
        if (isRestarted) one.forget();
        const options = isConfirmed && hash ? { ...GUARD, confirmPrune: hash } : GUARD;
        const named = namedIn(one);
        const resources = [...world.values()];
        let report = await one.pass(resources, given, options, { isForEdits });
        if (report.isOfEdits) early++;
        for (let left = 5; report.isOfEdits && left > 0; left--)
          report = await one.pass(resources, given, options);
        expect(report.isOfEdits).toBe(false);
        const reference = await other.pass(resources, given, options);
        expect(report.plan?.pruneHold).toEqual(reference.plan?.pruneHold);
        expect(objectsOf(one)).toEqual(objectsOf(other));
        expect(one.ports.engine.ledger.objects).toEqual(other.ports.engine.ledger.objects);
        for (const cr of resources) expect(one.ports.readiness(cr)).toBe(other.ports.readiness(cr));
        // What the hold has named stays until it is confirmed or claimed again, and so do the resources that wait for it.
        const present = new Set(resources.map(crName));
        const { objects } = one.ports.engine;
        const lost = [...named].filter(([key, owner]) => !objects.has(key) && !present.has(owner));
        if (!isConfirmed) expect(lost).toEqual([]);
        const owners = new Set(Object.values(one.ports.engine.ledger.objects).map(({ cr }) => cr));
        const isBlocked = blockerAfter(report);
        for (const cr of gone.values()) expect(isBlocked(cr) !== undefined).toBe(owners.has(crName(cr)));
        hash = report.plan?.pruneHold?.hash;
        held += Number(hash !== undefined);
        stayed += [...gone.values()].filter((cr) => owners.has(crName(cr))).length;
      }
    }),
    { numRuns: 100 },
  );
  expect([early > 100, held > 100, stayed > 100]).toEqual([true, true, true]);
});

/** Returns the objects whose deletion is held, with their owners. */
function namedIn({ ports }: Operator): ReadonlyMap<string, string> {
  const entries = Object.entries(ports.engine.ledger.objects);
  return new Map(entries.flatMap(([key, { isPruneHeld, cr }]) => (isPruneHeld ? [[key, cr]] : [])));
}

test('a pass for edits leaves all other changes to the next one, even two in a row', async () => {
  const operator = new Operator(true);
  const resources = many();
  const given = { hasStatuses: true } as const;
  await operator.pass(resources, given);
  const edited = (generation: number, columns: readonly string[]) =>
    permission('p', 'a', 'r', columns, { generation });
  const rest = [...resources.slice(0, 3), table('new')];
  for (const [generation, columns] of [
    [2, ['id', 'name'] as const] as const,
    [3, ['id'] as const] as const,
  ]) {
    const cr = edited(generation, columns);
    const report = await operator.pass([...rest, cr], given, OPTIONS, { isForEdits: true });
    expect([report.isOfEdits, report.resources.map(crName)]).toEqual([true, [crName(cr)]]);
    expect(operator.ports.readiness(cr)).toBe('True Applied');
  }
  expect(operator.ports.readiness(table('new'))).toBe('none');
  await operator.pass([...rest, edited(3, ['id'])], given);
  expect(operator.ports.readiness(table('new'))).toBe('True Applied');
  // Without other changes it is an ordinary pass, which leaves nothing.
  const last = await operator.pass([...rest, edited(4, ['name'])], given, OPTIONS, { isForEdits: true });
  expect([last.isOfEdits, last.isCut]).toEqual([false, false]);
});

/** Returns the objects of the document, whose order is that of the writes. */
function objectsOf({ ports }: Operator): ReadonlyMap<string, unknown> {
  const definitions = [...objectsIn(ports.engine.metadata)].map(
    ([key, { definition }]) => [key, definition] as const,
  );
  return new Map(definitions.toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

test('an edit does not wait for deletions that are held, and does not end the hold', async () => {
  const operator = new Operator(true);
  const others = Array.from({ length: 30 }, (_, i) => table(`t${i}`));
  const [a, kept] = [table('a'), permission('p', 'a', 'r')];
  const pass = (...resources: readonly CustomResource[]) =>
    operator.pass([a, ...resources], { hasStatuses: true });
  await pass(kept, ...others);
  expect((await pass(kept)).plan?.pruneHold).toMatchObject({ count: 30 });
  const edited = permission('p', 'a', 'r', ['id', 'name'], { generation: 2 });
  const backoff = new Map([['another', { owner: 'Table default/other', hash: 'h', failures: 1 }]]);
  const given = { hasStatuses: true } as const;
  const first = await operator.pass([a, edited], given, OPTIONS, { backoff: backoff as never });
  expect([first.isOfEdits, first.backoff]).toEqual([true, backoff]);
  expect(first.resources.map(({ metadata }) => metadata.name)).toEqual(['p']);
  expect(operator.ports.readiness(edited)).toBe('True Applied');
  expect([first.isCut, operator.ports.engine.writes.at(-1)?.edits.length]).toEqual([true, 1]);
  const again = permission('p', 'a', 'r', ['id'], { generation: 3 });
  const second = await pass(again);
  expect(second.isOfEdits).toBe(false);
  expect(second.plan?.pruneHold).toMatchObject({ count: 30 });
  expect(operator.ports.engine.metadata.sources[0]!.tables).toHaveLength(31);
});

test('an edit that needs a new resource is applied with it', async () => {
  const operator = new Operator(true);
  const resources = many();
  await operator.pass(resources, { hasStatuses: true });
  const moved = permission('p', 'new', 'r', ['id'], { generation: 2 });
  const created = Array.from({ length: 3 }, (_, i) => table(`t${i}`)).concat(table('new'));
  const given = [...resources.slice(0, 3), moved, ...created];
  const report = await operator.passes(given, { hasStatuses: true }, { ...OPTIONS, mostNew: 1 });
  expect(report.isCut).toBe(false);
  expect(operator.ports.readiness(moved)).toBe('True Applied');
});

const many = () => NAMES.map((n) => table(n)).concat(permission('p', 'a', 'r'));

test('a pass processes only changed resources', async () => {
  const operator = new Operator(true);
  const resources = many();
  expect((await operator.pass(resources)).resources).toHaveLength(4);
  expect((await operator.pass(resources)).resources).toEqual([]);
  const changed = permission('p', 'a', 'r', ['id', 'name'], { generation: 2 });
  const report = await operator.pass([...resources.slice(0, 3), changed]);
  expect(report.resources.map(({ metadata }) => metadata.name)).toEqual(['p']);
  expect(report.verdicts.size).toBe(4);
  expect(report.plan?.owned).toBe(4);
  expect(operator.ports.engine.writes.at(-1)?.edits).toHaveLength(1);
});

test('a pass always processes resources in conflict and the resources that own what they claim', async () => {
  const operator = new Operator(true);
  const resources = many();
  await operator.pass(resources);
  const rival = permission('rival', 'a', 'r', ['name']);
  const names = (report: Report) => report.resources.map(({ metadata }) => metadata.name);
  expect(names(await operator.pass([...resources, rival]))).toEqual(['rival', 'p']);
  expect(operator.ports.readiness(rival)).toBe('False Conflict');
  expect(names(await operator.pass([...resources, rival]))).toEqual(['rival', 'p']);
  expect(names(await operator.pass([...resources.slice(0, 3), rival]))).toEqual(['rival']);
  expect(operator.ports.readiness(rival)).toBe('True Applied');
});

test('a change that the engine refuses needs no pass over all resources', async () => {
  const operator = new Operator(true);
  const resources = many();
  operator.ports.engine.judge = broken(selectOf({ on: 'b', role: 'r' }).key);
  await operator.pass(resources);
  const refused = permission('refused', 'b', 'r');
  const report = await operator.pass([...resources, refused]);
  expect(report.resources).toEqual([refused]);
  expect(operator.ports.readiness(refused)).toMatch(/^False/);
  expect(operator.ports.readiness(resources[0]!)).toBe('True Applied');
});

test('a pass processes all resources after a foreign write, the deletion of a Table, or an inconsistency', async () => {
  const operator = new Operator(true);
  const resources = many();
  const looked = async (given: readonly CustomResource[]) => (await operator.pass(given)).resources.length;
  await operator.pass(resources);
  operator.ports.engine.put(selectOf({ on: 'b', role: 'x' }));
  expect(await looked(resources)).toBe(4);
  expect(await looked(resources)).toBe(0);
  expect(await looked([resources[0]!, resources[1]!, resources[3]!])).toBe(3);
  operator.ports.engine.judge = broken('table/default/public/a');
  expect(await looked([resources[0]!, resources[1]!, resources[3]!])).toBe(3);
});
