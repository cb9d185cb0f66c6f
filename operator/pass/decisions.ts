/** The decisions of a pass: what the resources in scope declare, and what is done about each object.
 *  In: the resources, a reading of the engine, the options. Out: the scope with its decisions. Pure.
 *  Not here: what a scope is (decide/incremental-scope.ts), a single decision (decide/decide.ts), which decisions fit (plan.ts). */
import { type Decisions, decide } from '../decide/decide.ts';
import { type Desired, desire, isElsewhere } from '../decide/desired.ts';
import {
  countCreatedAndDeleted,
  fullScope,
  incrementalScope,
  isScopeSufficient,
  mostNewIn,
  type PassInputs,
  type PassScope,
  type PassState,
  scopeOfEdits,
} from '../decide/incremental-scope.ts';
import { objectsIn } from '../objects/normal-form.ts';
import type { EngineReading } from '../ports/engine.ts';
import type { ReconcileOptions } from '../ports/options.ts';
import type { CrSnapshot } from '../ports/resources.ts';

export type Decided = { readonly desired: Desired } & Decisions;

export type DecidedIn = { readonly scope: PassScope; readonly decided: Decided };

export function decisionsIn(
  { snapshot, ledger }: PassScope,
  reading: EngineReading,
  options: ReconcileOptions,
): Decided {
  const live = objectsIn(reading.metadata);
  const desired = desire(snapshot, ledger, live, options);
  const decided = decide(desired, ledger, live, {
    ...options.policies,
    manager: options.manager,
    confirmPrune: options.confirmPrune,
    at: snapshot.at,
    mayPrune: snapshot.isComplete && snapshot.lost !== 'unknown',
    lost: snapshot.lost === 'unknown' ? undefined : snapshot.lost,
    keepsAbandoned: options.keepsAbandoned,
  });
  return { desired, ...decided };
}

/** Returns the decisions about edited resources alone; undefined when they need not come before others, or cannot. They come before many that
 *  were created, which take long to translate, and before any others in a pass for edits. */
export function decideEdits(
  passState: PassState,
  observation: PassInputs,
  isForEdits: boolean,
): DecidedIn | undefined {
  const { created, deleted } = countCreatedAndDeleted(passState, observation);
  const areMany = deleted === 0 && created > mostNewIn(passState, observation);
  if (!areMany && !(isForEdits && created + deleted > 0)) return undefined;
  return decidedIn(scopeOfEdits(passState, observation, isForEdits), observation);
}

/** Returns the decisions of the incremental scope; undefined when the scope is insufficient. Edited resources then come first. */
export function decideIncrementally(
  passState: PassState,
  observation: PassInputs,
  isForEdits: boolean,
): DecidedIn | undefined {
  return (
    decidedIn(incrementalScope(passState, observation), observation) ??
    decidedIn(scopeOfEdits(passState, observation, isForEdits), observation)
  );
}

/** Returns the decisions of a scope; undefined when it is insufficient. */
function decidedIn(scope: PassScope | undefined, { reading, options }: PassInputs): DecidedIn | undefined {
  const decided = scope && decisionsIn(scope, reading, options);
  return decided && isScopeSufficient(decided, options) ? { scope, decided } : undefined;
}

export function decideOnAll({ snapshot, reading, options }: PassInputs): DecidedIn {
  const scope = fullScope(snapshot, reading, options.manager);
  return { scope, decided: decisionsIn(scope, reading, options) };
}

/** Returns the decisions with the resources that were deleted with the definition of their kind. The question follows the observation of the
 *  deletions, and Kubernetes marks a definition as being deleted before its resources, so the answer is never too early. */
export async function withLostResources(
  decided: DecidedIn,
  { snapshot, reading, options }: PassInputs,
): Promise<DecidedIn> {
  const owners = abandonedOwners(decided.decided, snapshot);
  if (owners.size === 0 || !snapshot.lostAmong) return decided;
  const lost = (await snapshot.lostAmong(owners)) ?? 'unknown';
  if (lost !== 'unknown' && lost.size === 0) return decided;
  return decideOnAll({ snapshot: { ...snapshot, lost }, reading, options });
}

/** Returns the names of resources that no longer exist and whose objects would be deleted, now or once deletions are allowed, with the times
 *  when they were created. */
function abandonedOwners(
  { decisions, desired }: Decided,
  snapshot: CrSnapshot,
): ReadonlyMap<string, string | undefined> {
  const owners = decisions.flatMap(({ action, entry, revocation, isAbandoned }) => {
    const isUnclaimed = action === 'delete' || action === 'keep';
    return isUnclaimed && entry && !revocation && !isAbandoned && !isElsewhere(entry, snapshot)
      ? [[entry.cr, entry.createdAt] as const]
      : [];
  });
  return new Map(owners.filter(([owner]) => !desired.present.has(owner)));
}
