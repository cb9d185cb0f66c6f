/** One subscription at a remote schema over server-sent events: a request of its own that is answered with a stream of results.
 *  In: endpoint, request, who asks. Out: RemoteEvents. Not here: when it is this and no WebSocket (remote-feed.ts), the bytes of
 *  events (outgoing/event-stream.ts), what a result says (remote-answer.ts).
 *  Source: graphql-sse PROTOCOL.md, "Distinct connections mode". */
import type { IncomingMessage } from 'node:http';
import { fillTemplate } from '../metadata/variables.ts';
import { observeCall } from '../observe/webhook-call.ts';
import { EventStream, type ServerEvent } from '../outgoing/event-stream.ts';
import { bodyOf, requestStream } from '../outgoing/http-client.ts';
import { isErrorList, type RemoteError } from './remote-answer.ts';
import type { RemoteSubscribing } from './remote-feed.ts';
import { headersFor, messageOf, timeoutMsOf, unreachable } from './remote-http.ts';

/** A longer event is the end of its subscription. */
const MOST_BYTES = 64 * 1024 * 1024;
/** Of an answer that is no stream. */
const MOST_REFUSAL_BYTES = 1024 * 1024;

export type EventStreaming = RemoteSubscribing & {
  /** The service answers with a stream. */
  readonly began: () => void;
  /** It does not, and why. */
  readonly notBegun: (message: string) => void;
};

export class RemoteEventStream {
  readonly #streaming: EventStreaming;
  readonly #gone = new AbortController();
  readonly #events = new EventStream();
  #response: IncomingMessage | undefined;

  /** Never throws what a service or its address can cause: that is told. */
  constructor(streaming: EventStreaming) {
    this.#streaming = streaming;
    this.#ask().catch((error: unknown) => this.#notBegun(messageOf(error)));
  }

  stop(): void {
    this.#gone.abort();
    this.#response?.destroy();
  }

  /** Events wait at the service. */
  pause(): void {
    this.#response?.pause();
  }

  resume(): void {
    this.#response?.resume();
  }

  async #ask(): Promise<void> {
    const { endpoint, asker, request } = this.#streaming;
    const { outbound } = asker;
    const url = fillTemplate(endpoint.url, outbound.variables);
    const own = { ...headersFor(endpoint, asker), accept: 'text/event-stream' };
    const asking = { purpose: 'remote-schema', url: endpoint.url, method: 'POST' } as const;
    const terms = {
      timeoutMs: timeoutMsOf(endpoint, asker),
      trusts: outbound.trusts,
      signal: this.#gone.signal,
    };
    const { response } = await observeCall(asking, outbound, async (traceHeaders) => {
      const headers = Object.entries({ ...own, ...traceHeaders });
      const sent = { url, method: 'POST', headers, body: JSON.stringify(request) };
      const answered = await requestStream(sent, terms);
      return { status: answered.statusCode ?? 0, response: answered };
    });
    if (!isStream(response)) return this.#refused(response);
    this.#streaming.began();
    this.#listen(response);
  }

  #listen(response: IncomingMessage): void {
    this.#response = response;
    response.socket.setKeepAlive(true, KEEPALIVE_MS);
    response.on('data', (chunk: Buffer) => {
      for (const event of this.#events.read(chunk)) this.#hear(event);
      if (this.#events.heldBytes > MOST_BYTES) this.#lose(`An event is longer than ${MOST_BYTES} bytes`);
    });
    response.on('error', (error) => this.#lose(`Connection failure: ${error.message}`));
    response.on('end', () => this.#lose('The stream of events ended'));
  }

  /** Some services name no event but the last. */
  #hear({ type, data }: ServerEvent): void {
    if (this.#gone.signal.aborted) return;
    if (type === 'next' || type === 'message') this.#streaming.tell({ kind: 'result', bytes: data });
    if (type !== 'complete') return;
    this.stop();
    this.#streaming.tell({ kind: 'complete' });
  }

  /** With errors of GraphQL, or with anything, which may take as long as the head did. */
  async #refused(response: IncomingMessage): Promise<void> {
    const { endpoint, asker, tell } = this.#streaming;
    const late = setTimeout(() => response.destroy(new Error('late')), timeoutMsOf(endpoint, asker));
    const errors = errorsIn(await bodyOf(response, MOST_REFUSAL_BYTES).finally(() => clearTimeout(late)));
    if (!errors) return this.#notBegun(`No stream of events: the answer has status ${response.statusCode}`);
    if (this.#gone.signal.aborted) return;
    this.stop();
    tell({ kind: 'refused', errors });
  }

  #notBegun(message: string): void {
    if (this.#gone.signal.aborted) return;
    this.stop();
    this.#streaming.notBegun(message);
  }

  #lose(message: string): void {
    if (this.#gone.signal.aborted) return;
    this.stop();
    this.#streaming.tell({ kind: 'lost', error: unreachable(this.#streaming.endpoint, message) });
  }
}

const KEEPALIVE_MS = 10_000;

/** None was asked to be compressed; `none` is what some services call that. */
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
