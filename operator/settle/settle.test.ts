/** Tests which decisions are left out when the engine reports an error. */
import { type MetadataObject, putObject } from '@pergola/engine/metadata';
import { expect, test } from 'vitest';
import type { Decision } from '../decide/decide.ts';
import type { Claim } from '../decide/desired.ts';
import { EngineProblem } from '../ports/engine-problem.ts';
import type { InconsistentObject } from '../ports/inconsistent-object.ts';
import { table } from '../testing/resources.ts';
import {
  broken,
  inconsistent,
  type Judge,
  ScriptedEngine,
  withDefaultSource,
} from '../testing/scripted-engine.ts';
import { outcomeOfInconsistency } from './inconsistency.ts';
import { type SettleContext, settle } from './settle.ts';

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

/** Returns an engine with these objects, and the context of a write to it. */
function groundOf(
  judgeBy: Judge,
  given: { readonly live?: readonly MetadataObject[]; readonly isOwned?: (key: string) => boolean } = {},
) {
  const engine = new ScriptedEngine((given.live ?? []).reduce(putObject, withDefaultSource));
  engine.judge = judgeBy;
  const context: SettleContext = {
    live: engine.metadata,
    inconsistent: judgeBy(engine.objects),
    isOwned: given.isOwned ?? (() => true),
    ownerOf: (key) => `Table of ${key}`,
    claimedIn: () => undefined,
    admit: (question) => engine.admit(question),
    refusedBefore: () => undefined,
    ...{ mustFit: false, unsentValues: [], holdBack: undefined, most: undefined },
  };
  return { engine, context };
}

async function run(
  decisions: readonly Decision[],
  judgeBy: Judge,
  given: { live?: readonly MetadataObject[]; owned?: readonly string[] } = {},
) {
  const owned = given.owned ?? decisions.map((decision) => decision.key);
  const { engine, context } = groundOf(judgeBy, { ...given, isOwned: (key) => owned.includes(key) });
  const settled = await settle(context, decisions);
  return {
    applied: settled.applied.map(({ key }) => key),
    excluded: Object.fromEntries([...settled.excluded].map(([key, { reason }]) => [key, reason])),
    messages: [...settled.excluded.values()].map(({ message }) => message),
    admissions: engine.admissions,
    settled,
    live: context.live,
  };
}

test('without changes the engine is not asked', async () => {
  const { admissions, settled, live } = await run([{ key: 'source/default', action: 'unchanged' }], broken());
  expect([admissions, settled.document === live]).toEqual([0, true]);
});

test('a broken parent is left out with its children, and they name the object they wait for', async () => {
  const { applied, excluded, messages, admissions } = await run(
    [put(selectObject('a')), put(tableObject('a')), put(tableObject('b')), put(selectObject('b'))],
    broken('table/default/public/a'),
  );
  expect(applied).toEqual(['table/default/public/b', 'select_permission/default/public/b/r']);
  expect(excluded).toEqual({
    'table/default/public/a': 'RejectedByEngine',
    'select_permission/default/public/a/r': 'DependencyNotReady',
  });
  expect(messages[1]).toContain('waits for table default/public/a (table default/public/a: broken');
  expect(admissions).toBe(1);
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
  const { applied, excluded, admissions } = await run(decisions, judgeBy, { live: [theirs] });
  expect(applied).toHaveLength(15);
  expect(excluded).toEqual({ 'table/default/public/t5': 'RejectedByEngine' });
  expect(admissions).toBe(1);
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

test('a question that the engine refuses leaves out nothing', async () => {
  const refusal = new EngineProblem('rejected', 'unknown operation');
  const { context } = groundOf(() => []);
  const asking = { ...context, admit: () => Promise.reject(refusal) };
  await expect(settle(asking, [put(tableObject('a'))])).rejects.toBe(refusal);
});

test('what the engine refuses by itself is left out with its path, and the rest is written', async () => {
  const { context } = groundOf(() => []);
  const decisions = [put(tableObject('a')), put(tableObject('b')), put(selectObject('a'))];
  const asking: SettleContext = {
    ...context,
    admit: async () => ({
      ...{ inconsistent: [], held: [], notCompared: [] },
      leftOut: [
        { key: decisions[0]!.key, because: 'refused', reason: 'no', path: ['table', 'name'] },
        { key: decisions[2]!.key, because: 'missing', missing: decisions[0]!.key },
      ],
    }),
  };
  const { applied, excluded } = await settle(asking, decisions);
  expect(applied.map(({ key }) => key)).toEqual(['table/default/public/b']);
  expect([...excluded.values()].map(({ message }) => message)).toEqual([
    'table default/public/a at table.name: no',
    'select permission default/public/a/r waits for table default/public/a (table default/public/a at table.name: no)',
  ]);
});

test('what was refused a moment ago is not asked again, and what needs it waits', async () => {
  const { engine, context } = groundOf(() => []);
  const outcome = { reason: 'RejectedByEngine', message: 'no' } as const;
  const refusedBefore = ({ key }: Decision) => (key.endsWith('/a') ? outcome : undefined);
  const decisions = [put(tableObject('a')), put(selectObject('a'))];
  const { applied, excluded } = await settle({ ...context, refusedBefore }, decisions);
  expect([applied, [...excluded.values()].map(({ reason }) => reason), engine.admissions]).toEqual([
    [],
    ['RejectedByEngine', 'DependencyNotReady'],
    1,
  ]);
});

test('a write that must fit needs no question, unless an object lacks what it needs', async () => {
  const { engine, context } = groundOf(() => []);
  const whole = await settle({ ...context, mustFit: true }, [put(tableObject('a')), put(selectObject('a'))]);
  expect([whole.applied.length, engine.admissions]).toEqual([2, 0]);
  const lacking = await settle({ ...context, mustFit: true }, [
    put(tableObject('b')),
    put(selectObject('a')),
  ]);
  expect([lacking.applied.length, engine.admissions]).toEqual([1, 1]);
});

test('the newest of the roles that inherit from each other is left out', async () => {
  const role = (name: string, ...set: string[]): MetadataObject => ({
    key: `inherited_role/${name}`,
    kind: 'inherited_role',
    parent: null,
    definition: { role_name: name, role_set: set },
  });
  const { context } = groundOf(() => [], { live: [role('a', 'b')] });
  const ownerOf = (key: string) => (key === 'inherited_role/a' ? 'InheritedRole team-a/a' : undefined);
  const decisions = [
    put(role('c', 'c'), 'create', 1),
    put(role('b', 'x', 'a'), 'create', 2),
    put(role('d', 'e'), 'create', 4),
    put(role('e', 'd'), 'create', 3),
    put(tableObject('t'), 'create', 5),
  ];
  const { applied, excluded } = await settle({ ...context, ownerOf }, decisions);
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
});

test('a newer object that takes the name of an older one is left out, although the engine names the older one', async () => {
  const judgeBy: Judge = (objects) =>
    objects.has('table/default/public/new') && objects.has('table/default/public/old')
      ? [inconsistent('table/default/public/old', 'unexpected', 'conflicting definitions')]
      : [];
  const { applied, excluded } = await settle(groundOf(judgeBy).context, [
    put(tableObject('new'), 'create', 9),
    ...[1, 2, 3, 4].map((i) => put(tableObject(`t${i}`), 'create', i)),
    put(tableObject('old'), 'create', 5),
  ]);
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
