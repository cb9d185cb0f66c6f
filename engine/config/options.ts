/** OPTIONS: every setting of the engine, one row each, in the order of `--help`. Derived from it: the type `Options`,
 *  the loader (load-options.ts), `--help` (options-help.ts). A new option is a row here and the code that reads it.
 *  Not here: what an option does; the code that reads it is in the room it belongs to. */
import { LOG_TYPES } from '../observe/observation.ts';
import { PROPAGATORS } from '../observe/span-exporter.ts';
import { publicUrl } from '../observe/webhook-call.ts';
import { jwtSecret, jwtSecrets } from './jwt-secret.ts';
import {
  flag,
  headerPrefix,
  httpUrl,
  integer,
  jsonTexts,
  listeningHost,
  listOf,
  namingConvention,
  newFileUrl,
  type OptionType,
  oneOf,
  origins,
  pairs,
  paths,
  text,
  urls,
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
  'remote_relationships_in_subscriptions',
] as const;

/** Experimental features of the API family that are always on here. They are accepted and ignored. */
const ALWAYS_ON_FEATURES = [
  'inherited_roles',
  'streaming_subscriptions',
  'optimize_permission_filters',
] as const;

/** Experimental features of the API family that do not exist here. They are accepted with a warning. */
const FEATURES_WITHOUT_EFFECT = [
  'bigquery_string_numeric_input',
  'remove_empty_subscription_responses',
  'no_null_unbound_variable_default',
] as const;

/** Log types of the API family that do not exist here or cannot be left out. They are accepted with a warning. */
const LOG_TYPES_WITHOUT_EFFECT = [
  ...['data-connector-log', 'telemetry-log', 'health-check-log', 'pg-client', 'metadata', 'unstructured'],
  ...['event-trigger-process', 'scheduled-trigger-process'],
  ...['cron-event-generator-process', 'ws-server', 'schema-sync', 'schema-sync-thread'],
  'source-catalog-migration',
] as const;

const LOG_LEVELS = ['debug', 'info', 'warn', 'error'] as const;

export const OPTION_GROUPS = ['Databases', 'Server', 'Access', 'API', 'Observation'] as const;

export type OptionRow<T, D = T | undefined> = {
  readonly group: (typeof OPTION_GROUPS)[number];
  readonly type: OptionType<T>;
  /** `undefined` when the option has no default. */
  readonly default: D;
  readonly doc: string;
  /** True for values that are never printed or logged. */
  readonly isSecret?: true;
  /** Other names of the flag in the API family, without dashes. */
  readonly alsoFlags?: readonly string[];
  /** Other names of the variable in the API family, without the prefix. */
  readonly alsoVariables?: readonly string[];
  /** A variable with a name of its own, which is read after the one that follows from the flag. */
  readonly ownVariable?: string;
  /** The value of a variable that is set to the empty text. By default such a variable counts as not set. */
  readonly whenEmpty?: T;
};

type Settings<T, D> = Omit<OptionRow<T, D>, 'group' | 'type' | 'default'> & { readonly default?: D };

const row = <T, const D extends T | undefined = undefined>(
  group: OptionRow<T>['group'],
  type: OptionType<T>,
  settings: Settings<T, D>,
): OptionRow<T, D> => ({ group, type, default: undefined as D, ...settings });

/** The options by flag, without the leading dashes. */
export const OPTIONS = {
  'database-url': row('Databases', text('URL'), {
    isSecret: true,
    doc: 'the Postgres to serve, as the source `default`: postgres://user:password@host:5432/database',
  }),
  'metadata-database-url': row('Databases', text('URL'), {
    isSecret: true,
    doc: 'the Postgres that stores the metadata; without it, the one of --database-url; dynamic-from-file:///PATH reads the URL from a file, again for each new connection',
  }),
  'metadata-database-extensions-schema': row('Databases', text('SCHEMA'), {
    default: 'public',
    doc: 'schema in which pgcrypto is created in the metadata database if a source is there that names no `extensions_schema`',
  }),
  'dynamic-secrets-path': row('Databases', paths, {
    default: [],
    alsoVariables: ['DYNAMIC_SECRETS_ALLOWED_PATH_PREFIX'],
    doc: 'folders of files that metadata may read: database URLs (`dynamic_from_file`), other secrets (`from_file`); without it, no file may be read',
  }),
  'values-key': row('Databases', text('KEY'), {
    isSecret: true,
    doc: 'the key that encrypts named values in the metadata database, at least 32 characters (openssl rand -base64 32); several, comma-separated, while rotating: the first encrypts, all decrypt',
  }),
  'values-key-file': row('Databases', text('PATH'), {
    doc: 'a file with such keys, one a line, which may be created later; they come before those of --values-key, and the file is read again when values change',
  }),
  'read-replica-urls': row('Databases', urls, {
    default: [],
    isSecret: true,
    alsoFlags: ['read-replica-url'],
    alsoVariables: ['READ_REPLICA_URL'],
    doc: 'read replicas of the database of --database-url, comma-separated; for a source in the metadata see `read_replicas`',
  }),
  'pg-connections': row('Databases', integer('COUNT', 1, 10_000), {
    default: 50,
    alsoFlags: ['connections', 'c'],
    doc: 'maximum number of connections to each source that sets none',
  }),
  'connections-per-read-replica': row('Databases', integer('COUNT', 1, 10_000), {
    doc: 'maximum number of connections to each database of --read-replica-urls; without it, --pg-connections',
  }),
  'pg-timeout': row('Databases', integer('SECONDS', 0, 86_400), {
    default: 180,
    alsoFlags: ['timeout'],
    doc: 'time after which an unused connection is closed, for sources that set no `idle_timeout`',
  }),
  'pg-conn-lifetime': row('Databases', integer('SECONDS', 0, 31_536_000), {
    default: 600,
    alsoFlags: ['conn-lifetime'],
    doc: 'age at which a connection is closed, for sources that set no `connection_lifetime`; 0 is never',
  }),
  'pg-pool-timeout': row('Databases', integer('SECONDS', 0, 86_400), {
    default: 0,
    alsoFlags: ['pool-timeout'],
    alsoVariables: ['POOL_TIMEOUT'],
    doc: 'time that a statement waits for a connection, for sources that set no `pool_timeout`; 0 is without limit',
  }),
  'no-of-retries': row('Databases', integer('COUNT', 0, 1000), {
    default: 1,
    alsoFlags: ['retries'],
    doc: 'number of times that opening a connection is tried again, for sources that set no `retries`',
  }),
  'use-prepared-statements': row('Databases', flag, {
    default: true,
    doc: 'prepare statements, in sources that do not set `use_prepared_statements`; with false the engine works behind PgBouncer in transaction mode',
  }),
  'tx-isolation': row('Databases', oneOf(['read-committed', 'repeatable-read', 'serializable']), {
    default: 'read-committed',
    alsoFlags: ['tx-iso', 'i'],
    doc: 'isolation level of transactions, in sources that set no `isolation_level`',
  }),
  'pg-max-waiting': row('Databases', integer('COUNT', 1, 1_000_000), {
    default: 10_000,
    doc: 'maximum number of statements and transactions that wait for a connection to one source; more are refused at once',
  }),
  'default-time-limit': row('Databases', integer('SECONDS', 0, 86_400), {
    default: 60,
    doc: 'time limit of a statement of a role that has no time limit in the metadata; administrators have none; 0 disables it',
  }),
  'live-queries-multiplexed-refetch-interval': row('Databases', integer('MS', 10, 86_400_000), {
    default: 1000,
    doc: 'interval at which live queries are polled',
  }),
  'live-queries-multiplexed-batch-size': row('Databases', integer('COUNT', 1, 10_000), {
    default: 100,
    doc: 'maximum number of live queries in one statement; they differ only in their values',
  }),
  'streaming-queries-multiplexed-batch-size': row('Databases', integer('COUNT', 1, 10_000), {
    default: 100,
    doc: 'maximum number of streaming subscriptions in one statement',
  }),
  'streaming-queries-multiplexed-refetch-interval': row('Databases', integer('MS', 10, 86_400_000), {
    default: 1000,
    doc: 'interval at which streaming subscriptions fetch their next batch',
  }),
  'async-actions-fetch-interval': row('Databases', integer('MS', 0, 86_400_000), {
    default: 1000,
    doc: 'interval of the search for asynchronous action calls that other replicas have not finished; 0 disables it',
  }),
  'async-actions-fetch-batch-size': row('Databases', integer('COUNT', 1, 1000), {
    default: 10,
    doc: 'maximum number of asynchronous action calls that are fetched at once',
  }),
  'events-fetch-interval': row('Databases', integer('MS', 0, 86_400_000), {
    default: 1000,
    doc: 'interval at which databases are polled for row events and scheduled events to deliver; 0 disables delivery',
  }),
  'events-fetch-batch-size': row('Databases', integer('COUNT', 0, 10_000), {
    default: 100,
    doc: 'maximum number of events that are fetched from a database at once; 0 disables delivery',
  }),
  'events-http-pool-size': row('Databases', integer('COUNT', 1, 10_000), {
    default: 100,
    doc: 'maximum number of row events that are delivered at the same time, and the same number of scheduled events',
  }),
  'events-trigger-concurrency': row('Databases', integer('COUNT', 0, 10_000), {
    default: 0,
    doc: 'maximum number of events of one trigger that are delivered at the same time; 0 is a quarter of --events-http-pool-size',
  }),
  'events-host-concurrency': row('Databases', integer('COUNT', 0, 10_000), {
    default: 0,
    doc: 'maximum number of events that are delivered to one webhook host at the same time; 0 is half of --events-http-pool-size',
  }),
  'metadata-dir': row('Databases', text('FOLDER'), {
    doc: 'a metadata directory that replaces the stored metadata at startup',
  }),
  'migrations-dir': row('Databases', text('FOLDER'), {
    doc: 'migrations that run at startup, before the metadata of --metadata-dir: a folder for each source, or those of the source `default`',
  }),
  'migrations-database-env-var': row('Databases', text('NAME'), {
    doc: 'with --migrations-dir: the variable with the URL of the database of the source `default`; without it, the one of the metadata or --database-url',
  }),
  'metadata-revisions': row('Databases', integer('COUNT', 0, 10_000), {
    default: 50,
    doc: 'number of previous metadata versions to keep for a rollback; 0 keeps none',
  }),
  'field-usage-days': row('Databases', integer('DAYS', 0, 366), {
    default: 30,
    doc: 'number of days for which the metadata database has counts of the fields that each operation of each client uses; 0 counts nothing',
  }),
  'enable-maintenance-mode': row('Databases', flag, {
    default: false,
    doc: 'refuse every operation that changes metadata, and `run_sql` that may change the schema',
  }),
  'schema-sync-poll-interval': row('Databases', integer('MS', 0, 86_400_000), {
    default: 1000,
    doc: 'interval of the check for changes by other replicas, in addition to notifications; 0 disables it',
  }),
  'source-check-interval': row('Databases', integer('SECONDS', 0, 3600), {
    default: 10,
    doc: 'interval of the checks that each database answers and that tracked tables and functions are unchanged; with 0, only after a statement failed as if they had changed',
  }),
  'server-port': row('Server', integer('PORT', 0, 65_535), {
    default: 8080,
    doc: 'port to listen on; 0 is any free port',
  }),
  'server-host': row('Server', listeningHost, {
    default: '*',
    doc: 'address to listen on; * is all addresses, *4 all of IPv4 and *6 all of IPv6',
  }),
  'cors-domain': row('Server', origins, {
    default: '*',
    whenEmpty: '',
    doc: 'origins that browsers may call from, comma-separated: https://*.example.com, http://localhost:3000; * is any origin, without cookies',
  }),
  'cors-any-origin-credentials': row('Server', flag, {
    default: false,
    doc: 'with `*` in --cors-domain: let pages of any origin send cookies and read the answers',
  }),
  'allowed-hosts': row('Server', text('HOSTS'), {
    doc: 'without an admin secret: host names accepted in requests besides localhost, IP addresses and --server-host, comma-separated, such as *.example.com; * is any name',
  }),
  'loopback-hosts': row('Server', text('HOSTS'), {
    default: '*',
    doc: 'hosts of services and databases that may be on the machine of the engine, comma-separated, such as localhost,127.0.0.1; * is any name, also one that DNS resolves to a loopback address',
  }),
  'allow-simple-requests': row('Server', flag, {
    default: false,
    doc: 'accept POST requests and mutations that a page of any origin can send without a preflight',
  }),
  'disable-cors': row('Server', flag, {
    default: false,
    doc: 'send no CORS headers',
  }),
  'ws-read-cookie': row('Server', flag, {
    default: false,
    doc: 'with --disable-cors: let WebSockets of every origin authenticate by cookie; only behind a proxy that checks origins',
  }),
  'max-total-header-length': row('Server', integer('BYTES', 1024), {
    default: 1_048_576,
    doc: 'maximum size of all headers of a request',
  }),
  'max-request-body-length': row('Server', integer('BYTES', 1024, 512 * 1024 * 1024), {
    default: 100 * 1024 * 1024,
    doc: 'maximum size of a request body; for roles other than admin see --max-role-body-length',
  }),
  'max-role-body-length': row('Server', integer('BYTES', 1024, 512 * 1024 * 1024), {
    default: 4 * 1024 * 1024,
    doc: 'maximum size of a request body or a WebSocket message of a role other than admin',
  }),
  'max-role-response-length': row('Server', integer('BYTES', 1024, 1024 * 1024 * 1024), {
    default: 32 * 1024 * 1024,
    doc: 'maximum size of a response to a role other than admin, over HTTP and over a WebSocket; response_limit of the metadata replaces it for its roles',
  }),
  'max-request-fields': row('Server', integer('COUNT', 8_000, 1_000_000), {
    default: 20_000,
    doc: 'maximum number of fields that one request, or all requests of a batch, select with fragments expanded; a field with a selection counts as 5, one of introspection as 20, a list of all types as 1000, ten input values as one',
  }),
  'max-request-inputs': row('Server', integer('COUNT', 1_000, 10_000_000), {
    default: 200_000,
    doc: 'maximum number of input values in one request of a role other than admin; a condition counts as 20, and a list of scalars in a variable as one value; at most three times as many objects, lists and numbers like 1.0 are in a body of more than 256 KiB',
  }),
  'max-batch-operations': row('Server', integer('COUNT', 1, 1_000_000), {
    default: 1_000,
    doc: 'maximum number of requests in one body, for roles without a batch limit in the metadata',
  }),
  'max-body-bytes-in-flight': row('Server', integer('BYTES', 64 * 1024), {
    doc: 'maximum size of all requests over 16 KiB that the process holds at a time; more wait 5 s and are then refused with 503; without it, a 32nd of the heap limit, or a 64th of the memory if that is less',
  }),
  'request-header-timeout': row('Server', integer('SECONDS', 1, 3600), {
    default: 10,
    doc: 'time limit for the headers of a request to arrive, from the start of its connection',
  }),
  'request-body-timeout': row('Server', integer('SECONDS', 1, 3600), {
    default: 10,
    doc: 'time limit for a request body to arrive; each 16 KiB that have arrived extend it by a second',
  }),
  'trusted-proxies': row('Server', integer('COUNT', 0, 100), {
    default: 0,
    doc: 'number of proxies in front that append to X-Forwarded-For; with 0, the address of a client is that of its connection',
  }),
  'websocket-keepalive': row('Server', integer('SECONDS', 1, 86_400), {
    default: 5,
    doc: 'interval of keep-alive messages on a WebSocket',
  }),
  'websocket-connection-init-timeout': row('Server', integer('SECONDS', 1, 86_400), {
    default: 3,
    doc: 'time limit for a WebSocket to send connection_init',
  }),
  'max-unauthenticated-websockets': row('Server', integer('COUNT', 1), {
    default: 1000,
    doc: 'maximum number of WebSockets that have not authenticated yet',
  }),
  'max-subscriptions-per-connection': row('Server', integer('COUNT', 1), {
    default: 100,
    doc: 'maximum number of subscriptions on one WebSocket',
  }),
  'max-subscriptions-per-session': row('Server', integer('COUNT', 1), {
    default: 500,
    doc: 'maximum number of subscriptions of clients with the same role and session variables, or without variables, with the same address',
  }),
  'max-subscriptions-per-role': row('Server', integer('COUNT', 1), {
    default: 5000,
    doc: 'maximum number of subscriptions of one role other than admin',
  }),
  'send-queue-length': row('Server', integer('BYTES', 16 * 1024), {
    default: 1024 * 1024,
    doc: 'number of unsent bytes from which a client counts as not reading: it receives only the latest results, and is disconnected after --send-queue-timeout',
  }),
  'send-queue-timeout': row('Server', integer('SECONDS', 1, 3600), {
    default: 5,
    doc: 'time a client may leave more bytes than that unread; each 128 KiB of them extend it by a second',
  }),
  'max-queued-bytes': row('Server', integer('BYTES', 64 * 1024), {
    doc: 'number of unsent bytes of all clients above which the clients with the longest queues are disconnected; without it, a quarter of the heap limit or an eighth of the memory, whichever is less',
  }),
  'shutdown-delay': row('Server', integer('SECONDS', 0, 3600), {
    default: 0,
    doc: 'time after SIGTERM in which requests are still accepted, because load balancers notice the end of a replica late; each answer ends its connection, and /healthz fails',
  }),
  'graceful-shutdown-timeout': row('Server', integer('SECONDS', 0, 86_400), {
    default: 60,
    doc: 'time limit for requests in flight to finish after SIGTERM and --shutdown-delay, or after Ctrl-C',
  }),
  'admin-secret': row('Access', text('SECRET'), {
    isSecret: true,
    alsoFlags: ['access-key'],
    alsoVariables: ['ACCESS_KEY'],
    doc: 'the admin secret, sent in the header X-Engine-Admin-Secret; without it every request is trusted',
  }),
  'admin-secrets': row('Access', jsonTexts, {
    isSecret: true,
    doc: 'several admin secrets, for rotation, in place of --admin-secret: ["new", "old"]',
  }),
  'admin-secret-path': row('Access', text('PATH'), {
    doc: 'a folder in which every file contains an admin secret, read again when it changes: for rotation without a restart',
  }),
  'console-secret': row('Access', text('SECRET'), {
    isSecret: true,
    doc: 'a secret for the console, sent in the header X-Engine-Console-Secret: it reads what the pages show, runs queries and subscriptions as a role, and changes nothing',
  }),
  'console-secret-path': row('Access', text('PATH'), {
    doc: 'a folder in which every file contains a console secret, read again when it changes',
  }),
  'jwt-secret': row('Access', jwtSecret, {
    isSecret: true,
    doc: 'the key that verifies the tokens of users: {"type": "RS256", "key": "…"} or {"jwk_url": "https://…"}',
  }),
  'jwt-secrets': row('Access', jwtSecrets, {
    isSecret: true,
    doc: 'several JWT secrets, selected by the issuer of the token, in place of --jwt-secret',
  }),
  'auth-hook': row('Access', httpUrl, {
    doc: 'an HTTP service that authenticates requests and answers with session variables',
  }),
  'auth-hook-mode': row('Access', oneOf(['GET', 'POST']), {
    default: 'GET',
    doc: 'GET sends the hook the headers, POST the headers and the GraphQL request',
  }),
  'auth-hook-send-request-body': row('Access', flag, {
    default: true,
    doc: 'with POST: send the GraphQL request to the hook, not only the headers',
  }),
  'auth-hook-timeout': row('Access', integer('SECONDS', 1, 86_400), {
    default: 30,
    doc: 'time limit of the hook; a request is refused when the hook does not answer',
  }),
  'unauthorized-role': row('Access', text('ROLE'), {
    doc: 'role of requests without credentials; without it they are refused',
  }),
  'unauthorized-session-variables': row('Access', flag, {
    default: false,
    doc: 'take the session variables of the unauthorized role from the headers of its requests, which any client can set',
  }),
  'preserve-401-errors': row('Access', flag, {
    default: false,
    doc: 'answer unauthenticated GraphQL requests with status 401 instead of 200',
  }),
  'configured-header-precedence': row('Access', flag, {
    default: false,
    doc: 'the headers configured for an action override the forwarded headers of the client',
  }),
  'header-prefix': row('Access', headerPrefix, {
    default: 'x-engine-',
    doc: "prefix of the engine's headers and session variables, on the wire and in metadata",
  }),
  'enable-allowlist': row('Access', flag, {
    default: false,
    doc: 'roles other than admin may only run queries of a query collection on the allow list',
  }),
  'enable-remote-schema-permissions': row('Access', flag, {
    default: true,
    doc: 'a role has access to the part of a remote schema that its permission declares; with false every role has access to all of it, and permissions on remote schemas are refused',
  }),
  'strict-writes': row('Access', flag, {
    default: false,
    doc: 'updates and deletions of a role affect only rows that the role may also select; otherwise affected_rows can reveal rows it may write but not read',
  }),
  'strict-returning': row('Access', flag, {
    default: false,
    doc: 'rows that a mutation returns are only those that the role may also select; otherwise they are all the rows it wrote',
  }),
  'count-without-aggregations': row('Access', flag, {
    default: false,
    doc: 'a role that may select rows may count them with /v1/query, as in Hasura; otherwise it needs allow_aggregations, and select_aggregate if query_root_fields are listed',
  }),
  compatibility: row('API', oneOf(['safe', 'reference']), {
    default: 'safe',
    ownVariable: 'ENGINE_COMPATIBILITY',
    doc: 'reference: the behaviour of Hasura for every option whose default differs and that is not set; safe: the defaults of this list',
  }),
  'remote-schema-prioritize-data': row('API', flag, {
    default: false,
    doc: 'return the data of a remote schema even if it also answers with errors',
  }),
  'remote-schema-skip-nulls': row('API', flag, {
    default: false,
    doc: 'send no arguments with the value null to remote schemas',
  }),
  'max-remote-schema-size': row('API', integer('COUNT', 1000, 10_000_000), {
    default: 100_000,
    doc: 'maximum number of types, fields, arguments and values of a remote schema, whose introspection has at most 256 bytes for each; a larger one is inconsistent',
  }),
  'remote-schema-cache-size': row('API', integer('BYTES', 0), {
    default: 0,
    doc: 'memory for answers of remote schemas that Cache-Control allows to cache; 0 disables the cache',
  }),
  'enabled-apis': row('API', listOf(API_NAMES), {
    default: ['metadata', 'graphql', 'pgdump', 'config'],
    doc: `APIs to serve, comma-separated, of ${API_NAMES.join(', ')}; metadata includes explain`,
  }),
  'enable-console': row('API', flag, {
    default: false,
    doc: 'serve the console at /console',
  }),
  'console-mode': row('API', oneOf(['read-only', 'edit']), {
    default: 'read-only',
    doc: 'whether the pages of the console may change anything: in read-only they run no mutation',
  }),
  'console-new-file-url': row('API', newFileUrl, {
    doc: 'address of a form that creates a file in the repository of the resources, with {name} and {text} where these belong; the page Change links to it',
  }),
  'stringify-numeric-types': row('API', flag, {
    default: false,
    doc: 'return bigint, numeric and double precision as strings, for clients that would round them',
  }),
  'v1-boolean-null-collapse': row('API', flag, {
    default: false,
    doc: 'an operator whose value is null is true, also in mutations, where it can then match every row; for clients of version 1',
  }),
  'null-in-nonnullable-variables': row('API', flag, {
    default: false,
    alsoVariables: ['BACKWARDS_COMPAT_NULL_IN_NONNULLABLE_VARIABLES'],
    doc: 'accept null as the value of a variable whose type is not nullable, where the argument is nullable',
  }),
  'infer-function-permissions': row('API', flag, {
    default: true,
    doc: 'a role that may select from a table may call functions that only read and return its rows and have no permissions of their own; with false each role needs a permission',
  }),
  'experimental-features': row(
    'API',
    listOf([...EXPERIMENTAL_FEATURES, ...ALWAYS_ON_FEATURES], FEATURES_WITHOUT_EFFECT),
    {
      default: [],
      doc: `features to enable, comma-separated, of ${EXPERIMENTAL_FEATURES.join(', ')}; always enabled are ${ALWAYS_ON_FEATURES.join(', ')}`,
    },
  ),
  'enable-apollo-federation': row('API', flag, {
    default: false,
    doc: 'act as a subgraph of a federated graph; the same as the feature apollo_federation',
  }),
  'default-naming-convention': row('API', namingConvention, {
    default: 'default',
    doc: 'naming convention of sources that set none; needs the feature naming_convention',
  }),
  'disable-native-query-validation': row('API', flag, {
    default: false,
    doc: 'track native queries without validating them in the database',
  }),
  'dev-mode': row('API', flag, {
    default: false,
    doc: 'include the internal cause of an error in every answer; never use it in production',
  }),
  'admin-internal-errors': row('API', flag, {
    default: true,
    doc: 'include the internal cause of an error in answers to administrators',
  }),
  'metrics-secret': row('Observation', text('SECRET'), {
    isSecret: true,
    doc: 'bearer token for /v1/metrics (API metrics); administrators have access without it',
  }),
  'otlp-traces-endpoint': row('Observation', httpUrl, {
    doc: 'the collector that spans are sent to (OTLP over HTTP, protobuf), such as http://collector:4318/v1/traces; metadata can override it',
  }),
  'otlp-metrics-endpoint': row('Observation', httpUrl, {
    doc: 'the collector that metrics are sent to once a minute, such as http://collector:4318/v1/metrics; needs the API metrics; metadata can override it',
  }),
  'otlp-logs-endpoint': row('Observation', httpUrl, {
    doc: 'the collector that lines of the log are sent to, such as http://collector:4318/v1/logs; metadata can override it',
  }),
  'otlp-headers': row('Observation', pairs, {
    isSecret: true,
    doc: 'headers of requests to the collector',
  }),
  'traces-propagators': row('Observation', listOf(PROPAGATORS), {
    default: ['tracecontext'],
    doc: `header formats that pass a trace on to webhooks, of ${PROPAGATORS.join(', ')}; callers may use any of them`,
  }),
  'log-level': row('Observation', oneOf(LOG_LEVELS), {
    default: 'info',
    doc: 'minimum level of log lines',
  }),
  'enabled-log-types': row('Observation', listOf(LOG_TYPES, LOG_TYPES_WITHOUT_EFFECT), {
    default: ['startup', 'http-log', 'webhook-log', 'websocket-log', 'jwk-refresh-log'],
    doc: `types of log lines to write, of ${LOG_TYPES.join(', ')}`,
  }),
} as const satisfies Record<string, OptionRow<unknown, unknown>>;

export type OptionFlag = keyof typeof OPTIONS;

/** Options of Hasura that are accepted and have no effect, by flag, with the reason. A list of variables replaces
 *  the one that follows from the flag. */
export const WITHOUT_EFFECT: Readonly<Record<string, { why: string; variables?: readonly string[] }>> = {
  stripes: { why: 'a source has one pool', variables: ['PG_STRIPES'] },
  s: { why: 'the short form of `--stripes`', variables: [] },
  'stripes-per-read-replica': { why: 'a database has one pool' },
  'query-plan-cache-size': { why: 'the plan cache is bounded by memory' },
  'metadata-defaults': { why: 'it holds defaults for other kinds of databases' },
  'pg-ssl-certificate-path': { why: 'certificates are read from variables and never written to files' },
  'enable-telemetry': { why: 'the engine sends no telemetry' },
  'console-assets-dir': { why: 'the console is part of the engine' },
  'console-sentry-dsn': { why: 'the console reports to nobody' },
  'enable-compression': { why: 'compression is always on where clients accept it' },
  'websocket-compression': {
    why: 'messages are not compressed, because that costs memory for each connection',
    variables: ['CONNECTION_COMPRESSION'],
  },
  'disable-close-websockets-on-metadata-change': {
    why: 'subscriptions go on after a change of the metadata',
    variables: ['CLOSE_WEBSOCKETS_ON_METADATA_CHANGE'],
  },
  'enable-metadata-query-logging': { why: 'admin operations may hold secrets and are never logged' },
  'enable-triggers-error-log-level': { why: 'a failed delivery is an error in the log' },
  'enable-log-compression': { why: 'the log goes to standard output' },
  'enable-persisted-queries': { why: 'clients fall back to sending the text' },
  'persisted-queries-ttl': { why: 'see `--enable-persisted-queries`' },
  'query-cache-max-ttl': {
    why: 'the cache has no upper bound for `ttl`',
    variables: ['CACHE_MAX_ENTRY_TTL'],
  },
  'max-cache-size': { why: 'see `--remote-schema-cache-size`' },
  'redis-url': { why: 'nothing is kept in Redis' },
  'redis-timeout': { why: 'nothing is kept in Redis' },
  'redis-tls-hostname': { why: 'nothing is kept in Redis' },
  'redis-tls-shared-ca-store-path': { why: 'nothing is kept in Redis' },
  'redis-use-tls': { why: 'nothing is kept in Redis' },
  'caching-redis-pool-size': { why: 'nothing is kept in Redis' },
  'rate-limit-redis-url': { why: 'each replica counts by itself' },
  'rate-limit-redis-tls-hostname': { why: 'each replica counts by itself' },
  'rate-limit-redis-use-tls': { why: 'each replica counts by itself' },
  'rate-limit-redis-pool-size': { why: 'each replica counts by itself' },
  'metrics-enable-high-cardinality-labels': { why: 'labels have few values' },
  'trace-sql-query': { why: 'traces hold no query texts', variables: ['ENABLE_QUERY_TRACING'] },
  'sso-providers': { why: 'the console needs the admin secret' },
  'ee-license-key': { why: 'there is one edition' },
  'bigquery-string-numeric-input': { why: 'there is no such source' },
  'enable-relay': { why: 'Relay is always served' },
  'migrations-server-port': { why: 'migrations at startup need no server' },
  'migrations-server-timeout': { why: 'see `--migrations-server-port`' },
};

/** Returns the variables of an option without effect. */
export function variablesWithoutEffect(flag: string): readonly string[] {
  const suffixes = WITHOUT_EFFECT[flag]?.variables ?? [suffixOf(flag)];
  return suffixes.map((suffix) => FOREIGN_PREFIX + suffix);
}

type CamelCase<S extends string> = S extends `${infer Head}-${infer Tail}`
  ? `${Head}${Capitalize<CamelCase<Tail>>}`
  : S;

type ValueOf<R> = R extends OptionRow<infer T, infer D> ? (undefined extends D ? T | undefined : T) : never;

/** The options by camelCase name: `options.serverPort`. */
export type Options = { readonly [F in OptionFlag as CamelCase<F>]: ValueOf<(typeof OPTIONS)[F]> };

/** Returns the variable of an option: `server-port` → `ENGINE_GRAPHQL_SERVER_PORT`. */
export function variableOf(flag: OptionFlag): string {
  return `ENGINE_GRAPHQL_${suffixOf(flag)}`;
}

/** Returns all variables of an option; the first one that is set counts. Those of Hasura come last. */
export function variablesOf(flag: OptionFlag): readonly string[] {
  const { alsoVariables = [], ownVariable }: OptionRow<unknown, unknown> = OPTIONS[flag];
  const suffixes = [suffixOf(flag), ...alsoVariables];
  const names = ['ENGINE_GRAPHQL_', FOREIGN_PREFIX].map((prefix) =>
    suffixes.map((suffix) => prefix + suffix),
  );
  return [...names[0]!, ...(ownVariable === undefined ? [] : [ownVariable]), ...names[1]!];
}

/** The prefix of the variables of Hasura. */
export const FOREIGN_PREFIX = 'HASURA_GRAPHQL_';

function suffixOf(flag: string): string {
  return flag.replaceAll('-', '_').toUpperCase();
}

/** The options that are connection strings. */
const DATABASE_OPTIONS: readonly OptionFlag[] = [
  'database-url',
  'metadata-database-url',
  'read-replica-urls',
];

/** True when a source may read its connection string from the variable. The engine's other options are not for
 *  connections. */
export function isForConnections(variable: string): boolean {
  const flags = Object.keys(OPTIONS) as OptionFlag[];
  const flag = flags.find((each) => variablesOf(each).includes(variable));
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
