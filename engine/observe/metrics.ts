/** METRICS: every metric of the engine, one row each. Label values come from fixed lists, or are names that an
 *  administrator has given (sources), so no client can create a series. Derived from it: the metrics of prom-client
 *  (registry.ts), docs/reference/metrics.md.
 *  Not here: when a metric changes (measure.ts, http/metrics.ts), metrics of the process (prom-client's default
 *  metrics). Reference: docs/reference/behaviour/observability.md. */

export type MetricRow = {
  readonly type: 'counter' | 'gauge' | 'histogram';
  readonly doc: string;
  readonly labels: readonly string[];
};

const rowOf =
  <T extends MetricRow['type']>(type: T) =>
  <const L extends readonly string[]>(doc: string, ...labels: L) => ({ type, doc, labels });
const counter = rowOf('counter');
const gauge = rowOf('gauge');
const histogram = rowOf('histogram');

export const METRICS = {
  pergola_graphql_requests_total: counter(
    'GraphQL operations answered, by type (query, mutation, subscription, or unknown if refused before parsing), transport (http, rest, websocket) and result (success, failed). A subscription counts when it starts.',
    'operation_type',
    'transport',
    'response_status',
  ),
  pergola_graphql_execution_time_seconds: histogram(
    'Time from a GraphQL operation to its answer, without subscriptions.',
    'operation_type',
  ),
  pergola_graphql_errors_total: counter('Errors in answers to GraphQL operations, by code.', 'code'),
  pergola_limits_exceeded_total: counter(
    'Operations refused by a limit: depth, node, batch, rate, time, response, memory, subscriptions.',
    'limit',
  ),
  pergola_overload_refusals_total: counter(
    'Requests and WebSockets refused or closed by a limit of the process: body-length, bytes-in-flight, body-time, message-length, unauthenticated-sockets, slow-client, queued-bytes.',
    'limit',
  ),
  pergola_request_bytes_in_flight: gauge('Bytes of requests over 16 KiB that are being read or answered.'),
  pergola_answer_bytes_in_flight: gauge(
    'Bytes of results and answers over 16 KiB from their arrival until clients have received them.',
  ),
  pergola_queued_bytes: gauge('Bytes of responses and WebSocket messages that wait to be sent.'),
  pergola_refused_queries_total: counter(
    'Operations refused because they are not on the allow list, or use introspection where it is disabled.',
    'reason',
  ),
  pergola_unexpected_errors_total: counter('Unexpected errors; the log contains their cause.'),
  pergola_http_requests_total: counter(
    'HTTP requests answered, by endpoint (other: an unknown path) and status class, such as 2xx.',
    'endpoint',
    'status',
  ),
  pergola_http_request_seconds: histogram(
    'Time from a request until its response is handed to the socket.',
    'endpoint',
  ),
  pergola_http_response_bytes_total: counter(
    'Bytes of response bodies as sent, that is, after compression.',
    'endpoint',
  ),
  pergola_http_requests_in_flight: gauge('HTTP requests without a complete response.'),
  pergola_websocket_connections: gauge('Open WebSockets.'),
  pergola_active_subscriptions: gauge('Running subscriptions.'),
  pergola_subscription_pollers: gauge('Distinct statements that are polled for running subscriptions.'),
  pergola_remote_subscriptions: gauge(
    'Subscriptions forwarded to remote schemas, each with its own connection.',
  ),
  pergola_postgres_statement_seconds: histogram(
    'Time from sending a statement (begin and commit included), or from the answer before it, to its answer.',
    'source',
  ),
  pergola_postgres_connections: gauge(
    'Connections to a source, by state: active, idle, or opening.',
    'source',
    'state',
  ),
  pergola_postgres_connections_limit: gauge('Maximum number of connections to a source.', 'source'),
  pergola_postgres_waiting: gauge('Statements and transactions that wait for a connection.', 'source'),
  pergola_postgres_wait_seconds: histogram(
    'Time that statements and transactions waited for a connection, if they had to, including the opening of new connections.',
    'source',
  ),
  pergola_postgres_wait_timeouts_total: counter(
    'Waits for a connection that timed out or were refused.',
    'source',
  ),
  pergola_postgres_connections_opened_total: counter('Connections opened.', 'source'),
  pergola_postgres_connection_errors_total: counter('Connections that could not be opened.', 'source'),
  pergola_plan_cache_requests_total: counter(
    'Requests whose plan was cached (hit) or was built (miss).',
    'result',
  ),
  pergola_plan_cache_plans: gauge('Cached plans.'),
  pergola_cache_bytes: gauge(
    'Estimated bytes of what is cached: plans, documents, and answers of remote schemas.',
    'cache',
  ),
  pergola_cache_limit_bytes: gauge('Maximum of pergola_cache_bytes for all caches together.'),
  pergola_usage_uncounted_requests_total: counter(
    'GraphQL operations that are missing in the counts of field usage by operation and client, because a limit is reached.',
  ),
  pergola_remote_cache_requests_total: counter(
    'Requests to remote schemas answered from the cache (hit) or not (miss), if --remote-schema-cache-size is set.',
    'result',
  ),
  pergola_jwk_refreshes_total: counter(
    'Fetches of the keys of identity providers, by result: success or failed.',
    'result',
  ),
  pergola_webhook_requests_total: counter(
    'Requests to external services, by purpose (auth-hook, input-validation, …) and status class, or error without a response.',
    'purpose',
    'status',
  ),
  pergola_webhook_seconds: histogram(
    'Time from a request to an external service to its response.',
    'purpose',
  ),
  pergola_events_total: counter(
    'Deliveries of events, by trigger (row, cron, one_off, declared) and outcome: delivered, again (to be retried), failed (no retry left), or dead (later than its tolerance).',
    'trigger',
    'outcome',
  ),
  pergola_event_wait_seconds: histogram('Time from when an event was due to its delivery.', 'trigger'),
  pergola_events_in_flight: gauge(
    'Events that are being delivered: row (event triggers), or scheduled (cron triggers, one-off events, cleanups).',
    'kind',
  ),
  pergola_events_full_triggers: gauge(
    'Triggers with the maximum number of deliveries in flight; their other events wait.',
    'kind',
  ),
  pergola_spans_total: counter('Spans of traces, by result: sent to the collector, or dropped.', 'result'),
  pergola_metadata_resource_version: gauge('Resource version of the metadata that is served.'),
  pergola_named_values: gauge(
    'Named values in the metadata database, by status (usable, key_missing, damaged).',
    'status',
  ),
  pergola_metadata_inconsistent_objects: gauge('Inconsistent metadata objects, damaged ones included.'),
  pergola_metadata_damaged_objects: gauge('Objects of the stored metadata that the engine cannot parse.'),
  pergola_source_up: gauge(
    '1 if the database of the source answered the last introspection, otherwise 0.',
    'source',
  ),
} as const satisfies Record<string, MetricRow>;

export type EngineMetric = keyof typeof METRICS;

type NamesOf<T extends MetricRow['type']> = {
  [N in EngineMetric]: (typeof METRICS)[N]['type'] extends T ? N : never;
}[EngineMetric];

export type CounterName = NamesOf<'counter'>;
export type HistogramName = NamesOf<'histogram'>;

/** A value for each label of a metric. */
export type MetricLabels<N extends EngineMetric> = Readonly<
  Record<(typeof METRICS)[N]['labels'][number], string>
>;
