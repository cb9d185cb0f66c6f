/** The open databases, by source. A pool belongs to a configuration, not to a name: while a document with a changed
 *  connection is tried out, the published one keeps its pool. `publish` says which configurations are current; pools of
 *  no current one are closed once their work is done. Not here: pools themselves (pool.ts). */
import { fail } from '../errors/engine-error.ts';
import type { Source } from '../metadata/schema/source.ts';
import { connectionUrl, type Environment } from './database-url.ts';
import { type Database, openDatabase, type PoolOptions } from './pool.ts';

/** How long a URL read from a file is trusted. */
const FILE_AGE_MS = 1000;

export class Sources {
  readonly #env: Environment;
  readonly #defaults: PoolOptions;
  /** By URL and settings. */
  readonly #open = new Map<string, Database>();
  #published: ReadonlyMap<string, Source> = new Map();
  /** What `get` has found, by source name; a URL in a file may be another one a second later. */
  readonly #found = new Map<string, { readonly database: Database; readonly until: number }>();

  constructor(env: Environment, defaults: PoolOptions = {}) {
    this.#env = env;
    this.#defaults = defaults;
  }

  /** The published source's database. Raises `notSupported` when there is none of that name. */
  get(name: string): Database {
    const found = this.#found.get(name);
    if (found && (found.until === Number.POSITIVE_INFINITY || found.until > performance.now())) {
      return found.database;
    }
    const source = this.#published.get(name);
    if (!source) return fail('notSupported', { text: `source "${name}" is not open` });
    const database = this.database(source);
    const isInFile = isRecord(source.configuration.connection_info.database_url, 'dynamic_from_file');
    const until = isInFile ? performance.now() + FILE_AGE_MS : Number.POSITIVE_INFINITY;
    this.#found.set(name, { database, until });
    return database;
  }

  /** The database a source means as it is configured in `source`, published or not. */
  database(source: Source): Database {
    const { url, options, key } = this.#configured(source);
    let database = this.#open.get(key);
    if (!database) {
      database = openDatabase(url, options);
      this.#open.set(key, database);
    }
    return database;
  }

  /** Every published source whose database is open. */
  open(): readonly (readonly [name: string, database: Database])[] {
    return [...this.#published.values()].flatMap((source) => {
      const database = this.#keyOf(source).map((key) => this.#open.get(key))[0];
      return database ? [[source.name, database] as const] : [];
    });
  }

  /** The URL a source means now. */
  url(source: Source): string {
    return connectionUrl(source.configuration.connection_info.database_url, this.#env);
  }

  /** Makes these the current sources and closes the pools that none of them uses. */
  publish(sources: readonly Source[]): void {
    this.#published = new Map(sources.map((source) => [source.name, source]));
    this.#found.clear();
    const used = new Set(sources.flatMap((source) => this.#keyOf(source)));
    for (const [key, database] of this.#open) {
      if (used.has(key)) continue;
      this.#open.delete(key);
      // Waits for connections that are out; new requests no longer find it.
      database.close().catch(() => {});
    }
  }

  async close(): Promise<void> {
    this.#found.clear();
    const open = [...this.#open.values()];
    this.#open.clear();
    await Promise.allSettled(open.map((database) => database.close()));
  }

  #configured(source: Source): { url: string; options: PoolOptions; key: string } {
    const url = this.url(source);
    const options = optionsOf(source, this.#defaults);
    return { url, options, key: JSON.stringify([url, options]) };
  }

  /** None when the URL cannot be told at the moment (a missing variable). */
  #keyOf(source: Source): string[] {
    try {
      return [this.#configured(source).key];
    } catch {
      return [];
    }
  }
}

function isRecord(value: unknown, key: string): boolean {
  return typeof value === 'object' && value !== null && key in value;
}

function optionsOf(source: Source, defaults: PoolOptions): PoolOptions {
  const info = source.configuration.connection_info;
  const pool = info.pool_settings ?? {};
  const given: Record<string, unknown> = {
    maxConnections: pool.max_connections,
    idleTimeoutSeconds: pool.idle_timeout,
    poolTimeoutSeconds: pool.pool_timeout,
    connectionLifetimeSeconds: pool.connection_lifetime,
    usePreparedStatements: info.use_prepared_statements,
    isolationLevel: info.isolation_level,
  };
  return { ...defaults, ...Object.fromEntries(Object.entries(given).filter(([, value]) => value != null)) };
}
