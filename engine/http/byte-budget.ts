/** The bytes of requests that the process holds at one time: bodies that are read or answered, WebSocket messages that arrive, and
 *  long requests of running operations. A reservation that finds no room waits in order, for a limited time.
 *  Not here: how many bytes one request may have (body-limit.ts), reading (read-body.ts, incoming-bytes.ts). */
import { getHeapStatistics } from 'node:v8';
import { EngineError } from '../errors/engine-error.ts';

/** Gives a reservation back; a second call does nothing. */
export type Release = () => void;

/** Requests up to this size are not counted: they arrive in one piece, and must get through when large ones wait. */
export const UNCOUNTED_BYTES = 16 * 1024;

/** How long a reservation waits for room. */
const WAIT_MS = 5000;

/** Share of the heap: parsed JSON takes up to twenty times the bytes of its text. */
const HEAP_SHARE = 32;

type Waiting = { readonly bytes: number; readonly grant: () => void };

export class ByteBudget {
  readonly #limit: number;
  #held = 0;
  #waiting: Waiting[] = [];

  /** `limit` in bytes; `undefined`: a share of the heap. */
  constructor(limit: number | undefined) {
    this.#limit = limit ?? Math.floor(getHeapStatistics().heap_size_limit / HEAP_SHARE);
  }

  get held(): number {
    return this.#held;
  }

  /** Reserves without waiting; null when there is no room. */
  tryTake(bytes: number): Release | null {
    const cost = this.#costOf(bytes);
    return this.#waiting.length === 0 && this.#fits(cost) ? this.#hold(cost) : null;
  }

  /** Reserves, after a wait where there is no room. Rejects with `overloaded`. */
  take(bytes: number): Promise<Release> {
    const release = this.tryTake(bytes);
    if (release) return Promise.resolve(release);
    const cost = this.#costOf(bytes);
    return new Promise((resolve, reject) => {
      const waiting: Waiting = {
        bytes: cost,
        grant: () => {
          clearTimeout(timer);
          resolve(this.#hold(cost));
        },
      };
      const timer = setTimeout(() => {
        this.#waiting = this.#waiting.filter((other) => other !== waiting);
        reject(new EngineError('overloaded', { text: 'too many bytes of requests are being processed' }));
        this.#grantNext();
      }, WAIT_MS);
      this.#waiting.push(waiting);
    });
  }

  /** A request larger than the whole budget waits until it is the only one. */
  #costOf(bytes: number): number {
    return Math.min(bytes, this.#limit);
  }

  /** The bytes a request must reserve in addition when it has reserved `before` and needs `bytes`. */
  difference(before: number, bytes: number): number {
    return this.#costOf(bytes) - this.#costOf(before);
  }

  #fits(cost: number): boolean {
    return this.#held + cost <= this.#limit;
  }

  #hold(cost: number): Release {
    this.#held += cost;
    let isHeld = true;
    return () => {
      if (!isHeld) return;
      isHeld = false;
      this.#held -= cost;
      this.#grantNext();
    };
  }

  #grantNext(): void {
    while (this.#waiting[0] && this.#fits(this.#waiting[0].bytes)) this.#waiting.shift()!.grant();
  }
}

/** The bytes one request has reserved while its size becomes known. The first `UNCOUNTED_BYTES` are free. */
export class ByteReservation {
  readonly #budget: ByteBudget;
  #releases: Release[] = [];
  #counted = 0;
  #isOver = false;

  constructor(budget: ByteBudget) {
    this.#budget = budget;
  }

  /** The size the request may have before it has to reserve more. */
  get bytes(): number {
    return Math.max(this.#counted, UNCOUNTED_BYTES);
  }

  /** Rejects with `overloaded`. */
  async growTo(bytes: number): Promise<void> {
    if (bytes <= this.bytes) return;
    const release = await this.#budget.take(this.#budget.difference(this.#counted, bytes));
    this.#counted = bytes;
    // Its request may have ended in the meantime.
    if (this.#isOver) release();
    else this.#releases.push(release);
  }

  /** The request was answered; it may be used for another. */
  release(): void {
    this.#counted = 0;
    for (const release of this.#releases.splice(0)) release();
  }

  /** Releases the reservation, and gives up bytes that the request still waits for. */
  end(): void {
    this.#isOver = true;
    this.release();
  }
}
