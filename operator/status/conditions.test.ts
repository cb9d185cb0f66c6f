/** Tests the conditions of each outcome, and how kstatus reads them. */
import { expect, test } from 'vitest';
import { type CrStatus, type CustomResource, REASONS, type Reason } from '../kinds.ts';
import type { Verdict } from '../ports/verdict.ts';
import { resource, table } from '../testing/resources.ts';
import { SITUATIONS } from '../testing/situations.ts';
import { isChanged, statusOf } from './conditions.ts';

const NOON = new Date('2025-06-01T12:00:00Z');
const context = (secondsLater = 0) => ({
  now: new Date(NOON.getTime() + secondsLater * 1000),
  progressDeadlineSeconds: 300,
});
const verdict = (reason: Reason, message = 'm', more: Partial<Verdict> = {}): Verdict => ({
  outcome: { reason, message },
  wasWritten: false,
  failing: [],
  ...more,
});
const shown = (status: CrStatus) => status.conditions.map((c) => `${c.type}=${c.status} ${c.reason}`);
const withStatus = (cr: CustomResource, status: CrStatus): CustomResource => ({ ...cr, status });

/** Computes kstatus by the rules of its documentation. */
function kstatus(cr: CustomResource, { observedGeneration, conditions }: CrStatus): string {
  const is = (type: string) => conditions.find((c) => c.type === type)?.status === 'True';
  if (observedGeneration !== cr.metadata.generation) return 'InProgress';
  if (is('Reconciling')) return 'InProgress';
  if (is('Stalled')) return 'Failed';
  return is('Ready') ? 'Current' : 'InProgress';
}

test.each([
  ['Applied', ['Ready=True Applied'], 'Current'],
  ['Paused', ['Ready=Unknown Paused'], 'InProgress'],
  ['Applying', ['Ready=Unknown Applying', 'Reconciling=True Applying'], 'InProgress'],
  [
    'DependencyNotReady',
    ['Ready=False DependencyNotReady', 'Reconciling=True DependencyNotReady'],
    'InProgress',
  ],
  [
    'EngineUnreachable',
    ['Ready=False EngineUnreachable', 'Reconciling=True EngineUnreachable'],
    'InProgress',
  ],
  [
    'SourceUnavailable',
    ['Ready=False SourceUnavailable', 'Reconciling=True SourceUnavailable'],
    'InProgress',
  ],
  ['InvalidSpec', ['Ready=False InvalidSpec', 'Stalled=True InvalidSpec'], 'Failed'],
  ['RejectedByEngine', ['Ready=False RejectedByEngine', 'Stalled=True RejectedByEngine'], 'Failed'],
  ['Conflict', ['Ready=False Conflict', 'Stalled=True Conflict'], 'Failed'],
  ['AdoptionRequired', ['Ready=False AdoptionRequired', 'Stalled=True AdoptionRequired'], 'Failed'],
  ['NotPermitted', ['Ready=False NotPermitted', 'Stalled=True NotPermitted'], 'Failed'],
  ['RefNotPermitted', ['Ready=False RefNotPermitted', 'Stalled=True RefNotPermitted'], 'Failed'],
] as const)('the reason %s has its conditions and its kstatus', (reason, conditions, meaning) => {
  const status = statusOf(table('author'), verdict(reason), context());
  expect([shown(status), kstatus(table('author'), status)]).toEqual([conditions, meaning]);
});

test.each(SITUATIONS)('the kstatus of a resource $name is $kstatus', ({ cr, kstatus: expected }) => {
  expect(kstatus(cr, cr.status!)).toBe(expected);
});

test('every condition and the status have the observed generation', () => {
  const cr = table('author', { generation: 7 });
  const status = statusOf(cr, verdict('InvalidSpec', 'm', { drift: 'd' }), context());
  expect(status.observedGeneration).toBe(7);
  expect(status.conditions.map((c) => c.observedGeneration)).toEqual([7, 7, 7]);
});

test('the same outcome at a later time does not change the status', () => {
  const cr = table('author');
  const first = withStatus(cr, statusOf(cr, verdict('Applied', 'm', { wasWritten: true }), context()));
  expect(isChanged(cr, first.status!)).toBe(true);
  expect(isChanged(first, statusOf(first, verdict('Applied'), context(60)))).toBe(false);
});

test('the transition time changes with the status of a condition, not with its message', () => {
  const cr = table('author');
  const ready = withStatus(cr, statusOf(cr, verdict('Applied'), context()));
  const said = withStatus(cr, statusOf(ready, verdict('Applied', 'else'), context(10)));
  expect(said.status?.conditions[0]?.lastTransitionTime).toBe(NOON.toISOString());
  const failed = statusOf(said, verdict('Conflict'), context(20));
  expect(failed.conditions[0]?.lastTransitionTime).toBe(context(20).now.toISOString());
});

test('waiting past the deadline is Stalled and stays so, and waiting for another reason restarts the deadline', () => {
  const cr = table('author');
  const waiting = withStatus(cr, statusOf(cr, verdict('DependencyNotReady'), context()));
  const late = withStatus(cr, statusOf(waiting, verdict('DependencyNotReady'), context(301)));
  expect(shown(late.status!)).toContain('Stalled=True DependencyNotReady');
  const later = withStatus(cr, statusOf(late, verdict('DependencyNotReady'), context(302)));
  expect(shown(later.status!)).toContain('Stalled=True DependencyNotReady');
  expect(isChanged(late, later.status!)).toBe(false);
  const other = statusOf(later, verdict('EngineUnreachable'), context(303));
  expect(shown(other)).toContain('Reconciling=True EngineUnreachable');
});

test('conditions that are no longer true are removed', () => {
  const cr = table('author');
  const drifted = withStatus(cr, statusOf(cr, verdict('Applied', 'm', { drift: 'd' }), context()));
  expect(shown(drifted.status!)).toEqual(['Ready=True Applied', 'Drifted=True DriftReported']);
  expect(shown(statusOf(drifted, verdict('Applied'), context(5)))).toEqual(['Ready=True Applied']);
});

test('the time of the last write is kept', () => {
  const cr = table('author');
  const written = withStatus(cr, statusOf(cr, verdict('Applied', 'm', { wasWritten: true }), context()));
  expect(statusOf(written, verdict('Conflict'), context(9)).lastAppliedTime).toBe(NOON.toISOString());
  expect(statusOf(cr, verdict('Conflict'), context()).lastAppliedTime).toBeUndefined();
});

test('an invalid spec still has a status', () => {
  const cr = { ...table('author'), spec: { table: null } };
  expect(statusOf(cr, verdict('InvalidSpec'), context()).target).toBe('');
});

test('texts are cut to the lengths of the definitions, so that the API server accepts every status', () => {
  const role = resource('InheritedRole', 'all', {
    role: 'all',
    roles: Array.from({ length: 500 }, (_, i) => `role-${i}`),
  });
  const { target, conditions } = statusOf(role, verdict('RejectedByEngine', 'x'.repeat(100_000)), context());
  expect([target!.length, conditions[0]!.message.length]).toEqual([1024, 1024]);
});

const CONSOLE = { ...context(), consoleUrl: 'https://api.test/console/' };
const readyMessage = (cr: CustomResource, given: Verdict, at = CONSOLE) =>
  statusOf(cr, given, at).conditions.find(({ type }) => type === 'Ready')!.message;
const OBJECT = 'table/default/public/two%20words';

test.each<[Reason, Partial<Verdict>, string]>([
  ['Applied', { object: OBJECT }, `M; see https://api.test/console/model/${OBJECT}.`],
  ['SourceUnavailable', { object: OBJECT }, `M; see https://api.test/console/model/${OBJECT}.`],
  ['Conflict', { object: OBJECT }, 'M; see https://api.test/console/ownership?find=Table+default%2Fauthor.'],
  ['RejectedByEngine', {}, 'M; see https://api.test/console/ownership?find=Table+default%2Fauthor.'],
  ['Applied', {}, 'M.'],
  ['Applying', { object: OBJECT }, 'M.'],
  ['EngineUnreachable', {}, 'M.'],
])('a condition with the reason %s and %j names the page of the console', (reason, more, message) => {
  expect(readyMessage(table('author'), verdict(reason, 'm', more))).toBe(message);
});

test('a link is never cut, is not added twice, and an unchanged verdict gives an unchanged status', () => {
  const given = verdict('RejectedByEngine', 'x '.repeat(2000), { object: OBJECT, drift: 'something else' });
  const cr = table('author');
  const status = statusOf(cr, given, CONSOLE);
  const [ready, , drifted] = status.conditions;
  expect(ready!.message).toMatch(
    /…; see https:\/\/api\.test\/console\/model\/table\/default\/public\/two%20words\.$/,
  );
  expect(`No progress. ${ready!.message}`.length).toBeLessThanOrEqual(1024);
  expect(drifted!.message).toBe(`Something else; see https://api.test/console/model/${OBJECT}.`);
  expect(isChanged(withStatus(cr, status), statusOf(withStatus(cr, status), given, CONSOLE))).toBe(false);
  expect(statusOf(cr, given, context()).conditions[2]!.message).toBe('Something else.');
});

/** The reasons of a resource whose conditions name no page: the result follows within seconds, or the engine, which serves the pages, does not
 *  answer. */
const WITHOUT_PAGE: readonly Reason[] = ['Applying', 'EngineUnreachable', 'EngineRejectedCredentials'];
const linked = (cr: CustomResource, given: Verdict) =>
  statusOf(cr, given, CONSOLE)
    .conditions.filter(({ message }) => message.includes('; see https://api.test/console/'))
    .map(({ type }) => type);

test.each(Object.keys(REASONS) as Reason[])(
  'every condition with the reason %s names a page, of a resource with an object and without one',
  (reason) => {
    const all = (cr: CustomResource, given: Verdict) =>
      statusOf(cr, given, CONSOLE).conditions.map(({ type }) => type);
    const one = table('author');
    for (const cr of [one, resource('PermissionTest', 'one', { role: 'reader', query: '{ note { id } }' })]) {
      for (const given of [verdict(reason, 'm', { object: OBJECT }), verdict(reason)]) {
        const isTest = cr !== one;
        const hasNone = WITHOUT_PAGE.includes(reason);
        const nothing = reason === 'Applied' && given.object === undefined && !isTest;
        const expected = hasNone || nothing ? [] : all(cr, given);
        // What the test waits for is the message of its condition Ready.
        const own = expected.filter((type) => type !== 'Passed');
        expect(linked(cr, given)).toEqual(own);
      }
    }
  },
);

test('the result of a test and a delivery name their page, which a later pass keeps once', () => {
  const one = resource('PermissionTest', 'one', { role: 'reader', query: '{ note { id } }' });
  const tests = 'https://api.test/console/ownership?view=tests&find=PermissionTest+default%2Fone';
  const failed = { reason: 'TestFailed', message: 'the response differs at note', isRun: true } as const;
  const status = statusOf(one, verdict('TestFailed', failed.message, { test: failed }), CONSOLE);
  const message = `The response differs at note; see ${tests}.`;
  expect(status.conditions.map((condition) => condition.message)).toEqual([message, message, message]);
  const later = statusOf(withStatus(one, status), verdict('EngineUnreachable'), CONSOLE);
  expect(later.conditions.find(({ type }) => type === 'Passed')!.message).toBe(message);

  const event = resource('ScheduledEvent', 'one', {
    ...{ name: 'night shift', scheduledAt: '2025-06-01T12:00:00Z', webhook: 'https://a.test' },
  });
  const delivery = { reason: 'Delivered', message: 'the webhook was called' } as const;
  const delivered = statusOf(event, verdict('Applied', 'm', { delivery }), CONSOLE);
  const text = delivered.conditions.find(({ type }) => type === 'Delivered')!.message;
  const log = 'https://api.test/console/activity?view=scheduled&source=declared&name=night+shift';
  expect(text).toBe(`The webhook was called; see ${log}.`);
  // The message of a delivery that has ended is the one of the pass before.
  const kept = { reason: 'Delivered', message: text } as const;
  expect(statusOf(event, verdict('Applied', 'm', { delivery: kept }), CONSOLE).conditions[1]!.message).toBe(
    text,
  );
});
