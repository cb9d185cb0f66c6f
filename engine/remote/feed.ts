/** One subscription at a remote schema, over a WebSocket or server-sent events. The engine tries a WebSocket first. If the service
 *  declines the handshake, the engine uses server-sent events for it until it is introspected again or sends no stream either.
 *  In: a FeedRequest. Out: RemoteEvents. Not here: the transports (socket.ts, event-stream.ts), the fields of an event
 *  (answer.ts), the subscriber (subscribe/remote-subscription.ts). */
import type { UpstreamSchema } from '../resolve/upstream.ts';
import { RemoteEventStream } from './event-stream.ts';
import type { FeedRequest, RemoteEvent } from './feed-types.ts';
import { unreachable } from './http.ts';
import { RemoteSocket } from './socket.ts';

/** The most subscriptions at remote schemas in this process. Each is a connection. */
const MOST_OPEN = 5000;

let open = 0;

/** Returns the number of open subscriptions at remote schemas in this process. */
export const openRemoteFeeds = () => open;

/** Services that decline WebSockets and send event streams. */
const streaming = new WeakSet<UpstreamSchema>();

export class RemoteFeed {
  readonly #request: FeedRequest & { readonly schema: UpstreamSchema };
  #transport: RemoteSocket | RemoteEventStream | undefined;
  #isOver = false;

  /** Failures of the service or its address are reported as events, after the constructor, and never thrown. */
  constructor(request: FeedRequest & { readonly schema: UpstreamSchema }) {
    this.#request = request;
    open += 1;
    if (open > MOST_OPEN) queueMicrotask(() => this.#lose(`More than ${MOST_OPEN} subscriptions are open`));
    else if (streaming.has(request.schema)) this.#stream('');
    else this.#socket();
  }

  /** Ends the subscription. No event follows. */
  stop(): void {
    if (this.#isOver) return;
    this.#end();
    this.#transport?.stop();
  }

  /** Events wait at the service. */
  pause(): void {
    this.#transport?.pause();
  }

  resume(): void {
    this.#transport?.resume();
  }

  #socket(): void {
    this.#transport = new RemoteSocket({
      ...this.#request,
      notify: (event) => this.#notify(event),
      declined: (status) => this.#stream(`No WebSocket: the answer has status ${status}. `),
    });
  }

  /** `before` describes the transport that failed earlier. */
  #stream(before: string): void {
    const { schema } = this.#request;
    this.#transport = new RemoteEventStream({
      ...this.#request,
      notify: (event) => this.#notify(event),
      began: () => streaming.add(schema),
      notBegun: (message) => {
        streaming.delete(schema);
        this.#lose(before + message);
      },
    });
  }

  #lose(message: string): void {
    this.#notify({ kind: 'lost', error: unreachable(this.#request.endpoint, message) });
  }

  #notify(event: RemoteEvent): void {
    if (this.#isOver) return;
    if (event.kind !== 'result') this.#end();
    this.#request.notify(event);
  }

  #end(): void {
    this.#isOver = true;
    open -= 1;
  }
}
