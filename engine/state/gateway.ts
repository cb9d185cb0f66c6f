/** The gateway of admin operations to everything outside the document: the store, the pools of sources, introspection of sources and
 *  remote schemas with its time limit, and `resolve` with the engine's options.
 *  Not here: changes of the document (unit-of-work.ts), the current snapshot (state.ts). */
import { setTimeout as sleep } from 'node:timers/promises';
import pg, { type ClientBase } from 'pg';
import { withEnumRows } from '../catalog/enum-rows.ts';
import { introspect } from '../catalog/introspect.ts';
import type { Catalog } from '../catalog/types.ts';
import { optionAddress } from '../database/connect.ts';
import type { DatabaseAddress } from '../database/connection-defaults.ts';
import { prepareNativeQueries } from '../database/native-query.ts';
import type { Database, PoolOptions } from '../database/pool.ts';
import { type OtherConnection, type SourceFailed, Sources, type SourceTimed } from '../database/sources.ts';
import { EngineError, thrownMessage } from '../errors/engine-error.ts';
import { isSameJsonText } from '../json/value.ts';
import { inOrder, inSlices } from '../limits/slices.ts';
import { foreignSources } from '../metadata/foreign-sources.ts';
import { normalMetadata } from '../metadata/normal-form.ts';
import { siblingReferences } from '../metadata/references.ts';
import type { Metadata } from '../metadata/schema/metadata.ts';
import type { RemoteSchema } from '../metadata/schema/remote-schema.ts';
import { type ConnectionInfo, type Source, unservedText } from '../metadata/schema/source.ts';
import type { Steps } from '../metadata/steps.ts';
import type { Activity } from '../observe/activity.ts';
import { isTrusted, type TrustsSelfSigned } from '../outgoing/tls-allowlist.ts';
import { findingBrokenQueries } from '../plan/stored-query.ts';
import { unreachable } from '../remote/http.ts';
import { introspectRemote } from '../remote/introspect.ts';
import { type ReferenceReader, VariableRules } from '../resolve/environment-variables.ts';
import { Inconsistencies, sourceSubject } from '../resolve/inconsistency.ts';
import { Memo } from '../resolve/memo.ts';
import type { Inconsistency, Unenforced, Unreached } from '../resolve/model/inconsistency.ts';
import { nativeQueriesOf, signatureOf } from '../resolve/native-query.ts';
import { endpointOf, type Upstream, type Upstreams } from '../resolve/remote-schema.ts';
import { type Resolution, type ResolveOptions, resolving } from '../resolve/resolve.ts';
import { unenforcedIn } from '../resolve/unenforced.ts';
import { type ForeignTransaction, statusOfTransaction, type TransactionStatus } from '../store/intents.ts';
import type { Store } from '../store/store.ts';
import type { ValueChanges } from '../store/values.ts';
import type { FieldUsage } from '../usage/field-usage.ts';
import type { NamedValues } from '../values/named-values.ts';
import type { ActionCalls } from '../webhook/async-action-types.ts';
import { outboundVariables } from '../webhook/outbound.ts';
import { Extensions } from './extensions.ts';
import { MigrationRuns } from './migration-runs.ts';
import { type Attempted, OtherConnections, type SilentConnection } from './other-connections.ts';
import { ANSWER_SECONDS } from './silent-database.ts';
import type { Catalogs, SourceCatalog } from './snapshot.ts';
import { type LateAnswer, TargetReadings } from './target-readings.ts';

type GatewayOptions = {
  readonly store: Store;
  readonly actionCalls: ActionCalls;
  readonly activity: Activity;
  readonly metadataDatabase: Database;
  readonly fieldUsage: FieldUsage;
  readonly metadataDatabaseUrl: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The named values of this replica. */
  readonly values: NamedValues;
  /** Loads named values that have changed, and publishes what follows from them. */
  readonly onValuesChanged: () => Promise<void>;
  /** Folders that database URLs may be read from. None by default. */
  readonly dynamicSecretsPath?: readonly string[] | undefined;
  readonly headerPrefix: string;
  readonly resolve: ResolveOptions;
  readonly countWithoutAggregations?: boolean | undefined;
  readonly pool?: PoolOptions | undefined;
  readonly defaultReplicas?: readonly ConnectionInfo[] | undefined;
  /** The schema of extensions in the metadata database, for a source there that names none. Default `public`. */
  readonly metadataExtensionsSchema?: string | undefined;
  readonly timed?: SourceTimed | undefined;
  readonly failed?: SourceFailed | undefined;
  /** A source that does not answer in this time counts as unreachable, so that the other sources need not wait longer for it.
   *  Default 20 s. */
  readonly introspectionTimeoutMs?: number | undefined;
  /** The most types, fields, arguments and values of a remote schema. */
  readonly mostRemoteDefinitions: number;
  /** True if native queries are validated with PREPARE. */
  readonly validatesNativeQueries: boolean;
  readonly onUnreachable: (source: string, reason: string) => void;
  /** Reads the catalog of a source again and publishes it. */
  readonly onMigrated: (source: Source) => Promise<void>;
  readonly onLate: LateAnswer;
};

const INTROSPECTION_TIMEOUT_MS = 20_000;
const STATUS_PAUSE_MS = 20;
/** A replica or member that does not answer in this time is unreachable. */
const OTHER_TIMEOUT_SECONDS = 10;

export class Gateway {
  readonly store: Store;
  /** The pools of published sources by name, and those of drafts. */
  readonly sources: Sources;
  readonly readings: TargetReadings;
  readonly others = new OtherConnections();
  readonly migrationRuns = new MigrationRuns();
  readonly extensions: Extensions;
  readonly #options: GatewayOptions;
  readonly #memo = new Memo();
  readonly #inOrder = inOrder();

  constructor(options: GatewayOptions) {
    this.#options = options;
    this.store = options.store;
    this.readings = new TargetReadings(options.onLate);
    const { env, pool, defaultReplicas, timed, failed } = options;
    const secrets = { env, folders: options.dynamicSecretsPath ?? [], references: options.values };
    this.sources = new Sources(secrets, pool, { timed, failed }, defaultReplicas);
    const { metadataExtensionsSchema = 'public' } = options;
    this.extensions = new Extensions({
      databaseOf: (source) => this.database(source),
      defaultSchemaOf: (source) => (this.isMetadataDatabase(source) ? metadataExtensionsSchema : 'public'),
    });
  }

  /** The calls of asynchronous actions. */
  get actionCalls(): ActionCalls {
    return this.#options.actionCalls;
  }

  get activity(): Activity {
    return this.#options.activity;
  }

  /** The database that holds the document and the scheduled events. */
  get metadataDatabase(): Database {
    return this.#options.metadataDatabase;
  }

  /** The usage of the schema by clients. */
  get fieldUsage(): FieldUsage {
    return this.#options.fieldUsage;
  }

  /** The named values, and the reader of what metadata refers to. */
  get values(): NamedValues {
    return this.#options.values;
  }

  get references(): ReferenceReader {
    return this.#options.values;
  }

  /** Changes stored named values and serves the new ones. Resolves when this replica uses them; others follow. */
  async changeValues(...change: Parameters<Store['changeValues']>): Promise<ValueChanges> {
    const changes = await this.store.changeValues(...change);
    await this.#options.onValuesChanged();
    return changes;
  }

  get env(): GatewayOptions['env'] {
    return this.#options.env;
  }

  /** Reads the catalog of a source again after migrations, and publishes it. */
  refreshCatalog(source: Source): Promise<void> {
    return this.#options.onMigrated(source);
  }

  /** Resolves a document, which may be as it was given. Documents are resolved one after the other, in slices. */
  resolve(document: Metadata, catalogs: Catalogs, upstreams: Upstreams): Promise<Resolution> {
    return this.#inOrder(() => this.#resolving(document, catalogs, upstreams));
  }

  *#resolving(document: Metadata, catalogs: Catalogs, upstreams: Upstreams): Steps<Resolution> {
    const metadata = normalMetadata(document);
    yield;
    const { model, inconsistencies } = yield* resolving(
      metadata,
      catalogs,
      this.#options.resolve,
      upstreams,
      this.#memo,
    );
    const connections = this.#brokenConnections(metadata.sources, catalogs);
    const queries = yield* findingBrokenQueries(metadata, model);
    const foreign = unservedSources(document);
    return { model, inconsistencies: [...foreign, ...inconsistencies, ...connections, ...queries] };
  }

  /** Returns an inconsistency for each source with a read replica or a member of its connection set that cannot be configured, or has not
   *  answered since it was added. The source is still served by its other connections. */
  #brokenConnections(sources: readonly Source[], catalogs: Catalogs): readonly Inconsistency[] {
    const [found, partly] = [new Inconsistencies(), new Inconsistencies()];
    for (const source of sources) {
      const catalog = catalogs.get(source.name);
      if (!catalog || 'error' in catalog) continue;
      const [fault] = this.sources.faultsOf(source);
      const [silent] = this.silentOthers(source);
      if (fault) found.add(sourceSubject(source.name), fault);
      else if (silent) {
        const { other, reason } = silent;
        partly.add(sourceSubject(source.name), new EngineError('sourceUnreachable', { reason }, other.path));
      }
    }
    return [...found.all, ...partly.all.map((one) => ({ ...one, isServed: true as const }))];
  }

  /** Returns the restrictions that the document declares and the engine does not enforce. */
  unenforced(metadata: Metadata): readonly Unenforced[] {
    return this.#memo.of(unenforcedIn, metadata, this.#options.resolve, this.#memo);
  }

  get countWithoutAggregations(): boolean {
    return this.#options.countWithoutAggregations ?? false;
  }

  get headerPrefix(): string {
    return this.#options.headerPrefix;
  }

  get enableRemoteSchemaPermissions(): boolean {
    return this.#options.resolve.enableRemoteSchemaPermissions !== false;
  }

  /** Introspects a remote schema of the document. Never throws: if the service fails, the result holds the error, and only this
   *  remote schema is affected. */
  async introspectRemote({ name, definition }: RemoteSchema, metadata: Metadata): Promise<Upstream> {
    const { env, values, headerPrefix, onUnreachable, mostRemoteDefinitions } = this.#options;
    const fault = new VariableRules(metadata, env, values).faultOf('remote_schema', { name, definition });
    const variables = outboundVariables(env, () => metadata, values);
    const outbound = { variables, headerPrefix, trusts: trustsOf(metadata) };
    const limits = { timeLimitMs: INTROSPECTION_TIMEOUT_MS, mostDefinitions: mostRemoteDefinitions };
    const upstream = fault ? { error: fault } : await introspectRemote(definition, outbound, limits);
    if ('error' in upstream) onUnreachable(`remote schema ${name}`, upstream.error.message);
    return upstream;
  }

  /** The pool of a source as `source` configures it, published or not. */
  database(source: Source): Database {
    return this.sources.database(source);
  }

  /** Returns the status of a transaction that a stopped engine began. Waits for a transaction in progress, which ends soon because its
   *  connection is closed. */
  async transactionStatus({ source, xid }: ForeignTransaction): Promise<TransactionStatus> {
    const until = performance.now() + INTROSPECTION_TIMEOUT_MS;
    try {
      while (performance.now() < until) {
        const status = await statusOfTransaction(this.database(source), xid);
        if (status !== 'in progress') return status ?? 'aborted';
        await sleep(STATUS_PAUSE_MS);
      }
      return 'in progress';
    } catch (error) {
      this.#options.onUnreachable(source.name, thrownMessage(error));
      return 'unreachable';
    }
  }

  /** Introspects a source, through `inside` if a transaction is open there. Without `inside` it never throws: an unreachable source has
   *  an error in place of its catalog, and the other sources are not affected. */
  async introspect(source: Source, inside?: ClientBase): Promise<SourceCatalog> {
    if (inside) return this.introspectInside(source, inside);
    try {
      return await this.sources.holding(source, (database) =>
        this.#inTime(async () => this.complete(source, await introspect(database, inSlices))),
      );
    } catch (error) {
      const reason = thrownMessage(error);
      this.#options.onUnreachable(source.name, reason);
      return { error: reason, ...faultOf(error) };
    }
  }

  /** Completes the catalog of a source; if that fails or takes too long, introspects the source. Never throws. */
  async completeOrIntrospect(source: Source, catalog: Catalog): Promise<SourceCatalog> {
    return this.#inTime(() => this.complete(source, catalog)).catch(() => this.introspect(source));
  }

  /** Returns what `work` returns. Throws when that takes longer than an introspection may. */
  async #inTime<T>(work: () => Promise<T>): Promise<T> {
    const { introspectionTimeoutMs = INTROSPECTION_TIMEOUT_MS } = this.#options;
    const done = new AbortController();
    try {
      return await Promise.race([work(), timeout(introspectionTimeoutMs, done.signal)]);
    } finally {
      done.abort();
    }
  }

  /** Runs an empty statement on the source. The result holds an error if there is no answer; any other failure is left to what follows. */
  async reach(source: Source): Promise<Attempted> {
    try {
      await this.#inTime(() => this.database(source).query('select 1'));
      return {};
    } catch (error) {
      return error instanceof NoAnswer ? { error: error.message } : {};
    }
  }

  /** Returns false when the database of the source does not answer on a new connection. A refusal is an answer. */
  async answers(source: Source): Promise<boolean> {
    try {
      await this.sources.probe(source, ANSWER_SECONDS);
      return true;
    } catch (error) {
      return error instanceof pg.DatabaseError;
    }
  }

  /** Connects to a read replica or a member of a connection set. Never throws. */
  tryOther(other: OtherConnection): Promise<Attempted> {
    return this.sources.tryOther(other, OTHER_TIMEOUT_SECONDS);
  }

  /** Returns the replicas and members of the source that have not answered since they were added. */
  silentOthers(source: Source): readonly SilentConnection[] {
    return this.others.silentAmong(() => this.sources.othersOf(source));
  }

  /** Introspects the source inside an open transaction. */
  async introspectInside(source: Source, inside: ClientBase): Promise<Catalog> {
    return this.complete(source, await introspect(inside, inSlices), inside);
  }

  /** Adds to the catalog what the source's metadata needs besides: rows of its enum tables, and whether its native queries are valid.
   *  Skips what the catalog already has. Throws if the connection is lost. */
  async complete(source: Source, catalog: Catalog, inside?: ClientBase): Promise<Catalog> {
    const withRows = await withEnumRows(inside ?? this.database(source), catalog, source);
    return this.#prepareQueries(source, withRows, inside);
  }

  async #prepareQueries(source: Source, catalog: Catalog, inside: ClientBase | undefined): Promise<Catalog> {
    if (!this.#options.validatesNativeQueries) return catalog;
    const unknown = nativeQueriesOf(source, catalog, this.#options.resolve).filter(
      (rows) => !catalog.preparedQueries.has(signatureOf(rows)),
    );
    if (unknown.length === 0) return catalog;
    const prepared = inside
      ? await prepareNativeQueries(inside, unknown)
      : await this.database(source).transaction({ readOnly: true }, (client) =>
          prepareNativeQueries(client, unknown),
        );
    return { ...catalog, preparedQueries: new Map([...catalog.preparedQueries, ...prepared]) };
  }

  /** True when the source is the metadata database itself, as the same user. One transaction can then write both. */
  isMetadataDatabase(source: Source): boolean {
    return (
      databaseKey(this.sources.address(source)) ===
      databaseKey(optionAddress(this.#options.metadataDatabaseUrl))
    );
  }
}

/** Returns the document's rule for TLS certificates that are trusted without verification. */
export function trustsOf({ network }: Metadata): TrustsSelfSigned {
  return (url) => isTrusted(network?.tls_allowlist ?? [], url);
}

/** Returns the error as a fault of the configuration if retrying cannot fix it; otherwise the value that it lacks. */
function faultOf(error: unknown): Partial<Pick<Unreached, 'fault' | 'lacks'>> {
  if (!(error instanceof EngineError)) return {};
  if (error.kind !== 'tlsUnusable' && error.kind !== 'invalidConfiguration')
    return { lacks: error.hints.lacks };
  return { fault: error.at('connection_info').at('configuration') };
}

async function timeout(ms: number, signal: AbortSignal): Promise<never> {
  await sleep(ms, undefined, { signal });
  throw new NoAnswer(`no answer in ${ms / 1000} s`);
}

/** Thrown when a database does not answer in time. */
class NoAnswer extends Error {}

/** Returns a key that is equal for two addresses of the same database and user, whatever their other parameters. */
function databaseKey({ target: { hosts, user, database } }: DatabaseAddress): string {
  return JSON.stringify([hosts.map(({ host, port }) => [host, port ?? 5432]), user, database]);
}

/** Returns a key that changes with the name or the configuration of the source. */
export function keyOfSource({ name, configuration }: Source): string {
  return `source ${name}\n${JSON.stringify(configuration)}`;
}

/** Returns a key that changes with the name or the definition of the remote schema. */
export function keyOfRemote({ name, definition }: RemoteSchema): string {
  return `remote schema ${name}\n${JSON.stringify(definition)}`;
}

/** Returns what stands for the catalog of a source until a reading is answered: that of its earlier connection, if there is one, so that
 *  its tables are served as soon as the database answers. */
export function withoutAnswer(known: SourceCatalog | undefined, awaits: object): SourceCatalog {
  if (!known || 'error' in known) return { error: NO_ANSWER, awaits };
  return { ...known, lost: NO_ANSWER, awaits };
}

/** Returns what stands for the introspection of a service until a reading is answered: the earlier one, if there is one. */
export function remoteWithoutAnswer(
  { definition }: RemoteSchema,
  known: Upstream | undefined,
  awaits: object,
): Upstream {
  const late = unreachable(endpointOf(definition), NO_ANSWER);
  return !known || 'error' in known ? { error: late, awaits } : { ...known, late, awaits };
}

export const NO_ANSWER = 'there is no answer yet';

/** True when the remote schema is requested as before, so that its earlier answer is still valid. */
export function isSameEndpoint(before: RemoteSchema | undefined, after: RemoteSchema['definition']): boolean {
  const endpoint = (definition: RemoteSchema['definition']) => [
    definition.url ?? null,
    siblingReferences(definition, 'url'),
    definition.headers ?? [],
  ];
  return before !== undefined && isSameJsonText(endpoint(before.definition), endpoint(after));
}

/** True when the source is connected to as before, so that its catalog is still valid. */
export function isSameConnection(before: Source | undefined, after: Source): boolean {
  return before !== undefined && isSameJsonText(before.configuration, after.configuration);
}

/** Returns an inconsistency for each source of a kind that the engine cannot serve. */
function unservedSources(document: Metadata): readonly Inconsistency[] {
  const found = new Inconsistencies();
  for (const { name, kind } of foreignSources(document)) {
    found.add(sourceSubject(name), new EngineError('notSupported', { text: unservedText(kind) }));
  }
  return found.all;
}
