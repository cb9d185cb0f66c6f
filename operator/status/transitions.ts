/** Finds the transitions between two statuses that deserve an Event: Ready changed, a new generation was processed, objects were written,
 *  progress stalled, drift was found or undone. Reasons are those of the conditions, so one filter fits both.
 *  Pure. Not here: writing Events (kubernetes/events.ts). */
import type { Condition, ConditionType, CrStatus, Reason } from '../kinds.ts';
import { isOutage } from './conditions.ts';

export type Transition = {
  /** The type of the Event. A warning needs attention. */
  readonly type: 'Normal' | 'Warning';
  readonly reason: Reason;
  readonly note: string;
};

export type TransitionOptions = {
  /** False for resources of an engine: only the Engine reports that the engine is unreachable or back. */
  readonly includesOutages: boolean;
  /** The drift that the pass undid. */
  readonly corrected?: string | undefined;
};

export function transitionsOf(
  before: CrStatus | undefined,
  after: CrStatus,
  options: TransitionOptions = { includesOutages: true },
): readonly Transition[] {
  const [wasReady, isReady] = [find(before, 'Ready'), find(after, 'Ready')];
  const stalled = find(after, 'Stalled');
  const drifted = find(after, 'Drifted');
  const isQuiet = !options.includesOutages && (isOutageIn(isReady) || isEndOfOutage(wasReady, before, after));
  if (isQuiet) return drifted && !find(before, 'Drifted') ? [transitionFor(drifted)] : [];
  if (options.corrected !== undefined) {
    const restored = {
      type: 'Warning',
      reason: 'DriftCorrected',
      note: `restored: ${options.corrected}`,
    } as const;
    // The restoration is also a write, which needs no Event of its own.
    const rest = transitionsOf(
      before,
      { ...after, ...lastApplied(before) },
      { ...options, corrected: undefined },
    );
    return [restored, ...rest];
  }
  const hasStalledSince = stalled && find(before, 'Reconciling')?.reason === stalled.reason;
  return [
    ...(isReady && isNews(wasReady, isReady, before, after) ? [transitionFor(isReady)] : []),
    ...(hasStalledSince ? [{ ...transitionFor(stalled), note: `no progress: ${stalled.message}` }] : []),
    ...(drifted && !find(before, 'Drifted') ? [transitionFor(drifted)] : []),
  ];
}

function lastApplied(status: CrStatus | undefined): Pick<CrStatus, 'lastAppliedTime'> {
  return status?.lastAppliedTime === undefined ? {} : { lastAppliedTime: status.lastAppliedTime };
}

function isOutageIn(ready: Condition | undefined): boolean {
  return isOutage(ready?.reason);
}

function isEndOfOutage(was: Condition | undefined, before: CrStatus | undefined, after: CrStatus): boolean {
  return isOutageIn(was) && before?.lastAppliedTime === after.lastAppliedTime && isApplied(after);
}

function isApplied(status: CrStatus): boolean {
  return find(status, 'Ready')?.reason === 'Applied';
}

function isNews(
  was: Condition | undefined,
  is: Condition,
  before: CrStatus | undefined,
  after: CrStatus,
): boolean {
  // The answer follows within seconds.
  if (is.reason === 'Applying') return false;
  if (was?.status !== is.status || was.reason !== is.reason) return true;
  if (is.status === 'False') return was.observedGeneration !== is.observedGeneration;
  return is.reason === 'Applied' && before?.lastAppliedTime !== after.lastAppliedTime;
}

function transitionFor({ type, status, reason, message }: Condition): Transition {
  const isFine = type === 'Ready' && status !== 'False';
  return { type: isFine ? 'Normal' : 'Warning', reason, note: message };
}

function find(status: CrStatus | undefined, type: ConditionType): Condition | undefined {
  return status?.conditions?.find((condition) => condition.type === type);
}
