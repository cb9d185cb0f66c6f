/** Tests status.plan: it lists what a pass would do for a resource with the plan annotation, and the pass does not do it. */
import { describe, expect, test } from 'vitest';
import { PLAN_ANNOTATION } from '../decide/pause.ts';
import { type CustomResource, crName } from '../kinds.ts';
import type { EnginePort } from '../ports/engine.ts';
import { EngineProblem } from '../ports/engine-problem.ts';
import { OPTIONS, permission, resource, snapshotOf, table } from '../testing/resources.ts';
import { inconsistent } from '../testing/scripted-engine.ts';
import { ScriptedPorts } from '../testing/scripted-ports.ts';
import { reconcile } from './reconcile.ts';

const ASKED = { annotations: { [PLAN_ANNOTATION]: 'true' } };

async function plansOf(...passes: readonly (readonly CustomResource[])[]) {
  const ports = new ScriptedPorts();
  for (const resources of passes) {
    ports.resources = resources;
    await reconcile(ports, OPTIONS);
  }
  const plans = passes.at(-1)!.map((cr) => [crName(cr), ports.status(cr)?.plan] as const);
  return { ports, plans: Object.fromEntries(plans.filter(([, plan]) => plan !== undefined)) };
}

test('a plan lists an object to create without creating it, and other resources are applied', async () => {
  const asked = permission('reader', 'author', 'reader', ['id'], ASKED);
  const { ports, plans } = await plansOf([table('author'), asked]);
  expect(plans).toEqual({
    'TablePermission default/reader': [
      '+ select permission default/public/author/reader',
      '    reader may select public.author: columns: id; filter: all rows',
    ],
  });
  expect(ports.readiness(asked)).toBe('Unknown Paused');
  expect(ports.readiness(table('author'))).toBe('True Applied');
  expect(JSON.stringify(ports.engine.metadata)).not.toContain('reader');
});

test('a plan lists changed fields and deleted objects, and omits unchanged ones', async () => {
  const before = [table('author'), permission('reader', 'author', 'reader', ['id'])];
  const changed = permission('reader', 'author', 'reader', ['id', 'name'], { ...ASKED, generation: 2 });
  const { plans } = await plansOf(before, [table('author'), changed]);
  expect(plans['TablePermission default/reader']).toEqual([
    '~ select permission default/public/author/reader',
    '    permission.columns[]: + "name"',
    '    reader reaches more: columns: id → id, name',
  ]);
  const other = permission('reader', 'author', 'writer', ['id'], { ...ASKED, generation: 2 });
  expect((await plansOf(before, [table('author'), other])).plans['TablePermission default/reader']).toEqual([
    '- select permission default/public/author/reader',
    '    reader may no longer select public.author',
    '+ select permission default/public/author/writer',
    '    writer may select public.author: columns: id; filter: all rows',
  ]);
  const same = permission('reader', 'author', 'reader', ['id'], ASKED);
  const { plans: none } = await plansOf(before, [table('author'), same]);
  expect(none['TablePermission default/reader']).toEqual(['no change']);
});

test('a plan lists what follows for roles that inherit, and for requests as the engine reports them', async () => {
  const ports = new ScriptedPorts();
  const staff = resource('InheritedRole', 'staff', { role: 'staff', roles: ['reader'] });
  ports.resources = [table('author'), permission('reader', 'author', 'reader', ['id']), staff];
  await reconcile(ports, OPTIONS);
  const revoked = { key: 'rest_endpoint/all', role: null, on: 'all', operation: 'request' } as const;
  ports.engine.schemaEffects = async () => ({
    schemas: [],
    isComplete: true,
    requests: [{ ...revoked, change: 'revoked', verdict: 'narrower', parts: [] }],
  });
  const asked = permission('reader', 'author', 'reader', ['id', 'name'], { ...ASKED, generation: 2 });
  ports.resources = [table('author'), asked, staff];
  await reconcile(ports, OPTIONS);
  expect(ports.status(asked)?.plan).toEqual([
    '~ select permission default/public/author/reader',
    '    permission.columns[]: + "name"',
    '    reader reaches more: columns: id → id, name',
    'staff reaches more of public.author (select, by the roles that it inherits from): columns: id → id, name',
    'no role may request the endpoint all any more',
  ]);
});

test('a plan lists what the engine would reject, with the reason', async () => {
  const ports = new ScriptedPorts();
  const asked = permission('reader', 'author', 'reader', ['nothing'], ASKED);
  ports.engine.judge = (objects) =>
    [...objects.keys()]
      .filter((key) => key.startsWith('select_permission'))
      .map((key) => inconsistent(key, 'permission-error', 'no such column'));
  ports.resources = [table('author'), asked];
  await reconcile(ports, OPTIONS);
  expect(ports.status(asked)?.plan?.[0]).toMatch(/^! RejectedByEngine: .*no such column/);
  expect(ports.engine.writes.length).toBe(1);
});

test('a long plan is cut, and there is no plan without the annotation', async () => {
  const objects = Array.from({ length: 80 }, (_, i) => ({
    key: `query_collection/c${i}`,
    definition: { name: `c${i}`, definition: { queries: [] } },
  }));
  const bundle = resource('MetadataBundle', 'many', { objects }, ASKED);
  const { plans } = await plansOf([bundle]);
  expect(plans['MetadataBundle default/many']).toHaveLength(50);
  expect(plans['MetadataBundle default/many']?.at(-1)).toBe('… and 31 more');
  const { ports } = await plansOf([bundle], [resource('MetadataBundle', 'many', { objects })]);
  expect(ports.status(bundle)).not.toHaveProperty('plan');
  expect(ports.readiness(bundle)).toBe('True Applied');
});

describe('the schemas of roles', () => {
  const before = [table('author'), permission('reader', 'author', 'reader', ['id', 'name'])];
  const narrower = permission('reader', 'author', 'reader', ['id'], { ...ASKED, generation: 2 });
  const EFFECTS = {
    isComplete: true,
    schemas: [
      {
        role: 'reader',
        breaking: 1,
        dangerous: 0,
        safe: 2,
        changes: [{ severity: 'breaking', type: 'FIELD_REMOVED', description: 'author.name was removed.' }],
      },
    ],
  } as const;

  async function planned(schemaEffects: EnginePort['schemaEffects'], ...more: readonly CustomResource[]) {
    const ports = new ScriptedPorts();
    ports.resources = before;
    await reconcile(ports, OPTIONS);
    Object.assign(ports.engine, { schemaEffects });
    ports.resources = [table('author'), narrower, ...more];
    await reconcile(ports, OPTIONS);
    return ports.status(narrower)?.plan?.slice(2);
  }

  test('are in the plan, with the number of their changes', async () => {
    expect(await planned(async () => EFFECTS)).toEqual([
      '    reader reaches less: columns: id, name → id',
      'schema of reader: 1 breaking, 2 safe',
      '  breaking: author.name was removed.',
    ]);
  });

  test('are in the plan with the operations that they break', async () => {
    const [schema] = EFFECTS.schemas;
    const operation = (name: string | null, client: string | null, requests: number) => ({
      ...{ operation: name, client, requests, lastDay: '2026-11-24' },
    });
    const usedBy = [
      operation('Names', 'web', 12),
      operation('rest:names', null, 1),
      operation(null, 'ios', 1),
    ];
    const changes = [{ ...schema.changes[0], usedByCount: 5, usedBy }];
    const usage = { days: 30, since: '2026-11-02' };
    const effects = {
      isComplete: true,
      usage,
      schemas: [{ ...schema, changes, breakingInUse: 1, uncounted: 1 }],
    };
    expect((await planned(async () => effects))?.slice(1)).toEqual([
      'schema of reader: 1 breaking (1 in use), 2 safe',
      '  breaking: author.name was removed. Used by Names of web (12 requests, last on 2026-11-24), rest:names (1 request, last on 2026-11-24), an operation without a name of ios (1 request, last on 2026-11-24) and 2 more.',
      '  1 request is not counted by operation, and may be affected',
      'in use: by the requests of the last 30 days, counted since 2026-11-02',
    ]);
  });

  test('are those of all planned changes together', async () => {
    const another = permission('writer', 'author', 'writer', ['id'], ASKED);
    expect((await planned(async () => EFFECTS, another))?.[1]).toBe(
      'with the changes of 2 resources together:',
    );
  });

  test('are not known when the engine does not say them, and the plan remains', async () => {
    const refused = planned(async () => {
      throw new EngineProblem('unreachable', 'the connection was closed');
    });
    expect((await refused)?.at(-1)).toBe('the effect on schemas is not known: the connection was closed');
  });
});

test('a plan lists the named values that the resource would send, change and no longer needs, without their texts', async () => {
  const ports = new ScriptedPorts();
  const texts: Record<string, string> = { hook: 'one', other: 'three' };
  const trigger = (secret: string, given: object = {}) =>
    resource(
      'CronTrigger',
      'nightly',
      { name: 'nightly', schedule: '0 0 1 1 *', webhook: { secretKeyRef: { name: secret, key: 'url' } } },
      given,
    );
  const foreign = resource('CronTrigger', 'foreign', {
    name: 'foreign',
    schedule: '0 0 1 1 *',
    webhook: { secretKeyRef: { name: 'third', key: 'url' } },
  });
  const planOf = async (...resources: CustomResource[]) => {
    const secret = (_: string, name: string) => texts[name];
    ports.given = snapshotOf(resources, { references: { secret, configMap: () => undefined } });
    await reconcile(ports, OPTIONS);
    return ports.status(resources[0]!)?.plan?.filter((line) => line.includes('named value'));
  };
  expect(await planOf(trigger('hook', ASKED), foreign)).toEqual([
    expect.stringMatching(/^\+ named value default\/\w+\/hook\/url$/),
  ]);
  expect(ports.engine.values.size).toBe(0);
  await planOf(trigger('hook'));
  texts['hook'] = 'two';
  expect(await planOf(trigger('hook', ASKED))).toEqual([
    expect.stringMatching(/^~ named value .*\/hook\/url$/),
  ]);
  expect(await planOf(trigger('other', { ...ASKED, generation: 2 }))).toEqual([
    expect.stringMatching(/^\+ named value .*\/other\/url$/),
    expect.stringMatching(/^- named value .*\/hook\/url$/),
  ]);
  expect([...ports.engine.values.values()]).toEqual(['one']);
});
