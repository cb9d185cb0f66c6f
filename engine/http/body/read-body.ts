/** Reads the body of a request as text: up to the limit of its role, within the byte budget of the process, and within the time
 *  limit. Its reservation of bytes is held until the response is closed, because the text and the values in it live as long.
 *  Raises `bodyTooLarge`, `overloaded`, `requestTooSlow`. Also here: what happens to the rest of a body that is not read.
 *  Not here: messages of WebSockets (websocket/incoming-bytes.ts). */
import type { IncomingMessage } from 'node:http';
import type { Options } from '../../config/options.ts';
import { EngineError } from '../../errors/engine-error.ts';
import type { CancelListener } from '../../limits/cancel-signal.ts';
import { WheelTimer } from '../../limits/timer-wheel.ts';
import { ADMIN_ROLE, type Session } from '../../resolve/session.ts';
import type { HttpContext } from '../context.ts';
import type { RequestRecord } from '../request-record.ts';
import { ByteReservation, UNCOUNTED_BYTES } from './byte-budget.ts';

/** A body that takes longer than its time limit must have arrived at this rate so far. */
const MIN_BYTES_PER_SECOND = 16 * 1024;
/** The interval at which the rate of a body is checked. */
const CHECK_MS = 1000;

/** A shorter rest of an unread body is received, so that the connection can be used again. */
const SHORT_REST_BYTES = 64 * 1024;
/** How long an unread body may take to end before its connection is closed. */
const UNREAD_BODY_MS = 1000;

/** Returns the most bytes one request may have. `session` is null before authentication. */
export function bodyLimit(
  { maxRequestBodyLength, maxRoleBodyLength }: Pick<Options, 'maxRequestBodyLength' | 'maxRoleBodyLength'>,
  session: Session | null,
): number {
  return session?.role === ADMIN_ROLE
    ? maxRequestBodyLength
    : Math.min(maxRequestBodyLength, maxRoleBodyLength);
}

type BodyContext = Pick<HttpContext, 'options' | 'budget' | 'observe' | 'wheel'>;

/** Reads a body. `session` is null when an authentication hook needs the body before the session is known. */
export function readBody(
  { options, budget, observe, wheel }: BodyContext,
  request: IncomingMessage,
  record: RequestRecord,
  session: Session | null,
): Promise<string> {
  return new Promise((resolve, reject) => {
    const refuse = (error: Error) => {
      if (error instanceof EngineError) observe({ kind: 'request refused', error: error.kind });
      reject(error);
    };
    const reader = new BodyReader({ request, record, budget, wheel, resolve, refuse });
    reader.start(bodyLimit(options, session), options.requestBodyTimeout * 1000);
  });
}

type Reading = Pick<HttpContext, 'budget' | 'wheel'> & {
  readonly request: IncomingMessage;
  readonly record: RequestRecord;
  readonly resolve: (text: string) => void;
  readonly refuse: (error: Error) => void;
};

/** A body while it arrives. It is the timer of its time limit, and listens for the end of its connection. */
class BodyReader extends WheelTimer implements CancelListener {
  readonly #reading: Reading;
  #startedAt = 0;
  #mostBytes = 0;
  #timeoutMs = 0;
  /** Most bodies arrive in one piece. */
  #first: Buffer | null = null;
  #rest: Buffer[] | null = null;
  #size = 0;
  /** The size up to which nothing more has to be reserved. */
  #allowed = UNCOUNTED_BYTES;
  readonly #collect = (chunk: Buffer) => this.#add(chunk);

  constructor(reading: Reading) {
    super();
    this.#reading = reading;
  }

  start(mostBytes: number, timeoutMs: number): void {
    const { request } = this.#reading;
    this.#mostBytes = mostBytes;
    this.#timeoutMs = timeoutMs;
    const announced = Number(request.headers['content-length'] ?? 0);
    if (announced > mostBytes) this.#refuse(new EngineError('bodyTooLarge', { mostBytes }));
    else if (announced > UNCOUNTED_BYTES) this.#grow(announced, () => this.#listen());
    else this.#listen();
  }

  /** Called when the connection ends. */
  handleEvent(): void {
    this.#refuse(new EngineError('parseFailed', { text: 'the request ended before its body' }));
  }

  /** Called at an interval while the body arrives. */
  expire(): void {
    const allowedMs = this.#timeoutMs + (this.#size / MIN_BYTES_PER_SECOND) * 1000;
    if (performance.now() - this.#startedAt < allowedMs) this.#wait();
    else this.#refuse(new EngineError('requestTooSlow', {}));
  }

  #listen(): void {
    const { request, record } = this.#reading;
    if (record.signal.aborted || request.destroyed) {
      this.handleEvent();
      return;
    }
    record.signal.addEventListener('abort', this);
    request.on('data', this.#collect);
    request.on('end', () => this.#end());
    this.#startedAt = performance.now();
    this.#wait();
  }

  #wait(): void {
    this.#reading.wheel.add(this, Math.min(this.#timeoutMs, CHECK_MS));
  }

  #add(chunk: Buffer): void {
    this.#size += chunk.length;
    if (this.#size > this.#mostBytes) {
      this.#refuse(new EngineError('bodyTooLarge', { mostBytes: this.#mostBytes }));
      return;
    }
    if (!this.#first) this.#first = chunk;
    else {
      this.#rest ??= [];
      this.#rest.push(chunk);
    }
    if (this.#size <= this.#allowed) return;
    const { request } = this.#reading;
    request.pause();
    this.#grow(Math.min(this.#mostBytes, this.#size * 2), () => request.resume());
  }

  /** Reserves bytes, and then goes on. */
  #grow(bytes: number, then: () => void): void {
    const { record, budget } = this.#reading;
    record.reservation ??= new ByteReservation(budget);
    const { reservation } = record;
    reservation.growTo(bytes).then(
      () => {
        this.#allowed = reservation.bytes;
        then();
      },
      (error: Error) => this.#refuse(error),
    );
  }

  #end(): void {
    this.#stop();
    this.#reading.resolve(textOf(this.#first, this.#rest));
  }

  #refuse(error: Error): void {
    this.#stop();
    this.#reading.refuse(error);
  }

  #stop(): void {
    const { request, record } = this.#reading;
    this.cancel();
    record.signal.removeEventListener('abort', this);
    request.off('data', this.#collect);
  }
}

/** Returns the text of the pieces. A small body arrives in one piece and is not copied. */
function textOf(first: Buffer | null, rest: readonly Buffer[] | null): string {
  if (!first) return '';
  return (rest ? Buffer.concat([first, ...rest]) : first).toString('utf8');
}

/** Handles the rest of a body when its response is complete. A short rest is received. Of a longer one nothing more is read, and
 *  the connection is closed a moment later: closed at once, the client might lose the response. RFC 9112, section 9.6. */
export function discardUnreadBody(request: IncomingMessage): void {
  if (request.complete) return;
  const { socket } = request;
  const announced = Number(request.headers['content-length'] ?? Number.POSITIVE_INFINITY);
  if (announced > SHORT_REST_BYTES) socket.pause();
  setTimeout(() => {
    if (!request.complete) socket.destroy();
  }, UNREAD_BODY_MS).unref();
}
