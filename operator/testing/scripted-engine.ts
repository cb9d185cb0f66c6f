/** An engine in memory, for faults that a real one does not produce on demand: it keeps a document, a ledger and a version like the
 *  real one, reports the inconsistencies that the test sets, and fails when the test says so. Not here: the behaviour of the real
 *  engine (end-to-end/reconcile.engine.test.ts). */

import { setImmediate } from 'node:timers/promises';
import {
  admitHoldingBack,
  type Cause,
  comparisonOf,
  type Held,
  type Misfit,
  refusalOfCycle,
  rivalsOf,
  summaryOf,
} from '@pergola/engine/admit';
import {
  editObjects,
  emptyMetadata,
  type Metadata,
  type MetadataObject,
  mergePatch,
  objectsOf,
  orderRoles,
  putObject,
  stateVersionOf,
} from '@pergola/engine/metadata';
import { type LedgerEntry, readLedger, readReservations } from '../objects/ledger.ts';
import { readNotes } from '../objects/notes.ts';
import { isValueOf } from '../objects/value-name.ts';
import type { AdmissionAnswer, AdmissionRequest, HeldGroup, LeftOut } from '../ports/admission.ts';
import type { EnginePort, EngineWrite, ValueChange } from '../ports/engine.ts';
import { EngineProblem } from '../ports/engine-problem.ts';
import { type InconsistentObject, unfit } from '../ports/inconsistent-object.ts';
import type { SchemaEffects } from '../ports/schema-effects.ts';

export type Judge = (objects: ReadonlyMap<string, MetadataObject>) => readonly InconsistentObject[];

export class ScriptedEngine implements EnginePort {
  metadata: Metadata;
  operatorState: unknown = null;
  resourceVersion = 1;
  judge: Judge = () => [];
  distributions: ReadonlyMap<string, string> = new Map();
  /** The error with which the engine refuses a whole change. */
  refusal: (objects: ReadonlyMap<string, MetadataObject>) => EngineProblem | undefined = () => undefined;
  /** Called before each request; may throw, or make concurrent changes. */
  before: (request: 'read' | 'admit' | 'write') => void = () => {};
  /** Returns the replicas that lag. None are known by default. */
  laggingReplicas: EnginePort['laggingReplicas'] = async () => undefined;
  runTest: EnginePort['runTest'] = unsupported;
  migrate: EnginePort['migrate'] = unsupported;
  deliveries: EnginePort['deliveries'] = unsupported;
  schemaEffects: EnginePort['schemaEffects'] = async () => ({ schemas: [], isComplete: true });
  readonly writes: EngineWrite[] = [];
  admissions = 0;

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
    const { resourceVersion, metadata, distributions, operatorState } = this;
    const ledger = readLedger(structuredClone(operatorState));
    const reservations = readReservations(structuredClone(operatorState));
    return {
      resourceVersion,
      metadata,
      ledger,
      reservations,
      ...readNotes(structuredClone(operatorState)),
      inconsistent: this.#judged(metadata),
      distributions,
    };
  }

  /** Answers with the engine's own admission, over the judge and the comparison of the test. */
  async admit({ edits, foreign, needs, holdBack }: AdmissionRequest): Promise<AdmissionAnswer> {
    this.before('admit');
    this.admissions++;
    const protectedKeys = new Set(foreign);
    const misfitsBefore = new Set(this.#judged(this.metadata).map(({ key }) => key));
    const groups = holdBack?.groups ?? [];
    const most = this.comparisons + this.mostComparisons;
    const effects = new Set(holdBack?.effects);
    const { document, left, held, untried } = await admitHoldingBack(
      {
        document: this.metadata,
        isMisfitBefore: (key) => misfitsBefore.has(key),
        isForeign: (key) => protectedKeys.has(key),
        judge: async (metadata) => {
          // As over HTTP, the operator's event loop turns meanwhile.
          await setImmediate();
          return unfit(this.#judged(metadata)).map(misfitOf);
        },
      },
      edits.map((edit) => ({ ...edit, needs: needs.get(edit.key) })),
      {
        groups,
        holdsWidened: effects.has('Widened'),
        compare: effects.has('Breaking') ? (before, after) => this.compare(before, after) : undefined,
        mayGoOn: () => this.comparisons < most,
      },
    );
    return {
      inconsistent: this.#judged(document),
      leftOut: [...left].map(([key, cause]) => leftOutOf(key, cause)),
      held: [...held].map(([group, why]) => heldGroupOf(groups.indexOf(group as never), why)),
      notCompared: [...untried].map((group) => groups.indexOf(group as never)),
    };
  }

  /** The number of comparisons so far, and the most for one question. */
  comparisons = 0;
  mostComparisons = Number.POSITIVE_INFINITY;
  /** Returns the changes of schemas and requests. Set if the engine reports them. */
  effectsBetween: (before: Metadata, after: Metadata) => SchemaEffects = () => ({
    schemas: [],
    isComplete: true,
  });

  async compare(before: Metadata, after: Metadata) {
    this.comparisons++;
    const { schemas, requests = [], isComplete } = this.effectsBetween(before, after);
    return comparisonOf({ schemas, access: requests, isComplete });
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
    const { distributions } = this;
    return {
      resourceVersion: this.resourceVersion,
      inconsistent: this.#judged(this.metadata),
      distributions,
    };
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
      admit: (question) => this.admit(question),
      inconsistent: (version) => this.inconsistent(version),
      write: (change) => this.write(change),
      version: () => this.version(),
      state: () => this.state(),
      reload: () => this.reload(),
      setValues: (values) => this.setValues(values),
      planValues: (owner, values) => this.planValues(owner, values),
      removeValues: (owner, used) => this.removeValues(owner, used),
      schemaEffects: (edits) => this.schemaEffects(edits),
      migrate: (request) => this.migrate(request),
      deliveries: (calls) => this.deliveries(calls),
      runTest: (request) => this.runTest(request),
      laggingReplicas: (version) => this.laggingReplicas(version),
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
    const { stuck } = orderRoles(metadata.inherited_roles ?? []);
    const cycle = stuck.length > 0 ? new EngineProblem('rejected', 'found cycle(s) in roles') : undefined;
    const refusal = cycle ?? this.refusal(objectsOf(metadata));
    if (refusal) throw refusal;
  }

  #judged(metadata: Metadata): readonly InconsistentObject[] {
    return this.judge(objectsOf(metadata));
  }
}

async function unsupported(): Promise<never> {
  throw new EngineProblem('unsupported', 'the test does not script it');
}

function misfitOf(report: InconsistentObject): Misfit<InconsistentObject> {
  const { key, code, away = false, served = false } = report;
  return { key, report, isAway: away, isServed: served, isOwnFault: code !== 'unexpected', rivals: [] };
}

function leftOutOf(key: string, cause: Cause<InconsistentObject>): LeftOut {
  if ('misfit' in cause) return { key, because: cause.because, object: cause.misfit.report };
  if ('roles' in cause)
    return {
      key,
      because: 'cycle',
      reason: refusalOfCycle(cause.roles).message,
      rivals: rivalsOf(key, cause),
    };
  return { key, ...cause };
}

function heldGroupOf(group: number, { objection, widenings }: Held): HeldGroup {
  return {
    group,
    ...(objection && 'breaks' in objection ? { breaks: summaryOf(objection.breaks.values()) } : {}),
    ...(objection && 'unknown' in objection ? { unknown: objection.unknown } : {}),
    ...(widenings ? { widens: { first: widenings[0]!, others: widenings.length - 1 } } : {}),
  };
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
  const away = key.startsWith('source/') && code !== 'invalid-configuration';
  return {
    ...{ key, type: key.split('/')[0]!, name: key, reason: `Inconsistent object: ${reason}`, code },
    ...(away ? { away } : {}),
  };
}
