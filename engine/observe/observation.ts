/** Everything the engine reports about itself, as one union: rooms report observations, sinks log or count them. An
 *  observation never contains a secret: no header, no connection URL, no admin secret.
 *  Not here: how an observation is written (sinks.ts). */

export type Observation =
  | {
      readonly kind: 'started';
      readonly url: string;
      readonly version: string;
      /** The options as loaded, except secrets. */
      readonly settings: Readonly<Record<string, unknown>>;
    }
  /** The names of variables and flags that come from the reference engine: those that are read as aliases, and those that are
   *  accepted and do nothing. */
  | {
      readonly kind: 'foreign settings';
      readonly aliases: readonly string[];
      readonly withoutEffect: readonly string[];
      /** The differences from the reference engine, each with the option that changes it. */
      readonly differences: readonly string[];
    }
  | { readonly kind: 'stopping'; readonly reason: string }
  | { readonly kind: 'stopped'; readonly requestsCutOff: number }
  | RequestFinished
  | OperationFinished
  | KeysRefreshed
  | SecretsRead
  | WebhookCalled
  | StatementPolled
  /** Spans were sent to the collector, or lost; `failure` says why. */
  | { readonly kind: 'spans exported'; readonly count: number; readonly failure: string | null }
  /** Lines of the log or metrics were sent to the collector, or lost; `failure` says why. */
  | {
      readonly kind: 'telemetry exported';
      readonly signal: 'logs' | 'metrics';
      readonly count: number;
      readonly failure: string | null;
    }
  | WebsocketEvent
  | EventProcessed
  /** A limit refused a request or closed a WebSocket. `error` names the row of ERRORS or the limit. Details are in
   *  the observation of the request or the WebSocket. */
  | { readonly kind: 'request refused'; readonly error: string }
  /** A change in the state of the engine: metadata published, a database unreachable. `event` is the report of its
   *  room. */
  | { readonly kind: 'state'; readonly event: { readonly kind: string; readonly [detail: string]: unknown } }
  /** An unexpected error. The client received only the fact. */
  | { readonly kind: 'unexpected'; readonly requestId: string | null; readonly error: unknown };

export type RequestFinished = {
  readonly kind: 'request finished';
  readonly requestId: string;
  readonly method: string;
  /** The path without the query string, which may contain data of users. */
  readonly path: string;
  readonly ip: string | undefined;
  readonly httpVersion: string;
  readonly status: number;
  readonly durationMs: number;
  readonly responseSizeBytes: number;
  /** Null when the request was refused before authentication. */
  readonly sessionVariables: Readonly<Record<string, string>> | null;
  /** `non-graphql` is a request to another endpoint than those for GraphQL, or whose body was not read. */
  readonly mode: 'single' | 'batched' | 'non-graphql' | 'error';
  /** The body of the error the client received; `query` is the GraphQL request then. */
  readonly error: unknown;
  readonly query: unknown;
};

/** An event of a WebSocket. */
export type WebsocketEvent = {
  readonly kind: 'websocket';
  /** `rejected` is a refused handshake, `connection_err` a failed authentication. */
  readonly event:
    | 'accepted'
    | 'rejected'
    | 'connection_initialized'
    | 'connection_err'
    | 'operation'
    | 'closed';
  readonly connectionId: string;
  readonly sessionVariables: Readonly<Record<string, string>> | null;
  /** When the credentials expire, in milliseconds since 1970; null when they do not. */
  readonly expiresAt: number | null;
  /** Contains no data of users, except the text of an operation that failed. */
  readonly detail: unknown;
};

/** A GraphQL operation that was answered, or a subscription that started. Each operation of a batch is reported. */
export type OperationFinished = {
  readonly kind: 'operation finished';
  readonly requestId: string;
  readonly transport: 'http' | 'rest' | 'websocket';
  /** `unknown` when the request was refused before it was parsed. */
  readonly type: 'query' | 'mutation' | 'subscription' | 'unknown';
  readonly durationMs: number;
  /** The row of ERRORS and the code the client received. */
  readonly error: { readonly name: string; readonly code: string } | null;
  /** The text and operation name; null when the body was no GraphQL request. */
  readonly request: { readonly query: string; readonly operationName?: string | null } | null;
  /** The kinds of steps that answered, and the SQL texts without values. Null when there was no plan. */
  readonly plan: {
    readonly steps: readonly { readonly kind: string }[];
    readonly statements: readonly { readonly source: string; readonly text: string }[];
  } | null;
  /** The role, the name in the document, and the coordinates of the schema that it uses. Null when there was no plan. */
  readonly usage: {
    readonly role: string;
    readonly operationName: string | null;
    readonly inDocument: ReadonlySet<string>;
  } | null;
};

/** The keys of an identity provider were fetched, or could not be fetched. */
export type KeysRefreshed = {
  readonly kind: 'keys refreshed';
  /** The URL without user, password and query string. */
  readonly url: string;
  readonly failure: string | null;
};

/** The secrets in a folder were read for the first time or have changed, or the folder could not be read. */
export type SecretsRead = {
  readonly kind: 'secrets read';
  readonly secrets: 'admin' | 'console';
  readonly folder: string;
  /** The number of secrets in the folder that are accepted now. */
  readonly count: number;
  /** The reason why the previous secrets are kept. */
  readonly failure: string | null;
};

/** A call to an external service that an administrator configured. */
export type WebhookCalled = {
  readonly kind: 'webhook called';
  readonly purpose:
    | 'auth-hook'
    | 'input-validation'
    | 'action'
    | 'event-trigger'
    | 'scheduled-trigger'
    | 'remote-schema';
  /** The URL as configured, before environment variables are filled in, without user, password and query string. */
  readonly url: string;
  readonly method: string;
  /** Null when there was no response; `failure` says why. */
  readonly status: number | null;
  readonly failure: string | null;
  readonly durationMs: number;
  /** The request that caused the call; absent for calls that no request causes. */
  readonly requestId?: string | undefined;
  /** The name of the action. */
  readonly action?: string | undefined;
  /** The delivered event and its trigger, which a one-off scheduled event does not have. */
  readonly event?: { readonly id: string; readonly trigger: string | null } | undefined;
  readonly requestSizeBytes?: number;
  readonly responseSizeBytes?: number | undefined;
};

/** A statement of subscriptions ran for some of their cohorts. Reported only if a line of the log wants it. */
export type StatementPolled = {
  readonly kind: 'statement polled';
  readonly pollerId: string;
  readonly isStream: boolean;
  readonly source: string;
  /** The SQL text without values. */
  readonly statement: string;
  /** The numbers of cohorts in this statement, and of all subscriptions of the poller. */
  readonly cohorts: number;
  readonly subscribers: number;
  readonly batchSize: number;
  readonly intervalMs: number;
  readonly durationMs: number;
  readonly isFailed: boolean;
};

/** An attempt to deliver an event to a webhook. */
export type EventProcessed = {
  readonly kind: 'event processed';
  /** A changed row, a cron trigger, or a one-off scheduled event. */
  readonly trigger: 'row' | 'cron' | 'one_off' | 'declared';
  /** The result: `again` is a retry later, `dead` an event that was not delivered because it was too late. */
  readonly outcome: 'delivered' | 'again' | 'failed' | 'dead';
  /** The seconds since the event was due. */
  readonly waitedSeconds: number;
};

export type Observe = (observation: Observation) => void;

/** The types that `--enabled-log-types` selects. All other types are always written. */
export const LOG_TYPES = [
  'startup',
  'http-log',
  'webhook-log',
  'websocket-log',
  'jwk-refresh-log',
  'query-log',
  'execution-log',
  'livequery-poller-log',
  'action-handler-log',
  'validate-input-log',
  'event-trigger',
  'scheduled-trigger',
] as const;
