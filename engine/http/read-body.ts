/** The bytes of a request as text: up to the limit of its role, within the budget of the process, and not slower than a client
 *  that means it. The reservation is held until the response is closed, because the text and its values live as long.
 *  Raises `bodyTooLarge`, `overloaded`, `requestTooSlow`. What is not read of a refused request is cut off (cut-unread.ts). */
import type { IncomingMessage } from 'node:http';
import { EngineError } from '../errors/engine-error.ts';
import type { Session } from '../resolve/session.ts';
import { bodyLimit } from './body-limit.ts';
import { ByteReservation } from './byte-budget.ts';
import type { HttpContext } from './context.ts';

/** A body that takes longer than its time limit must have arrived at this rate so far. */
const LEAST_BYTES_PER_SECOND = 16 * 1024;

/** Reservations of requests, until `releaseBody`. */
const reservations = new WeakMap<IncomingMessage, ByteReservation>();

/** Gives back what the body of a request has reserved. Called when its response is closed. */
export function releaseBody(request: IncomingMessage): void {
  reservations.get(request)?.end();
}

/** `session` null: before authentication, for an authentication hook that reads the request. */
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
  const collecting = new Collecting(request, mostBytes, options.requestBodyTimeout * 1000);
  collecting.whenLarger(reservation.bytes, async (size) => {
    await reservation.growTo(Math.min(mostBytes, size * 2));
    return reservation.bytes;
  });
  return collecting.text;
}

/** One body on its way. */
class Collecting {
  readonly text: Promise<string>;
  readonly #request: IncomingMessage;
  readonly #chunks: Buffer[] = [];
  #size = 0;
  #allowed = Number.POSITIVE_INFINITY;
  #grow: (size: number) => Promise<number> = async () => this.#allowed;

  constructor(request: IncomingMessage, mostBytes: number, timeoutMs: number) {
    this.#request = request;
    this.text = new Promise((resolve, reject) => {
      const timer = this.#cutWhenSlow(timeoutMs, reject);
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
      request.once('close', () => over(() => reject(cutOff())));
      if (request.destroyed) over(() => reject(cutOff()));
    });
  }

  /** Beyond `allowed` bytes reading stops until `grow` says how many there may be. */
  whenLarger(allowed: number, grow: (size: number) => Promise<number>): void {
    this.#allowed = allowed;
    this.#grow = grow;
  }

  #growOr(failed: (error: Error) => void): void {
    this.#request.pause();
    this.#grow(this.#size).then((allowed) => {
      this.#allowed = allowed;
      this.#request.resume();
    }, failed);
  }

  #cutWhenSlow(timeoutMs: number, reject: (error: EngineError) => void): () => NodeJS.Timeout {
    const startedAt = performance.now();
    const look = (): NodeJS.Timeout =>
      setTimeout(
        () => {
          const allowedMs = timeoutMs + (this.#size / LEAST_BYTES_PER_SECOND) * 1000;
          if (performance.now() - startedAt < allowedMs) timer = look();
          else reject(new EngineError('requestTooSlow', {}));
        },
        Math.min(timeoutMs, 1000),
      );
    let timer = look();
    return () => timer;
  }
}

function cutOff(): EngineError {
  return new EngineError('parseFailed', { text: 'the request ended before its body' });
}

/** Small requests come in one chunk and need no copy. */
function textOf(chunks: readonly Buffer[]): string {
  return (chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks)).toString('utf8');
}
