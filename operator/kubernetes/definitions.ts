/** Finds out which resources were deleted with the definition of their kind. Kubernetes marks the definition as being deleted, deletes all
 *  resources of it, and then the definition, which may be installed again at once: a definition that is younger than a deleted resource is
 *  another one. Requests only the metadata of definitions, and only of the kinds of deleted resources.
 *  Not here: what happens to their objects (../decide/prune-guard.ts). */
import { type CustomResource, crName, kindAndNamespaceOf, kindOf } from '../kinds.ts';
import { definitionPath } from './resource-path.ts';
import { backoffMs, sleep, type Timers } from './timers.ts';
import { hasStatus, type Transport } from './transport.ts';

export type DefinitionsOptions = {
  readonly transport: Transport;
  readonly timers: Timers;
  readonly signal: AbortSignal;
  readonly onProblem: (problem: Error) => void;
};

/** The times of a definition in ISO 8601. `missing`: there is none. Undefined: the API server does not say. */
type DefinitionState =
  | { readonly creationTimestamp?: string; readonly deletionTimestamp?: string }
  | 'missing'
  | undefined;

/** The state of a definition that the operator may not read: its resources count as deleted by themselves. */
const UNREADABLE: DefinitionState = {};

const METADATA_ONLY = 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1';
/** The delay that lets one request answer for deletions that arrive together. */
const LINGER_MS = 100;
const TIMEOUT_MS = 5000;
const MOST_ATTEMPTS = 3;
const BACKOFF = { leastMs: 200, mostMs: 1000 };

export class Definitions {
  readonly #options: DefinitionsOptions;
  /** The creation time of each deleted resource that is not classified yet, by name. */
  readonly #deleted = new Map<string, string>();
  /** The names of resources that were deleted with their definition, until they exist again. */
  readonly #lost = new Set<string>();
  #isScheduled = false;

  constructor(options: DefinitionsOptions) {
    this.#options = options;
  }

  noteDeleted(cr: CustomResource & { readonly metadata: { readonly creationTimestamp?: string } }): void {
    this.#deleted.set(crName(cr), cr.metadata.creationTimestamp ?? '');
    // A pass that began before the resource was created again may have asked about the one before.
    this.#lost.delete(crName(cr));
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    this.#options.timers.after(LINGER_MS, () => {
      this.#isScheduled = false;
      void this.#classify(new Map(this.#deleted));
    });
  }

  noteCreated(cr: CustomResource): void {
    this.#deleted.delete(crName(cr));
    this.#lost.delete(crName(cr));
  }

  /** Notes the cached resources of a kind whose definition is missing, or exists again. */
  notePresence(resources: Iterable<CustomResource>, isAbsent: boolean): void {
    for (const cr of resources) {
      if (isAbsent) this.#lost.add(crName(cr));
      else this.noteCreated(cr);
    }
  }

  /** Returns those of the names of deleted resources that were deleted with their definition; undefined when the API server does not say.
   *  `owners` maps names to creation times, for resources that were deleted while no operator ran. */
  async lostAmong(owners: ReadonlyMap<string, string | undefined>): Promise<ReadonlySet<string> | undefined> {
    for (const [name, createdAt] of owners) {
      if (createdAt !== undefined && !this.#deleted.has(name)) this.#deleted.set(name, createdAt);
    }
    const names = [...owners.keys()];
    const isAnswered = await this.#classify(new Map(names.map((name) => [name, this.#deleted.get(name)])));
    return isAnswered ? new Set(names.filter((name) => this.#lost.has(name))) : undefined;
  }

  /** Decides which of the deleted resources are lost, from their creation times. Returns false when the API server does not say. */
  async #classify(deleted: ReadonlyMap<string, string | undefined>): Promise<boolean> {
    const byKind = Map.groupBy(deleted, ([name]) => kindAndNamespaceOf(name).kind);
    const answers = await Promise.all(
      [...byKind].map(async ([kind, resources]) => {
        const state = await this.#read(kind);
        if (state === undefined) return false;
        for (const [name, createdAt] of resources) {
          // It may exist again.
          if (this.#deleted.get(name) !== createdAt) continue;
          this.#deleted.delete(name);
          if (isLost(state, createdAt)) this.#lost.add(name);
        }
        return true;
      }),
    );
    return answers.every(Boolean);
  }

  async #read(kind: string): Promise<DefinitionState> {
    const { transport, timers, signal, onProblem } = this.#options;
    const plural = kindOf(kind)?.plural;
    // The ledger may name a kind that another version had.
    if (plural === undefined) return UNREADABLE;
    const path = definitionPath(plural);
    for (let attempts = 1; ; attempts++) {
      try {
        const request = {
          method: 'GET',
          path,
          accept: METADATA_ONLY,
          timeoutMs: TIMEOUT_MS,
          signal,
        } as const;
        const { metadata } = await transport.send<{ readonly metadata: Exclude<DefinitionState, string> }>(
          request,
        );
        return metadata;
      } catch (error) {
        if (hasStatus(error, 404)) return 'missing';
        if (signal.aborted) return undefined;
        onProblem(error as Error);
        if (hasStatus(error, 403)) return UNREADABLE;
        if (attempts === MOST_ATTEMPTS) return undefined;
      }
      await sleep(timers, backoffMs(timers, attempts, BACKOFF), signal);
    }
  }
}

function isLost(state: NonNullable<DefinitionState>, createdAt: string | undefined): boolean {
  if (state === 'missing' || state.deletionTimestamp !== undefined) return true;
  return createdAt !== undefined && (state.creationTimestamp ?? '') > createdAt;
}
