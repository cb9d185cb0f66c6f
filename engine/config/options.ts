/** OPTIONS: everything about the engine that is set from outside, one row each. Row order is the order of `--help`.
 *  Derived from it: the type `Options`, the loader (load-options.ts), `--help` (options-help.ts).
 *  A new option is a row here plus the code that reads it; a row nobody reads does not belong.
 *  Not here: what an option does; each row's reader is in the room it belongs to. */
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

export const API_NAMES = ['metadata', 'graphql', 'config', 'pgdump', 'metrics', 'developer'] as const;
export type ApiName = (typeof API_NAMES)[number];

/** Behaviours that change existing schemas, each off until it is named. */
export const EXPERIMENTAL_FEATURES = [
  'naming_convention',
  'hide_aggregation_predicates',
  'hide_update_many_fields',
  'hide_stream_fields',
  'group_by',
  'disable_postgres_arrays',
  'nested_updates',
  'apollo_federation',
] as const;

/** Features of the family that are always on here: a configuration that names them is not refused. */
export const STANDING_FEATURES = [
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
export const LOG_LEVELS = ['debug', 'info', 'warn', 'error'] as const;

export const OPTION_GROUPS = ['Databases', 'Server', 'Access', 'API', 'Observation'] as const;

export type OptionRow<T, D = T | undefined> = {
  readonly group: (typeof OPTION_GROUPS)[number];
  readonly type: OptionType<T>;
  /** `undefined`: none, the option may stay unset. */
  readonly default: D;
  readonly doc: string;
  readonly unit?: 'ms' | 's' | 'bytes';
  /** Never printed, logged or told. */
  readonly isSecret?: true;
};

const row = <T, const D extends T | undefined>(row: OptionRow<T, D>): OptionRow<T, D> => row;

/** Keyed by flag, without the dashes in front. */
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
    doc: 'the Postgres that keeps the metadata; without it, the one of --database-url',
  }),
  'dynamic-secrets-path': row({
    group: 'Databases',
    type: paths,
    default: [],
    doc: 'folders of files that sources may read their database URLs from (`dynamic_from_file`); without it, none may',
  }),
  'pg-connections': row({
    group: 'Databases',
    type: integer('COUNT', 1, 10_000),
    default: 50,
    doc: 'most connections to each source',
  }),
  'pg-max-waiting': row({
    group: 'Databases',
    type: integer('COUNT', 1, 1_000_000),
    default: 10_000,
    doc: 'most statements and transactions that wait for a connection to one source; more are refused at once',
  }),
  'default-time-limit': row({
    group: 'Databases',
    type: integer('SECONDS', 0, 86_400),
    default: 60,
    unit: 's',
    doc: 'how long a statement of a role may take that has no time limit in the metadata; administrators have none; 0 is no limit',
  }),
  'live-queries-multiplexed-refetch-interval': row({
    group: 'Databases',
    type: integer('MS', 10, 86_400_000),
    default: 1000,
    unit: 'ms',
    doc: 'how often the results of live queries are looked at',
  }),
  'live-queries-multiplexed-batch-size': row({
    group: 'Databases',
    type: integer('COUNT', 1, 10_000),
    default: 100,
    doc: 'most live queries that differ only in values asked as one statement',
  }),
  'streaming-queries-multiplexed-batch-size': row({
    group: 'Databases',
    type: integer('COUNT', 1, 10_000),
    default: 100,
    doc: 'the same of streaming subscriptions',
  }),
  'streaming-queries-multiplexed-refetch-interval': row({
    group: 'Databases',
    type: integer('MS', 10, 86_400_000),
    default: 1000,
    unit: 'ms',
    doc: 'how often a streaming subscription asks for its next batch',
  }),
  'async-actions-fetch-interval': row({
    group: 'Databases',
    type: integer('MS', 0, 86_400_000),
    default: 1000,
    unit: 'ms',
    doc: 'how often calls of asynchronous actions are looked for that other replicas have left; 0 is never',
  }),
  'async-actions-fetch-batch-size': row({
    group: 'Databases',
    type: integer('COUNT', 1, 1000),
    default: 10,
    doc: 'how many calls of asynchronous actions are taken at once',
  }),
  'events-fetch-interval': row({
    group: 'Databases',
    type: integer('MS', 0, 86_400_000),
    default: 1000,
    unit: 'ms',
    doc: 'how often databases are asked for events, of rows and scheduled ones, that webhooks are to be told of; 0 is never',
  }),
  'events-fetch-batch-size': row({
    group: 'Databases',
    type: integer('COUNT', 1, 10_000),
    default: 100,
    doc: 'how many events are taken from a database at once',
  }),
  'events-http-pool-size': row({
    group: 'Databases',
    type: integer('COUNT', 1, 10_000),
    default: 100,
    doc: 'how many webhooks are told of events of rows at the same time, and as many of scheduled events',
  }),
  'events-trigger-concurrency': row({
    group: 'Databases',
    type: integer('COUNT', 0, 10_000),
    default: 0,
    doc: 'how many events of one trigger are delivered at the same time; 0 is a quarter of --events-http-pool-size',
  }),
  'events-host-concurrency': row({
    group: 'Databases',
    type: integer('COUNT', 0, 10_000),
    default: 0,
    doc: 'how many events are delivered to one webhook host at the same time; 0 is half of --events-http-pool-size',
  }),
  'metadata-dir': row({
    group: 'Databases',
    type: text('FOLDER'),
    default: undefined,
    doc: 'a metadata directory to start with, in place of the metadata that is stored',
  }),
  'metadata-revisions': row({
    group: 'Databases',
    type: integer('COUNT', 0, 10_000),
    default: 50,
    doc: 'how many of the last versions of the metadata are kept to go back to; 0 is none',
  }),
  'schema-sync-poll-interval': row({
    group: 'Databases',
    type: integer('MS', 0, 86_400_000),
    default: 1000,
    unit: 'ms',
    doc: 'how often changes made through other replicas are looked for, besides being told; 0 is never',
  }),
  'source-check-interval': row({
    group: 'Databases',
    type: integer('SECONDS', 0, 3600),
    default: 10,
    unit: 's',
    doc: 'how often each source is checked: does its database answer, are tracked tables and functions as they were; 0 is never',
  }),
  'server-port': row({
    group: 'Server',
    type: integer('PORT', 0, 65_535),
    default: 8080,
    doc: 'port to listen on; 0 is any free one',
  }),
  'server-host': row({
    group: 'Server',
    type: text('HOST'),
    default: '*',
    doc: 'address to listen on; * is every one',
  }),
  'cors-domain': row({
    group: 'Server',
    type: text('ORIGINS'),
    default: '*',
    doc: 'origins browsers may call from, comma-separated: https://*.example.com, http://localhost:3000; * is any, without cookies',
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
    doc: 'without an admin secret: host names requests may be sent to besides localhost, IP addresses and --server-host, comma-separated, such as *.example.com; * is any',
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
    doc: 'send no CORS headers at all',
  }),
  'max-total-header-length': row({
    group: 'Server',
    type: integer('BYTES', 1024),
    default: 1_048_576,
    unit: 'bytes',
    doc: 'most bytes the headers of one request may have',
  }),
  'max-request-body-length': row({
    group: 'Server',
    type: integer('BYTES', 1024, 512 * 1024 * 1024),
    default: 100 * 1024 * 1024,
    unit: 'bytes',
    doc: 'most bytes the body of one request may have; for roles see --max-role-body-length',
  }),
  'max-role-body-length': row({
    group: 'Server',
    type: integer('BYTES', 1024, 512 * 1024 * 1024),
    default: 4 * 1024 * 1024,
    unit: 'bytes',
    doc: 'most bytes a request of a role other than admin may have: a body, or a WebSocket message',
  }),
  'max-body-bytes-in-flight': row({
    group: 'Server',
    type: integer('BYTES', 64 * 1024),
    default: undefined,
    unit: 'bytes',
    doc: 'most bytes of requests over 16 KiB the process holds at a time; more wait 5 s, then are 503. Without it, a 32nd of the heap limit',
  }),
  'request-header-timeout': row({
    group: 'Server',
    type: integer('SECONDS', 1, 3600),
    default: 10,
    unit: 's',
    doc: 'how long the headers of a request may take to arrive, from the start of its connection',
  }),
  'request-body-timeout': row({
    group: 'Server',
    type: integer('SECONDS', 1, 3600),
    default: 10,
    unit: 's',
    doc: 'how long a body may take to arrive, and a second more for each 16 KiB that have arrived',
  }),
  'trusted-proxies': row({
    group: 'Server',
    type: integer('COUNT', 0, 100),
    default: 0,
    doc: 'proxies in front that add to X-Forwarded-For; with 0 a client has the address its connection comes from',
  }),
  'websocket-keepalive': row({
    group: 'Server',
    type: integer('SECONDS', 1, 86_400),
    default: 5,
    unit: 's',
    doc: 'how often a sign of life is sent over a WebSocket',
  }),
  'websocket-connection-init-timeout': row({
    group: 'Server',
    type: integer('SECONDS', 1, 86_400),
    default: 3,
    unit: 's',
    doc: 'how long a WebSocket may take to say who it is',
  }),
  'max-unauthenticated-websockets': row({
    group: 'Server',
    type: integer('COUNT', 1),
    default: 1000,
    doc: 'most WebSockets at a time that have not said who they are',
  }),
  'max-subscriptions-per-connection': row({
    group: 'Server',
    type: integer('COUNT', 1),
    default: 100,
    doc: 'most subscriptions of one WebSocket at a time',
  }),
  'max-subscriptions-per-session': row({
    group: 'Server',
    type: integer('COUNT', 1),
    default: 500,
    doc: 'most subscriptions of clients with the same role and session variables at a time (without variables: the same address)',
  }),
  'max-subscriptions-per-role': row({
    group: 'Server',
    type: integer('COUNT', 1),
    default: 5000,
    doc: 'most subscriptions of one role other than admin at a time',
  }),
  'send-queue-length': row({
    group: 'Server',
    type: integer('BYTES', 16 * 1024),
    default: 1024 * 1024,
    unit: 'bytes',
    doc: 'a client with more bytes waiting for it is not reading: it gets the latest results only, and is cut off after --send-queue-timeout',
  }),
  'send-queue-timeout': row({
    group: 'Server',
    type: integer('SECONDS', 1, 3600),
    default: 5,
    unit: 's',
    doc: 'how long a client may leave more than that unread, and a second more for each 128 KiB of it',
  }),
  'max-queued-bytes': row({
    group: 'Server',
    type: integer('BYTES', 64 * 1024),
    default: undefined,
    unit: 'bytes',
    doc: 'bytes waiting for all clients beyond which the longest queues are cut off; without it, a quarter of the heap limit or an eighth of the memory',
  }),
  'graceful-shutdown-timeout': row({
    group: 'Server',
    type: integer('SECONDS', 0, 86_400),
    default: 60,
    unit: 's',
    doc: 'how long requests in flight may take to finish after SIGTERM or Ctrl-C',
  }),
  'admin-secret': row({
    group: 'Access',
    type: text('SECRET'),
    default: undefined,
    isSecret: true,
    doc: 'asked for in the header X-Engine-Admin-Secret; without it every request is trusted',
  }),
  'admin-secrets': row({
    group: 'Access',
    type: jsonTexts,
    default: undefined,
    isSecret: true,
    doc: 'several admin secrets, for rotation, instead of --admin-secret: ["new", "old"]',
  }),
  'jwt-secret': row({
    group: 'Access',
    type: jwtSecret,
    default: undefined,
    isSecret: true,
    doc: 'who signs the tokens of users: {"type": "RS256", "key": "…"} or {"jwk_url": "https://…"}',
  }),
  'jwt-secrets': row({
    group: 'Access',
    type: jwtSecrets,
    default: undefined,
    isSecret: true,
    doc: 'several of them, chosen by the issuer of the token, instead of --jwt-secret',
  }),
  'auth-hook': row({
    group: 'Access',
    type: text('URL'),
    default: undefined,
    doc: 'a service that is asked who sends a request, and answers with session variables',
  }),
  'auth-hook-mode': row({
    group: 'Access',
    type: oneOf(['GET', 'POST']),
    default: 'GET',
    doc: 'GET sends it the headers, POST the headers and the GraphQL request',
  }),
  'auth-hook-send-request-body': row({
    group: 'Access',
    type: flag,
    default: true,
    doc: 'with POST: whether the GraphQL request is sent, or the headers alone',
  }),
  'auth-hook-timeout': row({
    group: 'Access',
    type: integer('SECONDS', 1, 86_400),
    default: 30,
    doc: 'how long that service may take to answer; nobody it says nothing of is let in',
  }),
  'unauthorized-role': row({
    group: 'Access',
    type: text('ROLE'),
    default: undefined,
    doc: 'role of requests that bring no credentials; without it they are refused',
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
    doc: 'answer 401 to unauthenticated GraphQL requests too, instead of 200 with errors',
  }),
  'configured-header-precedence': row({
    group: 'Access',
    type: flag,
    default: false,
    doc: "an action's own headers go before those of the client that are forwarded to its webhook",
  }),
  'header-prefix': row({
    group: 'Access',
    type: headerPrefix,
    default: 'x-engine-',
    doc: 'first part of our headers and session variables, on the wire and in metadata',
  }),
  'enable-allowlist': row({
    group: 'Access',
    type: flag,
    default: false,
    doc: 'only administrators may ask what is not in a query collection on the allow list',
  }),
  'enable-remote-schema-permissions': row({
    group: 'Access',
    type: flag,
    default: true,
    doc: 'a role sees the part of a remote schema that its permission declares; with false every role sees all of it, and permissions on remote schemas are refused',
  }),
  'strict-writes': row({
    group: 'Access',
    type: flag,
    default: false,
    doc: 'updates and deletions of a role reach only rows that the role may select, too; else affected_rows can reveal rows it may write and not read',
  }),
  'count-without-aggregations': row({
    group: 'Access',
    type: flag,
    default: false,
    doc: 'a role that may select rows may count them by /v1/query, as in the reference engine; else it needs allow_aggregations, and select_aggregate where query_root_fields are listed',
  }),
  'remote-schema-prioritize-data': row({
    group: 'API',
    type: flag,
    default: false,
    doc: 'data a remote schema answers with counts, whatever errors come with it',
  }),
  'remote-schema-skip-nulls': row({
    group: 'API',
    type: flag,
    default: false,
    doc: 'arguments that are null are not sent to remote schemas',
  }),
  'remote-schema-cache-size': row({
    group: 'API',
    type: integer('BYTES', 0),
    default: 0,
    unit: 'bytes',
    doc: 'memory for answers of remote schemas that Cache-Control allows to keep; 0: none are kept',
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
    doc: 'answer bigint, numeric and double precision as strings, for clients that would round them',
  }),
  'infer-function-permissions': row({
    group: 'API',
    type: flag,
    default: true,
    doc: 'roles that may read a table may call the functions that only read and return it and have no permissions of their own; else each role needs a permission',
  }),
  'experimental-features': row({
    group: 'API',
    type: listOf([...EXPERIMENTAL_FEATURES, ...STANDING_FEATURES]),
    default: [],
    doc: `features to switch on, comma-separated, of ${EXPERIMENTAL_FEATURES.join(', ')}; on anyway are ${STANDING_FEATURES.join(', ')}`,
  }),
  'enable-apollo-federation': row({
    group: 'API',
    type: flag,
    default: false,
    doc: 'be a subgraph of a federated graph, as the feature apollo_federation says',
  }),
  'default-naming-convention': row({
    group: 'API',
    type: namingConvention,
    default: 'default',
    doc: 'how names are spelled in sources that do not say it themselves; needs the feature naming_convention',
  }),
  'disable-native-query-validation': row({
    group: 'API',
    type: flag,
    default: false,
    doc: 'track native queries without asking the database whether they are valid',
  }),
  'dev-mode': row({
    group: 'API',
    type: flag,
    default: false,
    doc: 'tell everyone the internal cause of an error; never in production',
  }),
  'admin-internal-errors': row({
    group: 'API',
    type: flag,
    default: true,
    doc: 'tell administrators the internal cause of an error',
  }),
  'metrics-secret': row({
    group: 'Observation',
    type: text('SECRET'),
    default: undefined,
    isSecret: true,
    doc: 'bearer token for /v1/metrics (API metrics); administrators may always look',
  }),
  'otlp-traces-endpoint': row({
    group: 'Observation',
    type: text('URL'),
    default: undefined,
    doc: 'where spans are sent (OTLP over HTTP, protobuf), such as http://collector:4318/v1/traces; metadata may say otherwise',
  }),
  'otlp-headers': row({
    group: 'Observation',
    type: pairs,
    default: undefined,
    isSecret: true,
    doc: 'headers to send with them',
  }),
  'traces-propagators': row({
    group: 'Observation',
    type: listOf(PROPAGATORS),
    default: ['tracecontext'],
    doc: `how webhooks are told of the trace, of ${PROPAGATORS.join(', ')}; callers may use any`,
  }),
  'log-level': row({
    group: 'Observation',
    type: oneOf(LOG_LEVELS),
    default: 'info',
    doc: 'least severe log lines to write',
  }),
  'enabled-log-types': row({
    group: 'Observation',
    type: listOf(LOG_TYPES),
    default: ['startup', 'http-log', 'webhook-log', 'websocket-log', 'jwk-refresh-log'],
    doc: `kinds of log lines to write, of ${LOG_TYPES.join(', ')}`,
  }),
} as const satisfies Record<string, OptionRow<unknown, unknown>>;

export type OptionFlag = keyof typeof OPTIONS;

type CamelCase<S extends string> = S extends `${infer Head}-${infer Tail}`
  ? `${Head}${Capitalize<CamelCase<Tail>>}`
  : S;

type ValueOf<R> = R extends OptionRow<infer T, infer D> ? (undefined extends D ? T | undefined : T) : never;

/** Every option by its camelCase name: `options.serverPort`. */
export type Options = { readonly [F in OptionFlag as CamelCase<F>]: ValueOf<(typeof OPTIONS)[F]> };

/** The variable of an option: `server-port` → `ENGINE_GRAPHQL_SERVER_PORT`. */
export function variableOf(flag: OptionFlag): string {
  return `ENGINE_GRAPHQL_${flag.replaceAll('-', '_').toUpperCase()}`;
}

/** The options that hold a connection string themselves. */
const DATABASE_OPTIONS: readonly OptionFlag[] = ['database-url', 'metadata-database-url'];

/** True when a source may connect with the variable. Other options of the engine are secrets of other things, or none. */
export function isForConnections(variable: string): boolean {
  const flags = Object.keys(OPTIONS) as OptionFlag[];
  const flag = flags.find((each) => variableOf(each) === variable);
  return flag === undefined || DATABASE_OPTIONS.includes(flag);
}

/** `server-port` → `serverPort`. */
export function nameOf(flag: string): keyof Options {
  return flag.replace(/-(.)/g, (_, letter: string) => letter.toUpperCase()) as keyof Options;
}

/** Every option that is not a secret, as set: what may be logged. Of URLs only what says where they lead. */
export function settingsOf(options: Options): Readonly<Record<string, unknown>> {
  const rows = Object.entries<OptionRow<unknown, unknown>>(OPTIONS).filter(
    ([, row]) => row.isSecret !== true,
  );
  return Object.fromEntries(rows.map(([flag]) => [flag, shown(options[nameOf(flag)])]));
}

function shown(value: unknown): unknown {
  return typeof value === 'string' && value.includes('://') ? publicUrl(value) : value;
}
