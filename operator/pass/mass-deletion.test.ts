/** A mass deletion that leaves dependants behind. Rules: its cost grows with the resources and not with their square, the rest of the process
 *  runs meanwhile, and both sides say what waits for what. */
import { referencesOf } from '@pergola/engine/metadata';
import { expect, test } from 'vitest';
import { isWithin } from '../../testing/machine-speed.ts';
import { cachedEngine } from '../engine/cached-engine.ts';
import type { CustomResource } from '../kinds.ts';
import { printKey } from '../objects/normal-form.ts';
import type { Report } from '../status/report.ts';
import { OPTIONS, permission, table } from '../testing/resources.ts';
import { inconsistent, type Judge } from '../testing/scripted-engine.ts';
import { ScriptedPorts } from '../testing/scripted-ports.ts';
import { reconcile } from './reconcile.ts';

/** An object is inconsistent when something that it names is gone. */
const judge: Judge = (objects) =>
  [...objects.values()].flatMap((object) =>
    referencesOf(object, objects).some((key) => !objects.has(key))
      ? [inconsistent(object.key, 'not-exists')]
      : [],
  );

/** Returns tables, each with a relationship to the one before, and a permission on each. */
function chainOf(count: number): readonly CustomResource[] {
  return Array.from({ length: count }, (_, i) => {
    const manual = { table: `t${Math.max(0, i - 1)}`, columnMapping: { previous_id: 'id' } };
    const spec = { objectRelationships: [{ name: 'previous', manual }] };
    return [table(`t${i}`, { spec }), permission(`p${i}`, `t${i}`, 'reader')];
  }).flat();
}

/** Nine of ten tables go; the tenth names the one before it. */
const isLeft = ({ metadata }: CustomResource) => Number(metadata.name.slice(1)) % 10 === 9;

async function world(count: number) {
  const ports = new ScriptedPorts();
  const all = chainOf(count);
  ports.resources = all;
  await reconcile(ports, OPTIONS);
  ports.engine.judge = judge;
  ports.resources = all.filter(isLeft);
  const held = await reconcile(ports, OPTIONS);
  return { ports, options: { ...OPTIONS, confirmPrune: held.plan!.pruneHold!.hash } };
}

/** Returns the milliseconds of processor time of the pass that deletes, and of its longest part without a turn of the event loop. */
async function costOf(count: number): Promise<{ readonly total: number; readonly longest: number }> {
  const { ports, options } = await world(count);
  return costOfPass(ports, options);
}

async function costOfPass(
  ports: ScriptedPorts,
  options: typeof OPTIONS,
): Promise<{ readonly total: number; readonly longest: number }> {
  const since = (from: NodeJS.CpuUsage) => {
    const { user, system } = process.cpuUsage(from);
    return (user + system) / 1000;
  };
  let isOver = false;
  let longest = 0;
  let last = process.cpuUsage();
  const look = () => {
    longest = Math.max(longest, since(last));
    last = process.cpuUsage();
    if (!isOver) setImmediate(look);
  };
  setImmediate(look);
  const start = process.cpuUsage();
  await reconcile(ports, options);
  const total = since(start);
  isOver = true;
  look();
  return { total, longest };
}

test('four times as many resources cost about four times as much, and the event loop turns meanwhile', async () => {
  await costOf(200);
  const few = await costOf(400);
  const many = await costOf(1600);
  // Once 400 tables took 66 seconds, and twice as many eight times as long.
  expect(many.total / few.total).toBeLessThan(12);
  expect(isWithin(many.longest, 250), `${many.longest} ms`).toBe(true);
}, 120_000);

test('the event loop turns while thousands of new resources are translated', async () => {
  const ports = new ScriptedPorts();
  ports.resources = chainOf(1);
  const { passState } = await reconcile(ports, OPTIONS);
  expect(passState).toBeDefined();
  ports.resources = chainOf(4000);
  const { total, longest } = await costOfPass(ports, OPTIONS);
  // It was 0.45 of the whole when the translation was one step with the decisions.
  expect(longest / total).toBeLessThan(0.38);
}, 120_000);

test('what is left says what it waits for, and the rest is deleted', async () => {
  const { ports, options } = await world(100);
  const report = await reconcile(ports, options);
  expect(report.plan!.settled.excluded.size).toBe(0);
  expect([...ports.engine.objects.keys()].filter((key) => /\/t\d*[0-8](\/|$)/.test(key))).toEqual([]);
  const left = chainOf(100).filter(isLeft);
  for (const cr of left.filter(({ kind }) => kind === 'Table')) {
    expect([ports.readiness(cr), ports.message(cr)]).toEqual([
      'False DependencyNotReady',
      expect.stringContaining(`relationship default/public/${cr.metadata.name}/previous`),
    ]);
  }
});

test('objects of others keep what they name, all of them after one search', async () => {
  const { ports, options } = await world(100);
  const others = Array.from({ length: 40 }, (_, i) => ({
    relationship: `object_relationship/default/public/t99/o${i}`,
    named: `table/default/public/t${i}`,
  })).filter(({ named }) => !named.endsWith('9'));
  for (const { relationship, named } of others) {
    const [name, target] = [relationship, named].map((key) => key.split('/').at(-1));
    ports.engine.put({
      key: relationship,
      kind: 'object_relationship',
      parent: 'table/default/public/t99',
      definition: {
        name,
        using: {
          manual_configuration: {
            remote_table: { schema: 'public', name: target },
            column_mapping: { previous_id: 'id' },
          },
        },
      },
    });
  }
  const report = await reconcile(ports, options);
  for (const { relationship, named } of others) {
    expect(ports.engine.objects.has(named)).toBe(true);
    expect(report.plan!.settled.excluded.get(named)).toEqual({
      reason: 'PruneHeld',
      message: expect.stringContaining(printKey(relationship)),
    });
  }
  expect(ports.engine.objects.has('table/default/public/t98')).toBe(false);
  expect(ports.engine.admissions).toBeLessThan(5);
});

/** A relationship by a foreign key does not name the table that it leads to: only the database knows. */
test.each([0, 1, 20])(
  'dependants by foreign keys are found with as many dry runs beside %i other changes',
  async (changes) => {
    const admissions: number[] = [];
    for (const count of [50, 200]) {
      const ports = new ScriptedPorts();
      const spec = { objectRelationships: [{ name: 'previous', foreignKey: { columns: ['previous_id'] } }] };
      const chain = Array.from({ length: count }, (_, i) => [
        table(`t${i}`, { spec }),
        permission(`p${i}`, `t${i}`, 'reader'),
      ]).flat();
      const others = (columns: readonly string[], generation: number) =>
        Array.from({ length: changes }, (_, i) =>
          permission(`o${i}`, 'other', `role${i}`, columns, { generation }),
        );
      ports.resources = [...chain, table('other'), ...others(['id'], 1)];
      await reconcile(ports, OPTIONS);
      ports.engine.judge = (objects) =>
        [...objects.keys()].flatMap((key) => {
          const i = Number(/^object_relationship\/default\/public\/t(\d+)\/previous$/.exec(key)?.[1] ?? 0);
          const isBroken = i > 0 && !objects.has(`table/default/public/t${i - 1}`);
          return isBroken ? [inconsistent(key, 'constraint-error')] : [];
        });
      const left = [...chain.filter(isLeft), table('other')];
      ports.resources = [...left, ...others(['id'], 1)];
      const held = await reconcile(ports, OPTIONS);
      ports.resources = [...left, ...others(['id', 'name'], 2)];
      ports.engine.admissions = 0;
      await reconcile(ports, { ...OPTIONS, confirmPrune: held.plan!.pruneHold!.hash });
      admissions.push(ports.engine.admissions);
      expect(ports.engine.objects.has('table/default/public/t0')).toBe(false);
      expect(ports.readiness(left[0]!)).toMatch(/^False/);
      for (const one of others(['id', 'name'], 2)) expect(ports.readiness(one)).toBe('True Applied');
    }
    expect(Math.max(...admissions)).toBeLessThan(6);
  },
);

/** Returns the kinds of the requests with which an engine decides about changes, in order. */
function requestsOf(ports: ScriptedPorts): string[] {
  const requests: string[] = [];
  ports.engine.before = (request) => void (request === 'read' || requests.push(request));
  return requests;
}

test('a confirmed deletion of many tables is admitted before it is written: some are named by what stays', async () => {
  const { ports, options } = await world(100);
  const requests = requestsOf(ports);
  await reconcile(ports, options);
  expect(requests).toEqual(['admit', 'write']);
});

test('an edit that arrives while the engine refuses new resources comes before the second try', async () => {
  const ports = new ScriptedPorts();
  const engine = cachedEngine(ports.engine.port, { nowMs: () => 0, maxAgeMs: () => 1 });
  const { source, sink, clock } = ports;
  const pass = (past = {}) => reconcile({ engine, source, sink, clock }, OPTIONS, past);
  const given = { hasStatuses: true } as const;
  const all = chainOf(6);
  const [before, late] = [all.slice(0, 2), all.slice(4)];
  const other = (generation: number) =>
    permission('other', 't0', 'editor', generation === 1 ? ['id'] : ['id', 'title'], { generation });
  const put = (...resources: readonly CustomResource[]) => {
    ports.resources = resources;
    ports.given = { ...ports.given, ...given };
  };
  put(...before, other(1));
  const first = await pass();
  ports.engine.judge = judge;
  put(...before, ...late, other(1));
  const requests = requestsOf(ports);
  const { before: note } = ports.engine;
  ports.engine.before = (request) => {
    note(request);
    if (request === 'write') put(...before, ...late, other(2));
  };
  const second = await pass(first);
  expect([second.isOfEdits, requests]).toEqual([true, ['write', 'write']]);
  expect(ports.readiness(other(2))).toBe('True Applied');
  requests.splice(0);
  await pass(second);
  expect(requests).toEqual(['admit', 'write']);
});

test('while resources arrive before those that they name, no write is sent that the engine would refuse', async () => {
  const ports = new ScriptedPorts();
  const engine = cachedEngine(ports.engine.port, { nowMs: () => 0, maxAgeMs: () => 1 });
  const { source, sink, clock } = ports;
  const all = chainOf(20);
  let past: Report | undefined;
  const requests = requestsOf(ports);
  const pass = async (...resources: readonly CustomResource[]) => {
    ports.resources = resources;
    ports.given = { ...ports.given, hasStatuses: true };
    requests.splice(0);
    past = await reconcile({ engine, source, sink, clock }, { ...OPTIONS, mostNew: 4 }, past);
    return [...requests];
  };
  await pass(...all.slice(0, 4));
  ports.engine.judge = judge;
  // The first of these names a table that is not there yet, and there are more than one pass takes.
  const early = [...all.slice(0, 4), ...all.slice(6, 20)];
  expect(await pass(...early)).toEqual(['write', 'admit', 'write']);
  expect(await pass(...all.slice(0, 30))).toEqual(['admit', 'write']);
  for (let left = 20; past?.isCut && left > 0; left--) {
    expect(await pass(...all.slice(0, 30))).toEqual(['admit', 'write']);
  }
  for (const cr of all.slice(0, 30)) expect(ports.readiness(cr)).toBe('True Applied');
  expect(await pass(...all.slice(0, 32))).toEqual(['write']);
});
