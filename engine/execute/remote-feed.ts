/** One subscription at a remote schema, in whichever way its service offers: a WebSocket, or, where it takes none, server-sent
 *  events. A service is asked for a WebSocket first; one that answers the handshake as any other request is asked for a stream
 *  from then on, until it is introspected again or answers with no stream either.
 *  In: endpoint, request, who asks. Out: RemoteEvents. Not here: the ways themselves (remote-socket.ts, remote-event-stream.ts),
 *  what an event says (remote-answer.ts), who hears of it (subscribe/remote-subscription.ts). */
import type { EngineError } from '../errors/engine-error.ts';
import type { RemoteEndpoint } from '../resolve/types.ts';
import type { UpstreamSchema } from '../resolve/upstream.ts';
import type { RemoteError } from './remote-answer.ts';
import { RemoteEventStream } from './remote-event-stream.ts';
import { type RemoteAsker, unreachable } from './remote-http.ts';
import { RemoteSocket } from './remote-socket.ts';

export type RemoteEvent =
  /** An execution result, as JSON. */
  | { readonly kind: 'result'; readonly bytes: Buffer }
  /** The last, of which there is exactly one. */
  | { readonly kind: 'complete' }
  | { readonly kind: 'refused'; readonly errors: readonly RemoteError[] }
  | { readonly kind: 'lost'; readonly error: EngineError };

export type RemoteSubscribing = {
  readonly endpoint: RemoteEndpoint;
  /** `{query, variables, operationName}` */
  readonly request: object;
  readonly asker: Omit<RemoteAsker, 'isRepeatable' | 'schema'>;
  readonly tell: (event: RemoteEvent) => void;
};

/** Subscriptions at remote schemas at the same time, in this process: each is a connection. */
const MOST_OPEN = 5000;

let open = 0;

/** Now, in this process. */
export const openRemoteFeeds = () => open;

/** Services that take no WebSockets, and do stream. */
const streaming = new WeakSet<UpstreamSchema>();

export class RemoteFeed {
  readonly #subscribing: RemoteSubscribing & { readonly schema: UpstreamSchema };
  #way: RemoteSocket | RemoteEventStream | undefined;
  #isOver = false;

  /** Never throws what a service or its address can cause: that is told, after this. */
  constructor(subscribing: RemoteSubscribing & { readonly schema: UpstreamSchema }) {
    this.#subscribing = subscribing;
    open += 1;
    if (open > MOST_OPEN) queueMicrotask(() => this.#lose(`More than ${MOST_OPEN} subscriptions are open`));
    else if (streaming.has(subscribing.schema)) this.#stream('');
    else this.#socket();
  }

  /** Nothing more is told. */
  stop(): void {
    if (this.#isOver) return;
    this.#end();
    this.#way?.stop();
  }

  /** Events wait at the service. */
  pause(): void {
    this.#way?.pause();
  }

  resume(): void {
    this.#way?.resume();
  }

  #socket(): void {
    this.#way = new RemoteSocket({
      ...this.#subscribing,
      tell: (event) => this.#tell(event),
      declined: (status) => this.#stream(`No WebSocket: the answer has status ${status}. `),
    });
  }

  /** `before`: what has not worked already. */
  #stream(before: string): void {
    const { schema } = this.#subscribing;
    this.#way = new RemoteEventStream({
      ...this.#subscribing,
      tell: (event) => this.#tell(event),
      began: () => streaming.add(schema),
      notBegun: (message) => {
        streaming.delete(schema);
        this.#lose(before + message);
      },
    });
  }

  #lose(message: string): void {
    this.#tell({ kind: 'lost', error: unreachable(this.#subscribing.endpoint, message) });
  }

  #tell(event: RemoteEvent): void {
    if (this.#isOver) return;
    if (event.kind !== 'result') this.#end();
    this.#subscribing.tell(event);
  }

  #end(): void {
    this.#isOver = true;
    open -= 1;
  }
}
