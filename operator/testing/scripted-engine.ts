/** An engine in memory, for faults that a real one does not produce on demand: it keeps a document, a ledger and a version like the
 *  real one, reports the inconsistencies that the test sets, and fails when the test says so. Not here: the behaviour of the real
 *  engine (end-to-end/reconcile.engine.test.ts). */

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
import { isValueOf } from '../objects/value-name.ts';
import {
  type EnginePort,
  EngineProblem,
  type EngineWrite,
  type InconsistentObject,
  type LaggingReplica,
  type ValueChange,
} from '../ports.ts';

export type Judge = (objects: ReadonlyMap<string, MetadataObject>) => readonly InconsistentObject[];

export class ScriptedEngine implements EnginePort {
  metadata: Metadata;
  operatorState: unknown = null;
  resourceVersion = 1;
  judge: Judge = () => [];
  /** The error with which the engine refuses a whole change. */
  refusal: (objects: ReadonlyMap<string, MetadataObject>) => EngineProblem | undefined = () => undefined;
  /** Called before each request; may throw, or make concurrent changes. */
  before: (request: 'read' | 'dryRun' | 'write') => void = () => {};
  /** Set if the engine has known replicas. */
  laggingReplicas?: (version: number) => Promise<readonly LaggingReplica[]>;
  /** Set if tests run. */
  runTest?: NonNullable<EnginePort['runTest']>;
  /** Set if the engine reports what edits change in the schemas of roles. */
  schemaEffects?: NonNullable<EnginePort['schemaEffects']>;
  readonly writes: EngineWrite[] = [];
  dryRuns = 0;

  constructor(metadata: Metadata = withDefaultSource) {
    this.metadata = metadata;
  }

  /** The ledger in its stored form. */
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
    // A copy, as over the wire, so that nothing is shared with the caller.
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

  /** The engine as a port, which `cachedEngine` can wrap (engine/cached-engine.ts). */
  get port(): EnginePort {
    return {
      read: () => this.read(),
      dryRun: (edits) => this.dryRun(edits),
      inconsistent: (version) => this.inconsistent(version),
      write: (change) => this.write(change),
      version: () => this.version(),
      state: () => this.state(),
      reload: () => this.reload(),
      setValues: (values) => this.setValues(values),
      planValues: (owner, values) => this.planValues(owner, values),
      removeValues: (owner, used) => this.removeValues(owner, used),
    };
  }

  async reload() {}

  /** The named values that the operator has sent. */
  readonly values = new Map<string, string>();

  async setValues(values: ReadonlyMap<string, string>) {
    for (const [name, value] of values) this.values.set(name, value);
  }

  async planValues(owner: string, wanted: ReadonlyMap<string, string>): Promise<readonly ValueChange[]> {
    const sent = [...wanted].flatMap(([name, value]): ValueChange[] => {
      const known = this.values.get(name);
      return known === value ? [] : [{ action: known === undefined ? 'create' : 'update', name }];
    });
    const unused = [...this.values.keys()].filter((name) => isValueOf(owner, name) && !wanted.has(name));
    return [...sent, ...unused.map((name): ValueChange => ({ action: 'delete', name }))];
  }

  async removeValues(owner: string, used: ReadonlySet<string>) {
    const unused = [...this.values.keys()].filter((name) => isValueOf(owner, name) && !used.has(name));
    if (unused.length === 0) return;
    const document = JSON.stringify(this.metadata);
    for (const name of unused) if (!document.includes(name)) this.values.delete(name);
  }

  /** Writes an object as another client does through the admin API. */
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

/** Returns a judge that reports these keys as inconsistent if they are in the document. */
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
