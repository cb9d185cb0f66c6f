/** Limits the bytes that arrive over one WebSocket: little before the client is known, then messages up to the limit of its role, long ones
 *  within the budget of the process. Counts what the socket has received; the library that reads frames knows one limit only.
 *  Out: whether reading has to wait, and a reason to close. Not here: what a message says (websocket-messages.ts). */
import type { Duplex } from 'node:stream';
import { type ByteBudget, ByteReservation, UNCOUNTED_BYTES } from './byte-budget.ts';

/** Bytes a client may send before it is authenticated, frames and all. */
export const UNAUTHENTICATED_BYTES = UNCOUNTED_BYTES;

export type IncomingOptions = {
  readonly duplex: Duplex;
  readonly budget: ByteBudget;
  /** Most bytes of a message; null before authentication. */
  readonly mostBytes: () => number | null;
  readonly tooMuch: (mostBytes: number) => void;
  readonly overloaded: () => void;
  /** Reading has to stop, or may go on. */
  readonly changed: () => void;
};

export class IncomingBytes {
  readonly #options: IncomingOptions;
  /** Since the last whole message; before authentication, since the beginning. */
  #pending = 0;
  readonly #reservation: ByteReservation;
  #isWaiting = false;
  #isOver = false;

  constructor(options: IncomingOptions) {
    this.#options = options;
    this.#reservation = new ByteReservation(options.budget);
    // Before the library's own listener, which may complete a message with this chunk.
    options.duplex.prependListener('data', (chunk: Buffer) => this.#arrived(chunk.length));
  }

  /** True while a message has no room in the budget. */
  get isWaiting(): boolean {
    return this.#isWaiting;
  }

  /** A message is whole. */
  completed(): void {
    if (this.#options.mostBytes() === null) return;
    this.#pending = 0;
    this.#reservation.release();
  }

  end(): void {
    this.#isOver = true;
    this.#reservation.end();
  }

  #arrived(bytes: number): void {
    if (this.#isOver) return;
    this.#pending += bytes;
    const known = this.#options.mostBytes();
    const mostBytes = known ?? UNAUTHENTICATED_BYTES;
    if (this.#pending > mostBytes + UNCOUNTED_BYTES) this.#options.tooMuch(mostBytes);
    // A client nobody knows must not take room from others.
    else if (known !== null && this.#pending > this.#reservation.bytes && !this.#isWaiting) {
      void this.#reserve(mostBytes);
    }
  }

  async #reserve(mostBytes: number): Promise<void> {
    const { changed, overloaded } = this.#options;
    this.#isWaiting = true;
    changed();
    try {
      await this.#reservation.growTo(Math.min(mostBytes + UNCOUNTED_BYTES, this.#pending * 2));
      this.#isWaiting = false;
      if (!this.#isOver) changed();
    } catch {
      this.#isWaiting = false;
      if (!this.#isOver) overloaded();
    }
  }
}
