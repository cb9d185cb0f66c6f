/** The one mutable cell of the engine: the current Snapshot. `start` makes the first, admin requests publish the next, and
 *  the store's watch brings in what other replicas published. Whoever took a snapshot keeps it, so a request ends on the
 *  document it began with. Not here: what an operation does to the document (run.ts, unit-of-work.ts), rows in the metadata
 *  database (store/), pools of sources (gateway.ts). */

import { setTimeout as sleep } from 'node:timers/promises';
import { type Database, openDatabase } from '../database/pool.ts';
import type { Sources, SourceTimed } from '../database/sources.ts';
import { EngineError } from '../errors/engine-error.ts';
import { ended } from '../limits/grace.ts';
import { qualifiedKey } from '../metadata/schema/common.ts';
import type { Source } from '../metadata/schema/source.ts';
import type { TrustsSelfSigned } from '../outgoing/tls-allowlist.ts';
import type { Upstream, Upstreams } from '../resolve/remote-schema.ts';
import { SESSION_PREFIX } from '../resolve/session.ts';
import type { ResolveOptions } from '../resolve/types.ts';
import { actionCalls } from '../store/action-calls.ts';
import { nameOfDatabase, retryUntilReachable } from '../store/connect.ts';
import type { Authorship, StoredDocument, Versions } from '../store/document.ts';
import type { TransactionStatus } from '../store/intents.ts';
import { Store } from '../store/store.ts';
import { type MetadataWatch, watchMetadata } from '../store/watch.ts';
import { type OutboundVariables, outboundVariables } from '../webhook/outbound.ts';
import { Gateway, isSameEndpoint, trustsOf } from './gateway.ts';
import { refreshCatalog } from './refresh-catalog.ts';
import type { Catalogs, Snapshot, SourceCatalog } from './snapshot.ts';
import { SourceRecovery, SourceWatch, type Watched } from './source-watch.ts';

/** Name of the variable a source made from `--database-url` reads. */
export const DATABASE_URL_VARIABLE = 'ENGINE_GRAPHQL_DATABASE_URL';

/** An answer is sent meanwhile. */
const GATHERING_PAUSE_MS = 100;

/** A log line names no more objects than this. */
const MOST_REPORTED = 20;

export type EngineStateOptions = ResolveOptions & {
  readonly metadataDatabaseUrl: string;
  /** Where `{from_env}` values are looked up: the process's environment, with `ENGINE_GRAPHQL_DATABASE_URL` set to the
   *  flag's value when `--database-url` was given. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Was a `--database-url` given: an empty document then starts with a source `default` that reads it from `env`. */
  readonly hasDatabaseUrl: boolean;
  /** Folders that database URLs may be read from; default none. */
  readonly dynamicSecretsPath?: readonly string[];
  /** First part of our headers on the wire. */
  readonly headerPrefix?: string;
  /** --count-without-aggregations. Default false. */
  readonly countsWithoutAggregations?: boolean;
  /** Default true. */
  readonly validatesNativeQueries?: boolean;
  /** How many of the last documents are kept; default 50. */
  readonly keptRevisions?: number;
  /** How often other replicas' changes are looked for besides LISTEN; 0 is never. Default 1000. */
  readonly pollIntervalMs?: number;
  /** How often the databases of sources are checked, besides when there is a reason to; 0 is never. Default 10 000. */
  readonly sourceCheckIntervalMs?: number;
  /** How long an unreachable metadata database is waited for at start. Default 60 000. */
  readonly startTimeoutMs?: number;
  /** Most connections to a source that does not say itself. */
  readonly maxConnections?: number;
  readonly maxWaiting?: number;
  readonly report?: (event: StateEvent) => void;
  /** Absent where nobody measures. */
  readonly timed?: SourceTimed | undefined;
};

/** Everything the state tells its surroundings, for logs and metrics. */
export type StateEvent =
  | { readonly kind: 'metadata database unreachable'; readonly attempt: number; readonly reason: string }
  | { readonly kind: 'migrated'; readonly versions: readonly number[] }
  | { readonly kind: 'source unreachable'; readonly source: string; readonly reason: string }
  /** It had been reported as unreachable. */
  | { readonly kind: 'source reachable'; readonly source: string }
  /** A tracked table or function was changed by somebody else. */
  | { readonly kind: 'source changed'; readonly source: string }
  | {
      readonly kind: 'published';
      readonly resourceVersion: number;
      readonly inconsistencies: number;
    }
  /** Restrictions that the document declares and the engine does not enforce; the first of them as sentences. */
  | {
      readonly kind: 'restrictions not enforced';
      readonly count: number;
      readonly objects: readonly string[];
    }
  | { readonly kind: 'watch interrupted'; readonly reason: string }
  /** It goes on growing by its changes, until it can be written whole. */
  | { readonly kind: 'document not gathered'; readonly reason: string }
  /** Objects of custom resources, by key, changed by somebody other than the operator. */
  | { readonly kind: 'managed objects changed'; readonly by: Authorship; readonly keys: readonly string[] };

export class EngineState {
  readonly #options: EngineStateOptions;
  readonly #database: Database;
  readonly gateway: Gateway;
  readonly #report: (event: StateEvent) => void;
  #snapshot: Snapshot | undefined;
  #watch: MetadataWatch | undefined;
  /** The end of the queue of those who want to change the document. */
  #lastTurn: Promise<unknown> = Promise.resolve();
  #refreshing: Promise<void> | undefined;
  #gathering: Promise<void> | undefined;
  #isClosed = false;
  readonly #sourceWatch: SourceWatch;
  /** The reads of catalogs under way, by name of the source. */
  readonly #rereading = new Set<string>();
  readonly #recovery = new SourceRecovery({
    isNeeded: () => this.#unreachable().length > 0,
    attempt: () => this.#recover(),
  });

  constructor(options: EngineStateOptions) {
    this.#options = options;
    this.#report = options.report ?? (() => {});
    this.#database = openDatabase(options.metadataDatabaseUrl, { maxConnections: 4, poolTimeoutSeconds: 10 });
    this.outboundVariables = outboundVariables(options.env, () => this.snapshot().metadata);
    this.gateway = new Gateway({
      store: new Store(this.#database, options.keptRevisions),
      actionCalls: actionCalls(this.#database),
      metadataDatabase: this.#database,
      metadataDatabaseUrl: options.metadataDatabaseUrl,
      env: options.env,
      dynamicSecretsPath: options.dynamicSecretsPath,
      headerPrefix: options.headerPrefix ?? SESSION_PREFIX,
      resolve: options,
      countsWithoutAggregations: options.countsWithoutAggregations,
      maxConnections: options.maxConnections,
      maxWaiting: options.maxWaiting,
      timed: options.timed,
      failed: (source, failure) => this.#sourceWatch.suspect(source, failure),
      validatesNativeQueries: options.validatesNativeQueries ?? true,
      onUnreachable: (source, reason) => this.#report({ kind: 'source unreachable', source, reason }),
    });
    this.#sourceWatch = new SourceWatch({
      intervalMs: options.sourceCheckIntervalMs ?? 10_000,
      watched: () => this.#reached(),
      databaseOf: (source) => this.gateway.database(source),
      probe: (source, timeoutSeconds) => this.gateway.sources.probe(source, timeoutSeconds),
      onLost: (source, reason) => this.#noteLost(source, reason),
      onBack: (source) => this.#noteLost(source, undefined),
      onChanged: (source) => this.#reread(source),
      onRoundDone: () => this.#recoverOnce(),
    });
  }

  /** The current one; a request takes it once. Throws before `start` is done. */
  snapshot(): Snapshot {
    if (!this.#snapshot) throw new Error('the engine has not started');
    return this.#snapshot;
  }

  /** The environment as external services may receive it, by the current document. */
  readonly outboundVariables: OutboundVariables;

  /** As the current document says: who is trusted no more is so at once, for requests under way too. */
  readonly trusts: TrustsSelfSigned = (url) => trustsOf(this.snapshot().metadata)(url);

  /** Pools of the published sources, by name. */
  get sources(): Sources {
    return this.gateway.sources;
  }

  /** Migrates, loads, introspects, publishes, watches. Throws when the metadata database stays unreachable; an
   *  unreachable source only makes its own objects inconsistent. */
  async start(): Promise<void> {
    const { metadataDatabaseUrl: url, startTimeoutMs = 60_000, pollIntervalMs = 1000 } = this.#options;
    const versions = await retryUntilReachable(() => this.gateway.store.migrate(), {
      name: nameOfDatabase(url),
      timeoutMs: startTimeoutMs,
      onAttemptFailed: (attempt, reason) =>
        this.#report({ kind: 'metadata database unreachable', attempt, reason }),
    });
    if (versions.length > 0) this.#report({ kind: 'migrated', versions });
    await this.#settleIntents(['in progress', 'unreachable']);
    await this.#writeDefaultSource();
    await this.#adopt(await this.gateway.store.load());
    this.#watch = await watchMetadata({
      url,
      store: this.gateway.store,
      pollIntervalMs,
      onChange: (versions) => void this.#noticed(versions),
      onInterruption: (reason) => this.#report({ kind: 'watch interrupted', reason }),
    });
    this.#sourceWatch.start();
  }

  /** Checks the databases of sources, unless that was done within the last second. Resolves after `mostMs` at the latest, and
   *  never rejects. */
  checkSources(mostMs: number): Promise<void> {
    return this.#sourceWatch.checkAll(mostMs);
  }

  /** Introspects every source again and publishes. */
  async rebuild(): Promise<void> {
    await this.exclusively(async () => this.#adopt(await this.gateway.store.load(), { isFresh: true }));
  }

  /** One after the other, in the order of asking: what reads the current document in order to write the next. */
  exclusively<T>(body: () => Promise<T>): Promise<T> {
    const turn = this.#lastTurn.then(body, body);
    this.#lastTurn = turn.catch(() => {});
    return turn;
  }

  /** Makes the snapshot the current one, unless a later one is. */
  publish(next: Snapshot): void {
    const current = this.#snapshot;
    if (current && isBehind(next.versions, current.versions)) return;
    this.gateway.sources.publish(next.metadata.sources);
    this.#snapshot = next;
    this.#recovery.schedule();
    if (this.gateway.store.needsCompaction) this.#gathering ??= this.#gather();
    if (current?.model === next.model) return;
    this.#report({
      kind: 'published',
      resourceVersion: next.resourceVersion,
      inconsistencies: next.inconsistencies.length,
    });
    this.#reportUnenforced(current, next);
  }

  #reportUnenforced(current: Snapshot | undefined, next: Snapshot): void {
    const known = new Set(current && this.gateway.unenforced(current.metadata).map(({ key }) => key));
    const added = this.gateway.unenforced(next.metadata).filter(({ key }) => !known.has(key));
    if (added.length === 0) return;
    const objects = added.slice(0, MOST_REPORTED).map(({ name, reason }) => `${name}: ${reason}`);
    this.#report({ kind: 'restrictions not enforced', count: added.length, objects });
  }

  /** Tells the surroundings. */
  report(event: StateEvent): void {
    this.#report(event);
  }

  /** Closes pools that only a refused draft used. */
  dropUnpublished(): void {
    this.gateway.sources.publish(this.snapshot().metadata.sources);
  }

  /** Brings in what other replicas have written by now. */
  async refresh(): Promise<void> {
    // Two callers may share a load only when it began after both asked: a second one waits for the next.
    const running = this.#refreshing;
    const next = (running ?? Promise.resolve()).then(() => this.#refreshOnce());
    this.#refreshing = next.catch(() => {});
    await next;
  }

  /** Waits for what is under way; at `cut` every connection to a database is cut. */
  async close(cut: AbortSignal): Promise<void> {
    this.#isClosed = true;
    this.#recovery.close();
    this.#sourceWatch.close();
    await ended([this.#watch?.close()], cut);
    await ended([this.#lastTurn, this.#refreshing, this.#gathering], cut);
    await this.gateway.sources.close(cut);
    await this.#database.close(cut);
  }

  #unreachable(): readonly Source[] {
    const { metadata, catalogs } = this.snapshot();
    return metadata.sources.filter(({ name }) => 'error' in (catalogs.get(name) ?? {}));
  }

  /** Sources with a catalog. */
  #reached(): readonly Watched[] {
    const { metadata, catalogs } = this.snapshot();
    return metadata.sources.flatMap((source) => {
      const catalog = catalogs.get(source.name);
      return catalog && !('error' in catalog) ? [{ source, catalog }] : [];
    });
  }

  /** The source is inconsistent from now on, or no more. Its tables are kept: requests fail until the database is back, and
   *  need no new plan then. A write that is under way may publish the former state; the next check puts that right. */
  #noteLost(source: Source, reason: string | undefined): void {
    const current = this.snapshot();
    const catalog = current.catalogs.get(source.name);
    if (!catalog || 'error' in catalog || (catalog.lost === undefined) === (reason === undefined)) return;
    const catalogs = new Map(current.catalogs).set(source.name, { ...catalog, lost: reason });
    const { inconsistencies } = this.gateway.resolve(current.metadata, catalogs, current.upstreams);
    this.publish({ ...current, catalogs, inconsistencies });
    const { name } = source;
    this.#report(
      reason === undefined
        ? { kind: 'source reachable', source: name }
        : { kind: 'source unreachable', source: name, reason },
    );
  }

  /** Never rejects. */
  async #reread({ name }: Source): Promise<void> {
    if (this.#rereading.has(name)) return;
    this.#rereading.add(name);
    const turn = this.exclusively(async () => {
      if (this.#isClosed) return;
      const before = this.snapshot();
      const next = await refreshCatalog(before, this.gateway, name);
      if (!next) return;
      this.publish(next);
      if (next.model !== before.model) this.#report({ kind: 'source changed', source: name });
    });
    await turn
      .catch((error: unknown) => {
        this.#report({ kind: 'source unreachable', source: name, reason: reasonOf(error) });
      })
      .finally(() => this.#rereading.delete(name));
  }

  async #recoverOnce(): Promise<void> {
    if (this.#isClosed || this.#unreachable().length === 0) return;
    await this.#recover().catch(() => false);
  }

  /** Publishes only when a source is back: every publication costs what was planned. */
  async #recover(): Promise<boolean> {
    const asked = await Promise.all(this.#unreachable().map((source) => this.gateway.introspect(source)));
    if (this.#isClosed || asked.every((catalog) => 'error' in catalog)) return false;
    await this.exclusively(async () => this.#adopt(await this.gateway.store.load(this.snapshot())));
    return true;
  }

  /** Has the document written whole, once whoever changed it last has been answered. */
  async #gather(): Promise<void> {
    try {
      await sleep(GATHERING_PAUSE_MS);
      if (!this.#isClosed) await this.gateway.store.compact(this.snapshot());
    } catch (error) {
      this.#report({ kind: 'document not gathered', reason: reasonOf(error) });
    } finally {
      this.#gathering = undefined;
    }
  }

  /** What an engine that ended in the middle of a write has left. */
  #settleIntents(waitsFor: readonly TransactionStatus[]): Promise<void> {
    return this.gateway.store.completeIntents(
      (transaction) => this.gateway.transactionStatus(transaction),
      waitsFor,
    );
  }

  async #refreshOnce(): Promise<void> {
    // A database that is down must not keep everybody from writing.
    await this.#settleIntents(['in progress']);
    const current = this.snapshot().versions;
    if (!isBehind(current, await this.gateway.store.versions())) return;
    const stored = await this.gateway.store.load(this.snapshot());
    await this.#adopt(stored, { isFresh: stored.versions.catalog !== current.catalog });
  }

  async #noticed(versions: Versions): Promise<void> {
    const current = this.#snapshot;
    if (this.#isClosed || !current || !isBehind(current.versions, versions)) return;
    try {
      await this.refresh();
    } catch (error) {
      this.#report({ kind: 'watch interrupted', reason: reasonOf(error) });
    }
  }

  /** Stored document → published snapshot. `isFresh`: every source is asked again, not only those that changed. */
  async #adopt(stored: StoredDocument, options: { readonly isFresh?: boolean } = {}): Promise<void> {
    const known = options.isFresh ? undefined : this.#snapshot;
    const [catalogs, upstreams] = await Promise.all([
      this.#catalogsOf(stored, known),
      this.#upstreamsOf(stored, known),
    ]);
    const { model, inconsistencies } = this.gateway.resolve(stored.metadata, catalogs, upstreams);
    this.publish({
      id: stored.id,
      versions: stored.versions,
      resourceVersion: stored.versions.resource,
      metadata: stored.metadata,
      catalogStates: stored.catalogStates,
      catalogs,
      upstreams,
      model,
      inconsistencies,
    });
  }

  async #catalogsOf(stored: StoredDocument, known: Snapshot | undefined): Promise<Catalogs> {
    const before = new Map(known?.metadata.sources.map((source) => [source.name, source]));
    const entries = stored.metadata.sources.map(async (source): Promise<[string, SourceCatalog]> => {
      const catalog = known?.catalogs.get(source.name);
      const isKnown = catalog && isCovered(before.get(source.name), source, catalog);
      if (!isKnown || 'error' in catalog) return [source.name, await this.gateway.introspect(source)];
      const whole = this.gateway.complete(source, catalog).catch(() => this.gateway.introspect(source));
      return [source.name, await whole];
    });
    return new Map(await Promise.all(entries));
  }

  /** One that could not be asked is asked again. */
  async #upstreamsOf(stored: StoredDocument, known: Snapshot | undefined): Promise<Upstreams> {
    const before = new Map(known?.metadata.remote_schemas?.map((remote) => [remote.name, remote]));
    const remotes = stored.metadata.remote_schemas ?? [];
    const entries = remotes.map(async (remote): Promise<[string, Upstream]> => {
      const upstream = known?.upstreams.get(remote.name);
      const isKnown =
        upstream && !('error' in upstream) && isSameEndpoint(before.get(remote.name), remote.definition);
      if (isKnown) return [remote.name, upstream];
      return [remote.name, await this.gateway.introspectRemote(remote, stored.metadata)];
    });
    return new Map(await Promise.all(entries));
  }

  /** `--database-url` at the very first start: a source that says where its URL is found, so that the document holds no
   *  secret. Another replica may do it at the same time: one of them wins, which is as good. */
  async #writeDefaultSource(): Promise<void> {
    if (!this.#options.hasDatabaseUrl) return;
    const stored = await this.gateway.store.load();
    if (stored.metadata.sources.length > 0 || stored.versions.resource > 1) return;
    const source: Source = {
      name: 'default',
      kind: 'postgres',
      configuration: { connection_info: { database_url: { from_env: DATABASE_URL_VARIABLE } } },
      tables: [],
    };
    await this.gateway.store
      .save({ metadata: { ...stored.metadata, sources: [source] } }, stored.versions.resource)
      .catch((error: unknown) => {
        if (!(error instanceof EngineError) || error.kind !== 'conflict') throw error;
      });
  }
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Is `a` older than `b` in any counter? Counters only grow. */
function isBehind(a: Versions, b: Versions): boolean {
  return a.resource < b.resource || a.catalog < b.catalog || a.state < b.state;
}

/** Does the catalog still answer for the source: connected as before, and every table it tracks is known. A table that is
 *  not may be newer than the catalog. */
function isCovered(before: Source | undefined, after: Source, catalog: SourceCatalog): boolean {
  if ('error' in catalog || !before) return false;
  if (JSON.stringify(before.configuration) !== JSON.stringify(after.configuration)) return false;
  const kept = new Set(before.tables);
  return after.tables.every((table) => {
    if (kept.has(table)) return true;
    const key = qualifiedKey(table.table);
    return catalog.tables.has(key) || before.tables.some((known) => qualifiedKey(known.table) === key);
  });
}
