/** The interfaces between the reconcile core and its surroundings: an engine, a source of resources, a sink for statuses, a clock.
 *  Folder mode and Kubernetes implement them; tests script them.
 *  Not here: the core itself (pass/reconcile.ts), the engine over HTTP (engine/client.ts). */
import type { AccessChange, Edit, Metadata, MetadataObject, PathStep } from '@pergola/engine/metadata';
import type { KeyLookup } from './kinds/missing-key.ts';
import type { PermissionTestSpec } from './kinds/permission-test.ts';
import type {
  AppliedMigration,
  CrStatus,
  CustomResource,
  DeclaredCall,
  DeletionPolicy,
  Reason,
  ReplicaVersion,
} from './kinds.ts';

export type { DeclaredCall } from './kinds.ts';

import type { LedgerEntries, LedgerPatch, Reservations } from './objects/ledger.ts';
import type { UnservedResources } from './objects/unserved.ts';

/** An object that the engine keeps but cannot serve; with the code `not-enforced`, one whose restriction has no effect. */
export type InconsistentObject = {
  readonly key: string;
  readonly type: string;
  readonly name: string;
  readonly reason: string;
  /** The failure of a request to another service. Absent in answers of older engines. */
  readonly message?: { readonly message: string } | undefined;
  /** The error code of the cause in the specification: `not-exists`, `permission-error` and others. */
  readonly code?: string | undefined;
  /** The code of the error behind the cause, where the specification has one code for all causes: `not-exists` for a missing column of an
   *  event trigger. */
  readonly behind?: string | undefined;
  /** The path of the problem in the definition of the object. Absent when the whole object is inconsistent. */
  readonly path?: readonly PathStep[] | undefined;
  /** True for an object that the engine serves without a part of it, such as a Source without a replica that does not answer. */
  readonly served?: boolean | undefined;
  /** True for a source or remote schema that only does not answer. */
  readonly away?: boolean | undefined;
  /** The existing names that are nearest to one that does not exist. */
  readonly nearest?: readonly string[] | undefined;
  /** The further errors of the object. */
  readonly more?: readonly Pick<InconsistentObject, 'reason' | 'path' | 'nearest'>[] | undefined;
};

/** The code of an object that fits, but declares a restriction the engine does not enforce. */
export const NOT_ENFORCED = 'not-enforced';

/** The code of an inherited role whose parents disagree: the engine serves what they agree on. */
export const PARTLY_SERVED = 'partly-served';

/** The code of an object that a Citus cluster cannot serve, because of how its tables are distributed. */
export const DISTRIBUTION_UNSUPPORTED = 'distribution-unsupported';

/** Returns the objects that the engine cannot serve: without those that are only not enforced, or served in part. */
export function unfit(found: readonly InconsistentObject[]): readonly InconsistentObject[] {
  return inconsistentIn(found).filter(({ code }) => code !== PARTLY_SERVED);
}

/** Returns the objects that the engine calls inconsistent. While there is one, it refuses a write that must leave none. */
export function inconsistentIn(found: readonly InconsistentObject[]): readonly InconsistentObject[] {
  return found.filter(({ code }) => code !== NOT_ENFORCED);
}

/** A consistent snapshot of the engine. */
export type EngineReading = {
  readonly resourceVersion: number;
  readonly metadata: Metadata;
  readonly inconsistent: readonly InconsistentObject[];
  readonly ledger: LedgerEntries;
  readonly reservations?: Reservations;
  readonly unserved?: UnservedResources;
};

export type EngineVersions = {
  readonly resourceVersion: number;
  /** The state version, as computed by `stateVersionOf`. Absent: an older engine. */
  readonly stateVersion?: string | undefined;
  /** The version of the engine that answered, such as `v2.48.0+pergola.1.0.0`. */
  readonly engineVersion?: string | undefined;
  /** The replicas that answered. Absent when the Engine names none. */
  readonly replicas?: readonly ReplicaVersion[] | undefined;
};

export type EngineWrite = {
  /** The edits of the document. Without edits only the ledger is written. */
  readonly edits: readonly Edit[];
  /** The document after the edits. */
  readonly document: Metadata;
  readonly ledger: LedgerPatch;
  /** The version the change was composed on; another one is refused with EngineProblem `conflict`. */
  readonly expectedVersion: number;
  /** The write fails with EngineProblem `inconsistent` if anything would be inconsistent afterwards. */
  readonly mustFit: boolean;
};

/** A replica that does not serve the expected version, with the observed problem: `does not answer`. */
export type LaggingReplica = { readonly replica: string; readonly problem: string };

/** The record of a declared call in the engine. */
export type DeliveryRecord = {
  readonly status: 'scheduled' | 'locked' | 'delivered' | 'error' | 'dead';
  /** The number of attempts. */
  readonly tries: number;
};

/** The state of the delivery of a declared call. */
export type Delivery = {
  readonly reason: Extract<
    Reason,
    'Scheduled' | 'Delivered' | 'DeliveryFailed' | 'DeliveryMissed' | 'DeliveryCancelled'
  >;
  readonly message: string;
  /** The time after which the state may have changed. Absent once the delivery has ended. */
  readonly checkAt?: Date;
};

/** The changes of the schema of one role, as the engine reports them. */
export type SchemaEffect = {
  readonly role: string;
  /** The number of changes of each severity. */
  readonly breaking: number;
  readonly dangerous: number;
  readonly safe: number;
  /** The number of breaking changes that affect an operation of a client. Absent when the engine does not count what clients use. */
  readonly breakingInUse?: number | undefined;
  /** The requests of the role that are not counted by operation. */
  readonly uncounted?: number | undefined;
  /** The changes that are not safe, the breaking ones first, up to a limit of the engine. */
  readonly changes: readonly {
    readonly severity: string;
    readonly type: string;
    readonly description: string;
    /** The number of operations that a breaking change affects, and those with most requests. */
    readonly usedByCount?: number | undefined;
    readonly usedBy?: readonly AffectedOperation[] | undefined;
  }[];
};

/** An operation of a client, which uses what a change removes. Names are null when the client gives none. */
export type AffectedOperation = {
  readonly operation: string | null;
  readonly client: string | null;
  readonly requests: number;
  /** The last day with a request: `2026-11-24`. */
  readonly lastDay: string;
};

/** The roles whose schema would change. */
export type SchemaEffects = {
  readonly schemas: readonly SchemaEffect[];
  /** False when the engine did not have time for every role. */
  readonly isComplete: boolean;
  /** The changes of access that only the engine knows: of the allow list if it is enforced, REST endpoints, limits, and functions that need no
   *  permission. Absent: unknown. */
  readonly requests?: readonly AccessChange[];
  /** The objects that would be inconsistent after the edits. Absent: unknown. */
  readonly inconsistent?: readonly InconsistentObject[];
  /** The days of the counts, and the first of them with a request; null when there is none. The whole is null or absent when the engine
   *  does not count what clients use. */
  readonly usage?: { readonly days: number; readonly since: string | null } | null;
};

/** A migration: `1_add_isbn.sql` and its statements. */
export type MigrationFile = { readonly name: string; readonly sql: string };

/** The content of the OCI artifact of a Migration. */
export type ArtifactContent = {
  /** The digest of its manifest, such as `sha256:…`. */
  readonly digest: string;
  readonly files: readonly MigrationFile[];
  /** Why the tag could not be compared again since. Absent when it could. */
  readonly staleBecause?: string;
};

/** The artifact of a Migration, or why there is none. `isPending`: it is being downloaded for the first time. */
export type ArtifactAnswer = ArtifactContent | (ResourceOutcome & { readonly isPending?: true });

/** Migrations for the database of a source. */
export type MigrationsRequest = {
  readonly source: string;
  readonly migrations: readonly MigrationFile[];
  readonly lockTimeoutSeconds?: number | undefined;
  readonly allowOutOfOrder: boolean;
  readonly allowBreaking: boolean;
  /** True to list the files that would run. */
  readonly isDryRun?: boolean;
  /** The changes of the document that follow. */
  readonly edits: readonly Edit[];
};

/** The state of the migrations of a source, as `apply_migrations` returns it. */
export type MigrationsResult = {
  readonly state: 'applied' | 'pending' | 'running' | 'refused' | 'failed';
  /** The names of files that would run. Absent if it was no dry run. */
  readonly pending?: readonly string[];
  /** The versions that this request applied. */
  readonly applied: readonly string[];
  readonly version: string | null;
  readonly message: string | null;
};

/** The request of a PermissionTest. */
export type TestRequest = Pick<
  PermissionTestSpec,
  'role' | 'sessionVariables' | 'query' | 'operationName' | 'variables'
>;

/** An error of a GraphQL response. */
export type ResponseError = { readonly code: string; readonly message: string; readonly path: string };

/** The response to the request of a PermissionTest. */
export type TestResponse = {
  readonly data: unknown;
  /** Empty when the request succeeded. */
  readonly errors: readonly ResponseError[];
};

/** The result of a PermissionTest. */
export type TestOutcome = {
  readonly reason: Extract<Reason, 'TestPassed' | 'TestFailed' | 'NotRun'>;
  /** Contains no data of the engine. */
  readonly message: string;
  /** True when the test runs after changes of the metadata. */
  readonly isRun: boolean;
  /** The name of the resource, when the Engine is not Ready while the test fails. */
  readonly gates?: string;
};

/** The last result of each test that runs after changes, by uid, with what it was decided on. */
export type TestMemory = ReadonlyMap<
  string,
  {
    readonly spec: unknown;
    readonly resourceVersion: number;
    readonly at: Date;
    readonly outcome: TestOutcome;
  }
>;

/** A named value that would be sent or removed, without its text. */
export type ValueChange = { readonly action: 'create' | 'update' | 'delete'; readonly name: string };

/** A question which edits fit. */
export type AdmissionRequest = {
  /** In order of priority, removals first: of edits that do not fit together the later one is left out. */
  readonly edits: readonly Edit[];
  /** The keys of objects that no edit may break. */
  readonly foreign: readonly string[];
  /** The keys of objects without which an edit is left out, by the key of the edit. */
  readonly needs: ReadonlyMap<string, readonly string[]>;
  /** The names of values that are sent before the write: what lacks one of them fits. */
  readonly unsentValues: readonly string[];
  /** The edits that are left out, in groups, when they have one of the effects. */
  readonly holdBack?: {
    readonly effects: readonly HoldBackEffect[];
    readonly groups: readonly {
      readonly keys: readonly string[];
      /** True when an earlier comparison found nothing that breaks. */
      readonly isCompared: boolean;
    }[];
  };
};

/** An edit that does not fit. `fault`: its object does not. `breaks`: another object would not any more. `missing`: it needs an object that does
 *  not exist. `refused`, `cycle`: the engine refuses it, for `reason`. `unknown`: there was no time to find out which of several does not fit. */
export type LeftOut = {
  readonly key: string;
  readonly because: 'fault' | 'breaks' | 'missing' | 'cycle' | 'refused' | 'unknown';
  readonly object?: InconsistentObject | undefined;
  readonly missing?: string | undefined;
  readonly reason?: string | undefined;
  readonly path?: readonly PathStep[] | undefined;
  /** The keys of the objects that it does not go together with. */
  readonly rivals?: readonly string[] | undefined;
};

/** The first change that breaks clients, the number of others, and that of the further roles that they concern. */
export type Breaks = {
  readonly first: { readonly role: string; readonly description: string } | { readonly access: AccessChange };
  readonly others: number;
  readonly roles: number;
};

/** The first access that becomes wider, and the number of others. */
export type Widenings = { readonly first: AccessChange; readonly others: number };

/** Why a group of edits is held back: at least one of them. */
export type HeldGroup = {
  /** The number of the group in the question. */
  readonly group: number;
  readonly breaks?: Breaks | undefined;
  /** Why it is not known what the group breaks. */
  readonly unknown?: string | undefined;
  readonly widens?: Widenings | undefined;
};

export type AdmissionAnswer = {
  /** The objects that are inconsistent, or not enforced, after the edits that fit. */
  readonly inconsistent: readonly InconsistentObject[];
  readonly leftOut: readonly LeftOut[];
  readonly held: readonly HeldGroup[];
  /** The numbers of the groups that were not compared for lack of time. */
  readonly notCompared: readonly number[];
};

export interface EnginePort {
  read(): Promise<EngineReading>;
  /** Returns which of the edits fit together. Stores nothing. Throws EngineProblem, `unsupported` when the engine does not know the question. */
  admit(request: AdmissionRequest): Promise<AdmissionAnswer>;
  /** Returns the roles whose schema would change with the edits. Stores nothing. Throws EngineProblem, `unsupported` when the engine does
   *  not report it. */
  schemaEffects(edits: readonly Edit[]): Promise<SchemaEffects>;
  write(change: EngineWrite): Promise<{
    readonly resourceVersion: number;
    readonly inconsistent: readonly InconsistentObject[];
  }>;
  /** Returns the inconsistent objects; undefined when the engine is at another version. */
  inconsistent(version: number): Promise<readonly InconsistentObject[] | undefined>;
  /** Returns the current version. */
  version(): Promise<number>;
  /** Returns the versions, and a text that changes with the inconsistent objects. The engine checks its databases first, unless
   *  `isUnchecked`. It is cheap enough to call every few seconds. */
  state(options?: { readonly isUnchecked: boolean }): Promise<EngineVersions>;
  /** Returns the replicas that serve an older version; undefined when no other replica is known. Never throws because of a replica. */
  laggingReplicas(version: number): Promise<readonly LaggingReplica[] | undefined>;
  /** Makes the engine read its catalogs again. */
  reload(): Promise<void>;
  /** Stores named values, by name. They take effect on every replica without a new version of the document. */
  setValues(values: ReadonlyMap<string, string>): Promise<void>;
  /** Returns what `setValues` would do with each value that is new or differs, and which values of the owner `removeValues` would remove. */
  planValues(owner: string, values: ReadonlyMap<string, string>): Promise<readonly ValueChange[]>;
  /** Removes the named values of the owner that are not among `used`, and that the engine's document does not refer to. */
  removeValues(owner: string, used: ReadonlySet<string>): Promise<void>;
  /** Runs the migrations that have not run. Resolves after some seconds, also while they run. */
  migrate(request: MigrationsRequest): Promise<MigrationsResult>;
  /** Returns the record of each call, in order; undefined for one that the engine does not have. */
  deliveries(calls: readonly DeclaredCall[]): Promise<readonly (DeliveryRecord | undefined)[]>;
  /** Sends the request of a test as its role. */
  runTest(request: TestRequest): Promise<TestResponse>;
}

/** Why a request to an engine failed. `rejected` and `tooLarge` are about the content of the request. `unsupported`: an older engine lacks
 *  what the request needs. */
export type EngineProblemKind =
  | 'unreachable'
  | 'unauthorized'
  | 'rejected'
  | 'tooLarge'
  | 'unsupported'
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
  /** The engine's error message without its address. */
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

/** True when the engine rejects the content of a request. */
export function isAboutContent({ kind }: EngineProblem): boolean {
  return kind === 'rejected' || kind === 'inconsistent';
}

/** Looks up values that resources refer to; undefined when there is none. */
export type ReferenceLookup = KeyLookup & {
  readonly secret: (namespace: string, name: string, key: string) => string | undefined;
  readonly configMap: (namespace: string, name: string, key: string) => string | undefined;
};

/** The fields of a status that list the Secrets, the ConfigMaps and the artifact a resource was read with. */
export type Observed = Pick<CrStatus, 'observedSecrets' | 'observedConfigMaps' | 'observedArtifact'>;

/** The Engine's consent: which objects namespaces may own (grants/consent.ts). */
export type Consent = {
  /** The Engine's own namespace. */
  readonly home: string;
  /** A text that changes when any answer changes. */
  readonly fingerprint: string;
  /** False when an answer depends on labels of namespaces and the operator may not read them: then nothing is revoked. */
  readonly isCertain: boolean;
  /** Returns why resources of the namespace may not bind; undefined when they may. */
  readonly refusalOf: (namespace: string) => string | undefined;
  /** True when released keys of the namespace are reserved for it. */
  readonly reservesFor: (namespace: string) => boolean;
  /** Returns why a resource of the kind may not own the objects; undefined when it may. `held` returns the object of a key that the resource
   *  has already: needs that are new in this version are waived for it. */
  readonly objectionTo: (
    namespace: string,
    kind: string,
    objects: readonly MetadataObject[],
    held?: (key: string) => MetadataObject | undefined,
  ) => string | undefined;
};

/** All resources of one engine at one moment. */
export type CrSnapshot = {
  /** The time of the snapshot. */
  readonly at: Date;
  /** The resources of every kind except Engine. */
  readonly resources: readonly CustomResource[];
  /** False while some resources cannot be seen (a kind not in sync, an invalid file): then nothing is deleted. */
  readonly isComplete: boolean;
  /** Returns the names of those deleted resources that were deleted with the definition of their kind; undefined when that cannot be read
   *  now. `owners` maps names to the times when the resources were created, where the ledger has them. Absent: there are no definitions, as in folder mode. */
  readonly lostAmong?: (
    owners: ReadonlyMap<string, string | undefined>,
  ) => Promise<ReadonlySet<string> | undefined>;
  /** The answer about the resources whose objects would be deleted; `unknown` when there was none: then nothing is deleted. */
  readonly lost?: ReadonlySet<string> | 'unknown';
  /** True when the resources have the statuses that were published, which others may change. */
  readonly hasStatuses?: true;
  /** The names of resources that have no Engine at the moment. An engine keeps the objects that they own. */
  readonly unbound?: ReadonlySet<string>;
  /** True when the operator watches the namespace. Absent: it watches all. Objects of resources in other namespaces are kept. */
  readonly seesNamespace?: ((namespace: string) => boolean) | undefined;
  readonly references: ReferenceLookup;
  /** Returns the artifact of a Migration, or why there is none. Absent: artifacts are not downloaded. */
  readonly artifact?: ((cr: CustomResource) => Promise<ArtifactAnswer>) | undefined;
  /** Returns why a resource waits with its objects as they are, besides its own problems. Absent: none waits. */
  readonly held?: ((cr: CustomResource) => ResourceOutcome | undefined) | undefined;
  /** The Engine's consent. Absent in folder mode: its user may write all metadata and name all variables. */
  readonly consent?: Consent | undefined;
  /** The consent of the Engine in a folder, which a cluster would ask for: what it does not cover is reported, and refused nothing. */
  readonly reportedConsent?: Consent | undefined;
  /** Returns the versions of the Secrets and ConfigMaps, and the digest of the artifact, that the resource was read with. */
  readonly observed?: ((cr: CustomResource) => Observed) | undefined;
};

export interface CrSource {
  snapshot(): Promise<CrSnapshot>;
}

export type StatusChange = {
  readonly cr: CustomResource;
  readonly status: CrStatus;
  /** The differences that another client had made to objects of the resource, and that the pass undid. */
  readonly corrected?: string;
};

export interface StatusSink {
  /** Writes the statuses that changed, or sees to it that they are written. Never throws because of a single one. Resolves to the number of
   *  statuses that another pass has to publish. */
  publish(changes: readonly StatusChange[]): Promise<number>;
}

export interface Clock {
  now(): Date;
  /** Resolves after the time; after 0, once the rest of the process has run. */
  sleep(ms: number): Promise<void>;
  /** Returns a number in [0, 1), for jitter. */
  random(): number;
}

/** The surroundings of a pass. */
export type Ports = {
  readonly engine: EnginePort;
  readonly source: CrSource;
  readonly sink: StatusSink;
  readonly clock: Clock;
};

/** Breaking: an operation of a role that was valid may be invalid. Widened: a role that has a permission reaches more rows. */
export type HoldBackEffect = 'Breaking' | 'Widened';

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

export const DEFAULT_POLICIES: Policies = {
  drift: 'Correct',
  adoption: 'IfEqual',
  reservationMinutes: 10,
  revocationGraceMinutes: 10,
  pruneGuard: { maxObjects: 20, maxPercent: 30 },
};

/** The outcome of a resource or a decision, from which conditions are computed. */
export type ResourceOutcome = {
  readonly reason: Reason;
  readonly message: string;
};

/** The result of a pass for one resource. */
export type Verdict = {
  readonly outcome: ResourceOutcome;
  /** The difference from the resource that the policy leaves in place. */
  readonly drift?: string;
  /** The difference from the resource that the pass undid. */
  readonly corrected?: string;
  /** True when the pass wrote objects of the resource. */
  readonly wasWritten: boolean;
  /** The delivery of the call that the resource declares. Absent when it declares none, or its delivery ended before. */
  readonly delivery?: Delivery;
  /** The result of the test, of a PermissionTest. Absent when it was not decided in this pass. */
  readonly test?: TestOutcome;
  /** The key of the first object of the resource that the engine has. Absent: it has none of them, or the pass does not know. */
  readonly object?: string;
  /** The keys of the objects that the resource has replaced by its objects in this generation. Absent: none. */
  readonly replaced?: readonly string[];
  /** The state of a Migration that is applied. */
  readonly migration?: AppliedMigration;
  /** The grant that the resource needs although it is applied: it had its objects before the grant was needed. */
  readonly missingGrant?: string;
  /** True while some replica does not serve the applied objects. */
  readonly isLagging?: boolean;
  /** The keys of objects that the engine does not serve as the resource defines them. */
  readonly failing: readonly string[];
};
