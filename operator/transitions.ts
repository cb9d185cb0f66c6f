/** What is worth telling of a status that takes the place of another: Ready has turned or has another reason, a new generation was
 *  judged, something was written, nothing moves any more, drift was found. Reasons are those of the conditions, so that whoever
 *  filters one filters both.
 *  Pure. Not here: how it is told (kubernetes/events.ts). */
import type { Condition, ConditionType, CrStatus, Reason } from './kinds.ts';

export type Transition = {
  /** As Kubernetes has it: a warning is for somebody to read. */
  readonly type: 'Normal' | 'Warning';
  readonly reason: Reason;
  readonly note: string;
};

export function transitionsOf(before: CrStatus | undefined, after: CrStatus): readonly Transition[] {
  const [wasReady, isReady] = [find(before, 'Ready'), find(after, 'Ready')];
  const stalled = find(after, 'Stalled');
  const drifted = find(after, 'Drifted');
  const hasStalledSince = stalled && find(before, 'Reconciling')?.reason === stalled.reason;
  return [
    ...(isReady && isNews(wasReady, isReady, before, after) ? [told(isReady)] : []),
    ...(hasStalledSince ? [{ ...told(stalled), note: `no progress: ${stalled.message}` }] : []),
    ...(drifted && !find(before, 'Drifted') ? [told(drifted)] : []),
  ];
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

function told({ type, status, reason, message }: Condition): Transition {
  const isFine = type === 'Ready' && status !== 'False';
  return { type: isFine ? 'Normal' : 'Warning', reason, note: message };
}

function find(status: CrStatus | undefined, type: ConditionType): Condition | undefined {
  return status?.conditions?.find((condition) => condition.type === type);
}
