/** The port of an engine: what the reconcile core reads from it and writes to it.
 *  Not here: why a request fails (engine-problem.ts), the engine over HTTP (engine/client.ts). */

import type { Edit, Metadata } from '@pergola/engine/metadata';
import type { DeclaredCall, ReplicaVersion } from '../kinds.ts';
import type { LedgerEntries, LedgerPatch, Reservations } from '../objects/ledger.ts';
import type { Notes } from '../objects/notes.ts';
import type { AdmissionAnswer, AdmissionRequest } from './admission.ts';
import type { DeliveryRecord } from './delivery.ts';
import type { InconsistentObject } from './inconsistent-object.ts';
import type { MigrationsRequest, MigrationsResult } from './migrations.ts';
import type { TestRequest, TestResponse } from './permission-test.ts';
import type { SchemaEffects } from './schema-effects.ts';

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
    readonly distributions: TableDistributions;
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
  /** Makes the engine read its catalogs again. With `ifChanged` its version stays when they are the same: replicas would read them again, and other clients
   *  find a version that they do not know. */
  reload(options?: { readonly ifChanged?: boolean }): Promise<void>;
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

/** How the tables of Citus clusters are distributed, by the key of the table: `distributed by company_id (colocation 2)`. */
export type TableDistributions = ReadonlyMap<string, string>;

/** A consistent snapshot of the engine. */
export type EngineReading = Notes & {
  readonly resourceVersion: number;
  readonly metadata: Metadata;
  readonly inconsistent: readonly InconsistentObject[];
  /** The distributions of when everything was read, or of the last write. */
  readonly distributions: TableDistributions;
  readonly ledger: LedgerEntries;
  readonly reservations?: Reservations;
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

export type ValueChange = { readonly action: 'create' | 'update' | 'delete'; readonly name: string };
