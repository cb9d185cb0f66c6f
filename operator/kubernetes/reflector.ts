/** A collection of the Kubernetes API, kept in memory: listed once, watched from there, listed again only when the server has
 *  forgotten where we were. It cannot die: whatever goes wrong, it goes on from what it has, after a pause. What it last knew
 *  stays, so a server that is away looks like nothing changed, never like everything was deleted.
 *  In: a path. Out: objects by `namespace/name`, a call for every change that means something, whether it is in sync.
 *  Not here: connections (transport.ts), what a change leads to (cluster.ts, references.ts). */
import { backoffMs, sleep, type Timers } from './timers.ts';
import { ApiProblem, type Transport, type WatchEvent } from './transport.ts';

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
  /** Of the collection. */
  readonly path: string;
  readonly fieldSelector?: string;
  /** Differences nobody acts on, our own writes above all. */
  readonly isSame: (before: T, after: T) => boolean;
  readonly onChange: (before: T | undefined, after: T | undefined) => void;
  /** It became in sync, or it was found that there is no such collection. */
  readonly onSettled: () => void;
  /** Something went wrong, and will be tried again. */
  readonly onProblem: (problem: Error) => void;
};

/** Since the start, for metrics. */
export type ReflectorCounts = { readonly lists: number; readonly watches: number; readonly failures: number };

const PAGE_SIZE = '500';
const LEAST_WATCH_SECONDS = 300;
/** The server ends a watch after between once and twice that, so that many watches do not end together. */
const SILENCE_MS = 150_000;
const BACKOFF = { leastMs: 500, mostMs: 30_000 };
/** A collection that is not there may be defined any moment. */
const ABSENT_BACKOFF = { leastMs: 500, mostMs: 5000 };
/** A watch that fails so often in a row may be asking for a version there will never be; listing settles that. */
const FAILURES_BEFORE_LIST = 3;
/** A watch that ends at once and brings nothing is no better than a failure. */
const LEAST_WATCH_MS = 1000;
const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration';

export class Reflector<T extends KubeObject> {
  readonly #options: ReflectorOptions<T>;
  readonly #objects = new Map<string, T>();
  /** Versions we know from our own writes, before the watch tells us. */
  readonly #ahead = new Map<string, string>();
  readonly #stop = new AbortController();
  #version: string | undefined;
  #failures = 0;
  #isSynced = false;
  /** The watch, or the pause before it: ended when the list must be read again now. */
  #waiting = new AbortController();
  readonly #awaited: (() => void)[] = [];
  #running: Promise<void> | undefined;
  #counts = { lists: 0, watches: 0, failures: 0 };
  #revision = 0;
  /** Why it is not in sync, or does not hear. */
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

  /** The API server knows no such collection: its definition is missing. */
  get isAbsent(): boolean {
    return this.problem instanceof ApiProblem && this.problem.status === 404;
  }

  get counts(): ReflectorCounts {
    return this.#counts;
  }

  /** Grows with every object that comes, goes or is another one now. */
  get revision(): number {
    return this.#revision;
  }

  /** By `namespace/name`. */
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

  /** Lists anew; resolves when what is known is no older than the call. */
  refresh(): Promise<void> {
    this.#version = undefined;
    this.#waiting.abort();
    return new Promise((resolve) => this.#awaited.push(resolve));
  }

  /** What the API answered to a write of ours: known at once, not only when the watch says so. It may hold a change of somebody
   *  else's as well, of which the watch then has nothing new to say. */
  accept(object: T): void {
    const key = keyOf(object);
    const known = this.#objects.get(key);
    if (known?.metadata.uid !== object.metadata.uid || !isNewer(object, known)) return;
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
    const isForgotten = error instanceof ApiProblem && error.status === 410;
    this.#failures++;
    this.#counts.failures++;
    if (isForgotten || this.#failures % FAILURES_BEFORE_LIST === 0) this.#version = undefined;
    // The first time there is nothing wrong: the list just has to be read again.
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

  /** Of what is not there nothing more can be known. */
  #giveUpWaiting(): void {
    for (const known of this.#awaited.splice(0)) known();
    this.#options.onSettled();
  }

  /** In pages; a list that the server forgot between pages is begun again by #recover. */
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
    for (const known of this.#awaited.splice(0, waiting)) known();
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
    for (const key of [...this.#objects.keys()].filter((known) => !found.has(known)))
      this.#put(key, undefined);
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

  /** What a resource wants is the same value as long as it is the same generation: whoever made something of it need not make
   *  it again, and a status is not paid for with another spec. */
  #withSameSpec(key: string, object: T): T {
    const known = this.#objects.get(key) as (T & { readonly spec?: unknown }) | undefined;
    const isSameGeneration =
      known?.spec !== undefined &&
      known.metadata.generation !== undefined &&
      known.metadata.uid === object.metadata.uid &&
      known.metadata.generation === object.metadata.generation;
    return isSameGeneration ? { ...slim(object), spec: known.spec } : slim(object);
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

/** Half of an object is who wrote which field when, and what kubectl sent: nothing we read. */
function slim<T extends KubeObject>(object: T): T {
  const {
    managedFields: _,
    annotations,
    ...metadata
  } = object.metadata as T['metadata'] & {
    managedFields?: unknown;
  };
  const { [LAST_APPLIED]: __, ...kept } = annotations ?? {};
  const isAnnotated = Object.keys(kept).length > 0;
  return { ...object, metadata: { ...metadata, ...(isAnnotated ? { annotations: kept } : {}) } };
}

function problemIn(object: unknown): ApiProblem {
  const { code, message } = object as { readonly code?: number; readonly message?: string };
  return new ApiProblem(code ?? 500, message ?? 'the watch was ended by an error');
}

function isNewer(object: KubeObject, known: KubeObject): boolean {
  return isOlder(known.metadata.resourceVersion, object.metadata.resourceVersion);
}

/** Versions are numbers that only grow. */
function isOlder(version: string, than: string): boolean {
  return BigInt(version) < BigInt(than);
}
