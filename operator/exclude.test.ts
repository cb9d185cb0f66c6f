/** What is left out when the engine finds something wrong, and what is not. */
import { type MetadataObject, objectsOf, putObject } from '@pergola/engine/metadata';
import { expect, test } from 'vitest';
import { compose } from './compose.ts';
import type { Claim } from './desired.ts';
import { judge, settle } from './exclude.ts';
import type { InconsistentObject } from './ports.ts';
import { table } from './testing/resources.ts';
import { broken, inconsistent, type Judge, withDefaultSource } from './testing/scripted-engine.ts';
import type { Decision } from './three-way.ts';

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
const put = (object: MetadataObject, action: Decision['action'] = 'create'): Decision => ({
  key: object.key,
  action,
  claim: { object, hash: '', cr: table('x'), policies: {} } as unknown as Claim,
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

test('nothing to change asks the engine nothing', async () => {
  const { dryRuns, settled, live } = await run([{ key: 'source/default', action: 'unchanged' }], broken());
  expect([dryRuns, settled.document === live]).toEqual([0, true]);
});

test('a broken parent takes its children along, and they say for what they wait', async () => {
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

test('what would break an object of others is left out, found by what that depends on', async () => {
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

test('where nothing tells, the guilty decision is found by halving', async () => {
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

test('a deletion that breaks an object of others is not made', async () => {
  const judgeBy: Judge = (objects) =>
    objects.has('table/default/public/a') ? [] : [inconsistent('table/default/public/theirs')];
  const { applied, excluded } = await run([remove('table/default/public/a')], judgeBy, {
    live: [tableObject('a'), tableObject('theirs')],
  });
  expect([applied, excluded]).toEqual([[], { 'table/default/public/a': 'PruneHeld' }]);
});

test('a deletion that breaks an object of ours is made: that one waits', async () => {
  const judgeBy: Judge = (objects) =>
    objects.has('table/default/public/a') ? [] : [inconsistent('table/default/public/ours')];
  const { applied, excluded } = await run([remove('table/default/public/a')], judgeBy, {
    live: [tableObject('a'), tableObject('ours')],
    owned: ['table/default/public/a', 'table/default/public/ours'],
  });
  expect([applied, excluded]).toEqual([['table/default/public/a'], {}]);
});

test('what was inconsistent before blocks nothing', async () => {
  const { applied, excluded } = await run([put(tableObject('a'))], broken('table/default/public/theirs'), {
    live: [tableObject('theirs')],
  });
  expect([applied, excluded]).toEqual([['table/default/public/a'], {}]);
});

test('an object whose database does not answer is written all the same', async () => {
  const { applied } = await run([put(tableObject('a'))], broken('source/default', 'table/default/public/a'));
  expect(applied).toEqual(['table/default/public/a']);
});

test('an engine that is never content gets nothing written', async () => {
  let round = 0;
  const judgeBy: Judge = (objects) =>
    [...objects.keys()].filter((key) => key.endsWith(`t${round}`)).map((key) => inconsistent(key));
  const decisions = Array.from({ length: 30 }, (_, i) => put(tableObject(`t${i}`)));
  const { applied, excluded, settled, live } = await run(decisions, (objects) => {
    const found = judgeBy(objects);
    round++;
    return found;
  });
  expect([applied, Object.keys(excluded).length, settled.document === live]).toEqual([[], 30, true]);
});

test.each<[InconsistentObject, string]>([
  [inconsistent('table/a/b/c', 'not-exists'), 'DependencyNotReady'],
  [inconsistent('table/a/b/c', 'permission-error'), 'RejectedByEngine'],
  [inconsistent('source/a', 'not-exists'), 'SourceUnavailable'],
  [inconsistent('source/a', 'postgres-error'), 'SourceUnavailable'],
  [inconsistent('source/a', 'invalid-configuration'), 'RejectedByEngine'],
])('%o is %s', (found, reason) => {
  expect(judge(found, [found], undefined).reason).toBe(reason);
});
