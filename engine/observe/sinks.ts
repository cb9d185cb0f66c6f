/** Observation → one line of JSON: {timestamp, level, type, detail}. Lines are buffered and written together, so that
 *  a busy engine does not wait for its log; `flush` writes the rest.
 *  In: observations, the minimum level and the enabled types. Not here: metrics (measure.ts). Reference:
 *  docs/reference/behaviour/observability.md. */
import { pino } from 'pino';
import type {
  KeysRefreshed,
  Observation,
  Observe,
  OperationFinished,
  RequestFinished,
  WebhookCalled,
  WebsocketEvent,
} from './observation.ts';

export type LogOptions = {
  readonly logLevel: 'debug' | 'info' | 'warn' | 'error';
  readonly enabledLogTypes: readonly string[];
};

export type Log = { readonly observe: Observe; readonly flush: () => void };

/** A line of the log. Observations that are only counted have none. */
type Line = {
  readonly level: 'debug' | 'info' | 'warn' | 'error';
  readonly type: string;
  readonly detail: unknown;
};

/** The types that `--enabled-log-types` selects. All other types are always written. */
const OPTIONAL_TYPES: ReadonlySet<string> = new Set([
  'startup',
  'http-log',
  'webhook-log',
  'websocket-log',
  'jwk-refresh-log',
  'query-log',
]);

const FLUSH_EVERY_MS = 250;

/** Opens the log of a file descriptor, standard output by default. */
export function openLog(options: LogOptions, descriptor = 1): Log {
  const destination = pino.destination({ dest: descriptor, sync: false, minLength: 8192 });
  const logger = pino(
    {
      level: options.logLevel,
      base: null,
      timestamp: () => `,"timestamp":"${new Date().toISOString()}"`,
      formatters: { level: (label) => ({ level: label }) },
    },
    destination,
  );
  const timer = setInterval(() => destination.flush(), FLUSH_EVERY_MS);
  timer.unref();
  const isWanted = (type: string) => !OPTIONAL_TYPES.has(type) || options.enabledLogTypes.includes(type);
  return {
    observe: (observation) => {
      if (observation.kind === 'request finished' && !isWanted('http-log')) return;
      if (observation.kind === 'operation finished' && !isWanted('query-log')) return;
      const line = lineOf(observation);
      if (line && isWanted(line.type)) logger[line.level]({ type: line.type, detail: line.detail });
    },
    flush: () => {
      clearInterval(timer);
      destination.flushSync();
    },
  };
}

/** A log that writes nothing. */
export const silent: Log = { observe: () => {}, flush: () => {} };

function lineOf(observation: Observation): Line | null {
  switch (observation.kind) {
    case 'started':
      return { level: 'info', type: 'startup', detail: { kind: 'server_started', info: rest(observation) } };
    case 'stopping':
    case 'stopped':
      return { level: 'info', type: 'startup', detail: { kind: observation.kind, info: rest(observation) } };
    case 'request finished':
      return {
        level: observation.error === null ? 'info' : 'error',
        type: 'http-log',
        detail: httpLog(observation),
      };
    case 'keys refreshed':
      return keysLog(observation);
    case 'webhook called':
      return webhookLog(observation);
    case 'websocket':
      return websocketLog(observation);
    case 'state':
      return { level: levelOfState(observation.event.kind), type: 'metadata', detail: observation.event };
    case 'operation finished':
      return queryLog(observation);
    case 'spans exported':
      return observation.failure === null
        ? null
        : { level: 'warn', type: 'opentelemetry', detail: rest(observation) };
    // It is in the log of requests or of WebSockets.
    case 'request refused':
      return null;
    // It is in the log of webhooks.
    case 'event processed':
      return null;
    case 'unexpected':
      return {
        level: 'error',
        type: 'unstructured',
        detail: { request_id: observation.requestId, ...describe(observation.error) },
      };
  }
}

function httpLog(request: RequestFinished): unknown {
  return {
    request_id: request.requestId,
    operation: {
      query_execution_time: request.durationMs / 1000,
      user_vars: request.sessionVariables,
      error: request.error,
      request_id: request.requestId,
      response_size: request.responseSizeBytes,
      query: request.error === null ? null : request.query,
    },
    http_info: {
      status: request.status,
      http_version: `HTTP/${request.httpVersion}`,
      url: request.path,
      ip: request.ip,
      method: request.method,
    },
  };
}

/** Returns the line of a query. Its text may contain data of users, so this type is off by default; variables are
 *  never written. */
function queryLog({ requestId, request, statements }: OperationFinished): Line | null {
  if (request === null || statements === null) return null;
  const { query, operationName } = request;
  const isIntrospection = statements.length === 0;
  return {
    level: 'info',
    type: 'query-log',
    detail: {
      kind: isIntrospection ? 'introspection' : 'database',
      request_id: requestId,
      query: { query, operationName },
      generated_sql: isIntrospection ? null : statements.map(({ source, text }) => ({ source, query: text })),
    },
  };
}

/** The latest date; tokens may expire later. ECMAScript, "Time Values and Time Range". */
const LAST_DATE = 8.64e15;

function websocketLog({ event, connectionId, sessionVariables, expiresAt, detail }: WebsocketEvent): Line {
  return {
    level: isTrouble(event, detail) ? 'error' : 'info',
    type: 'websocket-log',
    detail: {
      event: { type: event, detail },
      connection_info: {
        websocket_id: connectionId,
        jwt_expiry: expiresAt === null ? null : new Date(Math.min(expiresAt, LAST_DATE)).toISOString(),
        msg: null,
      },
      user_vars: sessionVariables,
    },
  };
}

function isTrouble(event: WebsocketEvent['event'], detail: unknown): boolean {
  if (event === 'rejected' || event === 'connection_err') return true;
  const { operation_type } = (detail ?? {}) as { readonly operation_type?: { readonly type?: unknown } };
  return operation_type?.type === 'query_err';
}

function keysLog({ url, failure }: KeysRefreshed): Line {
  return failure === null
    ? { level: 'info', type: 'jwk-refresh-log', detail: { url, message: 'the keys were refreshed' } }
    : {
        level: 'warn',
        type: 'jwk-refresh-log',
        detail: { url, message: 'the keys could not be refreshed', reason: failure },
      };
}

function webhookLog({ kind: _, durationMs, ...called }: WebhookCalled): Line {
  return {
    level: called.failure === null ? 'info' : 'error',
    type: 'webhook-log',
    detail: { ...called, duration: durationMs / 1000 },
  };
}

function rest({ kind: _, ...info }: Observation): unknown {
  return info;
}

/** Returns `warn` for problems with a database and for conflicting writers of an object, otherwise `info`. */
function levelOfState(kind: string): Line['level'] {
  return /unreachable|interrupted|managed|not enforced/.test(kind) ? 'warn' : 'info';
}

function describe(error: unknown): { readonly message: string; readonly stack?: string } {
  if (!(error instanceof Error)) return { message: String(error) };
  return error.stack === undefined
    ? { message: error.message }
    : { message: error.message, stack: error.stack };
}
