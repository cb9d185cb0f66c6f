/** One subscription at a remote schema: a WebSocket of its own, in whichever of the two sub-protocols the service speaks, over
 *  which it is asked once and tells event after event, until it completes, says what is wrong, or is lost.
 *  Sockets are not shared: an event that came before somebody subscribed is not for them, and headers are the client's.
 *  In: endpoint, request, who asks. Out: RemoteEvents. Not here: services without WebSockets (remote-feed.ts), what an event
 *  says (remote-answer.ts). Source: graphql-ws PROTOCOL.md, subscriptions-transport-ws PROTOCOL.md. */
import { type RawData, WebSocket } from 'ws';
import { fillTemplate } from '../metadata/variables.ts';
import { observeCall } from '../observe/webhook-call.ts';
import { openWebsocket } from '../outgoing/websocket-client.ts';
import { JsonScanner } from './json-scanner.ts';
import { isErrorList, type RemoteError } from './remote-answer.ts';
import type { RemoteEvent, RemoteSubscribing } from './remote-feed.ts';
import { headersFor, messageOf, timeoutMsOf, unreachable } from './remote-http.ts';

export type SocketSubscribing = RemoteSubscribing & {
  /** The service answers the handshake as if it were any other request: nothing more is told. */
  readonly declined: (status: number) => void;
};

/** By the sub-protocol the service chooses, the better one first: how an operation is begun and ended. */
const PROTOCOLS = {
  'graphql-transport-ws': { start: 'subscribe', stop: 'complete' },
  'graphql-ws': { start: 'start', stop: 'stop' },
} as const;

/** A longer event is the end of its subscription. */
const MOST_BYTES = 64 * 1024 * 1024;
const KEEPALIVE_MS = 10_000;
/** Signs of life that may stay unanswered. */
const MOST_UNHEARD = 3;
const ID = '1';
/** Switching Protocols. RFC 9110, 15.2.2. */
const SWITCHED = 101;

export class RemoteSocket {
  readonly #subscribing: SocketSubscribing;
  #headers: Readonly<Record<string, string>> = {};
  #socket: WebSocket | null = null;
  /** Whether the service has taken it is told to those who observe. */
  readonly #begun = Promise.withResolvers<{ readonly status: number }>();
  #timer: NodeJS.Timeout | undefined;
  #unheard = 0;
  #isOver = false;

  /** Never throws what a service or its address can cause: that is told. */
  constructor(subscribing: SocketSubscribing) {
    this.#subscribing = subscribing;
    const { endpoint, asker } = subscribing;
    const asking = { purpose: 'remote-schema', url: endpoint.url, method: 'GET' } as const;
    observeCall(asking, asker.outbound, (traceHeaders) => {
      this.#open(traceHeaders);
      return this.#begun.promise;
    }).catch(() => {});
  }

  #open(traceHeaders: Readonly<Record<string, string>>): void {
    const { endpoint, asker } = this.#subscribing;
    try {
      this.#headers = { ...headersFor(endpoint, asker), ...traceHeaders };
      this.#socket = openWebsocket({
        url: fillTemplate(endpoint.url, asker.outbound.variables),
        protocols: Object.keys(PROTOCOLS),
        headers: this.#headers,
        mostBytes: MOST_BYTES,
        trusts: asker.outbound.trusts,
      });
    } catch (error) {
      queueMicrotask(() => this.#lose(messageOf(error)));
      return;
    }
    this.#listen(this.#socket);
    const timeoutMs = timeoutMsOf(endpoint, asker);
    this.#timer = setTimeout(() => this.#lose('Response timeout'), timeoutMs);
  }

  /** Nothing more is told. */
  stop(): void {
    if (this.#isOver) return;
    if (this.#socket?.readyState === WebSocket.OPEN) this.#send({ type: this.#protocol.stop, id: ID });
    this.#end();
  }

  /** Events wait at the service. */
  pause(): void {
    if (this.#socket?.readyState === WebSocket.OPEN) this.#socket.pause();
  }

  resume(): void {
    this.#socket?.resume();
  }

  get #protocol(): (typeof PROTOCOLS)[keyof typeof PROTOCOLS] {
    return PROTOCOLS[this.#socket!.protocol as keyof typeof PROTOCOLS];
  }

  #listen(socket: WebSocket): void {
    const hear = () => {
      this.#unheard = 0;
    };
    socket.on('open', () => this.#send({ type: 'connection_init', payload: { headers: this.#headers } }));
    socket.on('message', (data, isBinary) => {
      hear();
      if (!this.#isOver) this.#read(data, isBinary);
    });
    socket.on('pong', hear);
    socket.on('unexpected-response', (_, { statusCode = 0 }) => this.#unanswered(statusCode));
    socket.on('error', (error) => this.#lose(`Connection failure: ${error.message}`));
    socket.on('close', (code, reason) => this.#lose(`The connection was closed (${code}) ${reason}`.trim()));
  }

  #read(data: RawData, isBinary: boolean): void {
    const message = isBinary ? null : messageFrom(data as Buffer);
    const { type, payload } = message ?? NO_MESSAGE;
    if (type === 'connection_ack') this.#begin();
    else if (type === 'connection_error') this.#lose(`The connection was refused: ${payload}`);
    else if (type === 'ping') this.#send({ type: 'pong' });
    else if (type === 'next' || type === 'data') this.#tell({ kind: 'result', bytes: payload });
    else if (type === 'error') this.#finish({ kind: 'refused', errors: errorsFrom(payload) });
    else if (type === 'complete') this.#finish({ kind: 'complete' });
    else if (type !== 'ka' && type !== 'pong') this.#lose('A message is not of the protocol');
  }

  /** A status of failure or of being elsewhere says nothing about WebSockets. */
  #unanswered(status: number): void {
    const isKnownHere = (status >= 200 && status < 300) || (status >= 400 && status < 500);
    if (!isKnownHere) this.#lose(`Connection failure: Unexpected server response: ${status}`);
    if (this.#isOver) return;
    this.#begun.resolve({ status });
    this.#end();
    this.#subscribing.declined(status);
  }

  #begin(): void {
    this.#begun.resolve({ status: SWITCHED });
    clearTimeout(this.#timer);
    this.#timer = setInterval(() => this.#signOfLife(), KEEPALIVE_MS);
    this.#send({ type: this.#protocol.start, id: ID, payload: this.#subscribing.request });
  }

  #signOfLife(): void {
    const socket = this.#socket!;
    // Whoever is not read from cannot be heard.
    if (socket.isPaused) return;
    this.#unheard += 1;
    if (this.#unheard > MOST_UNHEARD) this.#lose('There is no sign of life');
    else socket.ping();
  }

  #send(message: object): void {
    this.#socket!.send(JSON.stringify(message));
  }

  #lose(message: string): void {
    this.#begun.reject(new Error(message));
    this.#finish({ kind: 'lost', error: unreachable(this.#subscribing.endpoint, message) });
  }

  #finish(event: RemoteEvent): void {
    if (this.#isOver) return;
    this.#end();
    this.#tell(event);
  }

  #tell(event: RemoteEvent): void {
    this.#subscribing.tell(event);
  }

  #end(): void {
    this.#isOver = true;
    this.#begun.reject(new Error('it was ended before it had begun'));
    clearTimeout(this.#timer);
    const socket = this.#socket;
    if (socket?.isPaused) socket.resume();
    if (socket?.readyState === WebSocket.OPEN) socket.close(1000);
    else socket?.terminate();
  }
}

const NO_MESSAGE = { type: '', payload: Buffer.alloc(0) };

/** Null: it is none. The payload is not read here. */
function messageFrom(bytes: Buffer): { readonly type: string; readonly payload: Buffer } | null {
  let type = '';
  let payload = bytes.subarray(0, 0);
  try {
    const scanner = new JsonScanner(bytes);
    scanner.members((key) => {
      scanner.peek();
      const start = scanner.at;
      scanner.skip();
      if (key === 'type') type = String(JSON.parse(bytes.toString('utf8', start, scanner.at)));
      else if (key === 'payload') payload = bytes.subarray(start, scanner.at);
    });
    scanner.end();
    return { type, payload };
  } catch {
    return null;
  }
}

/** A list in the newer protocol; in the older one an error, or an object with a list. */
function errorsFrom(payload: Buffer): readonly RemoteError[] {
  const value: unknown = payload.length === 0 ? null : JSON.parse(payload.toString());
  const { errors = [value] } = (value ?? {}) as { readonly errors?: unknown };
  return [value, errors].find(isErrorList) ?? [{ message: 'the subscription was refused' }];
}
