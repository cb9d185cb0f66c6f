/** Finds the transitions between two statuses that deserve an Event: Ready changed, a new generation was processed, objects were written,
 *  progress stalled, drift was found or undone, a grant is missing. Reasons are those of the conditions, so one filter fits both.
 *  Pure. Not here: writing Events (kubernetes/events.ts). */
import type { Condition, ConditionType, CrStatus, Reason } from '../kinds.ts';
import { isOutageOfOther } from './conditions.ts';

export type Transition = {
  /** The type of the Event. A warning needs attention. */
  readonly type: 'Normal' | 'Warning';
  readonly reason: Reason;
  readonly note: string;
};

export type TransitionOptions = {
  /** The kind of the resource. Only the Engine reports that the engine is unreachable or back, and only the Source or the RemoteSchema
   *  that a database or a service is. */
  readonly kind: string;
  /** The sentence about the drift that the pass undid. */
  readonly corrected?: string | undefined;
};

export function transitionsOf(
  before: CrStatus | undefined,
  after: CrStatus,
  options: TransitionOptions,
): readonly Transition[] {
  const [wasReady, isReady] = [find(before, 'Ready'), find(after, 'Ready')];
  const stalled = find(after, 'Stalled');
  const drifted = find(after, 'Drifted');
  const ungranted = find(after, 'GrantMissing');
  const isOutage = (ready: Condition | undefined) => isOutageOfOther(options.kind, ready?.reason);
  if (isOutage(isReady) || (isOutage(wasReady) && isBack(before, after)))
    return drifted && !find(before, 'Drifted') ? [transitionFor(drifted)] : [];
  if (options.corrected !== undefined) {
    const restored = {
      type: 'Warning',
      reason: 'DriftCorrected',
      note: options.corrected,
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
    ...(hasStalledSince ? [{ ...transitionFor(stalled), note: `No progress. ${stalled.message}` }] : []),
    ...(drifted && !find(before, 'Drifted') ? [transitionFor(drifted)] : []),
    ...(ungranted && !find(before, 'GrantMissing') ? [transitionFor(ungranted)] : []),
    ...consistencyOf(before, after),
  ];
}

/** Returns the transition of an Engine whose metadata fit their databases and services, or no longer do. */
function consistencyOf(before: CrStatus | undefined, after: CrStatus): readonly Transition[] {
  const [was, is] = [find(before, 'MetadataConsistent'), find(after, 'MetadataConsistent')];
  if (!was || !is || was.status === is.status) return [];
  return [{ ...transitionFor(is), type: is.status === 'True' ? 'Normal' : 'Warning' }];
}

function lastApplied(status: CrStatus | undefined): Pick<CrStatus, 'lastAppliedTime'> {
  return status?.lastAppliedTime === undefined ? {} : { lastAppliedTime: status.lastAppliedTime };
}

/** True when the resource is applied and nothing was written for it. */
function isBack(before: CrStatus | undefined, after: CrStatus): boolean {
  return before?.lastAppliedTime === after.lastAppliedTime && isApplied(after);
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
