/** Everything the engine lets its surroundings see, as one union: rooms report, sinks decide what becomes of it.
 *  Nothing here ever carries a secret: no header, no connection URL, no admin secret.
 *  Not here: how an observation is written (sinks.ts). */

export type Observation =
  | {
      readonly kind: 'started';
      readonly url: string;
      readonly version: string;
      /** The options that are not secrets, as loaded. */
      readonly settings: Readonly<Record<string, unknown>>;
    }
  | { readonly kind: 'stopping'; readonly reason: string }
  | { readonly kind: 'stopped'; readonly requestsCutOff: number }
  | RequestFinished
  | OperationFinished
  | KeysRefreshed
  | WebhookCalled
  /** Spans sent to the collector of traces, or lost: then `failure` says why. */
  | { readonly kind: 'spans exported'; readonly count: number; readonly failure: string | null }
  | WebsocketEvent
  | EventProcessed
  /** A request or a WebSocket was refused or closed by a limit; `error` names the row of ERRORS or the limit. The log of the request
   *  or the WebSocket has the rest. */
  | { readonly kind: 'request refused'; readonly error: string }
  /** Something in the engine's own life: the metadata published, a database gone. `event` is its room's own report. */
  | { readonly kind: 'state'; readonly event: { readonly kind: string; readonly [detail: string]: unknown } }
  /** A failure nobody foresaw; the client was told only that it happened. */
  | { readonly kind: 'unexpected'; readonly requestId: string | null; readonly error: unknown };

export type RequestFinished = {
  readonly kind: 'request finished';
  readonly requestId: string;
  readonly method: string;
  /** Without the query string, which may hold values of users. */
  readonly path: string;
  readonly ip: string | undefined;
  readonly httpVersion: string;
  readonly status: number;
  readonly durationMs: number;
  readonly responseSizeBytes: number;
  /** Null when the request was refused before it was known who asks. */
  readonly sessionVariables: Readonly<Record<string, string>> | null;
  /** The body of the error the client got; then `query` is what was asked. */
  readonly error: unknown;
  readonly query: unknown;
};

/** Something in the life of a WebSocket. */
export type WebsocketEvent = {
  readonly kind: 'websocket';
  /** `rejected`: by the handshake; `connection_err`: who asks was not to be known. */
  readonly event:
    | 'accepted'
    | 'rejected'
    | 'connection_initialized'
    | 'connection_err'
    | 'operation'
    | 'closed';
  readonly connectionId: string;
  readonly sessionVariables: Readonly<Record<string, string>> | null;
  /** Of the credentials, in milliseconds since 1970; null where they have no end. */
  readonly expiresAt: number | null;
  /** Has no values of users, but for the text of an operation that failed. */
  readonly detail: unknown;
};

/** A GraphQL operation that was answered, or a subscription that began; a body with several is several. */
export type OperationFinished = {
  readonly kind: 'operation finished';
  readonly requestId: string;
  readonly transport: 'http' | 'rest' | 'websocket';
  /** Unknown where it was refused before its text was understood. */
  readonly type: 'query' | 'mutation' | 'subscription' | 'unknown';
  readonly durationMs: number;
  /** The row of ERRORS and the code the client got. */
  readonly error: { readonly name: string; readonly code: string } | null;
  /** Its text, and the name of what was asked of it; null where it was not a request at all. */
  readonly request: { readonly query: string; readonly operationName?: string | null } | null;
  /** What it was made into; texts without values. Null where that did not come about. */
  readonly statements: readonly { readonly source: string; readonly text: string }[] | null;
};

/** The keys of an identity provider were fetched, or could not be. */
export type KeysRefreshed = {
  readonly kind: 'keys refreshed';
  /** Without user, password and query string. */
  readonly url: string;
  readonly failure: string | null;
};

/** A service of the administrator's was asked something. */
export type WebhookCalled = {
  readonly kind: 'webhook called';
  readonly purpose:
    | 'auth-hook'
    | 'input-validation'
    | 'action'
    | 'event-trigger'
    | 'scheduled-trigger'
    | 'remote-schema';
  /** As configured: what stands in it for the environment is not filled in. Without user, password and query string. */
  readonly url: string;
  readonly method: string;
  /** Null when there was no answer; then `failure` says why. */
  readonly status: number | null;
  readonly failure: string | null;
  readonly durationMs: number;
};

/** An attempt to tell a webhook of an event, and what is to become of the event. */
export type EventProcessed = {
  readonly kind: 'event processed';
  /** Of a row that changed, of a cron trigger, or one that happens once. */
  readonly trigger: 'row' | 'cron' | 'one_off';
  /** `dead`: it was not told, being too late. */
  readonly outcome: 'delivered' | 'again' | 'failed' | 'dead';
  /** Since it was to be told. */
  readonly waitedSeconds: number;
};

export type Observe = (observation: Observation) => void;
