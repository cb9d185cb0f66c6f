/** What the reconcile core needs of its surroundings: an engine, a place resources come from, a place statuses go to, a clock.
 *  Folder mode and Kubernetes implement them; tests script them.
 *  Not here: the core itself (pass/reconcile.ts), the engine over HTTP (engine/client.ts). */
import type { Edit, Metadata, MetadataObject, PathStep } from '@pergola/engine/metadata';
import type { CrStatus, CustomResource, DeletionPolicy, Reason } from './kinds.ts';
import type { LedgerEntries, LedgerPatch, Reservations } from './objects/ledger.ts';

/** An object the engine keeps but cannot serve; or, with the code `not-enforced`, one it keeps that restricts nothing. */
export type InconsistentObject = {
  readonly key: string;
  readonly type: string;
  readonly name: string;
  readonly reason: string;
  /** The specification's error code of the cause: `not-exists`, `permission-error`, … */
  readonly code?: string | undefined;
  /** Where, in steps from the object's definition inwards; absent: all of it. */
  readonly path?: readonly PathStep[] | undefined;
};

/** The code of an object that fits, but declares a restriction the engine does not enforce. */
export const NOT_ENFORCED = 'not-enforced';

/** Those that do not fit. */
export function unfit(found: readonly InconsistentObject[]): readonly InconsistentObject[] {
  return found.filter(({ code }) => code !== NOT_ENFORCED);
}

/** One consistent look at the engine. */
export type EngineReading = {
  readonly resourceVersion: number;
  readonly metadata: Metadata;
  readonly inconsistent: readonly InconsistentObject[];
  readonly ledger: LedgerEntries;
  readonly reservations?: Reservations;
};

export type EngineState = {
  readonly resourceVersion: number;
  /** The state version, as computed by `stateVersionOf`. Absent: an older engine. */
  readonly stateVersion?: string | undefined;
};

export type EngineWrite = {
  /** What of the document changes; none writes the ledger alone. */
  readonly edits: readonly Edit[];
  /** What comes of them. */
  readonly document: Metadata;
  readonly ledger: LedgerPatch;
  /** The version the change was composed on; another one is refused with EngineProblem `conflict`. */
  readonly expectedVersion: number;
  /** Refuse it with EngineProblem `inconsistent` if anything would be inconsistent afterwards. */
  readonly mustFit: boolean;
};

/** A replica that does not serve what it should, and what of it is seen: `does not answer`. */
export type LaggingReplica = { readonly replica: string; readonly problem: string };

export interface EnginePort {
  read(): Promise<EngineReading>;
  /** What would be inconsistent if these were made in the document as it is now. Nothing is stored. */
  dryRun(edits: readonly Edit[]): Promise<readonly InconsistentObject[]>;
  write(change: EngineWrite): Promise<{
    readonly resourceVersion: number;
    readonly inconsistent: readonly InconsistentObject[];
  }>;
  /** What is inconsistent, if the engine is at that version still; else undefined. */
  inconsistent(version: number): Promise<readonly InconsistentObject[] | undefined>;
  /** Only the current version. */
  version(): Promise<number>;
  /** The version, and a text that changes with what is inconsistent, after the engine has checked its databases (`isUnchecked`:
   *  without). Cheap enough for every few seconds. */
  state(options?: { readonly isUnchecked: boolean }): Promise<EngineState>;
  /** Replicas that do not serve the version, or a later one. Absent: nobody knows of any but the one that answers. Never throws
   *  for what a replica does. */
  laggingReplicas?(version: number): Promise<readonly LaggingReplica[]>;
  /** Lets the engine look at its databases again. */
  reload(): Promise<void>;
}

/** Why an engine could not do what it was asked. `rejected` and `tooLarge` are about the content of the request. */
export type EngineProblemKind =
  | 'unreachable'
  | 'unauthorized'
  | 'rejected'
  | 'tooLarge'
  | 'conflict'
  | 'inconsistent';

/** The edit that a refusal names: the key of its object, and the path inside the object's definition, as printed. */
export type RefusedEdit = { readonly key: string; readonly path: string };

export class EngineProblem extends Error {
  readonly kind: EngineProblemKind;
  /** Absent where the engine does not name a single edit. */
  readonly edit: RefusedEdit | undefined;
  /** The path of the engine's error in the request, as printed. */
  readonly at: string | undefined;
  /** The engine's own words, without its address. */
  readonly reason: string;

  constructor(
    kind: EngineProblemKind,
    message: string,
    options: ErrorOptions & {
      readonly edit?: RefusedEdit | undefined;
      readonly at?: string | undefined;
      readonly reason?: string;
    } = {},
  ) {
    super(message, options);
    this.kind = kind;
    this.edit = options.edit;
    this.at = options.at;
    this.reason = options.reason ?? message;
  }
}

/** Looks up values that resources refer to. Undefined: there is none. */
export type ReferenceLookup = {
  readonly secret: (namespace: string, name: string, key: string) => string | undefined;
  readonly configMap: (namespace: string, name: string, key: string) => string | undefined;
};

/** Of what a status says besides conditions: where its values come from. */
export type Observed = Pick<CrStatus, 'observedSecrets' | 'observedConfigMaps'>;

/** The Engine's consent: which objects namespaces may own (grants/consent.ts). */
export type Consent = {
  /** The Engine's own namespace. */
  readonly home: string;
  /** A text that is equal as long as all answers are. */
  readonly fingerprint: string;
  /** False when an answer depends on labels of namespaces and the operator may not read them: then nothing is revoked. */
  readonly isCertain: boolean;
  /** Why resources of the namespace may not bind; undefined when they may. */
  readonly refusalOf: (namespace: string) => string | undefined;
  /** True when keys of the namespace's resources stay with it for a while after they are released. */
  readonly reservesFor: (namespace: string) => boolean;
  /** Why a resource of the kind may not own the objects; undefined when it may. */
  readonly objectionTo: (
    namespace: string,
    kind: string,
    objects: readonly MetadataObject[],
  ) => string | undefined;
};

/** Everything there is at one moment, for one engine. */
export type CrSnapshot = {
  /** When it was so. */
  readonly at: Date;
  /** Of every kind but Engine. */
  readonly resources: readonly CustomResource[];
  /** False while some resources cannot be seen (a kind not synced, a file that does not parse): then nothing is deleted, and
   *  what unseen resources own is left to them. */
  readonly isComplete: boolean;
  /** Could a resource in this namespace be seen at all. Absent: in any. What unseen ones own is left to them. */
  readonly seesNamespace?: ((namespace: string) => boolean) | undefined;
  readonly references: ReferenceLookup;
  /** The Engine's consent. Absent in folder mode: its user may write all metadata and name all variables. */
  readonly consent?: Consent | undefined;
  /** Which versions of Secrets and ConfigMaps the resource was read with. */
  readonly observed?: ((cr: CustomResource) => Observed) | undefined;
};

export interface CrSource {
  snapshot(): Promise<CrSnapshot>;
}

export type StatusChange = { readonly cr: CustomResource; readonly status: CrStatus };

export interface StatusSink {
  /** Only statuses that changed; never throws for a single one. Resolves to how many could not be written, and are worth another
   *  try. */
  publish(changes: readonly StatusChange[]): Promise<number>;
}

export interface Clock {
  now(): Date;
  sleep(ms: number): Promise<void>;
  /** In [0, 1): jitter. */
  random(): number;
}

export type Policies = {
  readonly drift: 'Correct' | 'Report' | 'Ignore';
  readonly adoption: 'IfEqual' | 'Always' | 'Never';
  /** Absent: each kind's own. */
  readonly deletion?: DeletionPolicy | undefined;
  /** For so long a key that lost its owner stays with the owner's namespace. */
  readonly reservationMinutes: number;
  /** After so long the objects of a namespace that may no longer own them are removed. */
  readonly revocationGraceMinutes: number;
  /** More deletions than both at once in one namespace wait for a person. */
  readonly pruneGuard: { readonly maxObjects: number; readonly maxPercent: number };
};

/** What holds for one engine: from its Engine resource, or from flags. */
export type ReconcileOptions = {
  /** Who we are in the ledger: the same over restarts, different for each cluster and Engine. */
  readonly manager: string;
  readonly policies: Policies;
  readonly allowLiteralSecrets: boolean;
  /** Hash that releases a held prune. */
  readonly confirmPrune?: string | undefined;
  /** Waiting or unreachable for longer is `Stalled`. */
  readonly progressDeadlineSeconds: number;
};

export const DEFAULT_POLICIES: Policies = {
  drift: 'Correct',
  adoption: 'IfEqual',
  reservationMinutes: 10,
  revocationGraceMinutes: 10,
  pruneGuard: { maxObjects: 20, maxPercent: 30 },
};

/** A resource's outcome, before it becomes conditions. */
export type Outcome = {
  readonly reason: Reason;
  readonly message: string;
};

/** What became of a resource in a pass. */
export type Verdict = {
  readonly outcome: Outcome;
  /** What differs from the resource and is left so by policy. */
  readonly drift?: string;
  /** Were objects of the resource written just now. */
  readonly wasWritten: boolean;
  /** Not every replica serves it yet. */
  readonly isLagging?: boolean;
  /** Objects of the resource the engine does not serve as they should be. */
  readonly failing: readonly string[];
};
