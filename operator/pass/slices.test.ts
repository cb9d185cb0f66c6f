/** Thousands of changes in slices. Rules: what was edited is in the first slice; every slice is complete in itself; the passes end with what one
 *  pass would have written and reported; a slice that the engine refuses changes nothing of that; a confirmed deletion needs one confirmation. */
import { type MetadataObject, referencesOf } from '@pergola/engine/metadata';
import { array, assert, asyncProperty, boolean, constantFrom, integer, record } from 'fast-check';
import { expect, test } from 'vitest';
import type { CustomResource } from '../kinds.ts';
import type { Ports, ReconcileOptions } from '../ports.ts';
import { OPTIONS, permission, table } from '../testing/resources.ts';
import { inconsistent, type Judge } from '../testing/scripted-engine.ts';
import { ScriptedPorts } from '../testing/scripted-ports.ts';
import { type PreviousPass, reconcile } from './reconcile.ts';

/** An object is inconsistent when something that it names is gone. */
const judge: Judge = (objects) =>
  [...objects.values()].flatMap((object) =>
    referencesOf(object, objects).some((key) => !objects.has(key))
      ? [inconsistent(object.key, 'not-exists')]
      : [],
  );

/** Returns tables that refer to another one, each with a permission. */
function chain(from: number, to: number): readonly CustomResource[] {
  return Array.from({ length: to - from }, (_, at) => {
    const i = from + at;
    const manual = { table: `t${Math.max(from, i - 1)}`, columnMapping: { previous_id: 'id' } };
    const spec = { objectRelationships: [{ name: 'previous', manual }] };
    return [table(`t${i}`, { spec }), permission(`p${i}`, `t${i}`, 'reader')];
  }).flat();
}

const other = (generation = 1) =>
  permission('other', 'other', 'reader', generation % 2 === 1 ? ['id'] : ['id', 'title'], { generation });

/** The passes of an operator of a cluster, until one leaves nothing for the next. */
async function passes(
  ports: ScriptedPorts,
  options: ReconcileOptions = OPTIONS,
  { isRestarted = false, before = {} as PreviousPass } = {},
) {
  const repeated: Ports = { ...portsOf(ports), hasNextPass: true };
  let previous = before;
  for (let count = 1; ; count++) {
    const report = await reconcile(repeated, options, isRestarted ? {} : previous);
    for (const { status } of ports.published) {
      const ready = status.conditions.find(({ type }) => type === 'Ready');
      expect(ready?.message ?? '').not.toContain('waits for its turn');
    }
    if (!report.isCut) return { report, count };
    previous = report;
  }
}

function portsOf({ engine, source, sink, clock }: ScriptedPorts): Ports {
  return { engine, source, sink, clock };
}

/** What the engine has: its objects by key, in any order, and the ledger. */
function content({ engine }: ScriptedPorts) {
  const sorted = <T>(entries: Iterable<readonly [string, T]>) =>
    [...entries].toSorted(([a], [b]) => (a < b ? -1 : 1));
  return [
    sorted(engine.objects as ReadonlyMap<string, MetadataObject>),
    sorted(Object.entries(engine.ledger.objects)),
  ];
}

test('an edit is in the first slice, and the passes end with what one pass writes', async () => {
  const world = record({
    count: integer({ min: 210, max: 900 }),
    gone: integer({ min: 0, max: 200 }),
    isRestarted: boolean(),
    broken: array(integer({ min: 0, max: 899 }), { maxLength: 2 }),
    kind: constantFrom('edit' as const, 'delete' as const),
  });
  await assert(
    asyncProperty(world, async ({ count, gone, isRestarted, broken, kind }) => {
      const old = chain(10_000, 10_000 + gone);
      const first = [...old, table('other'), other()];
      const next = [
        ...chain(0, count).filter(({ metadata }) => !broken.includes(Number(metadata.name.slice(1)))),
        table('other'),
        ...(kind === 'edit' ? [other(2)] : []),
      ];
      const options = {
        ...OPTIONS,
        policies: { ...OPTIONS.policies, pruneGuard: { maxObjects: 1000, maxPercent: 100 } },
      };
      const [sliced, whole] = [new ScriptedPorts(), new ScriptedPorts()];
      for (const ports of [sliced, whole]) {
        ports.engine.judge = judge;
        ports.resources = first;
        await reconcile(portsOf(ports), options);
        ports.resources = next;
      }
      const writes = sliced.engine.writes.length;
      const { count: passCount } = await passes(sliced, options, { isRestarted });
      await reconcile(portsOf(whole), options);
      expect(content(sliced)).toEqual(content(whole));
      const seen = (ports: ScriptedPorts) => next.map((cr) => ports.readiness(cr));
      expect(seen(sliced)).toEqual(seen(whole));
      const key = 'select_permission/default/public/other/reader';
      const made = sliced.engine.writes[writes]!;
      expect(made.edits.some((edit) => edit.key === key)).toBe(true);
      if (broken.length > 0) return;
      expect(made.edits.length).toBeLessThanOrEqual(401);
      expect(passCount).toBeGreaterThan(1);
      expect(passCount).toBeLessThan(20);
    }),
    { numRuns: 12 },
  );
}, 120_000);

test('what does not fit in a slice comes after the others, and no write has all changes', async () => {
  const ports = new ScriptedPorts();
  ports.engine.judge = judge;
  const manual = (name: string) => ({ table: name, columnMapping: { id: 'id' } });
  const lost = Array.from({ length: 30 }, (_, i) =>
    table(`a${i}`, { spec: { objectRelationships: [{ name: 'lost', manual: manual('nowhere') }] } }),
  );
  // Its table is in a later slice, because the order of slices does not know of it.
  const early = table('b', { spec: { objectRelationships: [{ name: 'late', manual: manual('z') }] } });
  const others = Array.from({ length: 1500 }, (_, i) => table(`t${i}`));
  ports.resources = [...lost, early, ...others, table('z')];
  const { count } = await passes(ports);
  expect(Math.max(...ports.engine.writes.map(({ edits }) => edits.length))).toBeLessThanOrEqual(401);
  expect(count).toBeLessThan(8);
  expect(ports.engine.dryRuns).toBeLessThan(24);
  const isReady = (cr: CustomResource) => ports.readiness(cr).startsWith('True');
  expect([...others, early].filter((cr) => !isReady(cr))).toEqual([]);
  expect(lost.filter(isReady)).toEqual([]);
});

test('no slice leaves an object without what it refers to', async () => {
  const ports = new ScriptedPorts();
  const broken: number[] = [];
  ports.engine.judge = judge;
  ports.resources = chain(0, 800);
  ports.engine.before = (request) => {
    if (request === 'read') broken.push(judge(ports.engine.objects).length);
  };
  const { count } = await passes(ports);
  expect(count).toBeGreaterThan(4);
  ports.resources = [table('other')];
  const options = {
    ...OPTIONS,
    policies: { ...OPTIONS.policies, pruneGuard: { maxObjects: 10_000, maxPercent: 100 } },
  };
  await passes(ports, options);
  expect([Math.max(...broken), ports.engine.dryRuns, ports.engine.objects.size]).toEqual([0, 0, 1 + 1]);
});

test.each([false, true])(
  'a deletion in slices needs one confirmation, if the operator restarts: %s',
  async (isRestarted) => {
    const ports = new ScriptedPorts();
    const all = chain(0, 800);
    ports.resources = [...all, table('other')];
    await passes(ports);
    ports.resources = [table('other')];
    const held = await passes(ports);
    expect(held.report.plan!.pruneHold!.count).toBe(2400);
    const options = { ...OPTIONS, confirmPrune: held.report.plan!.pruneHold!.hash };
    const { report, count } = await passes(ports, options, { isRestarted });
    expect([count > 4, report.plan!.pruneHold, ports.engine.objects.size]).toEqual([true, undefined, 1 + 1]);
  },
);

test('what is held without a confirmation stays while a confirmed deletion is made', async () => {
  const ports = new ScriptedPorts();
  const inNamespace = (namespace: string, from: number) =>
    chain(from, from + 300).map((cr) => ({
      ...cr,
      metadata: { ...cr.metadata, namespace, uid: `${namespace}-${cr.metadata.uid}` },
    }));
  ports.resources = [...inNamespace('one', 0), ...inNamespace('two', 1000), table('other')];
  await passes(ports);
  ports.resources = [table('other')];
  const held = await passes(ports);
  const { namespaces } = held.report.plan!.pruneHold!;
  const confirmPrune = namespaces.find(({ namespace }) => namespace === 'one')!.hash;
  await passes(ports, { ...OPTIONS, confirmPrune }, { isRestarted: true });
  const left = [...ports.engine.objects.keys()].filter((key) => key.includes('/t'));
  expect(left.length).toBe(900);
  expect(left.every((key) => /\/t1\d{3}/.test(key))).toBe(true);
});
