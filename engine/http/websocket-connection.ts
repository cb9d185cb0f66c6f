/** One WebSocket: carries out what the state machine (websocket-protocol.ts) says, and keeps the socket in good order.
 *  - Messages that come while authentication is on its way wait for it.
 *  - A client that does not read is not read from either; of a live query it gets the latest result once it does.
 *  - Silence is broken every few seconds; a peer that never answers is gone.
 *  - `finish` ends live queries at once and lets queries and mutations answer before it closes.
 *  Not here: running an operation (websocket-operation.ts), handshakes (websocket.ts). */
import type { IncomingHttpHeaders } from 'node:http';
import type { Duplex } from 'node:stream';
import type { RawData, WebSocket } from 'ws';
import { textToWire } from '../config/header-prefix.ts';
import { parseJson } from '../json/parse-json.ts';
import { isRecord } from '../json/value.ts';
import { LONGEST_MS } from '../metadata/schema/number.ts';
import type { WebsocketEvent } from '../observe/observation.ts';
import type { Session } from '../resolve/session.ts';
import type { LiveQueries } from '../subscribe/live-queries.ts';
import type { Result } from '../subscribe/result.ts';
import { bodyLimit } from './body-limit.ts';
import { type Release, UNCOUNTED_BYTES } from './byte-budget.ts';
import type { HttpContext } from './context.ts';
import { IncomingBytes } from './incoming-bytes.ts';
import { errorFrom } from './refusal.ts';
import { type Protocol, readMessage } from './websocket-messages.ts';
import {
  type OperationOutput,
  type RunningWebsocketOperation,
  refuse,
  startOperation,
} from './websocket-operation.ts';
import { type ConnectionEffect, type ConnectionEvent, type Phase, react } from './websocket-protocol.ts';

export type ConnectionOptions = {
  readonly id: string;
  readonly socket: WebSocket;
  /** The connection below the socket. */
  readonly duplex: Duplex;
  readonly protocol: Protocol;
  readonly isRelay: boolean;
  /** Of the handshake; those of `connection_init` override them. */
  readonly headers: IncomingHttpHeaders;
  readonly address: string | undefined;
  readonly context: HttpContext;
  readonly live: LiveQueries;
};

/** Results of this size are sent from the bytes all their clients share. */
const SHARED_BYTES = 8 * 1024;
/** Queries and mutations of one client at the same time. */
const MOST_AT_ONCE = 50;
/** Signs of life that may stay unanswered. */
const MOST_UNHEARD = 3;
/** A close frame has room for 123 bytes. */
const MOST_REASON = 120;
/** How long a close frame may take to arrive where the connection is closed for a limit, or the client is not known. */
const CUT_MS = 1000;

export class WebsocketConnection {
  readonly #options: ConnectionOptions;
  readonly #operations = new Map<string, RunningWebsocketOperation>();
  /** Messages that came during authentication. */
  #inbox: string[] = [];
  /** Latest results of live queries the client had no room for. */
  readonly #held = new Map<string, Result>();
  #answering = 0;
  #phase: Phase = 'new';
  #session: Session | null = null;
  #headers: IncomingHttpHeaders = {};
  #unheard = 0;
  #isFinishing = false;
  readonly #timers: NodeJS.Timeout[];
  readonly #incoming: IncomingBytes;
  /** Reservations of long requests that run, by id. */
  readonly #reserved = new Map<string, Release>();
  /** Bytes of the message that is being read. */
  #messageBytes = 0;

  constructor(options: ConnectionOptions) {
    this.#options = options;
    const { socket, context } = options;
    const { websocketKeepalive, websocketConnectionInitTimeout } = context.options;
    this.#timers = [
      setTimeout(() => this.#on({ kind: 'too late' }), websocketConnectionInitTimeout * 1000),
      setInterval(() => this.#signOfLife(), websocketKeepalive * 1000),
    ];
    this.#incoming = new IncomingBytes({
      duplex: options.duplex,
      budget: context.budget,
      mostBytes: () => (this.#phase === 'ready' ? bodyLimit(context.options, this.#session) : null),
      tooMuch: (most) => this.#cut('message too large', 1009, `messages may have ${most} bytes`),
      overloaded: () => this.#cut('overloaded', 1013, 'too many bytes of requests are being processed'),
      changed: () => this.#readOrPause(),
    });
    socket.on('message', (data, isBinary) => this.#receive(data, isBinary));
    socket.on('pong', () => this.#hear());
    // A broken socket closes right after.
    socket.on('error', () => {});
    const leave = context.sendQueues.add({
      bytes: () => socket.bufferedAmount,
      cut: (limit) => this.#cut(limit, 4413, 'the client does not read fast enough'),
    });
    socket.on('close', (code) => {
      leave();
      this.#closed(code);
    });
    this.#observe('accepted', { protocol: options.protocol.name });
  }

  /** True until the client is known. */
  get isUnauthenticated(): boolean {
    return this.#phase === 'new' || this.#phase === 'asking';
  }

  /** How many queries and mutations are still to answer; stopping one does not end it. */
  get inFlight(): number {
    return this.#answering;
  }

  finish(): void {
    this.#isFinishing = true;
    for (const [id, operation] of this.#operations) {
      if (!operation.isLive) continue;
      operation.stop();
      this.#operations.delete(id);
    }
    this.#closeWhenDone();
  }

  terminate(): void {
    this.#options.socket.terminate();
  }

  #receive(data: RawData, isBinary: boolean): void {
    this.#hear();
    this.#incoming.completed();
    if (this.#isFinishing) return;
    const text = isBinary ? '' : String(data);
    if (this.#phase === 'asking') {
      this.#inbox.push(text);
      this.#options.socket.pause();
    } else this.#read(text);
  }

  #read(text: string): void {
    this.#messageBytes = text.length;
    this.#on(readMessage(this.#options.protocol, text, parseJson));
  }

  #on(event: ConnectionEvent): void {
    const { protocol } = this.#options;
    const isRunning = (id: string) => this.#operations.has(id);
    const { phase, effects } = react({ protocol, phase: this.#phase, isRunning }, event);
    this.#phase = phase;
    for (const effect of effects) this.#carryOut(effect);
  }

  #carryOut(effect: ConnectionEffect): void {
    if (effect.kind === 'send') this.#send(effect.text);
    else if (effect.kind === 'authenticate') void this.#authenticate(effect.headers);
    else if (effect.kind === 'start') this.#start(effect.id, effect.request);
    else if (effect.kind === 'fail') refuse(this.#outlet(effect.id, null), effect.reason);
    else if (effect.kind === 'stop') this.#stop(effect.id);
    else if (effect.kind === 'close') this.#close(effect.code, effect.reason);
    else effect satisfies never;
  }

  async #authenticate(given: Readonly<Record<string, string>>): Promise<void> {
    const { context, headers, id } = this.#options;
    try {
      this.#headers = { ...headers, ...given };
      this.#session = await context.authenticate(this.#headers);
      this.#on({ kind: 'authenticated' });
      this.#observe('connection_initialized', null);
      this.#closeAt(this.#session.expiresAt);
    } catch (thrown) {
      const { message } = errorFrom(thrown, context.observe, id);
      const reason = textToWire(message, context.options.headerPrefix);
      this.#observe('connection_err', { reason });
      this.#on({ kind: 'refused', reason });
    }
    const waiting = this.#inbox;
    this.#inbox = [];
    for (const text of waiting) this.#read(text);
    this.#options.socket.resume();
  }

  #start(id: string, request: unknown): void {
    const { context, live, isRelay, address } = this.#options;
    const outlet = this.#outlet(id, request);
    if (!this.#reserve(id)) {
      context.observe({ kind: 'request refused', error: 'overloaded' });
      refuse(outlet, 'too many bytes of requests are being processed');
      return;
    }
    const headers = this.#headers;
    const operation = startOperation({
      context,
      live,
      session: this.#session!,
      isRelay,
      headers,
      address,
      connection: this.#options,
      request,
      outlet,
    });
    if (!operation) {
      this.#release(id);
      return;
    }
    this.#operations.set(id, operation);
    outlet.attach(operation);
    this.#observeOperation(id, request, 'started');
    if (!operation.isLive) this.#answering += 1;
    this.#readOrPause();
  }

  /** Text and values of a request live as long as its operation. False where there is no room for a long one. */
  #reserve(id: string): boolean {
    if (this.#messageBytes <= UNCOUNTED_BYTES) return true;
    const release = this.#options.context.budget.tryTake(this.#messageBytes);
    if (release) this.#reserved.set(id, release);
    return release !== null;
  }

  #release(id: string): void {
    this.#reserved.get(id)?.();
    this.#reserved.delete(id);
  }

  #stop(id: string): void {
    this.#release(id);
    this.#operations.get(id)?.stop();
    if (this.#operations.delete(id)) this.#observeOperation(id, null, 'stopped');
    this.#held.delete(id);
    this.#readOrPause();
  }

  /** What an operation says goes out under its id. */
  #outlet(
    id: string,
    request: unknown,
  ): OperationOutput & { attach: (operation: RunningWebsocketOperation) => void } {
    const { protocol, context } = this.#options;
    let own: RunningWebsocketOperation | undefined;
    return {
      requestId: this.#options.id,
      attach: (operation) => {
        own = operation;
      },
      next: (response) => this.#sendResult(id, response),
      hasRoom: () => !this.#isFull,
      latest: (response) => this.#sendLatest(id, response),
      error: (errors, detail) => {
        this.#held.delete(id);
        this.#send(protocol.server.error(id, textToWire(errors, context.options.headerPrefix)));
        if (protocol.completesErrors) this.#send(protocol.server.complete(id));
        this.#observeOperation(id, request, 'query_err', detail);
      },
      complete: () => this.#send(protocol.server.complete(id)),
      done: () => {
        if (own && !own.isLive) this.#answering -= 1;
        // The id may have been stopped and used again.
        if (own && this.#operations.get(id) === own) {
          this.#operations.delete(id);
          this.#release(id);
          this.#observeOperation(id, null, 'stopped');
        }
        this.#readOrPause();
        this.#closeWhenDone();
      },
    };
  }

  #sendLatest(id: string, result: Result): void {
    if (this.#isFull) this.#held.set(id, result);
    else this.#sendResult(id, result);
  }

  /** A long result is one message in three fragments, because its bytes are shared with other clients. */
  #sendResult(id: string, result: Result): void {
    const { socket, protocol } = this.#options;
    const [before, after] = protocol.server.next(id);
    if (result.size < SHARED_BYTES) {
      this.#send(before + result.text + after);
      return;
    }
    if (socket.readyState !== socket.OPEN) return;
    socket.send(before, { fin: false });
    socket.send(result.bytes, { fin: false, binary: false });
    this.#send(after);
  }

  #send(text: string): void {
    const { socket } = this.#options;
    if (socket.readyState !== socket.OPEN) return;
    socket.send(text, () => this.#sent());
    this.#readOrPause();
  }

  /** Something has gone out: there may be room. */
  #sent(): void {
    for (const [id, result] of this.#held) {
      if (this.#isFull) return;
      this.#held.delete(id);
      this.#sendResult(id, result);
    }
    this.#readOrPause();
  }

  get #isFull(): boolean {
    const { socket, context } = this.#options;
    return socket.bufferedAmount > context.sendQueues.fullBytes;
  }

  #readOrPause(): void {
    const { socket } = this.#options;
    if (socket.readyState !== socket.OPEN || this.#phase === 'asking') return;
    const isBusy = this.#incoming.isWaiting || this.#isFull || this.inFlight >= MOST_AT_ONCE;
    if (isBusy && !socket.isPaused) socket.pause();
    else if (!isBusy && socket.isPaused) socket.resume();
  }

  #hear(): void {
    this.#unheard = 0;
  }

  #signOfLife(): void {
    const { socket, protocol } = this.#options;
    // Whoever is not read from cannot be heard.
    if (socket.isPaused || socket.readyState !== socket.OPEN) return;
    this.#unheard += 1;
    if (this.#unheard > MOST_UNHEARD) {
      socket.terminate();
      return;
    }
    socket.ping();
    if (this.#phase === 'ready') this.#send(protocol.server.alive);
  }

  #closeWhenDone(): void {
    if (this.#isFinishing && this.inFlight === 0) this.#close(1001, 'the engine is stopping');
  }

  /** Credentials are good for a time, and so is what was let in with them. */
  #closeAt(expiresAt: number | undefined): void {
    if (expiresAt === undefined || this.#phase === 'closed') return;
    const leftMs = Math.min(Math.max(0, expiresAt - Date.now()), LONGEST_MS);
    const timer = setTimeout(() => {
      if (Date.now() < expiresAt) this.#closeAt(expiresAt);
      else this.#close(4401, 'the credentials have expired');
    }, leftMs);
    this.#timers.push(timer);
  }

  #close(code: number, reason: string): void {
    const { socket } = this.#options;
    // The answer to our close frame has to be read.
    if (socket.isPaused) socket.resume();
    socket.close(code, cut(reason));
    // A client nobody knows is not waited for.
    if (this.#session === null) setTimeout(() => socket.terminate(), CUT_MS).unref();
    this.#end();
  }

  /** Closes for a limit. The client may not be reading: what is left of the connection is dropped soon. */
  #cut(limit: string, code: number, reason: string): void {
    const { socket, context } = this.#options;
    if (this.#phase === 'closed') return;
    context.observe({ kind: 'request refused', error: limit });
    this.#observe('connection_err', { reason, code });
    // Nothing more is read: the rest of what arrives is of no use.
    socket.close(code, cut(reason));
    this.#end();
    socket.pause();
    setTimeout(() => socket.terminate(), CUT_MS).unref();
  }

  #closed(code: number): void {
    this.#end();
    this.#observe('closed', { code });
  }

  #end(): void {
    this.#phase = 'closed';
    this.#incoming.end();
    for (const id of [...this.#reserved.keys()]) this.#release(id);
    this.#inbox = [];
    this.#held.clear();
    for (const timer of this.#timers) clearTimeout(timer);
    for (const operation of this.#operations.values()) operation.stop();
    this.#operations.clear();
  }

  #observe(event: WebsocketEvent['event'], detail: unknown): void {
    const session = this.#session;
    this.#options.context.observe({
      kind: 'websocket',
      event,
      connectionId: this.#options.id,
      sessionVariables: session?.variables ?? null,
      expiresAt: session?.expiresAt ?? null,
      detail,
    });
  }

  /** The text of an operation is told only when it failed. */
  #observeOperation(id: string, request: unknown, type: OperationEvent, failure: unknown = null): void {
    const { query = null, operationName = null } = isRecord(request) ? request : {};
    this.#observe('operation', {
      request_id: this.#options.id,
      operation_id: id,
      operation_name: operationName,
      operation_type: failure === null ? { type } : { type, detail: failure },
      query: type === 'query_err' ? query : null,
    });
  }
}

type OperationEvent = 'started' | 'stopped' | 'query_err';

/** To whole characters. */
function cut(reason: string): string {
  const bytes = Buffer.from(reason).subarray(0, MOST_REASON);
  return new TextDecoder().decode(bytes, { stream: true });
}
