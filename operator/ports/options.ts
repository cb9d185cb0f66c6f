/** The options of a pass over one engine, and their defaults.
 *  Not here: reading them from an Engine resource or from flags. */
import type { DeletionPolicy } from '../kinds.ts';
import type { HoldBackEffect } from './admission.ts';

/** The options of a pass over one engine, from its Engine resource or from flags. */
export type ReconcileOptions = {
  /** The name of this operator in the ledger: stable over restarts, different for each cluster and Engine. */
  readonly manager: string;
  /** The names that this operator had before. What the ledger has under them is taken over. */
  readonly earlierManagers?: readonly string[] | undefined;
  readonly policies: Policies;
  /** The prefix of session variables in the engine. Resources may use it or `x-engine-`. The default is `x-engine-`. */
  readonly headerPrefix?: string | undefined;
  /** The URL of the engine's console, which messages of resources name. Absent: they name none. */
  readonly consoleUrl?: string | undefined;
  /** True when objects of resources that no longer exist are left as they are, and stay owned. */
  readonly keepsAbandoned?: boolean | undefined;
  /** The hash that releases held deletions. */
  readonly confirmPrune?: string | undefined;
  /** The hashes of confirmed changes of any resource, separated by commas or spaces. */
  readonly confirmChange?: string | undefined;
  /** The seconds after which a resource that waits, or whose engine is unreachable, is `Stalled`. */
  readonly progressDeadlineSeconds: number;
  /** The most new resources of an incremental pass. The others follow in the next passes. */
  readonly mostNew?: number | undefined;
};

export type Policies = {
  readonly drift: 'Correct' | 'Report' | 'Ignore';
  readonly adoption: 'IfEqual' | 'Always' | 'Never';
  /** The deletion policy. Absent when each kind has its own default. */
  readonly deletion?: DeletionPolicy | undefined;
  /** The minutes for which a released key is reserved for the namespace of its last owner. */
  readonly reservationMinutes: number;
  /** The minutes after which objects that their namespace may no longer own are removed. */
  readonly revocationGraceMinutes: number;
  /** Run: PermissionTests with `runAfterApply` run after changes. Absent: Ignore. */
  readonly permissionTests?: 'Run' | 'Ignore' | undefined;
  /** The effects for which a change of a resource waits until it is confirmed. Absent: none. */
  readonly holdBack?: readonly HoldBackEffect[] | undefined;
  /** Deletions in one namespace that exceed both limits wait for a confirmation. */
  readonly pruneGuard: { readonly maxObjects: number; readonly maxPercent: number };
};

export const DEFAULT_POLICIES: Policies = {
  drift: 'Correct',
  adoption: 'IfEqual',
  reservationMinutes: 10,
  revocationGraceMinutes: 10,
  pruneGuard: { maxObjects: 20, maxPercent: 30 },
};
