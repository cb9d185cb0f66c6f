/** Observations → metrics: a sink beside the log (sinks.ts). It is installed only when the API `metrics` or the console is enabled;
 *  otherwise nothing is counted.
 *  Not here: which metrics exist (metrics.ts), values that are collected when they are scraped (http/metrics.ts). */
import type { Observation, OperationFinished, RequestFinished, WebhookCalled } from './observation.ts';
import type { Registry } from './registry.ts';

/** Values of the label `limit`, by the name of the error. */
const LIMITS: Readonly<Record<string, string>> = {
  depthLimitExceeded: 'depth',
  nodeLimitExceeded: 'node',
  batchLimitExceeded: 'batch',
  rateLimitExceeded: 'rate',
  timeLimitExceeded: 'time',
  responseTooLarge: 'response',
  overloaded: 'memory',
  subscriptionLimitExceeded: 'subscriptions',
};
const REFUSALS: Readonly<Record<string, string>> = {
  queryNotAllowed: 'allow-list',
  introspectionDisabled: 'introspection',
};

/** Values of the label `limit` of overload refusals, by the name of the error or of the limit. */
const OVERLOADS: Readonly<Record<string, string>> = {
  bodyTooLarge: 'body-length',
  overloaded: 'bytes-in-flight',
  requestTooSlow: 'body-time',
  'message too large': 'message-length',
  'unauthenticated sockets': 'unauthenticated-sockets',
  'slow client': 'slow-client',
  'queued bytes': 'queued-bytes',
};

const ENDPOINTS: ReadonlyMap<string, string> = new Map(
  [
    '/v1/graphql',
    '/v1alpha1/graphql',
    '/v1beta1/relay',
    '/v1/metadata',
    '/v1/query',
    '/v2/query',
    '/v1/graphql/explain',
    '/v1alpha1/config',
    '/v1alpha1/pg_dump',
    '/v1/metrics',
    '/v1/version',
    '/healthz',
    '/healthz/sources',
    '/livez',
  ].map((path) => [path, path]),
);
const REST = '/api/rest/';

export function measure(registry: Registry, observation: Observation): void {
  switch (observation.kind) {
    case 'request finished':
      measureRequest(registry, observation);
      break;
    case 'operation finished':
      measureOperation(registry, observation);
      break;
    case 'webhook called':
      measureWebhook(registry, observation);
      break;
    case 'keys refreshed':
      registry.count('pergola_jwk_refreshes_total', {
        result: observation.failure === null ? 'success' : 'failed',
      });
      break;
    case 'spans exported':
      registry.count(
        'pergola_spans_total',
        { result: observation.failure === null ? 'sent' : 'dropped' },
        observation.count,
      );
      break;
    case 'event processed':
      registry.count('pergola_events_total', { trigger: observation.trigger, outcome: observation.outcome });
      registry.observe(
        'pergola_event_wait_seconds',
        { trigger: observation.trigger },
        observation.waitedSeconds,
      );
      break;
    case 'unexpected':
      registry.count('pergola_unexpected_errors_total', {});
      break;
    case 'request refused':
      registry.count('pergola_overload_refusals_total', { limit: OVERLOADS[observation.error] ?? 'other' });
      break;
    case 'started':
    case 'secrets read':
    case 'foreign settings':
    case 'stopping':
    case 'stopped':
    case 'websocket':
    case 'state':
    case 'statement polled':
    case 'telemetry exported':
      break;
    default:
      observation satisfies never;
  }
}

const TIMES = {
  statement: 'pergola_postgres_statement_seconds',
  wait: 'pergola_postgres_wait_seconds',
} as const;

/** Records what the pool of a source reports (database/sources.ts). */
export function measureSource(
  registry: Registry,
  source: string,
  what: keyof typeof TIMES,
  milliseconds: number,
): void {
  registry.observe(TIMES[what], { source }, milliseconds / 1000);
}

function measureRequest(registry: Registry, request: RequestFinished): void {
  const endpoint = endpointOf(request.path);
  registry.count('pergola_http_requests_total', { endpoint, status: classOf(request.status) });
  registry.observe('pergola_http_request_seconds', { endpoint }, request.durationMs / 1000);
  registry.count('pergola_http_response_bytes_total', { endpoint }, request.responseSizeBytes);
}

function measureOperation(registry: Registry, operation: OperationFinished): void {
  const { type, transport, error, durationMs } = operation;
  const status = error === null ? 'success' : 'failed';
  registry.count('pergola_graphql_requests_total', {
    operation_type: type,
    transport,
    response_status: status,
  });
  if (type !== 'subscription') {
    registry.observe('pergola_graphql_execution_time_seconds', { operation_type: type }, durationMs / 1000);
  }
  if (error === null) return;
  registry.count('pergola_graphql_errors_total', { code: error.code });
  const limit = LIMITS[error.name];
  if (limit !== undefined) registry.count('pergola_limits_exceeded_total', { limit });
  const reason = REFUSALS[error.name];
  if (reason !== undefined) registry.count('pergola_refused_queries_total', { reason });
}

function measureWebhook(registry: Registry, { purpose, status, durationMs }: WebhookCalled): void {
  registry.count('pergola_webhook_requests_total', { purpose, status: classOf(status) });
  registry.observe('pergola_webhook_seconds', { purpose }, durationMs / 1000);
}

function endpointOf(path: string): string {
  const endpoint = ENDPOINTS.get(path);
  if (endpoint !== undefined) return endpoint;
  return path.startsWith(REST) ? '/api/rest' : 'other';
}

const CLASSES: readonly string[] = ['0xx', '1xx', '2xx', '3xx', '4xx', '5xx'];

/** Returns the class of a status, for example `2xx`; `error` when there was no response. */
function classOf(status: number | null): string {
  return status === null ? 'error' : (CLASSES[Math.floor(status / 100)] ?? 'other');
}
