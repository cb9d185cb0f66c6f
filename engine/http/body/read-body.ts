/** Reads the body of a request as text: up to the limit of its role, within the byte budget of the process, and within the time
 *  limit. Its reservation of bytes is held until the response is closed, because the text and the values in it live as long.
 *  Raises `bodyTooLarge`, `overloaded`, `requestTooSlow`. Also here: what happens to the rest of a body that is not read.
 *  Not here: messages of WebSockets (websocket/incoming-bytes.ts). */
import type { IncomingMessage } from 'node:http';
import type { Options } from '../../config/options.ts';
import { EngineError } from '../../errors/engine-error.ts';
import { ADMIN_ROLE, type Session } from '../../resolve/session.ts';
import type { HttpContext } from '../context.ts';
import { ByteReservation } from './byte-budget.ts';

/** A body that takes longer than its time limit must have arrived at this rate so far. */
const MIN_BYTES_PER_SECOND = 16 * 1024;

/** A shorter rest of an unread body is received, so that the connection can be used again. */
const SHORT_REST_BYTES = 64 * 1024;
/** How long an unread body may take to end before its connection is closed. */
const UNREAD_BODY_MS = 1000;

/** The reservations of requests, until `releaseBody`. */
const reservations = new WeakMap<IncomingMessage, ByteReservation>();

/** Releases the bytes reserved for the body of a request. Called when its response is closed. */
export function releaseBody(request: IncomingMessage): void {
  reservations.get(request)?.end();
}

/** Returns the most bytes one request may have. `session` is null before authentication. */
export function bodyLimit(
  { maxRequestBodyLength, maxRoleBodyLength }: Pick<Options, 'maxRequestBodyLength' | 'maxRoleBodyLength'>,
  session: Session | null,
): number {
  return session?.role === ADMIN_ROLE
    ? maxRequestBodyLength
    : Math.min(maxRequestBodyLength, maxRoleBodyLength);
}

/** Reads a body. `session` is null when an authentication hook needs the body before the session is known. */
export async function readBody(
  context: Pick<HttpContext, 'options' | 'budget' | 'observe'>,
  request: IncomingMessage,
  session: Session | null,
): Promise<string> {
  try {
    return await read(context, request, bodyLimit(context.options, session));
  } catch (error) {
    if (error instanceof EngineError) context.observe({ kind: 'request refused', error: error.kind });
    throw error;
  }
}

async function read(
  { options, budget }: Pick<HttpContext, 'options' | 'budget'>,
  request: IncomingMessage,
  mostBytes: number,
): Promise<string> {
  const announced = Number(request.headers['content-length'] ?? 0);
  if (announced > mostBytes) throw new EngineError('bodyTooLarge', { mostBytes });
  const reservation = new ByteReservation(budget);
  reservations.set(request, reservation);
  await reservation.growTo(announced);
  const reader = new BodyReader(request, mostBytes, options.requestBodyTimeout * 1000);
  reader.whenLarger(reservation.bytes, async (size) => {
    await reservation.growTo(Math.min(mostBytes, size * 2));
    return reservation.bytes;
  });
  return reader.text;
}

/** A body while it arrives. */
class BodyReader {
  readonly text: Promise<string>;
  readonly #request: IncomingMessage;
  readonly #chunks: Buffer[] = [];
  #size = 0;
  #allowed = Number.POSITIVE_INFINITY;
  #grow: (size: number) => Promise<number> = async () => this.#allowed;

  constructor(request: IncomingMessage, mostBytes: number, timeoutMs: number) {
    this.#request = request;
    this.text = new Promise((resolve, reject) => {
      const timer = this.#rejectWhenSlow(timeoutMs, reject);
      const over = (settle: () => void) => {
        clearTimeout(timer());
        request.off('data', collect);
        settle();
      };
      const collect = (chunk: Buffer) => {
        this.#size += chunk.length;
        if (this.#size > mostBytes) over(() => reject(new EngineError('bodyTooLarge', { mostBytes })));
        else {
          this.#chunks.push(chunk);
          if (this.#size > this.#allowed) this.#growOr((error) => over(() => reject(error)));
        }
      };
      request.on('data', collect);
      request.once('end', () => over(() => resolve(textOf(this.#chunks))));
      request.once('error', (error) => over(() => reject(error)));
      request.once('close', () => over(() => reject(bodyCutOff())));
      if (request.destroyed) over(() => reject(bodyCutOff()));
    });
  }

  /** Pauses reading beyond `allowed` bytes until `grow` returns a larger number. */
  whenLarger(allowed: number, grow: (size: number) => Promise<number>): void {
    this.#allowed = allowed;
    this.#grow = grow;
  }

  #growOr(fail: (error: Error) => void): void {
    this.#request.pause();
    this.#grow(this.#size).then((allowed) => {
      this.#allowed = allowed;
      this.#request.resume();
    }, fail);
  }

  #rejectWhenSlow(timeoutMs: number, reject: (error: EngineError) => void): () => NodeJS.Timeout {
    const startedAt = performance.now();
    const check = (): NodeJS.Timeout =>
      setTimeout(
        () => {
          const allowedMs = timeoutMs + (this.#size / MIN_BYTES_PER_SECOND) * 1000;
          if (performance.now() - startedAt < allowedMs) timer = check();
          else reject(new EngineError('requestTooSlow', {}));
        },
        Math.min(timeoutMs, 1000),
      );
    let timer = check();
    return () => timer;
  }
}

function bodyCutOff(): EngineError {
  return new EngineError('parseFailed', { text: 'the request ended before its body' });
}

/** Returns the text of the chunks. A small body arrives in one chunk and is not copied. */
function textOf(chunks: readonly Buffer[]): string {
  return (chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks)).toString('utf8');
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
