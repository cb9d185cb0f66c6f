/** An engine in memory for faults a real one will not produce on demand: it keeps a document, a ledger and a version as the real
 *  one does, finds inconsistent what the test says, and fails when told to. What the engine itself does is tested against the
 *  real one (end-to-end/reconcile.engine.test.ts). */
import {
  type Edit,
  editObjects,
  emptyMetadata,
  type Metadata,
  type MetadataObject,
  mergePatch,
  objectsOf,
  putObject,
  stateVersionOf,
} from '@pergola/engine/metadata';
import { type LedgerEntry, readLedger, readReservations } from '../objects/ledger.ts';
import {
  type EnginePort,
  EngineProblem,
  type EngineWrite,
  type InconsistentObject,
  type LaggingReplica,
} from '../ports.ts';

export type Judge = (objects: ReadonlyMap<string, MetadataObject>) => readonly InconsistentObject[];

export class ScriptedEngine implements EnginePort {
  metadata: Metadata;
  operatorState: unknown = null;
  resourceVersion = 1;
  judge: Judge = () => [];
  /** The error with which the engine refuses a whole change. */
  refusal: (objects: ReadonlyMap<string, MetadataObject>) => EngineProblem | undefined = () => undefined;
  /** Called before each request; may throw, or change things as somebody else would. */
  before: (request: 'read' | 'dryRun' | 'write') => void = () => {};
  /** Set where replicas are known of. */
  laggingReplicas?: (version: number) => Promise<readonly LaggingReplica[]>;
  readonly writes: EngineWrite[] = [];
  dryRuns = 0;

  constructor(metadata: Metadata = withDefaultSource) {
    this.metadata = metadata;
  }

  /** As it is stored. */
  get ledger(): { readonly manager: string; readonly objects: Readonly<Record<string, LedgerEntry>> } {
    return this.operatorState as ScriptedEngine['ledger'];
  }

  get objects(): ReadonlyMap<string, MetadataObject> {
    return objectsOf(this.metadata);
  }

  async read() {
    this.before('read');
    const { resourceVersion, metadata, operatorState } = this;
    const ledger = readLedger(structuredClone(operatorState));
    const reservations = readReservations(structuredClone(operatorState));
    return { resourceVersion, metadata, ledger, reservations, inconsistent: this.#judged(metadata) };
  }

  async dryRun(edits: readonly Edit[]) {
    this.before('dryRun');
    this.dryRuns++;
    const made = editObjects(this.metadata, edits);
    this.#refuse(made);
    return this.#judged(made);
  }

  async inconsistent(version: number) {
    return version === this.resourceVersion ? this.#judged(this.metadata) : undefined;
  }

  async write(change: EngineWrite) {
    this.before('write');
    if (change.expectedVersion !== this.resourceVersion)
      throw new EngineProblem('conflict', 'another version');
    const made = editObjects(this.metadata, structuredClone(change.edits));
    this.#refuse(made);
    if (change.mustFit && this.#judged(made).length > 0)
      throw new EngineProblem('inconsistent', 'it does not fit');
    this.writes.push(change);
    // As over the wire: nothing is shared with the caller.
    this.operatorState = mergePatch(this.operatorState, structuredClone(change.ledger));
    this.metadata = made;
    this.resourceVersion++;
    return { resourceVersion: this.resourceVersion, inconsistent: this.#judged(this.metadata) };
  }

  async state() {
    const inconsistent = this.#judged(this.metadata);
    return { resourceVersion: this.resourceVersion, stateVersion: stateVersionOf(inconsistent) };
  }

  async version() {
    return this.resourceVersion;
  }

  /** For whoever takes it apart (engine/cached-engine.ts). */
  get port(): EnginePort {
    return {
      read: () => this.read(),
      dryRun: (edits) => this.dryRun(edits),
      inconsistent: (version) => this.inconsistent(version),
      write: (change) => this.write(change),
      version: () => this.version(),
      state: () => this.state(),
      reload: () => this.reload(),
    };
  }

  async reload() {}

  /** What somebody else does through the admin API. */
  put(object: MetadataObject): void {
    this.metadata = putObject(this.metadata, object);
    this.resourceVersion++;
  }

  #refuse(metadata: Metadata): void {
    const refusal = this.refusal(objectsOf(metadata));
    if (refusal) throw refusal;
  }

  #judged(metadata: Metadata): readonly InconsistentObject[] {
    return this.judge(objectsOf(metadata));
  }
}

export const withDefaultSource: Metadata = {
  ...emptyMetadata,
  sources: [
    {
      name: 'default',
      kind: 'postgres',
      configuration: { connection_info: { database_url: { from_env: 'ENGINE_GRAPHQL_DATABASE_URL' } } },
      tables: [],
    },
  ],
};

/** These keys are inconsistent wherever they are in the document. */
export function broken(...keys: readonly string[]): Judge {
  return (objects) => keys.filter((key) => objects.has(key)).map((key) => inconsistent(key));
}

export function inconsistent(
  key: string,
  code = 'permission-error',
  reason = `broken ${key}`,
): InconsistentObject {
  return { key, type: key.split('/')[0]!, name: key, reason: `Inconsistent object: ${reason}`, code };
}
