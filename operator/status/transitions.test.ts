/** Tests which changes of a status are sent as Events. */
import { expect, test } from 'vitest';
import type { CrStatus, Reason } from '../kinds.ts';
import { table } from '../testing/resources.ts';
import { statusOf } from './conditions.ts';
import { transitionsOf } from './transitions.ts';

type More = { readonly drift?: string; readonly wasWritten?: boolean; readonly second?: number };

function statusAfter(before: CrStatus | undefined, reason: Reason, message: string, more: More = {}) {
  const { drift, wasWritten = false, second = 0 } = more;
  const cr = { ...table('author'), ...(before ? { status: before } : {}) };
  const verdict = { outcome: { reason, message }, wasWritten, failing: [], ...(drift ? { drift } : {}) };
  const now = new Date(Date.UTC(2025, 5, 1, 12, 0, second));
  return statusOf(cr, verdict, { now, progressDeadlineSeconds: 300 });
}
const said = (before: CrStatus | undefined, after: CrStatus) =>
  transitionsOf(before, after, { kind: 'Engine' }).map(
    ({ type, reason, note }) => `${type} ${reason}: ${note}`,
  );

const applied = statusAfter(undefined, 'Applied', '1 object applied', { wasWritten: true });
const refused = statusAfter(applied, 'RejectedByEngine', 'no such column');

test('becoming Ready is a normal Event, and no longer being Ready is a warning', () => {
  expect(said(undefined, applied)).toEqual(['Normal Applied: 1 object applied.']);
  expect(said(applied, refused)).toEqual(['Warning RejectedByEngine: No such column.']);
});

test('an unchanged reason is not sent again, even with another message', () => {
  expect(said(applied, statusAfter(applied, 'Applied', '1 object applied'))).toEqual([]);
  expect(said(refused, statusAfter(refused, 'RejectedByEngine', 'in other words'))).toEqual([]);
});

test('another write is sent, and so is a new generation that is rejected like the previous one', () => {
  const again = statusAfter(applied, 'Applied', '1 object applied', { wasWritten: true, second: 9 });
  expect(said(applied, again)).toEqual(['Normal Applied: 1 object applied.']);
  const [ready, ...rest] = refused.conditions;
  const next = { ...refused, conditions: [{ ...ready!, observedGeneration: 2 }, ...rest] };
  expect(said(refused, next)).toEqual(['Warning RejectedByEngine: No such column.']);
});

test('an outage and its end are sent for the Engine, not for its resources', () => {
  const away = statusAfter(applied, 'EngineUnreachable', 'it does not answer');
  const back = statusAfter(away, 'Applied', '1 object applied');
  const stalled: CrStatus = {
    ...away,
    conditions: [away.conditions[0]!, { ...away.conditions[1]!, type: 'Stalled' }],
  };
  const quiet = { kind: 'Table' };
  for (const [before, after] of [
    [applied, away],
    [away, stalled],
    [away, back],
    [stalled, back],
  ] as const) {
    expect(said(before, after)).toHaveLength(1);
    expect(transitionsOf(before, after, quiet)).toEqual([]);
  }
  const worse = statusAfter(away, 'RejectedByEngine', 'no such column');
  expect(transitionsOf(away, worse, quiet)).toHaveLength(1);
  const written = statusAfter(away, 'Applied', '1 object applied', { wasWritten: true, second: 9 });
  expect(transitionsOf(away, written, quiet)).toHaveLength(1);
});

test('the reason Applying is not sent', () => {
  expect(said(undefined, statusAfter(undefined, 'Applying', 'the engine is asked'))).toEqual([]);
});

test('waiting past the deadline is sent once more', () => {
  const waiting = statusAfter(undefined, 'DependencyNotReady', 'no table');
  const [ready, reconciling] = waiting.conditions;
  const late: CrStatus = { ...waiting, conditions: [ready!, { ...reconciling!, type: 'Stalled' }] };
  expect(said(waiting, late)).toEqual(['Warning DependencyNotReady: No progress. No table.']);
  expect(said(late, late)).toEqual([]);
});

test('drift that was undone is a warning in place of the Event of the write', () => {
  const restored = statusAfter(applied, 'Applied', '1 object applied', { wasWritten: true, second: 9 });
  const options = { kind: 'Table', corrected: 'Restored: limit: 1 → 2.' };
  const notes = transitionsOf(applied, restored, options).map(
    ({ type, reason, note }) => `${type} ${reason}: ${note}`,
  );
  expect(notes).toEqual(['Warning DriftCorrected: Restored: limit: 1 → 2.']);
  const refusedNow = transitionsOf(applied, refused, options).map(({ reason }) => reason);
  expect(refusedNow).toEqual(['DriftCorrected', 'RejectedByEngine']);
});

test('drift that is kept is sent once when it is found', () => {
  const drifted = statusAfter(applied, 'Applied', '1 object applied', { drift: 'limit: 1 → 2' });
  expect(said(applied, drifted)).toEqual(['Warning DriftReported: Limit: 1 → 2.']);
  expect(said(drifted, drifted)).toEqual([]);
});

test('a database that does not answer is sent for its Source, not for what is in it', () => {
  const away = statusAfter(applied, 'SourceUnavailable', 'it does not answer');
  const back = statusAfter(away, 'Applied', '1 object applied');
  const reasons = (kind: string) =>
    [transitionsOf(applied, away, { kind }), transitionsOf(away, back, { kind })]
      .flat()
      .map(({ reason }) => reason);
  expect(reasons('Source')).toEqual(['SourceUnavailable', 'Applied']);
  expect(reasons('Table')).toEqual([]);
  expect(reasons('RemoteSchema')).toEqual([]);
});

test('an Engine whose metadata no longer fit its databases is sent once, and again when they do', () => {
  const engineStatus = (status: 'True' | 'False'): CrStatus => ({
    ...applied,
    conditions: [
      ...applied.conditions,
      { ...applied.conditions[0]!, type: 'MetadataConsistent', status, message: 'author: no such table' },
    ],
  });
  const [fits, broken] = [engineStatus('True'), engineStatus('False')];
  expect(said(fits, broken)).toEqual(['Warning Applied: author: no such table']);
  expect(said(broken, broken)).toEqual([]);
  expect(said(broken, fits)).toEqual(['Normal Applied: author: no such table']);
});
