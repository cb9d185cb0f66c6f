/** METRICS: every number of ours the engine shows Prometheus, one row each.
 *  Labels have values from lists of ours, or names an administrator has given (sources): no client can make a series.
 *  Derived from it: what registry.ts makes of prom-client, docs/reference/metrics.md. Reference: docs/reference/behaviour/observability.md.
 *  Not here: when a number changes (measure.ts, http/metrics.ts), those of the process (prom-client's default metrics). */

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
    'GraphQL operations answered: query, mutation, subscription, or unknown where it was refused before that was known; ' +
      'over http, rest or websocket; success or failed. A subscription counts when it begins.',
    'operation_type',
    'transport',
    'response_status',
  ),
  pergola_graphql_execution_time_seconds: histogram(
    'Time from a GraphQL operation to its answer; subscriptions are not in it.',
    'operation_type',
  ),
  pergola_graphql_errors_total: counter('Errors in answers to GraphQL operations, by their code.', 'code'),
  pergola_limits_exceeded_total: counter(
    'Operations refused by a limit: depth, node, batch, rate, time, subscriptions.',
    'limit',
  ),
  pergola_overload_refusals_total: counter(
    'Requests and WebSockets refused or closed by a limit of the process: body-length, bytes-in-flight, body-time, message-length, ' +
      'unauthenticated-sockets, slow-client, queued-bytes.',
    'limit',
  ),
  pergola_request_bytes_in_flight: gauge('Bytes of requests over 16 KiB that are read or answered.'),
  pergola_queued_bytes: gauge('Bytes of responses and WebSocket messages that wait for their clients.'),
  pergola_refused_queries_total: counter(
    'Operations refused because they are not on the allow-list, or ask for introspection where it is closed.',
    'reason',
  ),
  pergola_unexpected_errors_total: counter('Failures nobody foresaw; the log has their cause.'),
  pergola_http_requests_total: counter(
    'HTTP requests answered, by endpoint (other: no endpoint of ours) and class of status, such as 2xx.',
    'endpoint',
    'status',
  ),
  pergola_http_request_seconds: histogram(
    'Time from a request to its response handed to the socket.',
    'endpoint',
  ),
  pergola_http_response_bytes_total: counter(
    'Bytes of response bodies, compressed ones as sent.',
    'endpoint',
  ),
  pergola_http_requests_in_flight: gauge('HTTP requests without a whole response.'),
  pergola_websocket_connections: gauge('Open WebSockets.'),
  pergola_active_subscriptions: gauge('Subscriptions that run.'),
  pergola_subscription_pollers: gauge(
    'Distinct statements that running subscriptions have asked again and again.',
  ),
  pergola_remote_subscriptions: gauge(
    'Subscriptions handed on to remote schemas, each a connection of its own.',
  ),
  pergola_postgres_statement_seconds: histogram(
    'Time from sending a statement (begin and commit included) to its answer, or from the answer before it.',
    'source',
  ),
  pergola_postgres_connections: gauge(
    'Connections to a source: active, idle, or opening.',
    'source',
    'state',
  ),
  pergola_postgres_connections_limit: gauge('Most connections to a source.', 'source'),
  pergola_postgres_waiting: gauge('Statements and transactions that wait for a connection.', 'source'),
  pergola_postgres_wait_seconds: histogram(
    'How long those that had to wait for a connection waited, the opening of new ones included.',
    'source',
  ),
  pergola_postgres_wait_timeouts_total: counter('Waits for a connection that were given up.', 'source'),
  pergola_postgres_connections_opened_total: counter('Connections opened.', 'source'),
  pergola_postgres_connection_errors_total: counter('Connections that could not be opened.', 'source'),
  pergola_plan_cache_requests_total: counter(
    'Requests whose plan was kept (hit) or had to be made (miss).',
    'result',
  ),
  pergola_plan_cache_plans: gauge('Plans kept.'),
  pergola_remote_cache_requests_total: counter(
    'Requests to remote schemas that were answered from memory (hit) or not (miss), where --remote-schema-cache-size is set.',
    'result',
  ),
  pergola_jwk_refreshes_total: counter(
    'Fetches of the keys of identity providers: success or failed.',
    'result',
  ),
  pergola_webhook_requests_total: counter(
    'Requests to services of yours: auth-hook, input-validation, …; by class of status, or error where there was no answer.',
    'purpose',
    'status',
  ),
  pergola_webhook_seconds: histogram('Time from such a request to its answer.', 'purpose'),
  pergola_events_total: counter(
    'Events webhooks were told of, or should have been: of a row, cron, one_off; delivered, to be told again, ' +
      'failed for good, or dead, being later than its tolerance.',
    'trigger',
    'outcome',
  ),
  pergola_event_wait_seconds: histogram('Time from when an event was to be told until it is.', 'trigger'),
  pergola_events_in_flight: gauge(
    'Events that are being delivered: row (event triggers), or scheduled (cron triggers, one-off events, cleanups).',
    'kind',
  ),
  pergola_events_full_triggers: gauge(
    'Triggers with as many deliveries under way as one trigger may have; their other events wait.',
    'kind',
  ),
  pergola_spans_total: counter('Spans of traces: sent to the collector, or dropped.', 'result'),
  pergola_metadata_resource_version: gauge('Version of the metadata that is served.'),
  pergola_metadata_inconsistent_objects: gauge('Metadata objects that do not fit their database.'),
  pergola_source_up: gauge(
    '1 where the source answered when it was last asked what it has, else 0.',
    'source',
  ),
} as const satisfies Record<string, MetricRow>;

export type MetricName = keyof typeof METRICS;

type NamesOf<T extends MetricRow['type']> = {
  [N in MetricName]: (typeof METRICS)[N]['type'] extends T ? N : never;
}[MetricName];

export type CounterName = NamesOf<'counter'>;
export type HistogramName = NamesOf<'histogram'>;

/** A value for each label of its row. */
export type LabelsOf<N extends MetricName> = Readonly<Record<(typeof METRICS)[N]['labels'][number], string>>;
