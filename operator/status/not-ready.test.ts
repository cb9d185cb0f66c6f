/** Tests which resources the message of an Engine names. */
import { expect, test } from 'vitest';
import { cachedEngine } from '../engine/cached-engine.ts';
import { KINDS, type Reason } from '../kinds.ts';
import { reconcile } from '../pass/reconcile.ts';
import { EngineProblem } from '../ports/engine-problem.ts';
import type { ResourceOutcome } from '../ports/verdict.ts';
import { OPTIONS, permission, resource, table } from '../testing/resources.ts';
import { ScriptedPorts } from '../testing/scripted-ports.ts';
import { engineStatusOf } from './engine-status.ts';
import { notReadyText } from './not-ready.ts';
import { MOST_SENTENCE_CHARACTERS } from './sentence.ts';

const ENGINE = resource('Engine', 'main', { endpoint: { url: 'http://engine' } });
const NOW = new Date('2025-06-01T12:00:00Z');
const CONTEXT = { now: NOW, progressDeadlineSeconds: 300 };

type Named = readonly [kind: string, name: string, reason?: Reason];

function clauseOf(given: readonly Named[]): string | undefined {
  const resources = given.map(([kind, name]) => resource(kind, name, {}));
  const verdicts = resources.map(({ metadata }, at) => {
    const outcome: ResourceOutcome = { reason: given[at]?.[2] ?? 'DependencyNotReady', message: 'waits' };
    return [metadata.uid, { outcome, wasWritten: false, failing: [] }] as const;
  });
  return notReadyText({ resources, verdicts: new Map(verdicts) });
}

test('sources come before what needs them, then names, and at most three are named', () => {
  const given: readonly Named[] = [
    ['TablePermission', 'a'],
    ['Table', 'b'],
    ['InheritedRole', 'a'],
    ['Table', 'a'],
    ['Source', 'z'],
  ];
  const expected = 'not ready: Source default/z, Table default/a, Table default/b and 2 more';
  expect(clauseOf(given)).toBe(expected);
  expect(clauseOf(given.toReversed())).toBe(expected);
  expect(clauseOf(given.slice(0, 3))).toBe(
    'not ready: Table default/b, TablePermission default/a, InheritedRole default/a',
  );
});

test('an unknown kind comes last', () => {
  const last = KINDS.at(-1)!.kind;
  expect(
    clauseOf([
      ['Alien', 'a'],
      [last, 'b'],
    ]),
  ).toBe(`not ready: ${last} default/b, Alien default/a`);
});

test('resources that are applied, being applied or paused are not named', () => {
  const fine: readonly Named[] = [
    ['Table', 'a', 'Applied'],
    ['Table', 'b', 'Applying'],
    ['Table', 'c', 'Paused'],
  ];
  expect(clauseOf(fine)).toBeUndefined();
  expect(clauseOf([...fine, ['Table', 'd', 'Conflict']])).toBe('not ready: Table default/d');
});

test('the longest names leave room for the number of the others', () => {
  const given = Array.from(
    { length: 5 },
    (_, at): Named => ['RemoteRelationship', `${at}${'x'.repeat(252)}`],
  );
  const clause = clauseOf(given);
  expect(clause).toMatch(/… and 2 more$/);
  expect(clause!.length).toBeLessThan(MOST_SENTENCE_CHARACTERS / 2);
});

test('the Engine names what is not Ready, also after a pass over changes alone, and nothing when all is Ready', async () => {
  const scripted = new ScriptedPorts();
  // A pass has the incremental scope only with an engine whose answers are kept.
  const engine = cachedEngine(scripted.engine.port, { nowMs: () => 0, maxAgeMs: () => 1 });
  const ports = { engine, source: scripted.source, sink: scripted.sink, clock: scripted.clock };
  const [author, waits, late] = [
    table('author'),
    permission('waits', 'nowhere', 'reader'),
    permission('late', 'nowhere', 'user'),
  ];
  scripted.resources = [author, waits];
  const first = await reconcile(ports, OPTIONS);
  const readyOf = (report: typeof first, cr = ENGINE) => engineStatusOf(cr, report, CONTEXT);
  const named = '1 object applied; not ready: TablePermission default/waits.';
  expect(readyOf(first).conditions[0]).toMatchObject({ status: 'True', reason: 'Applied', message: named });

  const second = await reconcile(ports, OPTIONS, first);
  expect(second.plan?.scope.skipped.size).toBe(1);
  const before = readyOf(first);
  expect(readyOf(second, { ...ENGINE, status: before })).toEqual(before);

  scripted.resources = [author, waits, late];
  const third = await reconcile(ports, OPTIONS, second);
  expect(readyOf(third).conditions[0]?.message).toBe(
    '1 object applied; not ready: TablePermission default/late, TablePermission default/waits.',
  );
  scripted.resources = [author];
  expect(readyOf(await reconcile(ports, OPTIONS, third)).conditions[0]?.message).toBe('1 object applied.');
});

test('an engine that does not answer is the message alone', async () => {
  const ports = new ScriptedPorts();
  ports.resources = [table('author')];
  ports.engine.before = () => {
    throw new EngineProblem('unreachable', 'connection refused');
  };
  const [ready] = engineStatusOf(ENGINE, await reconcile(ports, OPTIONS), CONTEXT).conditions;
  expect(ready?.message).toBe('Connection refused.');
});
