/** What a pass planned, wrote and found: the input of every status.
 *  Pure. Not here: how it comes about (../pass/reconcile.ts). */
import type { Decision, PruneHold } from '../decide/decide.ts';
import type { Desired } from '../decide/desired.ts';
import type { PassState, Scope } from '../decide/incremental-scope.ts';
import type { ReplicaSync } from '../engine/replica-sync.ts';
import type { CrStatus, CustomResource } from '../kinds.ts';
import type { EntryChange, LedgerPatch } from '../objects/ledger.ts';
import type { EngineProblem, EngineReading, InconsistentObject, Outcome, Verdict } from '../ports.ts';
import type { RefusalBackoff } from '../settle/refusal-backoff.ts';
import type { Settled } from '../settle/settle.ts';

/** What a pass would do. */
export type Plan = {
  readonly scope: Scope;
  readonly reading: EngineReading;
  readonly desired: Desired;
  readonly decisions: readonly Decision[];
  readonly settled: Settled;
  /** What becomes of the ledger. */
  readonly entries: readonly EntryChange[];
  readonly reservations: NonNullable<LedgerPatch['reservations']>;
  /** How many objects are ours then. */
  readonly owned: number;
  readonly pruneHold?: PruneHold;
};

export type Report = {
  /** Absent when the engine could not be read. */
  readonly plan?: Plan;
  /** Which were looked at. */
  readonly resources: readonly CustomResource[];
  /** By uid, of all there are. */
  readonly verdicts: ReadonlyMap<string, Verdict>;
  /** By uid, of those which were looked at. */
  readonly statuses: ReadonlyMap<string, CrStatus>;
  readonly resourceVersion?: number;
  readonly inconsistent: readonly InconsistentObject[];
  readonly wasWritten: boolean;
  /** Absent when the pass did not end, or nothing is known of replicas. */
  readonly replicaSync?: ReplicaSync;
  /** Why the pass did not end. */
  readonly problem?: EngineProblem;
  /** Statuses that could not be written. */
  readonly unpublished: number;
  /** Something waits for what may come by itself: worth another pass soon, after `EnginePort.reload`. */
  readonly isWaiting: boolean;
  /** Some changes were not tried yet: worth another pass at once. */
  readonly isCut: boolean;
  /** The decisions that the engine refused, for the next pass. */
  readonly backoff: RefusalBackoff;
  /** Absent where the next pass has to look at all. */
  readonly passState?: PassState | undefined;
};

export function outcomeOf({ kind, message }: EngineProblem): Outcome {
  switch (kind) {
    case 'unauthorized':
      return { reason: 'EngineRejectedCredentials', message };
    case 'rejected':
    case 'inconsistent':
    case 'tooLarge':
      return { reason: 'RejectedByEngine', message };
    case 'unreachable':
      return { reason: 'EngineUnreachable', message };
    case 'conflict':
      return { reason: 'Applying', message: `${message}; trying again` };
  }
}
