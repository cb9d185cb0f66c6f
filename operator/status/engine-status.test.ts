/** Tests the status of an Engine. */
import { expect, test } from 'vitest';
import { ENGINE_COLUMNS } from '../kinds/kind.ts';
import { REASONS, type Reason } from '../kinds.ts';
import { reconcile } from '../pass/reconcile.ts';
import { EngineProblem } from '../ports/engine-problem.ts';
import { OPTIONS, permission, resource, table } from '../testing/resources.ts';
import { broken } from '../testing/scripted-engine.ts';
import { ScriptedPorts } from '../testing/scripted-ports.ts';
import { engineStatusOf, pausedStatusOf } from './engine-status.ts';

const engine = resource('Engine', 'main', { endpoint: { service: { name: 'engine', port: 8080 } } });
const context = { now: new Date('2025-06-01T12:00:00Z'), progressDeadlineSeconds: 300 };

async function statusAfter(prepare: (ports: ScriptedPorts) => void | Promise<void>, options = OPTIONS) {
  const ports = new ScriptedPorts();
  await prepare(ports);
  const status = engineStatusOf(engine, await reconcile(ports, options), context);
  return { ...status, shown: status.conditions.map((c) => `${c.type}=${c.status} ${c.reason}`) };
}

test('a healthy Engine is Ready and counts owned, other and failing objects', async () => {
  const status = await statusAfter((ports) => {
    ports.resources = [table('author'), permission('waits', 'nowhere', 'reader')];
  });
  expect(status.shown).toEqual([
    'Ready=True Applied',
    'Reachable=True Applied',
    'MetadataConsistent=True Applied',
  ]);
  expect(status).toMatchObject({
    observedGeneration: 1,
    target: 'service engine:8080',
    resourceVersion: 2,
    notReady: 1,
    objects: { owned: 1, foreign: 1, failing: 1, drifted: 0 },
  });
});

test('an Engine with a console names the page about what is not well, and no other', async () => {
  const shown = async (judge = broken()) => {
    const ports = new ScriptedPorts();
    ports.resources = [table('author')];
    ports.engine.judge = judge;
    const cr = { ...engine, spec: { ...engine.spec, consoleUrl: 'https://api.test/console/' } };
    const { conditions } = engineStatusOf(cr, await reconcile(ports, OPTIONS), context);
    return conditions.flatMap(({ type, message }) => {
      const [, link] = /; see (\S+)\.$/.exec(message) ?? [];
      return link ? [`${type} ${link}`] : [];
    });
  };
  expect(await shown()).toEqual([]);
  expect(await shown(broken('source/default'))).toEqual([
    'Ready https://api.test/console/ownership',
    'MetadataConsistent https://api.test/console/model',
  ]);
});

test('an Engine that is paused, waits for its deletion or has a failing test names the page about it, in every condition of its progress', async () => {
  const cr = { ...engine, spec: { ...engine.spec, consoleUrl: 'https://api.test/console' } };
  const links = ({ conditions }: Pick<typeof paused, 'conditions'>) =>
    conditions.map(({ type, message }) => `${type} ${/; see (\S+)\.$/.exec(message)?.[1] ?? ''}`);
  const paused = pausedStatusOf(cr, { reason: 'Paused', message: 'm' }, context);
  expect(links(paused)).toEqual(['Ready https://api.test/console/ownership']);
  const report = await reconcile(new ScriptedPorts(), OPTIONS);
  const deleting = { reason: 'Deleting', message: 'waits' } as const;
  expect(links(engineStatusOf(cr, report, context, { deleting })).slice(0, 2)).toEqual([
    'Ready https://api.test/console/ownership',
    'Reconciling https://api.test/console/ownership',
  ]);
  const problem = { reason: 'TestFailed', message: 'm' } as const;
  expect(links(engineStatusOf(cr, report, context, { problem })).slice(0, 2)).toEqual([
    'Ready https://api.test/console/ownership?view=tests',
    'Stalled https://api.test/console/ownership?view=tests',
  ]);
});

/** The reasons of an Engine whose conditions name no page: nothing is wrong, or the engine, which serves the pages, cannot be reached: it does not
 *  answer or is busy, the Engine has a mistake, or lacks a Secret or another object. */
const WITHOUT_PAGE: readonly Reason[] = [
  ...(['Applied', 'Applying', 'EngineUnreachable', 'EngineRejectedCredentials'] as const),
  ...(['DependencyNotReady', 'InvalidSpec', 'SecretNotFound'] as const),
];

test.each(Object.keys(REASONS) as Reason[])(
  'every condition of an Engine about its objects with the reason %s names a page, and that another operator writes them, too',
  async (reason) => {
    const cr = { ...engine, spec: { ...engine.spec, consoleUrl: 'https://api.test/console' } };
    const rivals = [{ lease: 'other/pergola', identity: 'pod-7', seenTime: '2025-06-01T12:00:00Z' }];
    const report = await reconcile(new ScriptedPorts(), OPTIONS);
    const { conditions } = engineStatusOf(cr, report, context, { problem: { reason, message: 'm' }, rivals });
    const linked = conditions.filter(({ message }) => message.includes('; see https://api.test/console/'));
    const types = conditions.map(({ type }) => type);
    expect(types).toEqual(expect.arrayContaining(['Ready', 'Reachable', 'MetadataConsistent', 'Contested']));
    // The engine answers, and every object is consistent.
    const expected = types.filter((type) => !['Reachable', 'MetadataConsistent'].includes(type));
    expect(linked.map(({ type }) => type)).toEqual(WITHOUT_PAGE.includes(reason) ? ['Contested'] : expected);
  },
);

test.each([1, 2, 5])('the column and the message of an Engine count the same %i resources', async (count) => {
  const permissions = Array.from({ length: 3 }, (_, i) => ({
    role: `role${i}`,
    select: { columns: ['id'], filter: {} },
  }));
  const status = await statusAfter(async (ports) => {
    // Each resource has four objects.
    ports.resources = Array.from({ length: count }, (_, i) => table(`t${i}`, { spec: { permissions } }));
    ports.engine.judge = broken(...Array.from({ length: count }, (_, i) => `table/default/public/t${i}`));
  });
  const [, names = ''] = /not ready: (.*)\.$/.exec(status.conditions[0]!.message) ?? [];
  const more = Number(/and (\d+) more/.exec(names)?.[1] ?? 0);
  expect(names.match(/Table default\/t\d/g)!.length + more).toBe(count);
  const column = ENGINE_COLUMNS.find(({ name }) => name === 'Failing')!;
  expect(column.jsonPath).toBe('.status.notReady');
  expect(status.notReady).toBe(count);
});

test('an Engine that does not respond is not Reachable and has no condition for its metadata', async () => {
  const status = await statusAfter((ports) => {
    ports.engine.before = () => {
      throw new EngineProblem('unreachable', 'connection refused');
    };
  });
  expect(status.shown).toEqual([
    'Ready=False EngineUnreachable',
    'Reconciling=True EngineUnreachable',
    'Reachable=False EngineUnreachable',
  ]);
});

test('inconsistent objects are reported, whoever owns them, with the reason they share', async () => {
  const status = await statusAfter((ports) => {
    ports.engine.judge = broken('source/default');
  });
  expect(status.shown).toContain('MetadataConsistent=False SourceUnavailable');
  expect(status.conditions.at(-1)?.message).toContain('source/default');
});

test('the message for held deletions says how to confirm them', async () => {
  const status = await statusAfter(
    async (ports) => {
      ports.resources = [table('a'), table('b')];
      await reconcile(ports, OPTIONS);
      ports.resources = [];
    },
    { ...OPTIONS, policies: { ...OPTIONS.policies, pruneGuard: { maxObjects: 1, maxPercent: 50 } } },
  );
  expect(status.shown).toContain('Ready=False PruneHeld');
  expect(status.pruneHash).toMatch(/^[0-9a-f]{24}$/);
  expect(status.conditions[0]?.message).toContain(`pergola.dev/confirm-prune: ${status.pruneHash}`);
});

test('a problem of the Engine resource itself has priority', async () => {
  const ports = new ScriptedPorts();
  const report = await reconcile(ports, OPTIONS);
  const problem = { reason: 'SecretNotFound', message: 'no secret' } as const;
  const [ready] = engineStatusOf(engine, report, context, { problem }).conditions;
  expect([ready?.status, ready?.reason]).toEqual(['False', 'SecretNotFound']);
});

test('versions stay as they were while the engine does not answer', async () => {
  const ports = new ScriptedPorts();
  const versions = {
    resourceVersion: 2,
    engineVersion: '1.4.0',
    replicas: [{ address: '10.0.0.1', engineVersion: '1.3.0' }],
  };
  const expected = { engineVersion: '1.4.0', replicas: versions.replicas };
  const status = engineStatusOf(engine, await reconcile(ports, OPTIONS), context, { versions });
  expect(status).toMatchObject(expected);
  expect(engineStatusOf({ ...engine, status }, await reconcile(ports, OPTIONS), context)).toMatchObject(
    expected,
  );
});

test('an Engine that another operator reconciles says which, and stays Ready', async () => {
  const rivals = [{ lease: 'other/pergola', identity: 'pod-7', seenTime: '2025-06-01T12:00:00Z' }];
  const { conditions } = engineStatusOf(engine, await reconcile(new ScriptedPorts(), OPTIONS), context, {
    rivals,
  });
  expect(conditions.map(({ type, status }) => `${type}=${status}`)).toContain('Ready=True');
  const contested = conditions.find(({ type }) => type === 'Contested');
  expect(contested?.reason).toBe('AnotherOperator');
  expect(contested?.message).toContain('pod-7 with the lease other/pergola');
});
