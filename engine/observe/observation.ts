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
  /** A WebSocket: opened, an operation over it failed, closed. `detail` has no values of users. */
  | {
      readonly kind: 'websocket';
      readonly event: 'opened' | 'operation failed' | 'closed';
      readonly connectionId: string;
      readonly detail: unknown;
    }
  /** Something in the engine's own life: the metadata published, a database gone. `event` is its room's own report. */
  | { readonly kind: 'state'; readonly event: { readonly kind: string } }
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

export type Observe = (observation: Observation) => void;
