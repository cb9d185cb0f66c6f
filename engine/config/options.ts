/** OPTIONS: every setting of the engine, one row each, in the order of `--help`. Derived from it: the type `Options`,
 *  the loader (load-options.ts), `--help` (options-help.ts). A new option is a row here and the code that reads it.
 *  Not here: what an option does; the code that reads it is in the room it belongs to. */
import { PROPAGATORS } from '../observe/span-exporter.ts';
import { publicUrl } from '../observe/webhook-call.ts';
import { jwtSecret, jwtSecrets } from './jwt-secret.ts';
import {
  flag,
  headerPrefix,
  integer,
  jsonTexts,
  listOf,
  namingConvention,
  type OptionType,
  oneOf,
  pairs,
  paths,
  text,
} from './option-types.ts';

const API_NAMES = ['metadata', 'graphql', 'config', 'pgdump', 'metrics', 'developer'] as const;
export type ApiName = (typeof API_NAMES)[number];

/** Features that change existing schemas; each is off by default. */
const EXPERIMENTAL_FEATURES = [
  'naming_convention',
  'hide_aggregation_predicates',
  'hide_update_many_fields',
  'hide_stream_fields',
  'group_by',
  'disable_postgres_arrays',
  'nested_updates',
  'apollo_federation',
] as const;

/** Experimental features of the API family that are always on here. They are accepted and ignored. */
const ALWAYS_ON_FEATURES = [
  'inherited_roles',
  'streaming_subscriptions',
  'optimize_permission_filters',
] as const;

export const LOG_TYPES = [
  'startup',
  'http-log',
  'webhook-log',
  'websocket-log',
  'jwk-refresh-log',
  'query-log',
] as const;
const LOG_LEVELS = ['debug', 'info', 'warn', 'error'] as const;

export const OPTION_GROUPS = ['Databases', 'Server', 'Access', 'API', 'Observation'] as const;

export type OptionRow<T, D = T | undefined> = {
  readonly group: (typeof OPTION_GROUPS)[number];
  readonly type: OptionType<T>;
  /** `undefined` when the option has no default. */
  readonly default: D;
  readonly doc: string;
  readonly unit?: 'ms' | 's' | 'bytes';
  /** True for values that are never printed or logged. */
  readonly isSecret?: true;
};

const row = <T, const D extends T | undefined>(row: OptionRow<T, D>): OptionRow<T, D> => row;

/** The options by flag, without the leading dashes. */
export const OPTIONS = {
  'database-url': row({
    group: 'Databases',
    type: text('URL'),
    default: undefined,
    isSecret: true,
    doc: 'the Postgres to serve, as the source `default`: postgres://user:password@host:5432/database',
  }),
  'metadata-database-url': row({
    group: 'Databases',
    type: text('URL'),
    default: undefined,
    isSecret: true,
    doc: 'the Postgres that stores the metadata; without it, the one of --database-url',
  }),
  'dynamic-secrets-path': row({
    group: 'Databases',
    type: paths,
    default: [],
    doc: 'folders of files from which sources may read their database URLs (`dynamic_from_file`); without it, no file may be read',
  }),
  'pg-connections': row({
    group: 'Databases',
    type: integer('COUNT', 1, 10_000),
    default: 50,
    doc: 'maximum number of connections to each source',
  }),
  'pg-max-waiting': row({
    group: 'Databases',
    type: integer('COUNT', 1, 1_000_000),
    default: 10_000,
    doc: 'maximum number of statements and transactions that wait for a connection to one source; more are refused at once',
  }),
  'default-time-limit': row({
    group: 'Databases',
    type: integer('SECONDS', 0, 86_400),
    default: 60,
    unit: 's',
    doc: 'time limit of a statement of a role that has no time limit in the metadata; administrators have none; 0 disables it',
  }),
  'live-queries-multiplexed-refetch-interval': row({
    group: 'Databases',
    type: integer('MS', 10, 86_400_000),
    default: 1000,
    unit: 'ms',
    doc: 'interval at which live queries are polled',
  }),
  'live-queries-multiplexed-batch-size': row({
    group: 'Databases',
    type: integer('COUNT', 1, 10_000),
    default: 100,
    doc: 'maximum number of live queries in one statement; they differ only in their values',
  }),
  'streaming-queries-multiplexed-batch-size': row({
    group: 'Databases',
    type: integer('COUNT', 1, 10_000),
    default: 100,
    doc: 'maximum number of streaming subscriptions in one statement',
  }),
  'streaming-queries-multiplexed-refetch-interval': row({
    group: 'Databases',
    type: integer('MS', 10, 86_400_000),
    default: 1000,
    unit: 'ms',
    doc: 'interval at which streaming subscriptions fetch their next batch',
  }),
  'async-actions-fetch-interval': row({
    group: 'Databases',
    type: integer('MS', 0, 86_400_000),
    default: 1000,
    unit: 'ms',
    doc: 'interval of the search for asynchronous action calls that other replicas have not finished; 0 disables it',
  }),
  'async-actions-fetch-batch-size': row({
    group: 'Databases',
    type: integer('COUNT', 1, 1000),
    default: 10,
    doc: 'maximum number of asynchronous action calls that are fetched at once',
  }),
  'events-fetch-interval': row({
    group: 'Databases',
    type: integer('MS', 0, 86_400_000),
    default: 1000,
    unit: 'ms',
    doc: 'interval at which databases are polled for row events and scheduled events to deliver; 0 disables delivery',
  }),
  'events-fetch-batch-size': row({
    group: 'Databases',
    type: integer('COUNT', 1, 10_000),
    default: 100,
    doc: 'maximum number of events that are fetched from a database at once',
  }),
  'events-http-pool-size': row({
    group: 'Databases',
    type: integer('COUNT', 1, 10_000),
    default: 100,
    doc: 'maximum number of row events that are delivered at the same time, and the same number of scheduled events',
  }),
  'events-trigger-concurrency': row({
    group: 'Databases',
    type: integer('COUNT', 0, 10_000),
    default: 0,
    doc: 'maximum number of events of one trigger that are delivered at the same time; 0 is a quarter of --events-http-pool-size',
  }),
  'events-host-concurrency': row({
    group: 'Databases',
    type: integer('COUNT', 0, 10_000),
    default: 0,
    doc: 'maximum number of events that are delivered to one webhook host at the same time; 0 is half of --events-http-pool-size',
  }),
  'metadata-dir': row({
    group: 'Databases',
    type: text('FOLDER'),
    default: undefined,
    doc: 'a metadata directory that replaces the stored metadata at startup',
  }),
  'metadata-revisions': row({
    group: 'Databases',
    type: integer('COUNT', 0, 10_000),
    default: 50,
    doc: 'number of previous metadata versions to keep for a rollback; 0 keeps none',
  }),
  'schema-sync-poll-interval': row({
    group: 'Databases',
    type: integer('MS', 0, 86_400_000),
    default: 1000,
    unit: 'ms',
    doc: 'interval of the check for changes by other replicas, in addition to notifications; 0 disables it',
  }),
  'source-check-interval': row({
    group: 'Databases',
    type: integer('SECONDS', 0, 3600),
    default: 10,
    unit: 's',
    doc: 'interval of the checks that each database answers and that tracked tables and functions are unchanged; 0 disables them',
  }),
  'server-port': row({
    group: 'Server',
    type: integer('PORT', 0, 65_535),
    default: 8080,
    doc: 'port to listen on; 0 is any free port',
  }),
  'server-host': row({
    group: 'Server',
    type: text('HOST'),
    default: '*',
    doc: 'address to listen on; * is all addresses',
  }),
  'cors-domain': row({
    group: 'Server',
    type: text('ORIGINS'),
    default: '*',
    doc: 'origins that browsers may call from, comma-separated: https://*.example.com, http://localhost:3000; * is any origin, without cookies',
  }),
  'cors-any-origin-credentials': row({
    group: 'Server',
    type: flag,
    default: false,
    doc: 'with `*` in --cors-domain: let pages of any origin send cookies and read the answers',
  }),
  'allowed-hosts': row({
    group: 'Server',
    type: text('HOSTS'),
    default: undefined,
    doc: 'without an admin secret: host names accepted in requests besides localhost, IP addresses and --server-host, comma-separated, such as *.example.com; * is any name',
  }),
  'allow-simple-requests': row({
    group: 'Server',
    type: flag,
    default: false,
    doc: 'accept POST requests and mutations that a page of any origin can send without a preflight',
  }),
  'disable-cors': row({
    group: 'Server',
    type: flag,
    default: false,
    doc: 'send no CORS headers',
  }),
  'max-total-header-length': row({
    group: 'Server',
    type: integer('BYTES', 1024),
    default: 1_048_576,
    unit: 'bytes',
    doc: 'maximum size of all headers of a request',
  }),
  'max-request-body-length': row({
    group: 'Server',
    type: integer('BYTES', 1024, 512 * 1024 * 1024),
    default: 100 * 1024 * 1024,
    unit: 'bytes',
    doc: 'maximum size of a request body; for roles other than admin see --max-role-body-length',
  }),
  'max-role-body-length': row({
    group: 'Server',
    type: integer('BYTES', 1024, 512 * 1024 * 1024),
    default: 4 * 1024 * 1024,
    unit: 'bytes',
    doc: 'maximum size of a request body or a WebSocket message of a role other than admin',
  }),
  'max-body-bytes-in-flight': row({
    group: 'Server',
    type: integer('BYTES', 64 * 1024),
    default: undefined,
    unit: 'bytes',
    doc: 'maximum size of all requests over 16 KiB that the process holds at a time; more wait 5 s and are then refused with 503; without it, a 32nd of the heap limit',
  }),
  'request-header-timeout': row({
    group: 'Server',
    type: integer('SECONDS', 1, 3600),
    default: 10,
    unit: 's',
    doc: 'time limit for the headers of a request to arrive, from the start of its connection',
  }),
  'request-body-timeout': row({
    group: 'Server',
    type: integer('SECONDS', 1, 3600),
    default: 10,
    unit: 's',
    doc: 'time limit for a request body to arrive; each 16 KiB that have arrived extend it by a second',
  }),
  'trusted-proxies': row({
    group: 'Server',
    type: integer('COUNT', 0, 100),
    default: 0,
    doc: 'number of proxies in front that append to X-Forwarded-For; with 0, the address of a client is that of its connection',
  }),
  'websocket-keepalive': row({
    group: 'Server',
    type: integer('SECONDS', 1, 86_400),
    default: 5,
    unit: 's',
    doc: 'interval of keep-alive messages on a WebSocket',
  }),
  'websocket-connection-init-timeout': row({
    group: 'Server',
    type: integer('SECONDS', 1, 86_400),
    default: 3,
    unit: 's',
    doc: 'time limit for a WebSocket to send connection_init',
  }),
  'max-unauthenticated-websockets': row({
    group: 'Server',
    type: integer('COUNT', 1),
    default: 1000,
    doc: 'maximum number of WebSockets that have not authenticated yet',
  }),
  'max-subscriptions-per-connection': row({
    group: 'Server',
    type: integer('COUNT', 1),
    default: 100,
    doc: 'maximum number of subscriptions on one WebSocket',
  }),
  'max-subscriptions-per-session': row({
    group: 'Server',
    type: integer('COUNT', 1),
    default: 500,
    doc: 'maximum number of subscriptions of clients with the same role and session variables, or without variables, with the same address',
  }),
  'max-subscriptions-per-role': row({
    group: 'Server',
    type: integer('COUNT', 1),
    default: 5000,
    doc: 'maximum number of subscriptions of one role other than admin',
  }),
  'send-queue-length': row({
    group: 'Server',
    type: integer('BYTES', 16 * 1024),
    default: 1024 * 1024,
    unit: 'bytes',
    doc: 'number of unsent bytes from which a client counts as not reading: it receives only the latest results, and is disconnected after --send-queue-timeout',
  }),
  'send-queue-timeout': row({
    group: 'Server',
    type: integer('SECONDS', 1, 3600),
    default: 5,
    unit: 's',
    doc: 'time a client may leave more bytes than that unread; each 128 KiB of them extend it by a second',
  }),
  'max-queued-bytes': row({
    group: 'Server',
    type: integer('BYTES', 64 * 1024),
    default: undefined,
    unit: 'bytes',
    doc: 'number of unsent bytes of all clients above which the clients with the longest queues are disconnected; without it, a quarter of the heap limit or an eighth of the memory, whichever is less',
  }),
  'graceful-shutdown-timeout': row({
    group: 'Server',
    type: integer('SECONDS', 0, 86_400),
    default: 60,
    unit: 's',
    doc: 'time limit for requests in flight to finish after SIGTERM or Ctrl-C',
  }),
  'admin-secret': row({
    group: 'Access',
    type: text('SECRET'),
    default: undefined,
    isSecret: true,
    doc: 'the admin secret, sent in the header X-Engine-Admin-Secret; without it every request is trusted',
  }),
  'admin-secrets': row({
    group: 'Access',
    type: jsonTexts,
    default: undefined,
    isSecret: true,
    doc: 'several admin secrets, for rotation, in place of --admin-secret: ["new", "old"]',
  }),
  'jwt-secret': row({
    group: 'Access',
    type: jwtSecret,
    default: undefined,
    isSecret: true,
    doc: 'the key that verifies the tokens of users: {"type": "RS256", "key": "…"} or {"jwk_url": "https://…"}',
  }),
  'jwt-secrets': row({
    group: 'Access',
    type: jwtSecrets,
    default: undefined,
    isSecret: true,
    doc: 'several JWT secrets, selected by the issuer of the token, in place of --jwt-secret',
  }),
  'auth-hook': row({
    group: 'Access',
    type: text('URL'),
    default: undefined,
    doc: 'an HTTP service that authenticates requests and answers with session variables',
  }),
  'auth-hook-mode': row({
    group: 'Access',
    type: oneOf(['GET', 'POST']),
    default: 'GET',
    doc: 'GET sends the hook the headers, POST the headers and the GraphQL request',
  }),
  'auth-hook-send-request-body': row({
    group: 'Access',
    type: flag,
    default: true,
    doc: 'with POST: send the GraphQL request to the hook, not only the headers',
  }),
  'auth-hook-timeout': row({
    group: 'Access',
    type: integer('SECONDS', 1, 86_400),
    default: 30,
    doc: 'time limit of the hook; a request is refused when the hook does not answer',
  }),
  'unauthorized-role': row({
    group: 'Access',
    type: text('ROLE'),
    default: undefined,
    doc: 'role of requests without credentials; without it they are refused',
  }),
  'unauthorized-session-variables': row({
    group: 'Access',
    type: flag,
    default: false,
    doc: 'take the session variables of the unauthorized role from the headers of its requests, which any client can set',
  }),
  'preserve-401-errors': row({
    group: 'Access',
    type: flag,
    default: false,
    doc: 'answer unauthenticated GraphQL requests with status 401 instead of 200',
  }),
  'configured-header-precedence': row({
    group: 'Access',
    type: flag,
    default: false,
    doc: 'the headers configured for an action override the forwarded headers of the client',
  }),
  'header-prefix': row({
    group: 'Access',
    type: headerPrefix,
    default: 'x-engine-',
    doc: "prefix of the engine's headers and session variables, on the wire and in metadata",
  }),
  'enable-allowlist': row({
    group: 'Access',
    type: flag,
    default: false,
    doc: 'roles other than admin may only run queries of a query collection on the allow list',
  }),
  'enable-remote-schema-permissions': row({
    group: 'Access',
    type: flag,
    default: true,
    doc: 'a role has access to the part of a remote schema that its permission declares; with false every role has access to all of it, and permissions on remote schemas are refused',
  }),
  'strict-writes': row({
    group: 'Access',
    type: flag,
    default: false,
    doc: 'updates and deletions of a role affect only rows that the role may also select; otherwise affected_rows can reveal rows it may write but not read',
  }),
  'count-without-aggregations': row({
    group: 'Access',
    type: flag,
    default: false,
    doc: 'a role that may select rows may count them with /v1/query, as in the reference engine; otherwise it needs allow_aggregations, and select_aggregate if query_root_fields are listed',
  }),
  'remote-schema-prioritize-data': row({
    group: 'API',
    type: flag,
    default: false,
    doc: 'return the data of a remote schema even if it also answers with errors',
  }),
  'remote-schema-skip-nulls': row({
    group: 'API',
    type: flag,
    default: false,
    doc: 'send no arguments with the value null to remote schemas',
  }),
  'remote-schema-cache-size': row({
    group: 'API',
    type: integer('BYTES', 0),
    default: 0,
    unit: 'bytes',
    doc: 'memory for answers of remote schemas that Cache-Control allows to cache; 0 disables the cache',
  }),
  'enabled-apis': row({
    group: 'API',
    type: listOf(API_NAMES),
    default: ['metadata', 'graphql', 'pgdump', 'config'],
    doc: `APIs to serve, comma-separated, of ${API_NAMES.join(', ')}; metadata includes explain`,
  }),
  'enable-console': row({
    group: 'API',
    type: flag,
    default: false,
    doc: 'serve GraphiQL at /',
  }),
  'stringify-numeric-types': row({
    group: 'API',
    type: flag,
    default: false,
    doc: 'return bigint, numeric and double precision as strings, for clients that would round them',
  }),
  'infer-function-permissions': row({
    group: 'API',
    type: flag,
    default: true,
    doc: 'a role that may select from a table may call functions that only read and return its rows and have no permissions of their own; with false each role needs a permission',
  }),
  'experimental-features': row({
    group: 'API',
    type: listOf([...EXPERIMENTAL_FEATURES, ...ALWAYS_ON_FEATURES]),
    default: [],
    doc: `features to enable, comma-separated, of ${EXPERIMENTAL_FEATURES.join(', ')}; always enabled are ${ALWAYS_ON_FEATURES.join(', ')}`,
  }),
  'enable-apollo-federation': row({
    group: 'API',
    type: flag,
    default: false,
    doc: 'act as a subgraph of a federated graph; the same as the feature apollo_federation',
  }),
  'default-naming-convention': row({
    group: 'API',
    type: namingConvention,
    default: 'default',
    doc: 'naming convention of sources that set none; needs the feature naming_convention',
  }),
  'disable-native-query-validation': row({
    group: 'API',
    type: flag,
    default: false,
    doc: 'track native queries without validating them in the database',
  }),
  'dev-mode': row({
    group: 'API',
    type: flag,
    default: false,
    doc: 'include the internal cause of an error in every answer; never use it in production',
  }),
  'admin-internal-errors': row({
    group: 'API',
    type: flag,
    default: true,
    doc: 'include the internal cause of an error in answers to administrators',
  }),
  'metrics-secret': row({
    group: 'Observation',
    type: text('SECRET'),
    default: undefined,
    isSecret: true,
    doc: 'bearer token for /v1/metrics (API metrics); administrators have access without it',
  }),
  'otlp-traces-endpoint': row({
    group: 'Observation',
    type: text('URL'),
    default: undefined,
    doc: 'the collector that spans are sent to (OTLP over HTTP, protobuf), such as http://collector:4318/v1/traces; metadata can override it',
  }),
  'otlp-headers': row({
    group: 'Observation',
    type: pairs,
    default: undefined,
    isSecret: true,
    doc: 'headers of requests to the collector',
  }),
  'traces-propagators': row({
    group: 'Observation',
    type: listOf(PROPAGATORS),
    default: ['tracecontext'],
    doc: `header formats that pass a trace on to webhooks, of ${PROPAGATORS.join(', ')}; callers may use any of them`,
  }),
  'log-level': row({
    group: 'Observation',
    type: oneOf(LOG_LEVELS),
    default: 'info',
    doc: 'minimum level of log lines',
  }),
  'enabled-log-types': row({
    group: 'Observation',
    type: listOf(LOG_TYPES),
    default: ['startup', 'http-log', 'webhook-log', 'websocket-log', 'jwk-refresh-log'],
    doc: `types of log lines to write, of ${LOG_TYPES.join(', ')}`,
  }),
} as const satisfies Record<string, OptionRow<unknown, unknown>>;

export type OptionFlag = keyof typeof OPTIONS;

type CamelCase<S extends string> = S extends `${infer Head}-${infer Tail}`
  ? `${Head}${Capitalize<CamelCase<Tail>>}`
  : S;

type ValueOf<R> = R extends OptionRow<infer T, infer D> ? (undefined extends D ? T | undefined : T) : never;

/** The options by camelCase name: `options.serverPort`. */
export type Options = { readonly [F in OptionFlag as CamelCase<F>]: ValueOf<(typeof OPTIONS)[F]> };

/** Returns the variable of an option: `server-port` → `ENGINE_GRAPHQL_SERVER_PORT`. */
export function variableOf(flag: OptionFlag): string {
  return `ENGINE_GRAPHQL_${flag.replaceAll('-', '_').toUpperCase()}`;
}

/** The options that are connection strings. */
const DATABASE_OPTIONS: readonly OptionFlag[] = ['database-url', 'metadata-database-url'];

/** True when a source may read its connection string from the variable. The engine's other options are not for
 *  connections. */
export function isForConnections(variable: string): boolean {
  const flags = Object.keys(OPTIONS) as OptionFlag[];
  const flag = flags.find((each) => variableOf(each) === variable);
  return flag === undefined || DATABASE_OPTIONS.includes(flag);
}

/** Returns the camelCase name: `server-port` → `serverPort`. */
export function nameOf(flag: string): keyof Options {
  return flag.replace(/-(.)/g, (_, letter: string) => letter.toUpperCase()) as keyof Options;
}

/** Returns the options that may be logged: all but secrets, and URLs without their secret parts. */
export function settingsOf(options: Options): Readonly<Record<string, unknown>> {
  const rows = Object.entries<OptionRow<unknown, unknown>>(OPTIONS).filter(
    ([, row]) => row.isSecret !== true,
  );
  return Object.fromEntries(rows.map(([flag]) => [flag, shown(options[nameOf(flag)])]));
}

function shown(value: unknown): unknown {
  return typeof value === 'string' && value.includes('://') ? publicUrl(value) : value;
}
