/** What units of work and the state stand on: the store, the pools of sources, and how long a source may take to answer.
 *  Not here: who changes what (work.ts), the current snapshot (state.ts). */

import { setTimeout as sleep } from 'node:timers/promises';
import { withEnumRows } from '../catalog/enum-rows.ts';
import { type Introspectable, introspect } from '../catalog/introspect.ts';
import type { Catalog } from '../catalog/types.ts';
import { type DatabaseAddress, optionAddress } from '../database/connect.ts';
import { prepareNativeQueries } from '../database/native-query.ts';
import type { Database } from '../database/pool.ts';
import { type SourceFailed, Sources, type SourceTimed } from '../database/sources.ts';
import { EngineError } from '../errors/engine-error.ts';
import type { Metadata } from '../metadata/schema/metadata.ts';
import type { RemoteSchema } from '../metadata/schema/remote-schema.ts';
import type { Source } from '../metadata/schema/source.ts';
import { isTrusted, type TrustsSelfSigned } from '../outgoing/tls-allowlist.ts';
import { brokenQueries } from '../plan/stored-query.ts';
import { introspectRemote } from '../remote/introspect.ts';
import { VariableRules } from '../resolve/environment-variables.ts';
import { Inconsistencies, sourceSubject } from '../resolve/inconsistency.ts';
import { Memo } from '../resolve/memo.ts';
import { nativeQueriesOf, signatureOf } from '../resolve/native-query.ts';
import type { Upstream, Upstreams } from '../resolve/remote-schema.ts';
import { type Resolution, type ResolveOptions, resolve } from '../resolve/resolve.ts';
import type { Inconsistency } from '../resolve/types.ts';
import { type Unenforced, unenforcedIn } from '../resolve/unenforced.ts';
import type { ForeignTransaction, Outcome } from '../store/intents.ts';
import type { Store } from '../store/store.ts';
import type { ActionCalls } from '../webhook/async-action-types.ts';
import { outboundVariables } from '../webhook/outbound.ts';
import { SlowFailures } from './slow-failures.ts';
import type { Catalogs, SourceCatalog } from './snapshot.ts';

export type GroundOptions = {
  readonly store: Store;
  readonly actionCalls: ActionCalls;
  readonly metadataDatabase: Database;
  readonly metadataDatabaseUrl: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Folders that database URLs may be read from. */
  readonly dynamicSecretsPath?: readonly string[] | undefined;
  readonly headerPrefix: string;
  readonly resolve: ResolveOptions;
  readonly countsWithoutAggregations?: boolean | undefined;
  readonly maxConnections?: number | undefined;
  readonly maxWaiting?: number | undefined;
  readonly timed?: SourceTimed | undefined;
  readonly failed?: SourceFailed | undefined;
  /** Whether PREPARE is asked about native queries. */
  readonly validatesNativeQueries: boolean;
  readonly onUnreachable: (source: string, reason: string) => void;
};

/** A source that does not answer in this time counts as unreachable; the others must not wait for it longer. */
const INTROSPECTION_TIMEOUT_MS = 20_000;
const OUTCOME_PAUSE_MS = 20;

export class Ground {
  readonly store: Store;
  /** Published ones by name, and those of drafts. */
  readonly sources: Sources;
  readonly slowFailures = new SlowFailures();
  readonly #options: GroundOptions;
  readonly #memo = new Memo();

  constructor(options: GroundOptions) {
    this.#options = options;
    this.store = options.store;
    const { env, maxConnections, maxWaiting, timed, failed } = options;
    const limits = {
      ...(maxConnections !== undefined && { maxConnections }),
      ...(maxWaiting !== undefined && { maxWaiting }),
    };
    this.sources = new Sources({ env, folders: options.dynamicSecretsPath ?? [] }, limits, { timed, failed });
  }

  /** Of asynchronous actions. */
  get actionCalls(): ActionCalls {
    return this.#options.actionCalls;
  }

  /** Where scheduled events are. */
  get metadataDatabase(): Database {
    return this.#options.metadataDatabase;
  }

  get env(): GroundOptions['env'] {
    return this.#options.env;
  }

  resolve(metadata: Metadata, catalogs: Catalogs, upstreams: Upstreams): Resolution {
    const { model, inconsistencies } = resolve(
      metadata,
      catalogs,
      this.#options.resolve,
      upstreams,
      this.#memo,
    );
    const connections = this.#brokenConnections(metadata.sources, catalogs);
    return {
      model,
      inconsistencies: [...inconsistencies, ...connections, ...brokenQueries(metadata, model)],
    };
  }

  /** Replicas and members of connection sets that cannot be connected to, wherever their databases are. Their source is inconsistent,
   *  and served by its other connections. */
  #brokenConnections(sources: readonly Source[], catalogs: Catalogs): readonly Inconsistency[] {
    const found = new Inconsistencies();
    for (const source of sources) {
      const catalog = catalogs.get(source.name);
      const [fault] = catalog && !('error' in catalog) ? this.sources.faultsOf(source) : [];
      if (fault) found.add(sourceSubject(source.name), fault);
    }
    return found.all;
  }

  /** Restrictions that the document declares without effect. */
  unenforced(metadata: Metadata): readonly Unenforced[] {
    return this.#memo.of(unenforcedIn, metadata, this.#options.resolve, this.#memo);
  }

  /** --count-without-aggregations. */
  get countsWithoutAggregations(): boolean {
    return this.#options.countsWithoutAggregations ?? false;
  }

  get headerPrefix(): string {
    return this.#options.headerPrefix;
  }

  get enforcesRemotePermissions(): boolean {
    return this.#options.resolve.enforcesRemotePermissions !== false;
  }

  /** Asks a remote schema of the document what it is. Never throws: one that cannot be asked has an error instead, and is
   *  alone with it. */
  async introspectRemote({ name, definition }: RemoteSchema, metadata: Metadata): Promise<Upstream> {
    const { env, headerPrefix, onUnreachable } = this.#options;
    const fault = new VariableRules(metadata, env).faultOf('remote_schema', { name, definition });
    const variables = outboundVariables(env, () => metadata);
    const outbound = { variables, headerPrefix, trusts: trustsOf(metadata) };
    const upstream = fault
      ? { error: fault }
      : await introspectRemote(definition, outbound, INTROSPECTION_TIMEOUT_MS);
    if ('error' in upstream) onUnreachable(`remote schema ${name}`, upstream.error.message);
    return upstream;
  }

  /** The pool of a source as `source` configures it, published or not. */
  database(source: Source): Database {
    return this.sources.database(source);
  }

  /** Of a transaction an engine that is gone had begun. One that is under way is waited for: its connection is gone, too. */
  async outcomeOf({ source, xid }: ForeignTransaction): Promise<Outcome> {
    const until = performance.now() + INTROSPECTION_TIMEOUT_MS;
    try {
      while (performance.now() < until) {
        const { rows } = await this.database(source).query('select pg_xact_status($1::xid8) as status', [
          xid,
        ]);
        if (rows[0].status !== 'in progress') return rows[0].status ?? 'aborted';
        await sleep(OUTCOME_PAUSE_MS);
      }
      return 'in progress';
    } catch (error) {
      this.#options.onUnreachable(source.name, error instanceof Error ? error.message : String(error));
      return 'unreachable';
    }
  }

  /** Asks a source what it has; through `inside` when a transaction is open there. Never throws: a source that cannot be
   *  asked has an error for a catalog, and the rest goes on without it. */
  async introspect(source: Source, inside?: Introspectable): Promise<SourceCatalog> {
    if (inside) return this.introspectInside(source, inside);
    const late = new AbortController();
    try {
      const database = this.database(source);
      const asked = introspect(database).then((catalog) => this.complete(source, catalog));
      return await Promise.race([asked, timeout(late.signal)]);
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      this.#options.onUnreachable(source.name, reason);
      return { error: reason, ...faultOf(error) };
    } finally {
      late.abort();
    }
  }

  /** What the source has inside a transaction that is open there. */
  async introspectInside(source: Source, inside: Introspectable): Promise<Catalog> {
    return this.complete(source, await introspect(inside), inside);
  }

  /** The catalog with what the source's metadata asks of the database besides: rows of its enum tables, and a judgement on
   *  its native queries. What is known already is not asked again. Raises what a lost connection raises. */
  async complete(source: Source, catalog: Catalog, inside?: Introspectable): Promise<Catalog> {
    const withRows = await withEnumRows(inside ?? this.database(source), catalog, source);
    return this.#judged(source, withRows, inside);
  }

  async #judged(source: Source, catalog: Catalog, inside: Introspectable | undefined): Promise<Catalog> {
    if (!this.#options.validatesNativeQueries) return catalog;
    const unknown = nativeQueriesOf(source, catalog, this.#options.resolve).filter(
      (rows) => !catalog.preparedQueries.has(signatureOf(rows)),
    );
    if (unknown.length === 0) return catalog;
    const judged = inside
      ? await prepareNativeQueries(inside, unknown)
      : await this.database(source).transaction({ readOnly: true }, (client) =>
          prepareNativeQueries(client, unknown),
        );
    return { ...catalog, preparedQueries: new Map([...catalog.preparedQueries, ...judged]) };
  }

  /** Is the source the metadata database itself, as the same user: then one transaction can hold both. */
  isMetadataDatabase(source: Source): boolean {
    return (
      placeOf(this.sources.address(source)) === placeOf(optionAddress(this.#options.metadataDatabaseUrl))
    );
  }
}

export function trustsOf({ network }: Metadata): TrustsSelfSigned {
  return (url) => isTrusted(network?.tls_allowlist ?? [], url);
}

/** What no database could mend. */
function faultOf(error: unknown): { readonly fault?: EngineError } {
  if (!(error instanceof EngineError)) return {};
  if (error.kind !== 'tlsUnusable' && error.kind !== 'invalidConfiguration') return {};
  return { fault: error.at('connection_info').at('configuration') };
}

async function timeout(signal: AbortSignal): Promise<never> {
  await sleep(INTROSPECTION_TIMEOUT_MS, undefined, { signal });
  throw new Error(`no answer in ${INTROSPECTION_TIMEOUT_MS / 1000} s`);
}

/** A key that is equal for two addresses of the same database and user, whatever their parameters. */
function placeOf({ target: { hosts, user, database } }: DatabaseAddress): string {
  return JSON.stringify([hosts.map(({ host, port }) => [host, port ?? 5432]), user, database]);
}
