/** One subscription at a remote schema over server-sent events: a request of its own whose response is a stream of results.
 *  In: a FeedRequest. Out: RemoteEvents. Not here: the choice between this and a WebSocket (feed.ts), the bytes of events
 *  (outgoing/event-stream.ts), the fields of a result (answer.ts).
 *  Source: graphql-sse PROTOCOL.md, "Distinct connections mode". */
import type { IncomingMessage } from 'node:http';
import { fillTemplate } from '../metadata/variables.ts';
import { observeCall } from '../observe/webhook-call.ts';
import { EventMemory } from '../outgoing/event-memory.ts';
import { EventStream, type ServerEvent } from '../outgoing/event-stream.ts';
import { requestStream } from '../outgoing/http-client.ts';
import { readBody } from '../outgoing/response-body.ts';
import { isErrorList, type RemoteError } from './answer.ts';
import type { FeedRequest } from './feed-types.ts';
import { headersFor, messageOf, timeoutMsOf, unreachable } from './http.ts';

/** A longer event ends the subscription. */
const MOST_BYTES = 64 * 1024 * 1024;
/** The limit for an answer that is not a stream. */
const MOST_REFUSAL_BYTES = 1024 * 1024;

type StreamRequest = FeedRequest & {
  /** Called when the service answers with a stream. */
  readonly began: () => void;
  /** Called with the cause when it does not. */
  readonly notBegun: (message: string) => void;
};

export class RemoteEventStream {
  readonly #feed: StreamRequest;
  readonly #stopped = new AbortController();
  readonly #events = new EventStream();
  readonly #memory: EventMemory;
  #response: IncomingMessage | undefined;
  #hasRoom = true;

  /** Failures of the service or its address are reported as events and never thrown. */
  constructor(feed: StreamRequest) {
    this.#feed = feed;
    this.#memory = new EventMemory({
      limitMs: timeoutMsOf(feed.endpoint, feed.origin),
      pause: () => void this.#response?.pause(),
      resume: () => this.#resume(),
      lost: (reason) => this.#lose(reason),
    });
    this.#open().catch((error: unknown) => this.#notBegun(messageOf(error)));
  }

  stop(): void {
    this.#stopped.abort();
    this.#memory.end();
    this.#response?.destroy();
  }

  /** Events wait at the service. */
  pause(): void {
    this.#hasRoom = false;
    this.#response?.pause();
  }

  resume(): void {
    this.#hasRoom = true;
    this.#resume();
  }

  #resume(): void {
    if (this.#hasRoom && !this.#memory.isPaused) this.#response?.resume();
  }

  async #open(): Promise<void> {
    const { endpoint, origin, request } = this.#feed;
    const { outbound } = origin;
    const url = fillTemplate(endpoint.url, outbound.variables);
    const own = { ...headersFor(endpoint, origin), accept: 'text/event-stream' };
    const call = { purpose: 'remote-schema', url: endpoint.url, method: 'POST' } as const;
    const terms = {
      timeoutMs: timeoutMsOf(endpoint, origin),
      trusts: outbound.trusts,
      signal: this.#stopped.signal,
    };
    const { response } = await observeCall(call, outbound, async (traceHeaders) => {
      const headers = Object.entries({ ...own, ...traceHeaders });
      const sent = { url, method: 'POST', headers, body: JSON.stringify(request) };
      const answered = await requestStream(sent, terms);
      return { status: answered.statusCode ?? 0, response: answered };
    });
    if (!isStream(response)) return this.#refused(response);
    this.#feed.began();
    this.#listen(response);
  }

  #listen(response: IncomingMessage): void {
    this.#response = response;
    response.socket.setKeepAlive(true, KEEPALIVE_MS);
    response.on('data', (chunk: Buffer) => {
      const before = this.#events.heldBytes;
      const events = this.#events.read(chunk);
      if (events.length > 0) this.#memory.whole();
      for (const event of events) this.#read(event);
      this.#memory.arrived(Math.max(0, this.#events.heldBytes - (events.length > 0 ? 0 : before)));
      if (this.#events.heldBytes > MOST_BYTES) this.#lose(`An event is longer than ${MOST_BYTES} bytes`);
    });
    response.on('error', (error) => this.#lose(`Connection failure: ${error.message}`));
    response.on('end', () => this.#lose('The stream of events ended'));
  }

  /** Some services name only the last event. */
  #read({ type, data }: ServerEvent): void {
    if (this.#stopped.signal.aborted) return;
    if (type === 'next' || type === 'message') this.#feed.notify({ kind: 'result', bytes: data });
    if (type !== 'complete') return;
    this.stop();
    this.#feed.notify({ kind: 'complete' });
  }

  /** Reads an answer that is not a stream: GraphQL errors, or anything else. The body has the same timeout as the headers had. */
  async #refused(response: IncomingMessage): Promise<void> {
    const { endpoint, origin, notify } = this.#feed;
    const late = setTimeout(() => response.destroy(new Error('late')), timeoutMsOf(endpoint, origin));
    const errors = errorsIn(
      await readBody(response, { mostBytes: MOST_REFUSAL_BYTES }).finally(() => clearTimeout(late)),
    );
    if (!errors) return this.#notBegun(`No stream of events: the answer has status ${response.statusCode}`);
    if (this.#stopped.signal.aborted) return;
    this.stop();
    notify({ kind: 'refused', errors });
  }

  #notBegun(message: string): void {
    if (this.#stopped.signal.aborted) return;
    this.stop();
    this.#feed.notBegun(message);
  }

  #lose(message: string): void {
    if (this.#stopped.signal.aborted) return;
    this.stop();
    this.#feed.notify({ kind: 'lost', error: unreachable(this.#feed.endpoint, message) });
  }
}

const KEEPALIVE_MS = 10_000;

/** Content encodings of an uncompressed stream. Some services send `none`. */
const PLAIN: readonly (string | undefined)[] = [undefined, 'none', 'identity'];

function isStream({ statusCode, headers }: IncomingMessage): boolean {
  const isEvents = headers['content-type']?.startsWith('text/event-stream') === true;
  return statusCode === 200 && isEvents && PLAIN.includes(headers['content-encoding']);
}

function errorsIn(body: Buffer): readonly RemoteError[] | null {
  try {
    const { errors } = JSON.parse(body.toString()) as { readonly errors?: unknown };
    return isErrorList(errors) && errors.length > 0 ? errors : null;
  } catch {
    return null;
  }
}
