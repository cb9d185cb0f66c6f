/** The plan and the report of a pass, from which every status is computed.
 *  Pure. Not here: the pass itself (pass/reconcile.ts). */
import { type Decision, ownerOf } from '../decide/decide.ts';
import type { Desired } from '../decide/desired.ts';
import type { PassScope, PassState } from '../decide/incremental-scope.ts';
import type { PruneHold } from '../decide/prune-guard.ts';
import type { ReplicaSync } from '../engine/replica-sync.ts';
import type { CrStatus, CustomResource } from '../kinds.ts';
import type { PlannedMigrations } from '../migrations/plan-migrations.ts';
import type { EntryChange, LedgerPatch } from '../objects/ledger.ts';
import type { EngineReading, TableDistributions, ValueChange } from '../ports/engine.ts';
import type { EngineProblem } from '../ports/engine-problem.ts';
import type { InconsistentObject } from '../ports/inconsistent-object.ts';
import type { TestMemory } from '../ports/permission-test.ts';
import type { ResourceOutcome, Verdict } from '../ports/verdict.ts';
import type { HeldChanges } from '../settle/hold-back.ts';
import type { RefusalBackoff } from '../settle/refusal-backoff.ts';
import type { Settled } from '../settle/settle.ts';

/** The changes a pass would apply. */
export type PassPlan = {
  readonly scope: PassScope;
  readonly reading: EngineReading;
  readonly desired: Desired;
  readonly decisions: readonly Decision[];
  readonly settled: Settled;
  /** The changes of ledger entries. */
  readonly entries: readonly EntryChange[];
  readonly reservations: NonNullable<LedgerPatch['reservations']>;
  /** The number of objects this manager owns afterwards. */
  readonly owned: number;
  readonly pruneHold?: PruneHold;
  /** The files of Migrations that would run. Absent in a pass, which has run them. */
  readonly migrations?: PlannedMigrations;
  /** The named values that would be sent or removed. Absent in a pass. */
  readonly values?: readonly ValueChange[];
};

export type Report = {
  /** Absent when the engine could not be read. */
  readonly plan?: PassPlan;
  /** The resources in scope of the pass. */
  readonly resources: readonly CustomResource[];
  /** The verdicts of all resources, by uid. */
  readonly verdicts: ReadonlyMap<string, Verdict>;
  /** The statuses of the resources in scope, by uid. */
  readonly statuses: ReadonlyMap<string, CrStatus>;
  readonly resourceVersion?: number;
  readonly inconsistent: readonly InconsistentObject[];
  /** Absent when the engine could not be read. */
  readonly distributions?: TableDistributions | undefined;
  readonly wasWritten: boolean;
  /** Absent when the pass failed or the Engine names no replicas. */
  readonly replicaSync?: ReplicaSync;
  /** Why the pass failed. */
  readonly problem?: EngineProblem;
  /** The number of statuses that another pass has to publish. */
  readonly unpublished: number;
  /** True when a resource waits for something that may appear in a database: the next pass follows soon, after `EnginePort.reload`. */
  readonly isWaiting: boolean;
  /** True when some changes were not tried yet: the next pass follows at once. */
  readonly isCut: boolean;
  /** True after a pass over edited resources alone, which does not know the state of the Engine as a whole. */
  readonly isOfEdits: boolean;
  /** The decisions that the engine refused, for the next pass. */
  readonly backoff: RefusalBackoff;
  /** The changes that were held back, for the next pass. */
  readonly heldBack: HeldChanges;
  /** True when the next pass requests an admission before it writes: this one had to leave something out, as while resources arrive before
   *  those that they name, or edits came before changes that the engine has refused. */
  readonly admitsFirst: boolean;
  /** The results of PermissionTests, for the next pass. */
  readonly tests?: TestMemory | undefined;
  /** Absent when the next pass needs the full scope. */
  readonly passState?: PassState | undefined;
};

/** Returns the decisions that a plan shows: those that would be applied, and those that are held back until they are confirmed. */
export function plannedDecisions(made: PassPlan): readonly Decision[] {
  return [...made.settled.applied, ...heldDecisions(made)];
}

/** Returns the decisions that the policy of the Engine holds back. */
export function heldDecisions({ decisions, settled }: PassPlan): readonly Decision[] {
  const { heldBack } = settled;
  if (heldBack.size === 0) return [];
  return decisions.filter(
    (decision) =>
      heldBack.has(ownerOf(decision) ?? '') &&
      settled.excluded.get(decision.key)?.reason === 'ChangeHeldBack',
  );
}

export function outcomeOf({ kind, message }: EngineProblem): ResourceOutcome {
  switch (kind) {
    case 'unauthorized':
      return { reason: 'EngineRejectedCredentials', message };
    case 'rejected':
    case 'inconsistent':
    case 'tooLarge':
      return { reason: 'RejectedByEngine', message };
    case 'unsupported':
    case 'unreachable':
      return { reason: 'EngineUnreachable', message };
    case 'conflict':
      return { reason: 'Applying', message: `${message}; trying again` };
  }
}
