/** Observation → one line of JSON: {level, timestamp, type, detail}. Lines are buffered and written together, so that
 *  a busy engine does not wait for its log; `flush` writes the rest. The line of a request is composed of texts: as an object it took a
 *  tenth of the engine's CPU for a small request.
 *  In: observations, the minimum level and the enabled types. Not here: metrics (measure.ts). Reference:
 *  docs/reference/behaviour/observability.md. */
import { pino } from 'pino';
import { quotedText } from '../errors/quoted.ts';
import type {
  KeysRefreshed,
  Observation,
  Observe,
  OperationFinished,
  RequestFinished,
  StatementPolled,
  WebhookCalled,
  WebsocketEvent,
} from './observation.ts';
import { LOG_TYPES } from './observation.ts';
import type { LogRecord } from './otlp-encode.ts';

export type LogOptions = {
  readonly logLevel: 'debug' | 'info' | 'warn' | 'error';
  readonly enabledLogTypes: readonly string[];
  /** The prefix that names of session variables have in the log. Default `x-engine-`. */
  readonly headerPrefix?: string;
};

export type Log = {
  readonly observe: Observe;
  readonly flush: () => void;
  /** Passes each line that is written to a receiver, except those about the export of telemetry. */
  readonly tap?: (receive: (record: LogRecord) => void) => void;
};

const LEVELS = ['debug', 'info', 'warn', 'error'] as const;

/** A line of the log. Observations that are only counted have none. */
type Line = {
  readonly level: (typeof LEVELS)[number];
  readonly type: string;
  /** Returns JSON. Called only if the line is written. */
  readonly detail: () => string;
};

const OPTIONAL_TYPES: ReadonlySet<string> = new Set(LOG_TYPES);

/** The types of lines about every request, for which nothing is built when they are not wanted. */
const TYPES_OF_REQUESTS: Partial<Record<Observation['kind'], readonly string[]>> = {
  'request finished': ['http-log'],
  'operation finished': ['query-log', 'execution-log'],
  'request refused': [],
};

/** The paths that probes and the operator request all the time. A success that follows a success is logged at the level debug only. */
const POLLED_PATHS: ReadonlySet<string> = new Set([
  '/healthz',
  '/hasura/healthz',
  '/healthz/sources',
  '/livez',
  '/v1alpha1/config',
]);

const FLUSH_EVERY_MS = 250;
/** The characters that are passed on together, and the bytes that are written together: more than so many characters have. */
const PASS_LENGTH = 16_384;
const WRITE_BYTES = 65_536;

/** Opens the log of a file descriptor, standard output by default. */
export function openLog(options: LogOptions, descriptor = 1): Log {
  const destination = pino.destination({
    dest: descriptor,
    sync: false,
    minLength: WRITE_BYTES,
    maxWrite: 2 * WRITE_BYTES,
  });
  // Collected here, because the destination would measure all of them with each line.
  let lines = '';
  const pass = () => {
    if (lines !== '') destination.write(lines);
    lines = '';
  };
  const levels = new Set(LEVELS.slice(LEVELS.indexOf(options.logLevel)));
  const timer = setInterval(() => {
    pass();
    destination.flush();
  }, FLUSH_EVERY_MS);
  timer.unref();
  let receive: ((record: LogRecord) => void) | undefined;
  const isWanted = (type: string) => !OPTIONAL_TYPES.has(type) || options.enabledLogTypes.includes(type);
  const isQuiet = (kind: Observation['kind']) =>
    (TYPES_OF_REQUESTS[kind] ?? ['']).every((type) => !isWanted(type));
  const statuses = new Map<string, number>();
  const isRepeatedSuccess = ({ path, status }: RequestFinished) => {
    if (!POLLED_PATHS.has(path)) return false;
    const before = statuses.get(path);
    statuses.set(path, status);
    return status === 200 && before === 200;
  };
  return {
    observe: (given) => {
      if (isQuiet(given.kind)) return;
      if (given.kind === 'request finished' && isRepeatedSuccess(given) && !levels.has('debug')) return;
      for (const { level, type, detail } of linesOf(renamed(given, options.headerPrefix))) {
        if (!isWanted(type) || !levels.has(level)) continue;
        const at = Date.now();
        const body = detail();
        lines += `{"level":"${level}","timestamp":"${timestampOf(at)}","type":"${type}","detail":${body}}\n`;
        if (lines.length >= PASS_LENGTH) pass();
        if (type !== 'opentelemetry') receive?.({ at, level, type, body });
      }
    },
    tap: (receiver) => {
      receive = receiver;
    },
    flush: () => {
      clearInterval(timer);
      destination.flushSync();
      // Less than the destination writes by itself, and not at once.
      pass();
      destination.flushSync();
    },
  };
}

let lastTime = 0;
let lastTimestamp = '';

/** Returns the text of a time. Many lines have the same. */
function timestampOf(time: number): string {
  if (time !== lastTime) {
    lastTime = time;
    lastTimestamp = new Date(time).toISOString();
  }
  return lastTimestamp;
}

/** The prefix of session variables inside the engine. */
const OWN_PREFIX = 'x-engine-';

/** Returns the observation with its session variables under the names that clients use. */
function renamed(observation: Observation, prefix = OWN_PREFIX): Observation {
  if (prefix === OWN_PREFIX || !('sessionVariables' in observation)) return observation;
  const { sessionVariables: variables } = observation;
  if (variables === null) return observation;
  const named = Object.entries(variables).map(([name, value]) => [name.replace(OWN_PREFIX, prefix), value]);
  return { ...observation, sessionVariables: Object.fromEntries(named) };
}

/** A log that writes nothing. */
export const silent: Log = { observe: () => {}, flush: () => {} };

/** Returns the lines of an observation. Observations that are in other lines, and those that are only counted, have none. */
function linesOf(observation: Observation): readonly Line[] {
  switch (observation.kind) {
    case 'started':
      return [info('startup', () => ({ kind: 'server_started', info: rest(observation) }))];
    case 'foreign settings': {
      const { aliases: read_as_aliases, withoutEffect: without_effect, differences } = observation;
      const detail = { kind: 'foreign_settings', info: { read_as_aliases, without_effect, differences } };
      return [line(without_effect.length > 0 ? 'warn' : 'info', 'startup', () => detail)];
    }
    case 'stopping':
    case 'stopped':
      return [info('startup', () => ({ kind: observation.kind, info: rest(observation) }))];
    case 'request finished':
      return [
        {
          level: observation.error === null ? 'info' : 'error',
          type: 'http-log',
          detail: () => httpLog(observation),
        },
      ];
    case 'keys refreshed':
      return [keysLog(observation)];
    case 'secrets read': {
      const { kind: _, secrets, ...info } = observation;
      const detail = { kind: `${secrets}_secrets_read`, info };
      return [line(observation.failure === null ? 'info' : 'warn', 'startup', () => detail)];
    }
    case 'webhook called':
      return [webhookLog(observation), ...handlerLog(observation), ...deliveryLog(observation)];
    case 'websocket':
      return [websocketLog(observation)];
    case 'state':
      return [line(levelOfState(observation.event.kind), 'metadata', () => observation.event)];
    case 'operation finished':
      return operationLogs(observation);
    case 'statement polled':
      return [errorIf(observation.isFailed, 'livequery-poller-log', () => pollerLog(observation))];
    case 'spans exported':
    case 'telemetry exported':
      return observation.failure === null ? [] : [line('warn', 'opentelemetry', () => rest(observation))];
    // It is in the log of requests or of WebSockets, or in that of webhooks.
    case 'request refused':
    case 'event processed':
      return [];
    case 'unexpected': {
      const { requestId, error } = observation;
      return [line('error', 'unstructured', () => ({ request_id: requestId, ...describe(error) }))];
    }
  }
}

function line(level: Line['level'], type: string, detail: () => unknown): Line {
  return { level, type, detail: () => JSON.stringify(detail()) };
}

function info(type: string, detail: () => unknown): Line {
  return line('info', type, detail);
}

function errorIf(isError: boolean, type: string, detail: () => unknown): Line {
  return line(isError ? 'error' : 'info', type, detail);
}

/** Returns the detail of a request as JSON. Texts of clients are escaped; the identity and the mode are the engine's own. */
function httpLog(request: RequestFinished): string {
  const { requestId, error, ip, mode, method, status } = request;
  const failure = error === null ? 'null' : (JSON.stringify(errorOf(error)) ?? 'null');
  const query = error === null ? 'null' : (JSON.stringify(request.query) ?? 'null');
  const operation =
    `{"query_execution_time":${request.durationMs / 1000},"user_vars":${JSON.stringify(request.sessionVariables)},` +
    `"error":${failure},"request_id":${JSON.stringify(requestId)},"response_size":${request.responseSizeBytes},` +
    `"request_mode":"${mode}","query":${query}}`;
  const info =
    `{"status":${status},"http_version":"HTTP/${request.httpVersion}","url":${JSON.stringify(request.path)},` +
    `${ip === undefined ? '' : `"ip":"${ip}",`}"method":"${method}"}`;
  return `{"request_id":${JSON.stringify(requestId)},"operation":${operation},"http_info":${info}}`;
}

/** Returns an error in one form, `{path, error, code}`, whichever endpoint it is from. */
function errorOf(body: unknown): unknown {
  if (typeof body !== 'object' || body === null || !('extensions' in body)) return body;
  const { message, extensions } = body as { readonly message?: unknown; readonly extensions: unknown };
  return typeof extensions === 'object' ? { error: message, ...extensions } : body;
}

/** Returns the lines of an operation. Its text may contain data of users, so these types are off by default; variables are never
 *  written. */
function operationLogs({ requestId, request, plan, durationMs }: OperationFinished): readonly Line[] {
  if (request === null || plan === null) return [];
  const { query, operationName } = request;
  const { statements } = plan;
  const sql = () => statements.map(({ source, text }) => ({ source, query: text }));
  return [
    info('query-log', () => ({
      kind: answeredBy(plan),
      request_id: requestId,
      query: { query, operationName },
      generated_sql: statements.length === 0 ? null : sql(),
    })),
    info('execution-log', () => ({
      request_id: requestId,
      statistics: { execution_time: durationMs / 1000, statements: statements.length },
    })),
  ];
}

/** Returns the kind of step that answered; `introspection` when only the schema was queried. */
function answeredBy({ steps }: NonNullable<OperationFinished['plan']>): string {
  const kinds = new Set(steps.map(({ kind }) => kind));
  if (kinds.has('statement')) return 'database';
  if (kinds.has('action')) return 'action';
  return kinds.has('remote') ? 'remote-schema' : 'introspection';
}

function pollerLog(polled: StatementPolled): unknown {
  return {
    kind: polled.isStream ? 'streaming' : 'live-query',
    poller_id: polled.pollerId,
    source: polled.source,
    generated_sql: polled.statement,
    subscriber_count: polled.subscribers,
    execution_batches: [
      { batch_id: 1, batch_size: polled.cohorts, db_execution_time: polled.durationMs / 1000 },
    ],
    total_time: polled.durationMs / 1000,
    subscription_options: { batch_size: polled.batchSize, refetch_delay: polled.intervalMs / 1000 },
  };
}

const HANDLER_LOGS = { action: 'action-handler-log', 'input-validation': 'validate-input-log' } as const;

/** Returns the line about the call of an action or an input validation. Bodies and headers are never written. */
function handlerLog(called: WebhookCalled): readonly Line[] {
  const { purpose, action, method, url, status, failure } = called;
  if (purpose !== 'action' && purpose !== 'input-validation') return [];
  const detail = () => ({
    ...(action === undefined ? {} : { action_name: action }),
    request_id: called.requestId ?? null,
    request: { method, url },
    request_size: called.requestSizeBytes ?? null,
    response: { status, failure },
    response_size: called.responseSizeBytes ?? null,
    duration: called.durationMs / 1000,
  });
  return [errorIf(failure !== null, HANDLER_LOGS[purpose], detail)];
}

const DELIVERY_LOGS = {
  'event-trigger': 'event-trigger',
  'scheduled-trigger': 'scheduled-trigger',
} as const;

/** Returns the line about a delivery of an event. Bodies and headers are never written. */
function deliveryLog(called: WebhookCalled): readonly Line[] {
  const { purpose, event, method, url, status } = called;
  if ((purpose !== 'event-trigger' && purpose !== 'scheduled-trigger') || !event) return [];
  const isDelivered = status !== null && status < 300;
  const detail = () => ({
    event_id: event.id,
    ...(event.trigger === null ? {} : { event_name: event.trigger }),
    request: { method, url, size: called.requestSizeBytes ?? null },
    response: responseOf(called),
  });
  return [errorIf(!isDelivered, DELIVERY_LOGS[purpose], detail)];
}

/** Returns the status and size of a response; for a failed delivery, whether that was the status or the connection. */
function responseOf({ status, failure, responseSizeBytes: size = 0 }: WebhookCalled): unknown {
  if (status === null) return { type: 'client', detail: failure };
  return status < 300 ? { status, size } : { type: 'status', detail: { status, size } };
}

/** The latest date; tokens may expire later. ECMAScript, "Time Values and Time Range". */
const LAST_DATE = 8.64e15;

function websocketLog({ event, connectionId, sessionVariables, expiresAt, detail }: WebsocketEvent): Line {
  return errorIf(isTrouble(event, detail), 'websocket-log', () => ({
    event: { type: event, detail },
    connection_info: {
      websocket_id: connectionId,
      jwt_expiry: expiresAt === null ? null : new Date(Math.min(expiresAt, LAST_DATE)).toISOString(),
      msg: null,
    },
    user_vars: sessionVariables,
  }));
}

function isTrouble(event: WebsocketEvent['event'], detail: unknown): boolean {
  if (event === 'rejected' || event === 'connection_err') return true;
  const { operation_type } = (detail ?? {}) as { readonly operation_type?: { readonly type?: unknown } };
  return operation_type?.type === 'query_err';
}

function keysLog({ url, failure }: KeysRefreshed): Line {
  const message = failure === null ? 'the keys were refreshed' : 'the keys could not be refreshed';
  const detail = { url, message, error: failure === null ? null : { error: failure, message } };
  return line(failure === null ? 'info' : 'warn', 'jwk-refresh-log', () => detail);
}

function webhookLog({ purpose, url, method, status, failure, durationMs }: WebhookCalled): Line {
  const detail = {
    ...{ purpose, url, method, status, failure, duration: durationMs / 1000 },
    // The names of the reference engine. Bodies of responses are never written.
    ...{ status_code: status, http_error: failure, response: null, message: null },
  };
  return errorIf(failure !== null, 'webhook-log', () => detail);
}

function rest({ kind: _, ...info }: Observation): unknown {
  return info;
}

/** Returns `warn` for problems with a database and for conflicting writers of an object, otherwise `info`. */
function levelOfState(kind: string): Line['level'] {
  return /unreachable|interrupted|managed|missing|damaged|limit reached|not (enforced|supported|exported|stored)/.test(
    kind,
  )
    ? 'warn'
    : 'info';
}

function describe(error: unknown): { readonly message: string; readonly stack?: string } {
  if (!(error instanceof Error)) return { message: quotedText(String(error)) };
  const message = quotedText(error.message);
  return error.stack === undefined ? { message } : { message, stack: quotedText(error.stack) };
}
