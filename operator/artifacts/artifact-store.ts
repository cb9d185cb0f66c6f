/** Keeps the artifacts of Migrations: decides when one is downloaded, and when a tag is compared again. A digest is downloaded once.
 *  Downloads run beside the passes, at most MOST_AT_ONCE together and one for a namespace, so that a registry that does not answer holds up
 *  no other resource. A failure is followed by a growing pause, and leaves the content that was downloaded before.
 *  Contents are in memory, within a limit for all. They are of one resource each: another resource may not have the credentials.
 *  In: requests. Out: contents and problems. Not here: a download (download.ts). */
import type { ArtifactAnswer, MigrationFile } from '../ports/migrations.ts';
import { ArtifactProblem } from './artifact-problem.ts';
import type { ArtifactRequest } from './artifact-request.ts';
import type { Download, DownloadOptions } from './download.ts';
import { isDigest, printReference } from './reference.ts';

export type ArtifactStoreOptions = {
  readonly download: (
    request: ArtifactRequest,
    options: Pick<DownloadOptions, 'previous' | 'signal'>,
  ) => Promise<Download>;
  /** Returns the milliseconds since an arbitrary moment. */
  readonly nowMs: () => number;
  /** Called when the content or the problem of an artifact of the group has changed. */
  readonly onChange?: (group: string) => void;
};

/** An artifact that a resource needs. */
export type Wanted = {
  /** The key of the engine: the resources that are kept or dropped together. */
  readonly group: string;
  /** The uid of the resource. */
  readonly uid: string;
  readonly request: ArtifactRequest;
  /** The age at which a tag is compared again, in milliseconds. */
  readonly maxAgeMs: number;
  /** A text whose change makes the store look again at once. */
  readonly nudge: string;
};

const MOST_AT_ONCE = 3;
const LEAST_PAUSE_MS = 15_000;
const MOST_PAUSE_MS = 600_000;
/** The most bytes of all contents. Beyond it, the one that was not needed for the longest time is dropped. */
const MOST_BYTES = 32 * 1024 * 1024;

type State = {
  readonly wanted: Wanted;
  nudge: string;
  content:
    | { readonly digest: string; readonly files: readonly MigrationFile[]; readonly bytes: number }
    | undefined;
  failure: string | undefined;
  failures: number;
  /** The time of the next request. */
  dueMs: number;
  /** Resolves when the download has ended. Undefined while none is waiting or running. */
  ended: PromiseWithResolvers<void> | undefined;
};

export class ArtifactStore {
  readonly #options: ArtifactStoreOptions;
  /** The states by group and uid. The one that was needed last is the last. */
  readonly #states = new Map<string, State>();
  #waiting: State[] = [];
  readonly #running = new Set<State>();
  readonly #stop = new AbortController();

  constructor(options: ArtifactStoreOptions) {
    this.#options = options;
  }

  /** Returns the artifact as far as it is known, and starts a download if one is due. */
  look(wanted: Wanted): ArtifactAnswer {
    const state = this.#stateOf(wanted);
    if (wanted.nudge !== state.nudge) {
      state.nudge = wanted.nudge;
      state.dueMs = Number.NEGATIVE_INFINITY;
    }
    if (!state.ended && this.#options.nowMs() >= state.dueMs) this.#enqueue(state);
    return answerOf(state);
  }

  /** Returns the artifact once a download that is due has ended. */
  async settled(wanted: Wanted): Promise<ArtifactAnswer> {
    this.look(wanted);
    await this.#stateOf(wanted).ended?.promise;
    return answerOf(this.#stateOf(wanted));
  }

  /** Returns the digest of the artifact of a resource; undefined when there is none. */
  digestOf(group: string, uid: string): string | undefined {
    return this.#states.get(keyOf({ group, uid }))?.content?.digest;
  }

  /** Drops the artifacts of the group except those of the resources. */
  keep(group: string, uids: ReadonlySet<string>): void {
    for (const [key, { wanted }] of this.#states) {
      if (wanted.group === group && !uids.has(wanted.uid)) this.#states.delete(key);
    }
  }

  /** Aborts the running downloads, and drops those that wait. */
  stop(): void {
    this.#waiting = [];
    this.#stop.abort();
  }

  #stateOf(wanted: Wanted): State {
    const key = keyOf(wanted);
    const known = this.#states.get(key);
    const isSame = known?.wanted.request.fingerprint === wanted.request.fingerprint;
    const state: State =
      known && isSame
        ? known
        : {
            ...{ wanted, nudge: wanted.nudge, content: undefined, failure: undefined, failures: 0 },
            ...{ dueMs: Number.NEGATIVE_INFINITY, ended: undefined },
          };
    this.#states.delete(key);
    this.#states.set(key, state);
    return state;
  }

  #enqueue(state: State): void {
    state.ended = Promise.withResolvers<void>();
    this.#waiting.push(state);
    this.#startNext();
  }

  #startNext(): void {
    if (this.#stop.signal.aborted) return;
    const busy = new Set([...this.#running].map(({ wanted }) => wanted.request.namespace));
    for (const state of [...this.#waiting]) {
      if (this.#running.size >= MOST_AT_ONCE) return;
      if (busy.has(state.wanted.request.namespace)) continue;
      busy.add(state.wanted.request.namespace);
      this.#waiting = this.#waiting.filter((other) => other !== state);
      // A resource that is gone, or says something else now, needs no download.
      if (this.#states.get(keyOf(state.wanted)) !== state) {
        state.ended?.resolve();
        continue;
      }
      this.#running.add(state);
      void this.#run(state);
    }
  }

  async #run(state: State): Promise<void> {
    const { wanted, content, failure } = state;
    const { signal } = this.#stop;
    try {
      const result = await this.#options.download(wanted.request, { previous: content?.digest, signal });
      if (result.files)
        state.content = { digest: result.digest, files: result.files, bytes: bytesOf(result.files) };
      state.failure = undefined;
      state.failures = 0;
      const isFixed = isDigest(wanted.request.reference.version);
      state.dueMs = isFixed ? Number.POSITIVE_INFINITY : this.#options.nowMs() + wanted.maxAgeMs;
    } catch (error) {
      // Any error is one of this artifact: a defect in reading one must not stop the pass of an engine.
      state.failure =
        error instanceof ArtifactProblem ? error.message : `unexpected: ${(error as Error).name}`;
      const pause = Math.min(MOST_PAUSE_MS, LEAST_PAUSE_MS * 2 ** state.failures++);
      const named = error instanceof ArtifactProblem ? (error.retryAfterMs ?? 0) : 0;
      state.dueMs = this.#options.nowMs() + Math.max(pause, named);
    }
    this.#running.delete(state);
    this.#dropOldest(state);
    state.ended?.resolve();
    state.ended = undefined;
    this.#startNext();
    if (signal.aborted || this.#states.get(keyOf(wanted)) !== state) return;
    const isChanged = state.content !== content || state.failure !== failure;
    if (isChanged) this.#options.onChange?.(wanted.group);
  }

  #dropOldest(newest: State): void {
    let total = [...this.#states.values()].reduce((sum, { content }) => sum + (content?.bytes ?? 0), 0);
    for (const [key, state] of this.#states) {
      if (total <= MOST_BYTES) return;
      if (state === newest || !state.content) continue;
      total -= state.content.bytes;
      this.#states.delete(key);
    }
  }
}

function answerOf({ wanted, content, failure }: State): ArtifactAnswer {
  const name = printReference(wanted.request.reference);
  if (content) {
    const { digest, files } = content;
    return { digest, files, ...(failure === undefined ? {} : { staleBecause: failure }) };
  }
  return failure === undefined
    ? { reason: 'DependencyNotReady', message: `the artifact ${name} is being downloaded`, isPending: true }
    : { reason: 'ArtifactUnavailable', message: `${name}: ${failure}` };
}

function keyOf({ group, uid }: Pick<Wanted, 'group' | 'uid'>): string {
  return `${group} ${uid}`;
}

function bytesOf(files: readonly MigrationFile[]): number {
  // Strings of JavaScript have up to two bytes for a character.
  return files.reduce((sum, { sql }) => sum + 2 * sql.length, 0);
}
