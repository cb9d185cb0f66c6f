/** Keeps a collection of the Kubernetes API in memory: lists it once, then watches it, and lists it again only when the server no longer
 *  has the version. It never stops: after a failure it continues from its last state, after a delay. The cached objects are kept, so an
 *  unavailable server never looks as if everything was deleted.
 *  In: a path. Out: objects by `namespace/name`, a call for every relevant change, whether it is in sync.
 *  Not here: connections (transport.ts), the effects of a change (cluster.ts, references.ts). */
import { DROPPED_FIELDS, LAST_APPLIED } from '../kinds/dropped-fields.ts';
import { TextPool } from '../text-pool.ts';
import { backoffMs, sleep, type Timers } from './timers.ts';
import { ApiProblem, hasStatus, type Transport, type WatchEvent } from './transport.ts';

export type KubeObject = {
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly uid: string;
    readonly resourceVersion: string;
    readonly generation?: number;
    readonly annotations?: Readonly<Record<string, string>>;
    readonly labels?: Readonly<Record<string, string>>;
    readonly deletionTimestamp?: string;
  };
};

export type ReflectorOptions<T extends KubeObject> = {
  readonly transport: Transport;
  readonly timers: Timers;
  /** The path of the collection. */
  readonly path: string;
  readonly fieldSelector?: string;
  /** True when the difference between two versions needs no action, as after status writes of the operator. */
  readonly isSame: (before: T, after: T) => boolean;
  /** Returns annotations to keep in memory instead of the last applied configuration. */
  readonly summarise?: ((object: T, lastApplied: string) => Readonly<Record<string, string>>) | undefined;
  readonly onChange: (before: T | undefined, after: T | undefined) => void;
  /** Called when the collection is in sync or was found missing. */
  readonly onSettled: () => void;
  /** Called after a failure that will be retried. */
  readonly onProblem: (problem: Error) => void;
};

/** Counters since the start, for metrics. */
export type ReflectorCounts = { readonly lists: number; readonly watches: number; readonly failures: number };

const PAGE_SIZE = '500';
/** The most texts that are kept to be shared by objects. */
const MOST_TEXTS = 5000;
/** The shortest timeout of a watch. Each watch requests up to twice as much, so many do not end together. */
const LEAST_WATCH_SECONDS = 300;
const SILENCE_MS = 150_000;
const BACKOFF = { leastMs: 500, mostMs: 30_000 };
/** The delays while a collection is missing: its definition may be installed at any time. */
const ABSENT_BACKOFF = { leastMs: 500, mostMs: 5000 };
/** The number of failures in a row after which the collection is listed again: the version of the watch may be invalid. */
const FAILURES_BEFORE_LIST = 3;
/** The shortest duration of a watch without events that does not count as a failure. */
const LEAST_WATCH_MS = 1000;

export class Reflector<T extends KubeObject> {
  readonly #options: ReflectorOptions<T>;
  readonly #objects = new Map<string, T>();
  readonly #texts = new TextPool(MOST_TEXTS);
  /** The versions of the operator's own writes that the watch has not reported yet. */
  readonly #ahead = new Map<string, string>();
  readonly #stop = new AbortController();
  #version: string | undefined;
  #failures = 0;
  #isSynced = false;
  /** Aborts the watch, or the pause before it, when the list must be read again. */
  #waiting = new AbortController();
  readonly #awaited: (() => void)[] = [];
  #running: Promise<void> | undefined;
  #counts = { lists: 0, watches: 0, failures: 0 };
  #revision = 0;
  /** The reason why the collection is not in sync or its watch fails. */
  problem: Error | undefined;

  constructor(options: ReflectorOptions<T>) {
    this.#options = options;
  }

  get path(): string {
    return this.#options.path;
  }

  get isSynced(): boolean {
    return this.#isSynced;
  }

  /** True when the API server has no such collection: its definition is missing. */
  get isAbsent(): boolean {
    return hasStatus(this.problem, 404);
  }

  get counts(): ReflectorCounts {
    return this.#counts;
  }

  /** A number that grows with each added, changed or deleted object. */
  get revision(): number {
    return this.#revision;
  }

  /** The objects by `namespace/name`. */
  get objects(): ReadonlyMap<string, T> {
    return this.#objects;
  }

  start(): void {
    this.#running ??= this.#run();
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#running;
  }

  /** Lists again. Resolves when the cache is no older than the call. */
  refresh(): Promise<void> {
    this.#version = undefined;
    this.#waiting.abort();
    return new Promise((resolve) => this.#awaited.push(resolve));
  }

  /** Updates the cache with the answer to a write of the operator, before the watch reports it. It may include a change by another
   *  writer, for which the watch then reports no difference. */
  accept(object: T): void {
    const key = keyOf(object);
    const cached = this.#objects.get(key);
    if (cached?.metadata.uid !== object.metadata.uid || !isNewer(object, cached)) return;
    this.#put(key, this.#withSameSpec(key, object));
    this.#ahead.set(key, object.metadata.resourceVersion);
  }

  async #run(): Promise<void> {
    const { signal } = this.#stop;
    while (!signal.aborted) {
      this.#waiting = new AbortController();
      try {
        if (this.#version === undefined || this.#awaited.length > 0) await this.#list();
        await this.#watch();
      } catch (error) {
        if (signal.aborted) return;
        if (!this.#waiting.signal.aborted) await this.#recover(error as Error);
      }
    }
  }

  async #recover(error: Error): Promise<void> {
    const { timers, onProblem } = this.#options;
    const isForgotten = hasStatus(error, 410);
    this.#failures++;
    this.#counts.failures++;
    if (isForgotten || this.#failures % FAILURES_BEFORE_LIST === 0) this.#version = undefined;
    // The first expiry of a version is normal and only needs a new list.
    if (isForgotten && this.#failures === 1) return;
    this.problem = error;
    onProblem(error);
    if (this.isAbsent) this.#giveUpWaiting();
    const requestedMs = error instanceof ApiProblem ? (error.retryAfterMs ?? 0) : 0;
    const range = this.isAbsent ? ABSENT_BACKOFF : BACKOFF;
    await sleep(
      timers,
      Math.max(requestedMs, backoffMs(timers, this.#failures, range)),
      this.#waitingSignal(),
    );
  }

  /** Stops waiting for a collection that does not exist. */
  #giveUpWaiting(): void {
    for (const resolve of this.#awaited.splice(0)) resolve();
    this.#options.onSettled();
  }

  /** Lists the collection in pages. When the server has dropped the list between pages, #recover starts again. */
  async #list(): Promise<void> {
    this.#counts.lists++;
    const found = new Map<string, T>();
    let page: List<T>;
    const waiting = this.#awaited.length;
    let next = '';
    do {
      page = await this.#page(next);
      for (const item of page.items) found.set(keyOf(item), this.#withSameSpec(keyOf(item), item));
      next = page.metadata.continue ?? '';
    } while (next !== '');
    this.#replace(found);
    this.#version = page.metadata.resourceVersion;
    const isNews = !this.#isSynced || this.isAbsent;
    this.problem = undefined;
    this.#isSynced = true;
    for (const resolve of this.#awaited.splice(0, waiting)) resolve();
    if (!isNews) return;
    this.#options.onSettled();
  }

  #waitingSignal(): AbortSignal {
    return AbortSignal.any([this.#stop.signal, this.#waiting.signal]);
  }

  #page(next: string): Promise<List<T>> {
    const { transport, path } = this.#options;
    const query = { limit: PAGE_SIZE, ...this.#selector(), ...(next === '' ? {} : { continue: next }) };
    return transport.send<List<T>>({ method: 'GET', path, query, signal: this.#stop.signal });
  }

  #selector(): Readonly<Record<string, string>> {
    const { fieldSelector } = this.#options;
    return fieldSelector === undefined ? {} : { fieldSelector };
  }

  #replace(found: ReadonlyMap<string, T>): void {
    this.#ahead.clear();
    for (const key of [...this.#objects.keys()].filter((each) => !found.has(each))) this.#put(key, undefined);
    for (const [key, object] of found) this.#put(key, object);
  }

  async #watch(): Promise<void> {
    const { transport, timers, path } = this.#options;
    this.#counts.watches++;
    const began = timers.nowMs();
    const seconds = Math.round(LEAST_WATCH_SECONDS * (1 + timers.random()));
    const events = transport.watch({
      path,
      query: {
        ...this.#selector(),
        resourceVersion: this.#version ?? '',
        allowWatchBookmarks: 'true',
        timeoutSeconds: String(seconds),
      },
      signal: this.#waitingSignal(),
      silenceMs: SILENCE_MS,
    });
    let count = 0;
    for await (const event of events) {
      count++;
      this.#applyEvent(event);
      this.#markHealthy();
    }
    if (count === 0 && timers.nowMs() - began < LEAST_WATCH_MS) throw new Error('the watch ended at once');
    this.#markHealthy();
  }

  #applyEvent({ type, object }: WatchEvent): void {
    if (type === 'ERROR') throw problemIn(object);
    const { metadata } = object as T;
    this.#version = metadata.resourceVersion;
    if (type === 'BOOKMARK') return;
    const key = keyOf(object as T);
    const ahead = this.#ahead.get(key);
    if (ahead !== undefined && type !== 'DELETED' && isOlder(metadata.resourceVersion, ahead)) return;
    this.#ahead.delete(key);
    this.#put(key, type === 'DELETED' ? undefined : this.#withSameSpec(key, object as T));
  }

  /** Returns the object with the identical spec value while its generation is the same, so caches by spec stay valid and status changes
   *  do not copy the spec. */
  #withSameSpec(key: string, object: T): T {
    const cached = this.#objects.get(key) as (T & { readonly spec?: unknown }) | undefined;
    const isSameGeneration =
      cached?.spec !== undefined &&
      cached.metadata.generation !== undefined &&
      cached.metadata.uid === object.metadata.uid &&
      cached.metadata.generation === object.metadata.generation;
    const kept = slim(object, this.#options.summarise);
    if (!isSameGeneration) return this.#texts.share(kept);
    const { spec: _, ...rest } = kept as T & { readonly spec?: unknown };
    return { ...this.#texts.share(rest), spec: cached.spec } as unknown as T;
  }

  #markHealthy(): void {
    this.#failures = 0;
    this.problem = undefined;
  }

  #put(key: string, after: T | undefined): void {
    const before = this.#objects.get(key);
    this.#revision++;
    if (after) this.#objects.set(key, after);
    else this.#objects.delete(key);
    const isAnother = before?.metadata.uid !== after?.metadata.uid;
    if (isAnother || (before && after && !this.#options.isSame(before, after))) {
      this.#options.onChange(before, after);
    }
  }
}

type List<T> = {
  readonly metadata: { readonly resourceVersion: string; readonly continue?: string };
  readonly items: readonly T[];
};

export function keyOf({ metadata }: { readonly metadata: KubeObject['metadata'] }): string {
  return metadata.namespace === undefined ? metadata.name : `${metadata.namespace}/${metadata.name}`;
}

/** Returns the object without managed fields and the last applied configuration, which make up half of it. */
function slim<T extends KubeObject>(object: T, summarise: ReflectorOptions<T>['summarise'] = () => ({})): T {
  const {
    managedFields: _,
    annotations,
    ...metadata
  } = object.metadata as T['metadata'] & {
    managedFields?: unknown;
  };
  const { [LAST_APPLIED]: lastApplied, [DROPPED_FIELDS]: _dropped, ...others } = annotations ?? {};
  const kept = lastApplied === undefined ? others : { ...others, ...summarise(object, lastApplied) };
  const isAnnotated = Object.keys(kept).length > 0;
  return { ...object, metadata: { ...metadata, ...(isAnnotated ? { annotations: kept } : {}) } };
}

function problemIn(object: unknown): ApiProblem {
  const { code, message } = object as { readonly code?: number; readonly message?: string };
  return new ApiProblem(code ?? 500, message ?? 'the watch was ended by an error');
}

function isNewer(object: KubeObject, cached: KubeObject): boolean {
  return isOlder(cached.metadata.resourceVersion, object.metadata.resourceVersion);
}

/** True when a version is older. Versions are increasing numbers. */
function isOlder(version: string, than: string): boolean {
  return BigInt(version) < BigInt(than);
}
