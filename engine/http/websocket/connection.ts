/** One WebSocket: carries out the effects of the state machine (protocol.ts) and controls the flow of the socket.
 *  Messages that arrive during authentication wait for its end.
 *  The engine stops reading from a client that does not read. Of a live query the client then receives only the
 *  latest result.
 *  `finish` ends live queries at once, and closes the connection after queries and mutations have answered.
 *  Not here: running an operation (operation.ts), handshakes (handshake.ts), keep-alive messages (keepalive.ts). */
import type { IncomingHttpHeaders } from 'node:http';
import type { Socket } from 'node:net';
import type { RawData, WebSocket } from 'ws';
import { EngineError } from '../../errors/engine-error.ts';
import { buildingSchema } from '../../execute/answer.ts';
import { parseJson } from '../../json/parse-json.ts';
import { isRecord } from '../../json/value.ts';
import { type TimerWheel, WheelTimer } from '../../limits/timer-wheel.ts';
import { textToWire } from '../../metadata/header-prefix.ts';
import type { WebsocketEvent } from '../../observe/observation.ts';
import type { Session } from '../../resolve/session.ts';
import type { LiveQueries } from '../../subscribe/live-queries.ts';
import type { Result } from '../../subscribe/result.ts';
import { type Release, UNCOUNTED_BYTES } from '../body/byte-budget.ts';
import { isLongBody, parseLongBody } from '../body/long-body.ts';
import { bodyLimit } from '../body/read-body.ts';
import type { HttpContext } from '../context.ts';
import { errorFrom } from '../error-response.ts';
import { checkRole } from '../operation.ts';
import { textFrame } from './frames.ts';
import { IncomingBytes } from './incoming-bytes.ts';
import { Keepalive } from './keepalive.ts';
import { type Protocol, readMessage } from './messages.ts';
import { type OperationOutput, type RunningWebsocketOperation, refuse, startOperation } from './operation.ts';
import { type ConnectionEffect, type ConnectionEvent, type Phase, react } from './protocol.ts';

export type ConnectionOptions = {
  readonly id: string;
  readonly socket: WebSocket;
  /** The TCP or TLS connection below the WebSocket. */
  readonly duplex: Socket;
  readonly protocol: Protocol;
  readonly isRelay: boolean;
  /** The headers of the handshake. Headers in `connection_init` override them. */
  readonly headers: IncomingHttpHeaders;
  readonly address: string | undefined;
  readonly context: HttpContext;
  readonly live: LiveQueries;
  /** The time limits of all connections. */
  readonly wheel: TimerWheel;
};

/** Results of this size are sent from bytes that all their clients share. */
const SHARED_BYTES = 8 * 1024;
/** The most queries and mutations one client may run at the same time. */
const MAX_OPERATIONS = 50;
/** The most bytes of a reason; a close frame has room for 123 bytes. */
const MAX_REASON_BYTES = 120;
/** How long a close frame may take to arrive when the connection is closed for a limit, or before authentication. */
const CLOSE_MS = 1000;

const OVERLOADED = 'too many bytes of requests are being processed';

export class WebsocketConnection {
  readonly #options: ConnectionOptions;
  readonly #operations = new Map<string, RunningWebsocketOperation>();
  /** Messages that arrived during authentication. */
  #queuedMessages: string[] = [];
  /** The latest results of live queries, for which the send queue had no room. */
  readonly #pendingResults = new Map<string, Result>();
  #answering = 0;
  #phase: Phase = 'new';
  #session: Session | null = null;
  #headers: IncomingHttpHeaders = {};
  #isFinishing = false;
  readonly #keepalive: Keepalive;
  /** The end of the time for `connection_init`, and then of the credentials. */
  readonly #deadline = new Deadline(() => this.#passed());
  readonly #incoming: IncomingBytes;
  /** The reservations of long requests that run, by operation id. */
  readonly #reserved = new Map<string, Release>();
  /** True while a long message is parsed. */
  #isParsing = false;
  /** The size of the message that is being handled. */
  #messageBytes = 0;
  readonly #onSent = () => this.#sent();

  constructor(options: ConnectionOptions) {
    this.#options = options;
    const { socket, duplex, protocol, context, wheel } = options;
    const { websocketKeepalive, websocketConnectionInitTimeout } = context.options;
    wheel.add(this.#deadline, websocketConnectionInitTimeout * 1000);
    this.#keepalive = new Keepalive({
      socket,
      duplex,
      protocol,
      wheel,
      intervalMs: websocketKeepalive * 1000,
      isReady: () => this.#phase === 'ready',
    });
    this.#incoming = new IncomingBytes({
      duplex,
      budget: context.budget,
      maxBytes: () => (this.#phase === 'ready' ? bodyLimit(context.options, this.#session) : null),
      tooLarge: (most) => this.#closeForLimit('message too large', 1009, `messages may have ${most} bytes`),
      overloaded: () => this.#closeForLimit('overloaded', 1013, OVERLOADED),
      pauseChanged: () => this.#readOrPause(),
    });
    socket.on('message', (data, isBinary) => this.#receive(data, isBinary));
    socket.on('ping', (data) => this.#incoming.controlCompleted(data.length));
    socket.on('pong', (data) => this.#incoming.controlCompleted(data.length));
    // A close event follows every error.
    socket.on('error', () => {});
    context.sendQueues.add(this);
    socket.on('close', (code) => {
      context.sendQueues.remove(this);
      this.#closed(code);
    });
    this.#observe('accepted', { protocol: protocol.name });
  }

  /** The bytes that wait for the client. */
  get bytes(): number {
    return this.#options.socket.bufferedAmount;
  }

  cut(limit: 'slow client' | 'queued bytes'): void {
    this.#closeForLimit(limit, 4413, 'the client does not read fast enough');
  }

  /** True until authentication has succeeded. */
  get isUnauthenticated(): boolean {
    return this.#phase === 'new' || this.#phase === 'authenticating';
  }

  /** The number of queries and mutations without an answer. One that the client has stopped still counts until it
   *  ends. */
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
    this.#closeWhenIdle();
  }

  terminate(): void {
    this.#options.socket.terminate();
  }

  #receive(data: RawData, isBinary: boolean): void {
    this.#incoming.completed();
    if (this.#isFinishing) return;
    const text = isBinary ? '' : String(data);
    if (this.#phase === 'authenticating' || this.#isParsing) {
      this.#queuedMessages.push(text);
      this.#options.socket.pause();
    } else this.#read(text);
  }

  #read(text: string): void {
    if (isLongBody(text)) void this.#readLong(text);
    else this.#handle(text, parseJson);
  }

  /** Parses a long message in slices, within the budget. Later messages wait for it. */
  async #readLong(text: string): Promise<void> {
    const { context, socket } = this.#options;
    const release = context.budget.tryTake(text.length);
    if (!release) return this.#closeForLimit('overloaded', 1013, OVERLOADED);
    this.#isParsing = true;
    socket.pause();
    const { model } = context.state.snapshot();
    const parsed = await parseLongBody(text, model, this.#session).catch((error: Error) => error);
    this.#isParsing = false;
    // The operation takes its own bytes in the same turn.
    release();
    if (parsed instanceof EngineError && parsed.kind === 'tooManyInputs') {
      return this.#closeForLimit('message too large', 1009, parsed.message);
    }
    if (!this.#isFinishing) this.#handle(text, () => (parsed instanceof Error ? undefined : parsed));
    this.#readQueued();
  }

  #handle(text: string, parse: (text: string) => unknown): void {
    this.#messageBytes = text.length;
    this.#on(readMessage(this.#options.protocol, text, parse));
  }

  /** Reads the messages that have waited, up to the next long one. */
  #readQueued(): void {
    for (let text = this.#queuedMessages.shift(); text !== undefined; text = this.#queuedMessages.shift()) {
      this.#read(text);
      if (this.#isParsing) return;
    }
    this.#options.socket.resume();
    this.#readOrPause();
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
    else if (effect.kind === 'fail') refuse(this.#output(effect.id, null), effect.reason);
    else if (effect.kind === 'stop') this.#stop(effect.id);
    else if (effect.kind === 'close') this.#close(effect.code, effect.reason);
    else effect satisfies never;
  }

  async #authenticate(given: Readonly<Record<string, string>>): Promise<void> {
    const { context, headers, id, isRelay } = this.#options;
    try {
      this.#headers = { ...headers, ...given };
      this.#session = await context.authenticate(this.#headers);
      checkRole(this.#session, context.options.headerPrefix);
      // Operations begin in the order of their messages, so they cannot wait for it later.
      await buildingSchema({ model: context.state.snapshot().model, session: this.#session, isRelay });
      this.#on({ kind: 'authenticated' });
      this.#observe('connection_initialized', null);
      this.#closeAtExpiry();
    } catch (thrown) {
      const { message } = errorFrom(thrown, context, id);
      const reason = textToWire(message, context.options.headerPrefix);
      this.#observe('connection_err', { reason });
      this.#on({ kind: 'refused', reason });
    }
    this.#readQueued();
  }

  #start(id: string, request: unknown): void {
    const { context, live, isRelay, address } = this.#options;
    const output = this.#output(id, request);
    if (!this.#reserve(id)) {
      context.observe({ kind: 'request refused', error: 'overloaded' });
      refuse(output, OVERLOADED);
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
      output,
    });
    if (!operation) {
      this.#release(id);
      return;
    }
    this.#operations.set(id, operation);
    output.attach(operation);
    this.#observeOperation(id, request, 'started');
    if (!operation.isLive) this.#answering += 1;
    this.#readOrPause();
  }

  /** Reserves bytes for a long request, whose text and values live as long as its operation. Returns false when the
   *  budget has no room. */
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
    this.#pendingResults.delete(id);
    this.#readOrPause();
  }

  /** Returns the output of an operation, which sends its messages under its id. */
  #output(
    id: string,
    request: unknown,
  ): OperationOutput & { attach: (operation: RunningWebsocketOperation) => void } {
    const { protocol, context } = this.#options;
    let own: RunningWebsocketOperation | undefined;
    return {
      requestId: this.#options.id,
      errorOf: protocol.errorOf,
      attach: (operation) => {
        own = operation;
      },
      next: (response, sent) => this.#sendResult(id, response, sent),
      hasRoom: () => !this.#isFull,
      latest: (response) => this.#sendLatest(id, response),
      error: (errors, detail) => {
        this.#pendingResults.delete(id);
        this.#send(protocol.server.error(id, textToWire(errors, context.options.headerPrefix)));
        if (protocol.completesErrors) this.#send(protocol.server.complete(id));
        this.#observeOperation(id, request, 'query_err', detail);
      },
      complete: () => this.#send(protocol.server.complete(id)),
      done: () => {
        if (own && !own.isLive) this.#answering -= 1;
        // The client may have stopped the operation and used its id again.
        if (own && this.#operations.get(id) === own) {
          this.#operations.delete(id);
          this.#release(id);
          this.#observeOperation(id, null, 'stopped');
        }
        this.#readOrPause();
        this.#closeWhenIdle();
      },
    };
  }

  #sendLatest(id: string, result: Result): void {
    if (this.#isFull) this.#pendingResults.set(id, result);
    else this.#sendResult(id, result);
  }

  #sendResult(id: string, result: Result, sent?: () => void): void {
    const { socket, protocol, duplex } = this.#options;
    const [before, after] = protocol.server.next(id);
    const isShort = result.size < SHARED_BYTES;
    if (isShort) this.#send(before + result.text + after);
    if (isShort || socket.readyState !== socket.OPEN) {
      sent?.();
      return;
    }
    const { bytes } = result;
    duplex.cork();
    duplex.write(textFrame(before, bytes.length + Buffer.byteLength(after)));
    duplex.write(bytes);
    // Called with an error when the connection ends before.
    const callback = () => {
      sent?.();
      this.#sent();
    };
    duplex.write(after, sent ? callback : this.#onSent);
    duplex.uncork();
    this.#readOrPause();
  }

  #send(text: string): void {
    const { socket, duplex } = this.#options;
    if (socket.readyState !== socket.OPEN) return;
    duplex.write(textFrame(text), this.#onSent);
    this.#readOrPause();
  }

  /** Called when a message has been sent: there may be room for pending results. */
  #sent(): void {
    for (const [id, result] of this.#pendingResults) {
      if (this.#isFull) return;
      this.#pendingResults.delete(id);
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
    if (socket.readyState !== socket.OPEN || this.#phase === 'authenticating' || this.#isParsing) return;
    const isBusy = this.#incoming.isWaiting || this.#isFull || this.inFlight >= MAX_OPERATIONS;
    if (isBusy && !socket.isPaused) socket.pause();
    else if (!isBusy && socket.isPaused) socket.resume();
  }

  #closeWhenIdle(): void {
    if (this.#isFinishing && this.inFlight === 0) this.#close(1001, 'the engine is stopping');
  }

  /** Called when the deadline has passed. */
  #passed(): void {
    if (this.#session === null) this.#on({ kind: 'init timeout' });
    else this.#closeAtExpiry();
  }

  /** Closes the connection when the credentials have expired. */
  #closeAtExpiry(): void {
    const { expiresAt } = this.#session!;
    this.#deadline.cancel();
    if (expiresAt === undefined || this.#phase === 'closed') return;
    const leftMs = expiresAt - Date.now();
    if (leftMs <= 0) this.#close(4401, 'the credentials have expired');
    else this.#options.wheel.add(this.#deadline, leftMs);
  }

  #close(code: number, reason: string): void {
    const { socket } = this.#options;
    // The close frame of the client has to be read.
    if (socket.isPaused) socket.resume();
    socket.close(code, truncated(reason));
    // The engine does not wait for a client that has not authenticated.
    if (this.#session === null) setTimeout(() => socket.terminate(), CLOSE_MS).unref();
    this.#end();
  }

  /** Closes the connection because of a limit. The client may not be reading, so the socket is destroyed shortly
   *  after. */
  #closeForLimit(limit: string, code: number, reason: string): void {
    const { socket, context } = this.#options;
    if (this.#phase === 'closed') return;
    context.observe({ kind: 'request refused', error: limit });
    this.#observe('connection_err', { reason, code });
    // Nothing more is read.
    socket.close(code, truncated(reason));
    this.#end();
    socket.pause();
    setTimeout(() => socket.terminate(), CLOSE_MS).unref();
  }

  #closed(code: number): void {
    this.#end();
    this.#observe('closed', { code });
  }

  #end(): void {
    this.#phase = 'closed';
    this.#incoming.end();
    for (const id of [...this.#reserved.keys()]) this.#release(id);
    this.#queuedMessages = [];
    this.#pendingResults.clear();
    this.#keepalive.cancel();
    this.#deadline.cancel();
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

  /** Reports an event of an operation. The query text is included only if the operation failed. */
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

class Deadline extends WheelTimer {
  readonly #passed: () => void;

  constructor(passed: () => void) {
    super();
    this.#passed = passed;
  }

  expire(): void {
    this.#passed();
  }
}

type OperationEvent = 'started' | 'stopped' | 'query_err';

/** Truncates a reason at a character boundary. */
function truncated(reason: string): string {
  const bytes = Buffer.from(reason).subarray(0, MAX_REASON_BYTES);
  return new TextDecoder().decode(bytes, { stream: true });
}
