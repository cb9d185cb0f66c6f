/** The open databases, by source. A pool belongs to a configuration, not to a name: while a document with a changed connection is
 *  validated, the published document keeps its pool. `publish` sets the current configurations; other pools are closed when their
 *  work is done. Not here: pools (pool.ts). */
import { variablesOf } from '../config/options.ts';
import { EngineError, fail, type PathStep, thrownMessage, withPath } from '../errors/engine-error.ts';
import { FILE_AGE_MS } from '../metadata/references.ts';
import type { ConnectionInfo, Source } from '../metadata/schema/source.ts';
import { SourceConfiguration } from '../metadata/schema/source.ts';
import { variablesIn } from '../metadata/variables.ts';
import { type Route, type RoutedRequest, type Router, routerOf } from '../transform/connection.ts';
import { TransformError } from '../transform/render.ts';
import type { Timed } from '../wire/pool.ts';
import type { Tls } from '../wire/socket.ts';
import { withoutTls } from './connect.ts';
import type { DatabaseAddress } from './connection-defaults.ts';
import { type ConnectionSecrets, databaseAddress } from './database-url.ts';
import type { Databases } from './databases.ts';
import { type Database, openDatabase, type PoolObservers, type PoolOptions, probe } from './pool.ts';
import { Replicas } from './replicas.ts';
import { tlsOf } from './tls.ts';

type Found = {
  readonly database: Database;
  readonly replicas: Replicas | null;
  readonly router: Router | null;
  readonly until: number;
};

/** Receives the duration of a statement of a source, or of a wait for one of its connections. */
export type SourceTimed = (source: string, ...timing: Parameters<Timed>) => void;

/** Called with every statement of a source that failed, and every connection that could not be opened. */
export type SourceFailed = (source: string, failure: Error) => void;

/** A read replica or a member of a connection set as a source, with its path in the definition of its source, and a text that is equal for
 *  connections to the same servers as the same user. */
export type OtherConnection = {
  readonly source: Source;
  readonly path: readonly PathStep[];
  readonly server: string;
};

type SourceObservers = {
  readonly timed?: SourceTimed | undefined;
  readonly failed?: SourceFailed | undefined;
};

export class Sources {
  readonly #secrets: ConnectionSecrets;
  readonly #defaults: PoolOptions;
  readonly #observers: SourceObservers;
  readonly #defaultReplicas: readonly ConnectionInfo[];
  /** The open databases, by URL and settings. */
  readonly #open = new Map<string, Database>();
  /** The databases that drafts read, by URL and settings: how often. */
  readonly #held = new Map<string, number>();
  #published: ReadonlyMap<string, Source> = new Map();
  #hasTemplates = false;
  /** The results of `get`, by source name, cached for a moment because a URL in a file may change. */
  readonly #found = new Map<string, Found>();
  /** The names of published sources and replicas, by URL and settings. */
  #names: ReadonlyMap<string, readonly string[]> = new Map();

  /** `defaultReplicas` are the read replicas of a source that connects with the option --database-url and names none. */
  constructor(
    secrets: ConnectionSecrets,
    defaults: PoolOptions = {},
    observers: SourceObservers = {},
    defaultReplicas: readonly ConnectionInfo[] = [],
  ) {
    this.#defaultReplicas = defaultReplicas;
    this.#secrets = secrets;
    this.#defaults = defaults;
    this.#observers = observers;
  }

  /** The published source's database, or that of a replica for what only reads. Raises `notSupported` when there is none of
   *  that name. */
  get(name: string, access?: 'read'): Database {
    const { database, replicas } = this.#find(name);
    return access === undefined || replicas === null ? database : (replicas.pick() ?? database);
  }

  /** Returns the databases of a request. The template of a source is evaluated once for each request. */
  readonly chosenFor = (requestOf: () => RoutedRequest): Databases => {
    if (!this.#hasTemplates) return this;
    const request = requestOf();
    const routes = new Map<string, Route>();
    const routeOf = (name: string): Route => {
      const route = routes.get(name) ?? routed(this.#find(name).router, request);
      routes.set(name, route);
      return route;
    };
    return {
      get: (name, access) => this.#at(name, routeOf(name), access, request),
      choiceOf: (name) => JSON.stringify(Object.values(routeOf(name))),
    };
  };

  #at(
    name: string,
    { routing_to, value }: Route,
    access: 'read' | undefined,
    { query }: RoutedRequest,
  ): Database {
    if (routing_to === 'default') return this.get(name, access);
    const { database, replicas } = this.#find(name);
    if (routing_to === 'primary') return database;
    if (routing_to === 'read_replicas') {
      if (query.operation_type === 'mutation') refuseRoute('a mutation cannot go to read replicas');
      if (replicas === null) refuseRoute(`source "${name}" has no read replicas`);
      return replicas.pick() ?? database;
    }
    const source = this.#published.get(name);
    const member = source && membersOf(source).find((one) => one.name === memberName(source, String(value)));
    return member ? this.database(member) : refuseRoute(`connection "${value}" is gone`);
  }

  #find(name: string): Found {
    const known = this.#found.get(name);
    if (known && (known.until === Number.POSITIVE_INFINITY || known.until > performance.now())) return known;
    const source = this.#published.get(name);
    if (!source) return fail('notSupported', { text: `source "${name}" is not open` });
    const database = this.database(source);
    const isInFile =
      isRecord(source.configuration.connection_info.database_url, 'dynamic_from_file') ||
      variablesIn(SourceConfiguration, source.configuration).some(({ name }) => name.startsWith('file:'));
    const until = isInFile ? performance.now() + FILE_AGE_MS : Number.POSITIVE_INFINITY;
    const replicas = this.#replicasOf(source).flatMap((replica) => this.#databaseOf(replica));
    const { connection_template: template, connection_set: set } = source.configuration;
    const found = {
      database,
      replicas: replicas.length > 0 ? new Replicas(replicas) : null,
      router: template
        ? routerOf(
            template.template,
            (set ?? []).map((member) => member.name),
          )
        : null,
      until,
    };
    this.#found.set(name, found);
    return found;
  }

  /** The database a source means as it is configured in `source`, published or not. */
  database(source: Source): Database {
    const { address, options, key } = this.#configured(source);
    let database = this.#open.get(key);
    if (!database) {
      database = openDatabase(address, options, this.#observersOf(key, source.name));
      this.#open.set(key, database);
    }
    return database;
  }

  /** Runs `body` with the database of a source, which stays open meanwhile, published or not. */
  async holding<T>(source: Source, body: (database: Database) => Promise<T>): Promise<T> {
    const { key } = this.#configured(source);
    this.#held.set(key, (this.#held.get(key) ?? 0) + 1);
    try {
      return await body(this.database(source));
    } finally {
      const left = (this.#held.get(key) ?? 0) - 1;
      if (left > 0) this.#held.set(key, left);
      else this.#held.delete(key);
    }
  }

  /** Every published source whose database is open, replicas as `name replica 1` and members of its connection set as `name
   *  connection member`. */
  open(): readonly (readonly [name: string, database: Database])[] {
    return [...this.#published.values()].flatMap((source) => {
      return this.#connectionsOf(source).flatMap(({ name, configuration }) => {
        const database = this.#keyOf({ ...source, configuration }).map((key) => this.#open.get(key))[0];
        return database ? [[name, database] as const] : [];
      });
    });
  }

  /** Called after the schema of a source changed: sessions that have cached the earlier one are replaced, on its replicas, too. */
  retire(source: Source): void {
    for (const each of this.#connectionsOf(source)) {
      for (const key of this.#keyOf({ ...source, configuration: each.configuration }))
        this.#open.get(key)?.retire();
    }
  }

  /** Runs `select 1` on a connection of its own: whether the server answers when every connection of the pool is at work. Raises
   *  what the attempt raises, or that there was no answer. */
  async probe(source: Source, timeoutSeconds: number): Promise<void> {
    const { address, options } = this.#configured(source);
    await probe(address, options.tls, timeoutSeconds);
  }

  /** Returns an empty list when the URL is not available at the moment. */
  #databaseOf(replica: Source): readonly Database[] {
    return this.#keyOf(replica).map(() => this.database(replica));
  }

  /** The address of a source now, without parameters of TLS where the source has an `ssl_configuration`. Raises
   *  as `databaseAddress`. */
  address(source: Source): DatabaseAddress {
    const { database_url, ssl_configuration } = source.configuration.connection_info;
    const address = withPath('database_url', () => databaseAddress(database_url, this.#secrets));
    return ssl_configuration ? { ...address, target: withoutTls(address.target) } : address;
  }

  /** The errors in addresses and certificates of the source's replicas and connection set, whose databases are not queried
   *  when it is tracked. */
  faultsOf(source: Source): readonly EngineError[] {
    return this.#othersOf(source).flatMap(({ each, path }) => {
      try {
        this.#configured(each);
        return [];
      } catch (error) {
        if (!(error instanceof EngineError)) throw error;
        return [path.reduceRight<EngineError>((placed, step) => placed.at(step), error)];
      }
    });
  }

  /** Returns the replicas and members of the source's configuration, except those of options and of `faultsOf`. */
  othersOf(source: Source): readonly OtherConnection[] {
    return this.#othersOf(source).flatMap(({ each, path, isOption }) => {
      const [server] = isOption ? [] : this.#serverOf(each);
      return server === undefined ? [] : [{ source: each, path, server }];
    });
  }

  /** Returns those of `othersOf` that no published source has: the others may be down for a moment. */
  newOthersOf(source: Source): readonly OtherConnection[] {
    const inUse = new Set(
      [...this.#published.values()]
        .flatMap((published) => this.#connectionsOf(published))
        .flatMap((published) => this.#serverOf(published)),
    );
    return this.othersOf(source).filter(({ server }) => !inUse.has(server));
  }

  /** Connects to one of `othersOf`. Returns the reason if it does not answer in time. Never throws. */
  async tryOther(other: OtherConnection, timeoutSeconds: number): Promise<{ readonly error?: string }> {
    try {
      await this.probe(other.source, timeoutSeconds);
      return {};
    } catch (error) {
      return { error: thrownMessage(error) };
    }
  }

  /** Returns a text that is equal for connections to the same servers as the same user; an empty list without an address. */
  #serverOf(source: Source): readonly string[] {
    try {
      const { address, options } = this.#configured(source);
      return [JSON.stringify([address, options.tls])];
    } catch {
      return [];
    }
  }

  /** The read replicas of a source and the members of its connection set, with their paths in its definition. `isOption` is true for
   *  replicas that come from an option. */
  #othersOf(source: Source): readonly { each: Source; path: readonly PathStep[]; isOption: boolean }[] {
    const isOption = !source.configuration.read_replicas;
    const replicas = this.#replicasOf(source).map((each, i) => {
      return { each, path: ['configuration', 'read_replicas', i], isOption };
    });
    const members = membersOf(source).map((each, i) => {
      return { each, path: ['configuration', 'connection_set', i, 'connection_info'], isOption: false };
    });
    return [...replicas, ...members];
  }

  /** Undefined: as the URL says. Raises as `tlsOf`. */
  tls(source: Source): Tls | undefined {
    const { ssl_configuration } = source.configuration.connection_info;
    return ssl_configuration ? tlsOf(ssl_configuration, this.#secrets) : undefined;
  }

  /** Makes these the current sources and closes the pools that none of them uses. */
  publish(sources: readonly Source[]): void {
    this.#published = new Map(sources.map((source) => [source.name, source]));
    this.#hasTemplates = sources.some(({ configuration }) => configuration.connection_template);
    this.#found.clear();
    const used = sources
      .flatMap((source) => this.#connectionsOf(source))
      .flatMap((each) => this.#keyOf(each).map((key) => ({ key, name: each.name })));
    this.#names = new Map(
      [...Map.groupBy(used, ({ key }) => key)].map(([key, same]) => [key, same.map(({ name }) => name)]),
    );
    for (const [key, database] of this.#open) {
      if (this.#names.has(key) || this.#held.has(key)) continue;
      this.#open.delete(key);
      // Waits for connections that are out; new requests no longer find it.
      database.close().catch(() => {});
    }
  }

  /** Waits for what is under way; what is left at `cut` fails. */
  async close(cut?: AbortSignal): Promise<void> {
    this.#found.clear();
    const open = [...this.#open.values()];
    this.#open.clear();
    await Promise.allSettled(open.map((database) => database.close(cut)));
  }

  /** Every source that shares the connections is named; `name` is the one that opened them. */
  #observersOf(key: string, name: string): PoolObservers {
    const { timed, failed } = this.#observers;
    const named = () => this.#names.get(key) ?? [name];
    return {
      timed:
        timed &&
        ((what, ms) => {
          for (const each of named()) timed(each, what, ms);
        }),
      failed:
        failed &&
        ((failure) => {
          for (const each of named()) failed(each, failure);
        }),
    };
  }

  /** The source itself, its read replicas, and the members of its connection set. */
  #connectionsOf(source: Source): readonly Source[] {
    return [source, ...this.#replicasOf(source), ...membersOf(source)];
  }

  #replicasOf(source: Source): readonly Source[] {
    const { read_replicas } = source.configuration;
    const replicas = read_replicas ?? (usesDatabaseUrl(source) ? this.#defaultReplicas : []);
    return replicas.map((info, i) => elsewhere(source, `${source.name} replica ${i + 1}`, info));
  }

  #configured(source: Source): { address: DatabaseAddress; options: PoolOptions; key: string } {
    const address = this.address(source);
    const tls = this.tls(source);
    const options = { ...optionsOf(source, this.#defaults), ...(tls && { tls }) };
    return { address, options, key: JSON.stringify([address, options]) };
  }

  /** Returns an empty list when the URL is not available at the moment, for example because a variable is missing. */
  #keyOf(source: Source): string[] {
    try {
      return [this.#configured(source).key];
    } catch {
      return [];
    }
  }
}

/** True when the source connects with the option --database-url. */
function usesDatabaseUrl({ configuration }: Source): boolean {
  const { database_url: url } = configuration.connection_info;
  return typeof url === 'object' && 'from_env' in url && variablesOf('database-url').includes(url.from_env);
}

/** Returns the members of the source's connection set. */
export function membersOf(source: Source): readonly Source[] {
  const { connection_set } = source.configuration;
  return (connection_set ?? []).map(({ name, connection_info }) => {
    return elsewhere(source, memberName(source, name), connection_info);
  });
}

function memberName(source: Source, member: string): string {
  return `${source.name} connection ${member}`;
}

/** A source like this one, but for where it is. */
function elsewhere(source: Source, name: string, connection_info: ConnectionInfo): Source {
  return { ...source, name, configuration: { connection_info } };
}

function routed(router: Router | null, request: RoutedRequest): Route {
  try {
    return router?.(request) ?? { routing_to: 'default', value: null };
  } catch (error) {
    if (!(error instanceof TransformError)) throw error;
    return refuseRoute(error.message);
  }
}

function refuseRoute(text: string): never {
  return fail('templateResolutionFailed', { text });
}

function isRecord(value: unknown, key: string): boolean {
  return typeof value === 'object' && value !== null && key in value;
}

function optionsOf(source: Source, defaults: PoolOptions): PoolOptions {
  const info = source.configuration.connection_info;
  const pool = info.pool_settings ?? {};
  const most = [pool.max_connections, pool.total_max_connections].filter((count) => count != null);
  const given: Record<string, unknown> = {
    // The other engines on the database are not known here: each keeps to the total by itself.
    maxConnections: most.length > 0 ? Math.min(...most) : null,
    idleTimeoutSeconds: pool.idle_timeout,
    poolTimeoutSeconds: pool.pool_timeout,
    connectionLifetimeSeconds: pool.connection_lifetime,
    retries: pool.retries,
    usePreparedStatements: info.use_prepared_statements,
    isolationLevel: info.isolation_level,
  };
  return { ...defaults, ...Object.fromEntries(Object.entries(given).filter(([, value]) => value != null)) };
}
