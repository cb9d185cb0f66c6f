/** The decisions of a pass: what the resources in scope declare, and what is done about each object.
 *  In: the resources, a reading of the engine, the options. Out: the scope with its decisions. Pure.
 *  Not here: what a scope is (decide/incremental-scope.ts), a single decision (decide/decide.ts), which decisions fit (plan.ts). */
import { type Decisions, decide } from '../decide/decide.ts';
import { type Desired, desire } from '../decide/desired.ts';
import {
  fullScope,
  incrementalScope,
  isScopeSufficient,
  type PassScope,
  type PassState,
} from '../decide/incremental-scope.ts';
import { objectsIn } from '../objects/normal-form.ts';
import type { CrSnapshot, EngineReading, ReconcileOptions } from '../ports.ts';

export type Decided = { readonly desired: Desired } & Decisions;

export type DecidedIn = { readonly scope: PassScope; readonly decided: Decided };

type Observation = {
  readonly snapshot: CrSnapshot;
  readonly reading: EngineReading;
  readonly options: ReconcileOptions;
};

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
    mayPrune: snapshot.isComplete,
    keepsAbandoned: options.keepsAbandoned,
  });
  return { desired, ...decided };
}

/** Returns the decisions of the incremental scope; undefined when the scope is insufficient. */
export function decideIncrementally(
  passState: PassState,
  { snapshot, reading, options }: Observation,
): DecidedIn | undefined {
  const scope = incrementalScope(passState, snapshot, reading, options);
  const decided = scope && decisionsIn(scope, reading, options);
  return decided && isScopeSufficient(decided, options) ? { scope, decided } : undefined;
}

export function decideOnAll({ snapshot, reading, options }: Observation): DecidedIn {
  const scope = fullScope(snapshot, reading, options.manager);
  return { scope, decided: decisionsIn(scope, reading, options) };
}
