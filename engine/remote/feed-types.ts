/** Types of subscriptions at remote schemas. Not here: opening one (feed.ts), its transports (socket.ts, event-stream.ts). */
import type { EngineError } from '../errors/engine-error.ts';
import type { RemoteEndpoint } from '../resolve/model/remote-schema.ts';
import type { RemoteError } from './answer.ts';
import type { RequestOrigin } from './http.ts';

export type RemoteEvent =
  /** An execution result as JSON. */
  | { readonly kind: 'result'; readonly bytes: Buffer }
  /** Each feed ends with exactly one of these events. */
  | { readonly kind: 'complete' }
  | { readonly kind: 'refused'; readonly errors: readonly RemoteError[] }
  | { readonly kind: 'lost'; readonly error: EngineError };

export type FeedRequest = {
  readonly endpoint: RemoteEndpoint;
  /** The body: `{query, variables, operationName}`. */
  readonly request: object;
  readonly origin: Omit<RequestOrigin, 'isRepeatable' | 'schema'>;
  readonly notify: (event: RemoteEvent) => void;
};
