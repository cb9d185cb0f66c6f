/** One subscription at a remote schema over a WebSocket of its own, in either of the two sub-protocols. The service receives one
 *  request and sends events until it completes, refuses with errors, or the connection is lost.
 *  Sockets are not shared, because the headers are the client's and an earlier event is not for a later subscriber.
 *  In: a FeedRequest. Out: RemoteEvents. Not here: services without WebSockets (feed.ts), the fields of an event (answer.ts). Source: graphql-ws PROTOCOL.md, subscriptions-transport-ws PROTOCOL.md. */
import { type RawData, WebSocket } from 'ws';
import { MOST_TEXT } from '../errors/quoted.ts';
import { JsonScanner } from '../json/scanner.ts';
import { fillTemplate } from '../metadata/variables.ts';
import { observeCall } from '../observe/webhook-call.ts';
import { EventMemory } from '../outgoing/event-memory.ts';
import { connectionReason } from '../outgoing/no-response.ts';
import { openWebsocket } from '../outgoing/websocket-client.ts';
import { errorsIn, isErrorList, type RemoteError } from './answer.ts';
import type { FeedRequest, RemoteEvent } from './feed-types.ts';
import { headersFor, messageOf, timeoutMsOf, unreachable } from './http.ts';

type SocketRequest = FeedRequest & {
  /** Called when the service answers the handshake like an ordinary HTTP request. No event follows. */
  readonly declined: (status: number) => void;
};

/** The messages that start and stop an operation, by sub-protocol, in order of preference. */
const PROTOCOLS = {
  'graphql-transport-ws': { start: 'subscribe', stop: 'complete' },
  'graphql-ws': { start: 'start', stop: 'stop' },
} as const;

/** A longer event ends the subscription. */
const MOST_BYTES = 64 * 1024 * 1024;
const KEEPALIVE_MS = 10_000;
/** The header of a short frame of a server. RFC 6455, 5.2. */
const FRAME_BYTES = 2;
/** The number of pings that may stay unanswered. */
const MOST_UNANSWERED = 3;
const ID = '1';
/** Switching Protocols. RFC 9110, 15.2.2. */
const SWITCHED = 101;

export class RemoteSocket {
  readonly #feed: SocketRequest;
  #headers: Readonly<Record<string, string>> = {};
  #socket: WebSocket | null = null;
  /** Settled when the service accepts or declines, for observation. */
  readonly #begun = Promise.withResolvers<{ readonly status: number }>();
  #timer: NodeJS.Timeout | undefined;
  #unansweredPings = 0;
  #hasRoom = true;
  #isOver = false;
  readonly #memory: EventMemory;

  /** Failures of the service or its address are reported as events and never thrown. */
  constructor(feed: SocketRequest) {
    this.#feed = feed;
    const { endpoint, origin } = feed;
    this.#memory = new EventMemory({
      limitMs: timeoutMsOf(endpoint, origin),
      pause: () => this.#pause(),
      resume: () => this.#resume(),
      lost: (reason) => this.#lose(reason),
    });
    const call = { purpose: 'remote-schema', url: endpoint.url, method: 'GET' } as const;
    observeCall(call, origin.outbound, (traceHeaders) => {
      this.#open(traceHeaders);
      return this.#begun.promise;
    }).catch(() => {});
  }

  #open(traceHeaders: Readonly<Record<string, string>>): void {
    const { endpoint, origin } = this.#feed;
    try {
      this.#headers = { ...headersFor(endpoint, origin), ...traceHeaders };
      this.#socket = openWebsocket({
        url: fillTemplate(endpoint.url, origin.outbound.variables),
        protocols: Object.keys(PROTOCOLS),
        headers: this.#headers,
        mostBytes: MOST_BYTES,
        trusts: origin.outbound.trusts,
      });
    } catch (error) {
      queueMicrotask(() => this.#lose(messageOf(error)));
      return;
    }
    this.#listen(this.#socket);
    const timeoutMs = timeoutMsOf(endpoint, origin);
    this.#timer = setTimeout(() => this.#lose('Response timeout'), timeoutMs);
  }

  /** Ends the subscription. No event follows. */
  stop(): void {
    if (this.#isOver) return;
    if (this.#socket?.readyState === WebSocket.OPEN) this.#send({ type: this.#protocol.stop, id: ID });
    this.#end();
  }

  /** Events wait at the service. */
  pause(): void {
    this.#hasRoom = false;
    this.#pause();
  }

  resume(): void {
    this.#hasRoom = true;
    this.#resume();
  }

  #pause(): void {
    if (this.#socket?.readyState === WebSocket.OPEN) this.#socket.pause();
  }

  #resume(): void {
    if (this.#hasRoom && !this.#memory.isPaused) this.#socket?.resume();
  }

  get #protocol(): (typeof PROTOCOLS)[keyof typeof PROTOCOLS] {
    return PROTOCOLS[this.#socket!.protocol as keyof typeof PROTOCOLS];
  }

  #listen(socket: WebSocket): void {
    const alive = () => {
      this.#unansweredPings = 0;
    };
    socket.on('open', () => this.#send({ type: 'connection_init', payload: { headers: this.#headers } }));
    socket.on('upgrade', ({ socket: connection }) => {
      connection.on('data', (chunk: Buffer) => this.#memory.arrived(chunk.length));
    });
    socket.on('message', (data, isBinary) => {
      alive();
      this.#memory.whole();
      if (!this.#isOver) this.#read(data, isBinary);
    });
    socket.on('pong', (data) => {
      alive();
      this.#memory.ignore(data.length + FRAME_BYTES);
    });
    socket.on('ping', (data) => this.#memory.ignore(data.length + FRAME_BYTES));
    socket.on('unexpected-response', (_, { statusCode = 0 }) => this.#unanswered(statusCode));
    socket.on('error', (error) => this.#lose(`Connection failure: ${connectionReason(error)}`));
    socket.on('close', (code, reason) => this.#lose(`The connection was closed (${code}) ${reason}`.trim()));
  }

  #read(data: RawData, isBinary: boolean): void {
    const message = isBinary ? null : messageFrom(data as Buffer);
    const { type, payload } = message ?? NO_MESSAGE;
    if (type === 'connection_ack') this.#begin();
    else if (type === 'connection_error') this.#lose(`The connection was refused: ${startOf(payload)}`);
    else if (type === 'ping') this.#send({ type: 'pong' });
    else if (type === 'next' || type === 'data') this.#notify({ kind: 'result', bytes: payload });
    else if (type === 'error') this.#finish({ kind: 'refused', errors: errorsFrom(payload) });
    else if (type === 'complete') this.#finish({ kind: 'complete' });
    else if (type !== 'ka' && type !== 'pong') this.#lose('A message is not of the protocol');
  }

  /** Redirects and server errors do not tell whether the service supports WebSockets. */
  #unanswered(status: number): void {
    const isDeclined = (status >= 200 && status < 300) || (status >= 400 && status < 500);
    if (!isDeclined) this.#lose(`Connection failure: Unexpected server response: ${status}`);
    if (this.#isOver) return;
    this.#begun.resolve({ status });
    this.#end();
    this.#feed.declined(status);
  }

  #begin(): void {
    this.#begun.resolve({ status: SWITCHED });
    clearTimeout(this.#timer);
    this.#timer = setInterval(() => this.#ping(), KEEPALIVE_MS);
    this.#send({ type: this.#protocol.start, id: ID, payload: this.#feed.request });
  }

  #ping(): void {
    const socket = this.#socket!;
    // A paused socket receives no pong.
    if (socket.isPaused) return;
    this.#unansweredPings += 1;
    if (this.#unansweredPings > MOST_UNANSWERED) this.#lose('There is no sign of life');
    else socket.ping();
  }

  #send(message: object): void {
    this.#socket!.send(JSON.stringify(message));
  }

  #lose(message: string): void {
    this.#begun.reject(new Error(message));
    this.#finish({ kind: 'lost', error: unreachable(this.#feed.endpoint, message) });
  }

  #finish(event: RemoteEvent): void {
    if (this.#isOver) return;
    this.#end();
    this.#notify(event);
  }

  #notify(event: RemoteEvent): void {
    this.#feed.notify(event);
  }

  #end(): void {
    this.#isOver = true;
    this.#memory.end();
    this.#begun.reject(new Error('it was ended before it had begun'));
    clearTimeout(this.#timer);
    const socket = this.#socket;
    if (socket?.isPaused) socket.resume();
    if (socket?.readyState === WebSocket.OPEN) socket.close(1000);
    else socket?.terminate();
  }
}

const NO_MESSAGE = { type: '', payload: Buffer.alloc(0) };

/** The most bytes of a character in UTF-8. */
const CHARACTER_BYTES = 4;

/** Returns what an error may quote of a payload, and a little more. */
function startOf(payload: Buffer): string {
  return payload.toString('utf8', 0, CHARACTER_BYTES * MOST_TEXT);
}

/** Returns null for a message that is not of the protocol. The payload is not parsed. */
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

/** The payload is a list in the newer protocol. In the older one it is an error, or an object with a list. */
function errorsFrom(payload: Buffer): readonly RemoteError[] {
  const value = payload.length === 0 ? null : errorsIn(payload);
  const { errors = [value] } = (value ?? {}) as { readonly errors?: unknown };
  return [value, errors].find(isErrorList) ?? [{ message: 'the subscription was refused' }];
}
