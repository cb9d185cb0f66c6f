/** The mutable state of the engine: the current Snapshot. `start` publishes the first one, admin requests publish the next ones, and so
 *  does the store's watch when another replica has written. A request keeps the snapshot it took, so it ends on the document it began
 *  with. Not here: changes of the document (admin/run.ts, unit-of-work.ts), rows in the metadata database (store/), pools of sources
 *  (gateway.ts). */
import { setTimeout as sleep } from 'node:timers/promises';
import { variableOf } from '../config/options.ts';
import { type Database, openDatabase, type PoolOptions } from '../database/pool.ts';
import type { OtherConnection, Sources, SourceTimed } from '../database/sources.ts';
import { EngineError, thrownMessage } from '../errors/engine-error.ts';
import { replacePlanCache } from '../execute/plan-cache.ts';
import { ended } from '../limits/grace.ts';
import { FILE_AGE_MS } from '../metadata/references.ts';
import type { ConnectionInfo, Source } from '../metadata/schema/source.ts';
import { Activity } from '../observe/activity.ts';
import type { TrustsSelfSigned } from '../outgoing/tls-allowlist.ts';
import type { Model } from '../resolve/model/model.ts';
import type { ResolveOptions } from '../resolve/model/options.ts';
import { SESSION_PREFIX } from '../resolve/session.ts';
import { actionCalls } from '../store/action-calls.ts';
import { nameOfDatabase, retryUntilReachable } from '../store/connect.ts';
import type { Authorship, StoredDocument, Versions } from '../store/document.ts';
import type { TransactionStatus } from '../store/intents.ts';
import { Store } from '../store/store.ts';
import { type MetadataWatch, watchMetadata } from '../store/watch.ts';
import { FieldUsage, type UsageEvent } from '../usage/field-usage.ts';
import { NamedValues } from '../values/named-values.ts';
import type { ValueKey } from '../values/seal.ts';
import { type OutboundVariables, outboundVariables } from '../webhook/outbound.ts';
import type { MissingExtension } from './extensions.ts';
import { Gateway, trustsOf } from './gateway.ts';
import { missingTargets } from './missing-targets.ts';
import { readSnapshot } from './read-snapshot.ts';
import { refreshCatalog } from './refresh-catalog.ts';
import type { Catalogs, Snapshot } from './snapshot.ts';
import { SourceWatch, type Watched } from './source-watch.ts';
import { type Arrival, takeIn } from './take-in.ts';
import { TargetRecovery } from './target-recovery.ts';
import { TargetsPending, TargetWaits } from './target-waits.ts';

/** A pause before compaction, in which the answer is sent. */
const COMPACTION_PAUSE_MS = 100;

/** The maximum number of documents that are loaded before one is published, while other engines write. */
const MOST_LOADS = 5;

/** How long targets that do not answer are waited for: at start, when nothing is served yet, and when another document is published. */
const START_PATIENCE_MS = 2000;
const PATIENCE_MS = 500;

/** The maximum number of objects that a log line names. */
const MOST_REPORTED = 20;

export type EngineStateOptions = ResolveOptions & {
  readonly metadataDatabaseUrl: string;
  /** The values of `{from_env}`: the process's environment, with `ENGINE_GRAPHQL_DATABASE_URL` set to the value of `--database-url`
   *  if that was given. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** True if `--database-url` was given. An empty document then gets a source `default` that reads it from `env`. */
  readonly hasDatabaseUrl: boolean;
  /** The folders that database URLs may be read from. Default none. */
  readonly dynamicSecretsPath?: readonly string[];
  /** Returns the keys of the named values: the first encrypts, all decrypt. Default none. */
  readonly valueKeys?: () => readonly ValueKey[];
  /** The prefix of the engine's headers on the wire. */
  readonly headerPrefix?: string;
  /** The option --count-without-aggregations. Default false. */
  readonly countWithoutAggregations?: boolean;
  /** True if native queries are validated with PREPARE. Default true. */
  readonly validatesNativeQueries?: boolean;
  /** The most types, fields, arguments and values of a remote schema. Default: no limit. */
  readonly mostRemoteDefinitions?: number;
  /** The number of revisions that are kept. Default 50. */
  readonly metadataRevisions?: number;
  /** The number of days for which the usage of the schema is kept; 0, the default, counts nothing. */
  readonly fieldUsageDays?: number;
  /** The interval at which it is written. Default 30 000. */
  readonly usageIntervalMs?: number;
  /** The interval of polling for other replicas' changes besides LISTEN; 0 disables polling. Default 1000. */
  readonly pollIntervalMs?: number;
  /** The interval of checks of the sources' databases; 0 disables all checks. Default 10 000. */
  readonly sourceCheckIntervalMs?: number;
  /** The time that an unreachable metadata database is waited for at start. Default 60 000. */
  readonly startTimeoutMs?: number;
  /** The time after which a source that does not answer counts as unreachable. Default 20 s. */
  readonly introspectionTimeoutMs?: number;
  /** The settings of connections to sources that have none of their own. */
  readonly pool?: PoolOptions;
  /** The read replicas of the database of --database-url, from options. Default none. */
  readonly defaultReplicas?: readonly ConnectionInfo[];
  /** The option --metadata-database-extensions-schema. Default `public`. */
  readonly metadataExtensionsSchema?: string;
  /** The option --enable-maintenance-mode: the document cannot be changed. Default false. */
  readonly isReadOnly?: boolean;
  readonly report?: (event: StateEvent) => void;
  /** Receives the times of statements; absent if nothing measures them. */
  readonly timed?: SourceTimed | undefined;
  /** The activity of this replica. Absent: nothing is counted. */
  readonly activity?: Activity | undefined;
};

/** Everything the state reports, for logs and metrics. */
export type StateEvent =
  | { readonly kind: 'metadata database unreachable'; readonly attempt: number; readonly reason: string }
  | { readonly kind: 'migrated'; readonly versions: readonly number[] }
  | { readonly kind: 'source unreachable'; readonly source: string; readonly reason: string }
  /** Reported after the source was reported as unreachable. */
  | { readonly kind: 'source reachable'; readonly source: string }
  /** Reported when another client changed a tracked table or function. */
  | { readonly kind: 'source changed'; readonly source: string }
  /** Reported once for each connection. The source is served without the extension. */
  | ({ readonly kind: 'extension missing'; readonly extension: string } & MissingExtension)
  | {
      readonly kind: 'published';
      readonly resourceVersion: number;
      readonly inconsistencies: number;
    }
  /** Restrictions that the document declares and the engine does not enforce, the first ones as sentences. */
  | {
      readonly kind: 'restrictions not enforced';
      readonly count: number;
      readonly objects: readonly string[];
    }
  /** Named values that cannot be decrypted; the reason is that of the first one. */
  | { readonly kind: 'named values unusable'; readonly count: number; readonly reason: string }
  | { readonly kind: 'watch interrupted'; readonly reason: string }
  /** Reported when compaction failed. Changes accumulate until one succeeds. */
  | { readonly kind: 'document not gathered'; readonly reason: string }
  | UsageEvent
  /** Keys of objects that a custom resource manages and another client than the operator changed. */
  | { readonly kind: 'managed objects changed'; readonly by: Authorship; readonly keys: readonly string[] };

export class EngineState {
  readonly #options: EngineStateOptions;
  readonly #database: Database;
  readonly gateway: Gateway;
  /** The named values that this replica has loaded. */
  readonly values: NamedValues;
  /** The usage of the schema by clients of this replica. */
  readonly fieldUsage: FieldUsage;
  readonly #report: (event: StateEvent) => void;
  #snapshot: Snapshot | undefined;
  #watch: MetadataWatch | undefined;
  #fileWatch: NodeJS.Timeout | undefined;
  /** The end of the queue of requests that may change the document. */
  #lastTurn: Promise<unknown> = Promise.resolve();
  /** The end of the queue of marks of sources as lost or found. */
  #lastMark: Promise<void> = Promise.resolve();
  /** The number of requests in that queue. */
  #turns = 0;
  #refreshing: Promise<void> | undefined;
  #compacting: Promise<void> | undefined;
  #isClosed = false;
  readonly #sourceWatch: SourceWatch;
  /** The names of sources whose catalog is being read again. */
  readonly #catalogsInProgress = new Map<string, Promise<void>>();
  readonly #recovery = new TargetRecovery(() =>
    missingTargets(this.snapshot(), this.gateway, {
      takeIn: (arrival) => this.#takeIn(arrival),
      publishAgain: () => this.#publishCatalogs((catalogs) => catalogs),
    }),
  );

  constructor(options: EngineStateOptions) {
    this.#options = options;
    this.#report = options.report ?? (() => {});
    this.#database = openDatabase(options.metadataDatabaseUrl, { maxConnections: 4, poolTimeoutSeconds: 10 });
    const { env, dynamicSecretsPath = [] } = options;
    this.values = new NamedValues(options.valueKeys ?? (() => []), dynamicSecretsPath);
    this.outboundVariables = outboundVariables(env, () => this.snapshot().metadata, this.values);
    this.fieldUsage = new FieldUsage({
      database: this.#database,
      keptDays: options.fieldUsageDays ?? 0,
      intervalMs: options.usageIntervalMs,
      report: this.#report,
    });
    this.gateway = new Gateway({
      store: new Store(this.#database, options.metadataRevisions),
      actionCalls: actionCalls(this.#database),
      activity: options.activity ?? new Activity(null),
      metadataDatabase: this.#database,
      fieldUsage: this.fieldUsage,
      metadataDatabaseUrl: options.metadataDatabaseUrl,
      env,
      dynamicSecretsPath,
      headerPrefix: options.headerPrefix ?? SESSION_PREFIX,
      resolve: { ...options, references: this.values },
      values: this.values,
      onValuesChanged: () => this.refresh(),
      countWithoutAggregations: options.countWithoutAggregations,
      pool: options.pool,
      defaultReplicas: options.defaultReplicas,
      metadataExtensionsSchema: options.metadataExtensionsSchema,
      timed: options.timed,
      failed: (source, failure) => this.#sourceWatch.suspect(source, failure),
      introspectionTimeoutMs: options.introspectionTimeoutMs,
      validatesNativeQueries: options.validatesNativeQueries ?? true,
      mostRemoteDefinitions: options.mostRemoteDefinitions ?? Number.POSITIVE_INFINITY,
      onUnreachable: (source, reason) => this.#report({ kind: 'source unreachable', source, reason }),
      onMigrated: (source) => this.#followMigration(source),
      onLate: (key, answer, seen) => void this.#takeIn({ key, answer: answer as Arrival['answer'], seen }),
    });
    this.#sourceWatch = new SourceWatch({
      intervalMs: options.sourceCheckIntervalMs ?? 10_000,
      watched: () => this.#reached(),
      databaseOf: (source) => this.gateway.database(source),
      probe: (source, timeoutSeconds) => this.gateway.sources.probe(source, timeoutSeconds),
      onLost: (source, reason) => this.#setLostInOrder(source, reason),
      onBack: (source) => this.#setLostInOrder(source, undefined),
      onChanged: (source) => this.#refreshCatalog(source),
      onRoundDone: () => this.#recoverOnce(),
    });
  }

  /** Returns the current snapshot. A request takes it once. Throws before `start` has completed. */
  snapshot(): Snapshot {
    if (!this.#snapshot) throw new Error('the engine has not started');
    return this.#snapshot;
  }

  /** The environment variables that external services may receive, as the current document allows. */
  readonly outboundVariables: OutboundVariables;

  /** The hosts whose certificates are trusted by the current document. A removed host is not trusted any more, not even by requests in
   *  progress. */
  readonly trusts: TrustsSelfSigned = (url) => trustsOf(this.snapshot().metadata)(url);

  /** The pools of the published sources, by name. */
  get sources(): Sources {
    return this.gateway.sources;
  }

  /** Migrates the metadata database, loads the document, introspects, publishes and starts watching. Throws if the metadata database
   *  stays unreachable. A source that is unreachable or slow only makes its own objects inconsistent, until it answers. */
  async start(): Promise<void> {
    const { metadataDatabaseUrl: url, startTimeoutMs = 60_000, pollIntervalMs = 1000 } = this.#options;
    const versions = await retryUntilReachable(() => this.gateway.store.migrate(), {
      name: nameOfDatabase(url),
      timeoutMs: startTimeoutMs,
      onAttemptFailed: (attempt, reason) =>
        this.#report({ kind: 'metadata database unreachable', attempt, reason }),
    });
    if (versions.length > 0) this.#report({ kind: 'migrated', versions });
    this.fieldUsage.start();
    await this.#completeIntents(['in progress', 'unreachable']);
    await this.#writeDefaultSource();
    await this.#loadValues();
    await this.#adopt(await this.gateway.store.load(), { patienceMs: START_PATIENCE_MS });
    this.#watch = await watchMetadata({
      url,
      store: this.gateway.store,
      pollIntervalMs,
      onChange: (versions) => void this.#followReplica(versions),
      onInterruption: (reason) => this.#report({ kind: 'watch interrupted', reason }),
    });
    this.#sourceWatch.start();
    this.#fileWatch = setInterval(() => this.#retryFiles(), FILE_AGE_MS).unref();
  }

  /** True in maintenance mode: operations may not change the document. */
  get isReadOnly(): boolean {
    return this.#options.isReadOnly ?? false;
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

  /** Runs callers that read the current document in order to write the next one, one after the other in the order of the calls. */
  exclusively<T>(body: () => Promise<T>): Promise<T> {
    this.#turns++;
    const turn = this.#lastTurn.then(body, body).finally(() => this.#turns--);
    this.#lastTurn = turn.catch(() => {});
    return turn;
  }

  /** Runs a caller in turns of `exclusively`: again in another one when it has to wait for a database or a remote schema, which nobody else
   *  waits for. */
  async inTurns<T>(waits: TargetWaits, body: () => Promise<T>): Promise<T> {
    for (;;) {
      try {
        return await this.exclusively(() => {
          waits.beginTurn();
          return body();
        });
      } catch (error) {
        if (!(error instanceof TargetsPending)) throw error;
      }
      await waits.ended();
    }
  }

  /** Makes the snapshot the current one, unless the current one is later. */
  publish(next: Snapshot): void {
    const current = this.#snapshot;
    if (current && isBehind(next.versions, current.versions)) return;
    this.gateway.sources.publish(next.metadata.sources);
    const others = next.metadata.sources.flatMap((each) => this.sources.othersOf(each));
    this.gateway.others.keepOnly(others);
    void this.#tryOthers(this.gateway.others.takeUntried(others));
    for (const source of readAgain(current, next)) this.gateway.sources.retire(source);
    this.#snapshot = next;
    this.#recovery.schedule();
    if (this.gateway.store.needsCompaction) this.#compacting ??= this.#compact();
    if (current?.model === next.model) return;
    replacePlanCache(current?.model, next.model);
    this.#report({
      kind: 'published',
      resourceVersion: next.resourceVersion,
      inconsistencies: next.inconsistencies.length,
    });
    this.#reportUnenforced(current, next);
  }

  /** Connects to replicas and members of connection sets that this engine has not tried, because it has started since they were added, or
   *  another engine added them. Publishes that some do not answer. Never rejects. */
  async #tryOthers(others: readonly OtherConnection[]): Promise<void> {
    const answers = await Promise.all(
      others.map(async (other) => ({ other, attempted: await this.gateway.tryOther(other) })),
    );
    const silent = answers.filter(({ attempted }) => attempted.error !== undefined);
    if (silent.length === 0 || this.#isClosed) return;
    for (const { other, attempted } of silent) this.gateway.others.note(other, attempted);
    await this.#publishCatalogs((catalogs) => catalogs).catch(() => false);
  }

  #reportUnenforced(current: Snapshot | undefined, next: Snapshot): void {
    const known = new Set(current && this.gateway.unenforced(current.metadata).map(({ key }) => key));
    const added = this.gateway.unenforced(next.metadata).filter(({ key }) => !known.has(key));
    if (added.length === 0) return;
    const objects = added.slice(0, MOST_REPORTED).map(({ name, reason }) => `${name}: ${reason}`);
    this.#report({ kind: 'restrictions not enforced', count: added.length, objects });
  }

  /** Creates the extension pgcrypto in the databases of sources that were connected since the last call, unless in maintenance mode.
   *  Reports and returns the sources in which that failed. Never rejects. */
  async createExtensions(): Promise<readonly MissingExtension[]> {
    if (this.isReadOnly || this.#isClosed) return [];
    const { metadata, catalogs } = this.snapshot();
    const missing = await this.gateway.extensions.create(metadata.sources, catalogs);
    for (const each of missing) this.#report({ kind: 'extension missing', extension: 'pgcrypto', ...each });
    return missing;
  }

  /** Reports an event to logs and metrics. */
  report(event: StateEvent): void {
    this.#report(event);
  }

  /** Closes pools that only a refused draft used. */
  dropUnpublished(): void {
    this.gateway.sources.publish(this.snapshot().metadata.sources);
  }

  /** Publishes what other replicas have written by now. */
  async refresh(): Promise<void> {
    // Two callers may share a load only if it began after both called, so a later caller waits for the next load.
    const running = this.#refreshing;
    const next = (running ?? Promise.resolve()).then(() => this.#refreshOnce());
    this.#refreshing = next.catch(() => {});
    await next;
  }

  /** Waits for work in progress. At `cut` every connection to a database is closed. */
  async close(cut: AbortSignal): Promise<void> {
    this.gateway.activity.close();
    this.#isClosed = true;
    clearInterval(this.#fileWatch);
    this.#recovery.close();
    this.#sourceWatch.close();
    await ended([this.#watch?.close()], cut);
    await ended([this.#lastTurn, this.#refreshing, this.#compacting], cut);
    await this.fieldUsage.close(cut);
    await this.gateway.sources.close(cut);
    await this.#database.close(cut);
    replacePlanCache(this.#snapshot?.model, undefined);
  }

  /** Publishes the answer of a database or remote schema that was not there before. Never rejects. */
  async #takeIn(arrival: Arrival): Promise<void> {
    const waits = new TargetWaits();
    const turn = this.inTurns(waits, async () => {
      if (this.#isClosed) return;
      const next = await takeIn(this.snapshot(), this.gateway, arrival, waits);
      if (!next) return;
      this.publish(next);
      await this.createExtensions();
    });
    await turn.catch((error: unknown) => {
      const source = arrival.key.split('\n')[0]!.replace(/^source /, '');
      this.#report({ kind: 'source unreachable', source, reason: thrownMessage(error) });
    });
  }

  /** Returns the sources with a catalog. */
  #reached(): readonly Watched[] {
    const { metadata, catalogs } = this.snapshot();
    return metadata.sources.flatMap((source) => {
      const catalog = catalogs.get(source.name);
      return catalog && !('error' in catalog) ? [{ source, catalog }] : [];
    });
  }

  #setLostInOrder(source: Source, reason: string | undefined): void {
    this.#lastMark = this.#lastMark.then(() => (this.#isClosed ? undefined : this.#setLost(source, reason)));
  }

  /** Marks the source as inconsistent, or removes the mark. Its tables are kept: requests fail until the database answers again, and need
   *  no new plan then. A concurrent write may publish the previous state, which the next check corrects. */
  async #setLost(source: Source, reason: string | undefined): Promise<void> {
    const { name } = source;
    const isMarked = await this.#publishCatalogs((catalogs) => {
      const catalog = catalogs.get(name);
      if (!catalog || 'error' in catalog || (catalog.lost === undefined) === (reason === undefined)) return;
      return new Map(catalogs).set(name, { ...catalog, lost: reason });
    });
    if (!isMarked) return;
    this.#report(
      reason === undefined
        ? { kind: 'source reachable', source: name }
        : { kind: 'source unreachable', source: name, reason },
    );
  }

  /** Publishes marks of catalogs, which change inconsistencies and not the model. Returns false when `change` returns nothing. */
  async #publishCatalogs(change: (catalogs: Catalogs) => Catalogs | undefined): Promise<boolean> {
    for (;;) {
      if (this.#isClosed) return false;
      const current = this.snapshot();
      const catalogs = change(current.catalogs);
      if (!catalogs) return false;
      const { inconsistencies } = await this.gateway.resolve(current.document, catalogs, current.upstreams);
      // What was published meanwhile must not be taken back.
      if (this.#snapshot !== current) continue;
      this.publish({ ...current, catalogs, inconsistencies });
      return true;
    }
  }

  /** Returns the model under which a request that failed may succeed: the database of its source is no longer as in `before`. Null when there
   *  is none. */
  readonly modelAfter = async (failure: unknown, before: Model): Promise<Model | null> => {
    const source = failure instanceof EngineError ? failure.hints.outdatedSource : undefined;
    if (source === undefined) return null;
    if (this.snapshot().model === before) await this.#sourceWatch.checkForFailed(source);
    const { model } = this.snapshot();
    return model === before ? null : model;
  };

  /** Reads the catalog of the source again and publishes it. Never rejects. Callers share a reading that is in progress. */
  #refreshCatalog(source: Source): Promise<void> {
    const { name } = source;
    const reading = this.#catalogsInProgress.get(name) ?? this.#readCatalog(source);
    this.#catalogsInProgress.set(name, reading);
    return reading;
  }

  /** Reads the catalog that a migration has left, not one that was read meanwhile, and notifies the other replicas. Never rejects. */
  async #followMigration(source: Source): Promise<void> {
    await this.#catalogsInProgress.get(source.name);
    await this.#readCatalog(source, { hasMigrated: true });
  }

  async #readCatalog({ name }: Source, { hasMigrated = false } = {}): Promise<void> {
    const waits = new TargetWaits();
    const turn = this.inTurns(waits, async () => {
      if (this.#isClosed) return;
      let before = this.snapshot();
      let next = await refreshCatalog(before, this.gateway, name, { hasMigrated, waits });
      if (!next && hasMigrated) {
        // Another engine has written the document.
        await this.refresh();
        before = this.snapshot();
        next = await refreshCatalog(before, this.gateway, name, { hasMigrated, waits });
      }
      if (!next) return;
      this.publish(next);
      if (next.model !== before.model) this.#report({ kind: 'source changed', source: name });
    });
    await turn
      .catch((error: unknown) => {
        this.#report({ kind: 'source unreachable', source: name, reason: thrownMessage(error) });
      })
      .finally(() => this.#catalogsInProgress.delete(name));
  }

  async #recoverOnce(): Promise<void> {
    await this.#retryValues().catch(() => {});
    if (this.#isClosed) return;
    const late = sleep(PATIENCE_MS, undefined, { ref: false });
    await Promise.race([this.#recovery.now(), late]);
  }

  /** Compacts the stored document after the last change has been answered. */
  async #compact(): Promise<void> {
    try {
      await sleep(COMPACTION_PAUSE_MS);
      if (!this.#isClosed) await this.gateway.store.compact(this.snapshot());
    } catch (error) {
      this.#report({ kind: 'document not gathered', reason: thrownMessage(error) });
    } finally {
      this.#compacting = undefined;
    }
  }

  /** Completes the intents of engines that stopped during a write. */
  #completeIntents(waitsFor: readonly TransactionStatus[]): Promise<void> {
    return this.gateway.store.completeIntents(
      (transaction) => this.gateway.transactionStatus(transaction),
      waitsFor,
    );
  }

  async #refreshOnce(): Promise<void> {
    // An unreachable database must not block writes.
    await this.#completeIntents(['in progress']);
    const current = this.snapshot().versions;
    const latest = await this.gateway.store.versions();
    const changed = latest.values > this.values.version ? await this.#loadValues() : NO_REFERENCES;
    if (changed.size === 0 && !isBehind(current, latest)) return;
    const stored = await this.gateway.store.load(this.snapshot());
    await this.#adopt(stored, { changed });
    // A request that is changing the document has resolved it with the previous values, and publishes that.
    if (changed.size > 0 && this.#turns > 0) void this.#adoptAgain(changed);
  }

  async #followReplica(versions: Versions): Promise<void> {
    const current = this.#snapshot;
    const isCurrent =
      current && !isBehind(current.versions, versions) && versions.values <= this.values.version;
    if (this.#isClosed || !current || isCurrent) return;
    try {
      await this.refresh();
    } catch (error) {
      this.#report({ kind: 'watch interrupted', reason: thrownMessage(error) });
    }
  }

  /** Loads the named values again while a key is missing: the file of keys may have it by now. */
  async #retryValues(): Promise<void> {
    if (this.#isClosed || this.values.counts().key_missing === 0) return;
    const changed = await this.#loadValues();
    if (changed.size > 0) await this.#adoptAgain(changed);
  }

  /** Publishes the document again when a file that could not be read can be read. */
  #retryFiles(): void {
    const changed = this.values.retryFiles();
    if (changed.size > 0) void this.#adoptAgain(changed);
  }

  async #adoptAgain(changed: ReadonlySet<string>): Promise<void> {
    try {
      await this.exclusively(async () => {
        if (!this.#isClosed) await this.#adopt(await this.gateway.store.load(this.snapshot()), { changed });
      });
    } catch (error) {
      this.#report({ kind: 'watch interrupted', reason: thrownMessage(error) });
    }
  }

  /** Loads the stored named values. Returns the references whose text may have changed. */
  async #loadValues(): Promise<ReadonlySet<string>> {
    const { version, rows } = await this.gateway.store.values();
    const changed = this.values.load(version, rows);
    const unusable = this.values.list().filter(({ status }) => status !== 'usable');
    const [first] = unusable;
    if (first && changed.size > 0) {
      const reason = this.values.problemOf(`value:${first.name}`) ?? '';
      this.#report({ kind: 'named values unusable', count: unusable.length, reason });
    }
    return changed;
  }

  /** Publishes a stored document. Every source is introspected again if `isFresh`, or if another engine has changed a database since
   *  the current snapshot; otherwise only those that changed, or whose address or credentials did. */
  async #adopt(stored: StoredDocument, options: AdoptOptions = {}): Promise<void> {
    const current = this.#snapshot;
    const isFresh = options.isFresh || current?.versions.catalog !== stored.versions.catalog;
    const changed = options.changed ?? NO_REFERENCES;
    const { attempt = 1, patienceMs = PATIENCE_MS } = options;
    const next = await readSnapshot(stored, this.gateway, { current, isFresh, changed, patienceMs });
    if (
      current &&
      next.inconsistencies.length > current.inconsistencies.length &&
      attempt < MOST_LOADS &&
      isBehind(stored.versions, await this.gateway.store.versions())
    ) {
      // A database may have changed again while it was read, and the next document fits it.
      const later = await this.gateway.store.load(stored);
      return this.#adopt(later, { ...options, attempt: attempt + 1 });
    }
    this.publish(next);
    await this.createExtensions();
  }

  /** At the very first start with `--database-url`, writes a source that names the variable of its URL, so that the document holds no
   *  secret. If another replica does the same at the same time, either write is correct. */
  async #writeDefaultSource(): Promise<void> {
    if (!this.#options.hasDatabaseUrl) return;
    const stored = await this.gateway.store.load();
    if (stored.document.sources.length > 0 || stored.versions.resource > 1) return;
    const source: Source = {
      name: 'default',
      kind: 'postgres',
      configuration: { connection_info: { database_url: { from_env: variableOf('database-url') } } },
      tables: [],
    };
    await this.gateway.store
      .save({ metadata: { ...stored.document, sources: [source] } }, stored.versions.resource)
      .catch((error: unknown) => {
        if (!(error instanceof EngineError) || error.kind !== 'conflict') throw error;
      });
  }
}

type AdoptOptions = {
  readonly isFresh?: boolean;
  /** The number of documents that were loaded for this publication. */
  readonly attempt?: number;
  /** References whose text may have changed. */
  readonly changed?: ReadonlySet<string>;
  /** How long targets are waited for that do not answer. */
  readonly patienceMs?: number;
};

/** Returns the sources whose database was read again, because its schema has changed or may have. */
function readAgain(current: Snapshot | undefined, { metadata, catalogs }: Snapshot): readonly Source[] {
  return metadata.sources.filter(({ name }) => {
    const before = current?.catalogs.get(name);
    const after = catalogs.get(name);
    if (!before || !after || before === after || 'error' in after) return false;
    return 'error' in before || before.fingerprints !== after.fingerprints;
  });
}

const NO_REFERENCES: ReadonlySet<string> = new Set();

/** True when `a` is older than `b` in any counter of the document. Counters only grow. */
function isBehind(a: Versions, b: Versions): boolean {
  return a.resource < b.resource || a.catalog < b.catalog || a.state < b.state;
}
