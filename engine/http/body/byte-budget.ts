/** The bytes of requests the process holds at one time: bodies that are read or answered, WebSocket messages that
 *  arrive, and long requests of running operations. A reservation that does not fit waits in a queue, for a limited
 *  time.
 *  Not here: how many bytes one request may have (read-body.ts), reading (read-body.ts, websocket/incoming-bytes.ts). */
import { getHeapStatistics } from 'node:v8';
import { EngineError } from '../../errors/engine-error.ts';
import { availableBytes } from '../../limits/cache-budget.ts';

/** Releases a reservation. A second call does nothing. */
export type Release = () => void;

/** Requests up to this size are not counted. They arrive in one piece, and must be served while large ones wait. */
export const UNCOUNTED_BYTES = 16 * 1024;

/** The longest wait of a reservation. */
const WAIT_MS = 5000;

/** The budget is this fraction of the heap limit: parsed JSON takes up to twenty times the bytes of its text. */
const HEAP_SHARE = 32;

type Waiting = { readonly bytes: number; readonly grant: () => void };

/** Returns the bytes that the heap may take. Its own limit may be more than a small container has. */
function heapBytes(): number {
  return Math.min(getHeapStatistics().heap_size_limit, availableBytes() / 2);
}

export class ByteBudget {
  readonly #limit: number;
  #held = 0;
  #waiting: Waiting[] = [];

  /** `limit` is in bytes; undefined means a fraction of the heap limit. */
  constructor(limit: number | undefined) {
    this.#limit = limit ?? Math.floor(heapBytes() / HEAP_SHARE);
  }

  get held(): number {
    return this.#held;
  }

  /** Reserves without waiting. Returns null when the bytes do not fit. */
  tryTake(bytes: number): Release | null {
    const cost = this.#costOf(bytes);
    return this.#waiting.length === 0 && this.#fits(cost) ? this.#hold(cost) : null;
  }

  /** Reserves, and waits when the bytes do not fit. Rejects with `overloaded`. */
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

  /** Returns the bytes to count. A request larger than the whole budget waits until it is the only one. */
  #costOf(bytes: number): number {
    return Math.min(bytes, this.#limit);
  }

  /** Returns the bytes a request must reserve in addition when it has reserved `before` and needs `bytes`. */
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

/** The bytes one request reserves while its size becomes known. The first `UNCOUNTED_BYTES` are free. */
export class ByteReservation {
  readonly #budget: ByteBudget;
  #releases: Release[] = [];
  #counted = 0;
  #isOver = false;

  constructor(budget: ByteBudget) {
    this.#budget = budget;
  }

  /** The size the request may reach before it has to reserve more. */
  get bytes(): number {
    return Math.max(this.#counted, UNCOUNTED_BYTES);
  }

  /** Reserves up to `bytes` in total. Rejects with `overloaded`. */
  async growTo(bytes: number): Promise<void> {
    if (bytes <= this.bytes) return;
    const release = await this.#budget.take(this.#budget.difference(this.#counted, bytes));
    this.#counted = bytes;
    // The request may have ended in the meantime.
    if (this.#isOver) release();
    else this.#releases.push(release);
  }

  /** Releases everything, for the next request of the same connection. */
  release(): void {
    this.#counted = 0;
    for (const release of this.#releases.splice(0)) release();
  }

  /** Releases everything and gives up bytes that the request still waits for. */
  end(): void {
    this.#isOver = true;
    this.release();
  }
}
