/** Tests which decisions are left out when the engine reports an error. */
import { type MetadataObject, objectsOf, putObject } from '@pergola/engine/metadata';
import { expect, test } from 'vitest';
import type { Decision } from '../decide/decide.ts';
import type { Claim } from '../decide/desired.ts';
import { EngineProblem, type InconsistentObject } from '../ports.ts';
import { table } from '../testing/resources.ts';
import { broken, inconsistent, type Judge, withDefaultSource } from '../testing/scripted-engine.ts';
import { outcomeOfInconsistency } from './inconsistency.ts';
import { compose } from './order.ts';
import { settle } from './settle.ts';
import type { SettleContext } from './trials.ts';

const tableObject = (name: string): MetadataObject => ({
  key: `table/default/public/${name}`,
  kind: 'table',
  parent: 'source/default',
  definition: { table: { schema: 'public', name } },
});
const selectObject = (name: string): MetadataObject => ({
  key: `select_permission/default/public/${name}/r`,
  kind: 'select_permission',
  parent: `table/default/public/${name}`,
  definition: { role: 'r', permission: { columns: ['id'], filter: {} } },
});
/** `age`: the resource with the larger number is newer. */
const put = (object: MetadataObject, action: Decision['action'] = 'create', age = 0): Decision => ({
  key: object.key,
  action,
  claim: {
    object,
    hash: '',
    cr: table('x', { creationTimestamp: new Date(age * 1000).toISOString() }),
    policies: {},
  } as unknown as Claim,
});
const remove = (key: string): Decision => ({ key, action: 'delete' });

async function run(
  decisions: readonly Decision[],
  judgeBy: Judge,
  given: { live?: readonly MetadataObject[]; owned?: readonly string[] } = {},
) {
  const live = (given.live ?? []).reduce(putObject, withDefaultSource);
  let dryRuns = 0;
  const settled = await settle(
    {
      live,
      inconsistent: judgeBy(objectsOf(live)),
      isOwned: (key) => (given.owned ?? decisions.map((decision) => decision.key)).includes(key),
      dryRun: async (active) => {
        dryRuns++;
        return judgeBy(objectsOf(compose(live, active)));
      },
    },
    decisions,
  );
  return {
    applied: settled.applied.map(({ key }) => key),
    excluded: Object.fromEntries([...settled.excluded].map(([key, { reason }]) => [key, reason])),
    messages: [...settled.excluded.values()].map(({ message }) => message),
    dryRuns,
    settled,
    live,
  };
}

test('without changes no dry run is sent', async () => {
  const { dryRuns, settled, live } = await run([{ key: 'source/default', action: 'unchanged' }], broken());
  expect([dryRuns, settled.document === live]).toEqual([0, true]);
});

test('a broken parent is left out with its children, and they name the object they wait for', async () => {
  const { applied, excluded, messages, dryRuns } = await run(
    [put(selectObject('a')), put(tableObject('a')), put(tableObject('b')), put(selectObject('b'))],
    broken('table/default/public/a'),
  );
  expect(applied).toEqual(['table/default/public/b', 'select_permission/default/public/b/r']);
  expect(excluded).toEqual({
    'table/default/public/a': 'RejectedByEngine',
    'select_permission/default/public/a/r': 'DependencyNotReady',
  });
  expect(messages[1]).toContain('waits for table default/public/a (table default/public/a: broken');
  expect(dryRuns).toBe(2);
});

test('a change that would break an object without an owner is left out, found by the dependencies of that object', async () => {
  const judgeBy: Judge = (objects) =>
    JSON.stringify(objects.get('table/default/public/a')?.definition).includes('bad')
      ? [inconsistent('select_permission/default/public/a/r')]
      : [];
  const changed = { ...tableObject('a'), definition: { table: { schema: 'public', name: 'a' }, bad: 1 } };
  const { applied, excluded, messages } = await run(
    [put(changed, 'update'), put(tableObject('b'))],
    judgeBy,
    {
      live: [tableObject('a'), selectObject('a')],
    },
  );
  expect(applied).toEqual(['table/default/public/b']);
  expect(excluded).toEqual({ 'table/default/public/a': 'RejectedByEngine' });
  expect(messages[0]).toContain('would break select permission default/public/a/r');
});

test('without a dependency to follow, the decision to leave out is found by bisection', async () => {
  const judgeBy: Judge = (objects) =>
    objects.has('table/default/public/t5') ? [inconsistent('query_collection/theirs')] : [];
  const theirs: MetadataObject = {
    key: 'query_collection/theirs',
    kind: 'query_collection',
    parent: null,
    definition: { name: 'theirs', definition: { queries: [] } },
  };
  const decisions = Array.from({ length: 16 }, (_, i) => put(tableObject(`t${i}`)));
  const { applied, excluded, dryRuns } = await run(decisions, judgeBy, { live: [theirs] });
  expect(applied).toHaveLength(15);
  expect(excluded).toEqual({ 'table/default/public/t5': 'RejectedByEngine' });
  expect(dryRuns).toBe(6);
});

test('an object is not deleted if that breaks an object without an owner', async () => {
  const judgeBy: Judge = (objects) =>
    objects.has('table/default/public/a') ? [] : [inconsistent('table/default/public/theirs')];
  const { applied, excluded } = await run([remove('table/default/public/a')], judgeBy, {
    live: [tableObject('a'), tableObject('theirs')],
  });
  expect([applied, excluded]).toEqual([[], { 'table/default/public/a': 'PruneHeld' }]);
});

test('an object is deleted even if that breaks an owned object, which then waits', async () => {
  const judgeBy: Judge = (objects) =>
    objects.has('table/default/public/a') ? [] : [inconsistent('table/default/public/ours')];
  const { applied, excluded } = await run([remove('table/default/public/a')], judgeBy, {
    live: [tableObject('a'), tableObject('ours')],
    owned: ['table/default/public/a', 'table/default/public/ours'],
  });
  expect([applied, excluded]).toEqual([['table/default/public/a'], {}]);
});

test('objects that were inconsistent before do not block changes', async () => {
  const { applied, excluded } = await run([put(tableObject('a'))], broken('table/default/public/theirs'), {
    live: [tableObject('theirs')],
  });
  expect([applied, excluded]).toEqual([['table/default/public/a'], {}]);
});

test('an object is written even if its database does not respond', async () => {
  const { applied } = await run([put(tableObject('a'))], broken('source/default', 'table/default/public/a'));
  expect(applied).toEqual(['table/default/public/a']);
});

test('no decision is left out if the engine rejects the unchanged document as well', async () => {
  const refusal = new EngineProblem('rejected', 'unknown operation');
  const ground = { live: withDefaultSource, inconsistent: [], isOwned: () => true };
  const run = settle({ ...ground, dryRun: () => Promise.reject(refusal) }, [put(tableObject('a'))]);
  await expect(run).rejects.toBe(refusal);
});

/** Returns an engine that rejects a document with all tables of one of the sets, without naming any. */
function refusing(...sets: readonly (readonly string[])[]) {
  let dryRuns = 0;
  const dryRun = async (active: readonly Decision[]) => {
    dryRuns++;
    const keys = new Set(objectsOf(compose(withDefaultSource, active)).keys());
    const isBad = sets.some((set) => set.every((name) => keys.has(tableObject(name).key)));
    if (isBad) throw new EngineProblem('rejected', 'http://engine answers 400: no', { reason: 'no' });
    return [];
  };
  const ground: SettleContext = {
    live: withDefaultSource,
    inconsistent: [],
    isOwned: () => true,
    ownerOf: (key) => `Table of ${key}`,
    dryRun,
  };
  return { ground, dryRuns: () => dryRuns };
}

test('decisions that make the engine reject the whole change are found among thousands with few dry runs', async () => {
  const engine = refusing(['t17'], ['t1000', 't2'], ['t4999']);
  const decisions = Array.from({ length: 5000 }, (_, i) => put(tableObject(`t${i}`), 'create', i));
  const { applied, excluded, isCut } = await settle(engine.ground, decisions);
  expect([...excluded].map(([key, { message }]) => [key, message])).toEqual([
    ['table/default/public/t17', 'table default/public/t17: no'],
    [
      'table/default/public/t1000',
      'table default/public/t1000: no; it does not go together with table default/public/t2 of Table of table/default/public/t2',
    ],
    ['table/default/public/t4999', 'table default/public/t4999: no'],
  ]);
  expect([applied.length, isCut]).toEqual([4997, false]);
  expect(engine.dryRuns()).toBeLessThan(100);
});

test('the search ends after a limited number of dry runs, and decisions that passed are written', async () => {
  const bad = Array.from({ length: 200 }, (_, i) => `t${i * 2 + 401}`);
  const engine = refusing(...bad.map((name) => [name]));
  const decisions = Array.from({ length: 800 }, (_, i) => put(tableObject(`t${i}`), 'create', i));
  const first = await settle(engine.ground, decisions);
  expect(engine.dryRuns()).toBeLessThan(600);
  expect(first.isCut).toBe(true);
  expect(first.applied.length).toBeGreaterThan(400);
  expect(first.applied.filter(({ key }) => bad.some((name) => key.endsWith(`/${name}`)))).toEqual([]);
  expect([...first.excluded.values()].every(({ reason }) => /RejectedByEngine|Applying/.test(reason))).toBe(
    true,
  );
});

test('the newest of the roles that inherit from each other is left out without a dry run for the search', async () => {
  const role = (name: string, ...set: string[]): MetadataObject => ({
    key: `inherited_role/${name}`,
    kind: 'inherited_role',
    parent: null,
    definition: { role_name: name, role_set: set },
  });
  let dryRuns = 0;
  const ground = {
    live: putObject(withDefaultSource, role('a', 'b')),
    inconsistent: [],
    isOwned: () => true,
    ownerOf: (key: string) => (key === 'inherited_role/a' ? 'InheritedRole team-a/a' : undefined),
    dryRun: async () => {
      dryRuns++;
      return [];
    },
  };
  const decisions = [
    put(role('c', 'c'), 'create', 1),
    put(role('b', 'x', 'a'), 'create', 2),
    put(role('d', 'e'), 'create', 4),
    put(role('e', 'd'), 'create', 3),
    put(tableObject('t'), 'create', 5),
  ];
  const { applied, excluded } = await settle(ground, decisions);
  expect(applied.map(({ key }) => key)).toEqual(['inherited_role/e', 'table/default/public/t']);
  expect([...excluded.keys()].toSorted()).toEqual([
    'inherited_role/b',
    'inherited_role/c',
    'inherited_role/d',
  ]);
  expect(excluded.get('inherited_role/b')!.message).toBe(
    'inherited role b: found cycle(s) in roles: ["a","b","a"]; ' +
      'it does not go together with inherited role a of InheritedRole team-a/a',
  );
  expect(excluded.get('inherited_role/c')!.message).toBe(
    'inherited role c: found cycle(s) in roles: ["c","c"]',
  );
  expect(dryRuns).toBe(1);
});

test('a newer object that takes the name of an older one is left out, although the engine names the older one', async () => {
  const judgeBy: Judge = (objects) =>
    objects.has('table/default/public/new') && objects.has('table/default/public/old')
      ? [inconsistent('table/default/public/old', 'unexpected', 'conflicting definitions')]
      : [];
  const dryRun = async (active: readonly Decision[]) =>
    judgeBy(objectsOf(compose(withDefaultSource, active)));
  const { applied, excluded } = await settle(
    { live: withDefaultSource, inconsistent: [], isOwned: () => true, dryRun },
    [
      put(tableObject('new'), 'create', 9),
      ...[1, 2, 3, 4].map((i) => put(tableObject(`t${i}`), 'create', i)),
      put(tableObject('old'), 'create', 5),
    ],
  );
  expect(applied.map(({ key }) => key)).not.toContain('table/default/public/new');
  expect(applied).toHaveLength(5);
  expect(excluded.get('table/default/public/new')!.message).toContain('would break table default/public/old');
});

test.each<[InconsistentObject, string]>([
  [inconsistent('table/a/b/c', 'not-exists'), 'DependencyNotReady'],
  [inconsistent('native_query/a/b', 'not-found'), 'DependencyNotReady'],
  [inconsistent('table/a/b/c', 'permission-error'), 'RejectedByEngine'],
  [inconsistent('source/a', 'not-exists'), 'SourceUnavailable'],
  [inconsistent('source/a', 'postgres-error'), 'SourceUnavailable'],
  [inconsistent('source/a', 'invalid-configuration'), 'RejectedByEngine'],
])('the inconsistency %o becomes the reason %s', (found, reason) => {
  expect(outcomeOfInconsistency(found, [found], undefined).reason).toBe(reason);
});
