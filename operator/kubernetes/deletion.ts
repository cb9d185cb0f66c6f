/** Resources with a deletion timestamp. They claim nothing, so their objects are deleted. A resource with `spec.waitForDeletion` is kept by a
 *  finalizer until its objects are deleted on every replica, or until a deadline. An Engine with it is kept until that is so for all its
 *  resources.
 *  Pure. Not here: writing finalizers (finalizers.ts), the deletion of objects (decide/decide.ts). */

import { listText } from '@pergola/engine/list-text';
import { type CustomResource, crName } from '../kinds.ts';
import { printKey } from '../objects/normal-form.ts';
import type { ResourceOutcome } from '../ports/verdict.ts';
import { outcomeOfPass } from '../status/engine-status.ts';
import { outcomeOf, type Report } from '../status/report.ts';

export const FINALIZER = 'pergola.dev/wait-for-deletion';

export function isDeleting({ metadata }: CustomResource): boolean {
  return metadata.deletionTimestamp !== undefined;
}

export function waitsForDeletion({ spec }: CustomResource): boolean {
  return spec['waitForDeletion'] === true;
}

export function hasFinalizer({ metadata }: CustomResource): boolean {
  return metadata.finalizers?.includes(FINALIZER) ?? false;
}

/** Returns the milliseconds until the deadline of the deletion. When they are not positive, the resource is released in any case. */
export function remainingMs({ metadata }: CustomResource, now: Date, deadlineSeconds: number): number {
  return Date.parse(metadata.deletionTimestamp ?? '') + deadlineSeconds * 1000 - now.getTime();
}

/** Returns why a resource cannot be deleted yet; undefined when it can. */
export type DeletionBlocker = (cr: CustomResource) => ResourceOutcome | undefined;

export function blockedBecause(why: string): DeletionBlocker {
  return () => ({ reason: 'Deleting', message: why });
}

/** Blocks nothing: the Engine is deleted or being deleted, so its objects have no owner. */
export const NOT_BLOCKED: DeletionBlocker = () => undefined;

/** Returns what blocks deletions after a pass: lagging replicas, or objects that the pass left in the document. */
export function blockerAfter(report: Report): DeletionBlocker {
  const unfinished = whyUnfinished(report);
  if (unfinished !== undefined) return blockedBecause(unfinished);
  const plan = report.plan!;
  const { excluded } = plan.settled;
  // An incremental scope contains all remaining objects of deleted resources (decide/incremental-scope.ts).
  const byOwner = Map.groupBy(plan.entries, ({ after }) => after?.cr);
  // Its definition is deleted with the last resource, and can be installed again only then. The Engine says what is held.
  const { lost } = plan.scope.snapshot;
  const isLost = (cr: CustomResource) => lost !== undefined && lost !== 'unknown' && lost.has(crName(cr));
  return (cr) => {
    const left = byOwner.get(crName(cr)) ?? [];
    const [first] = left;
    if (!first || isLost(cr)) return undefined;
    const why = excluded.get(first.key)?.message ?? (plan.pruneHold ? TOO_MANY : NOT_YET);
    return {
      reason: 'Deleting',
      message: `waits for ${firstOf(left, ({ key }) => printKey(key))} to be deleted: ${why}`,
    };
  };
}

/** Returns why an Engine that is being deleted stays after a pass; undefined when it can be deleted. `bound` are its resources, also those
 *  that are being deleted. */
export function engineBlockerAfter(
  report: Report,
  bound: readonly CustomResource[],
): ResourceOutcome | undefined {
  const waits = (message: string): ResourceOutcome => ({ reason: 'Deleting', message });
  const pass = outcomeOfPass(report);
  // The Engine alone says how to confirm deletions that are held back.
  const held = pass.reason === 'Applied' || report.problem ? '' : `: ${pass.message}`;
  const unfinished = whyUnfinished(report);
  if (unfinished !== undefined) return waits(unfinished);
  if (bound.length > 0) return waits(`waits for ${firstOf(bound, crName)} to be deleted${held}`);
  const { manager } = report.plan!.scope.ledger;
  const left = report.plan!.entries.filter(({ after }) => after?.manager === manager);
  const [first] = left;
  if (!first) return undefined;
  const why = held === '' ? `: ${report.plan!.settled.excluded.get(first.key)?.message ?? NOT_YET}` : held;
  const names = firstOf(left, ({ key }) => printKey(key));
  return waits(`waits for ${names} to be deleted from the engine${why}`);
}

/** Returns why a pass could not delete objects on every replica; undefined when it could. */
function whyUnfinished({ plan, problem, replicaSync }: Report): string | undefined {
  if (!plan) return problem ? outcomeOf(problem).message : 'the engine was not asked';
  const late = replicaSync?.lagging.filter(({ isAwaited }) => isAwaited) ?? [];
  return late.length > 0 ? `waits for replicas: ${late.map(({ replica }) => replica).join(', ')}` : undefined;
}

/** Returns the name of the first and the number of the others. */
function firstOf<T>(all: readonly T[], nameOf: (one: T) => string): string {
  return listText(all.slice(0, 1).map(nameOf), { most: 1, total: all.length });
}

const TOO_MANY = 'too many objects would go at once; the Engine says how to confirm that';
const NOT_YET = 'nothing is deleted right after the start, or while some resources cannot be read';
