/** Limits the bytes that arrive over one WebSocket: few before authentication, then messages up to the limit of the
 *  role, long ones within the byte budget of the process. It counts the bytes of the socket, because the WebSocket
 *  library has a single fixed limit.
 *  Out: whether reading must pause, and a reason to close. Not here: the content of messages (messages.ts). */
import type { Duplex } from 'node:stream';
import { type ByteBudget, ByteReservation, UNCOUNTED_BYTES } from '../body/byte-budget.ts';

/** The bytes a client may send before authentication, frame headers included. */
const UNAUTHENTICATED_BYTES = UNCOUNTED_BYTES;

/** The bytes before the payload of a ping or pong, with the mask. RFC 6455, 5.2. */
const CONTROL_HEADER_BYTES = 6;

type IncomingOptions = {
  readonly duplex: Duplex;
  readonly budget: ByteBudget;
  /** Returns the most bytes of a message; null before authentication. */
  readonly maxBytes: () => number | null;
  readonly tooLarge: (maxBytes: number) => void;
  readonly overloaded: () => void;
  /** Called when reading must pause or may go on. */
  readonly pauseChanged: () => void;
};

export class IncomingBytes {
  readonly #options: IncomingOptions;
  /** The bytes since the last complete message; before authentication, since the start. */
  #pending = 0;
  readonly #reservation: ByteReservation;
  #isWaiting = false;
  #isOver = false;

  constructor(options: IncomingOptions) {
    this.#options = options;
    this.#reservation = new ByteReservation(options.budget);
    // Before the listener of the WebSocket library, which may complete a message with this chunk.
    options.duplex.prependListener('data', (chunk: Buffer) => this.#arrived(chunk.length));
  }

  /** True while a message waits for room in the budget. */
  get isWaiting(): boolean {
    return this.#isWaiting;
  }

  /** Called when a message is complete. */
  completed(): void {
    if (this.#options.maxBytes() === null) return;
    this.#pending = 0;
    this.#reservation.release();
  }

  /** Called when a ping or a pong is complete, which may be between the parts of a message. An idle client sends only these, for
   *  months. Before authentication they count. */
  controlCompleted(payloadBytes: number): void {
    if (this.#options.maxBytes() === null) return;
    this.#pending = Math.max(0, this.#pending - payloadBytes - CONTROL_HEADER_BYTES);
  }

  end(): void {
    this.#isOver = true;
    this.#reservation.end();
  }

  #arrived(bytes: number): void {
    if (this.#isOver) return;
    this.#pending += bytes;
    const known = this.#options.maxBytes();
    const maxBytes = known ?? UNAUTHENTICATED_BYTES;
    if (this.#pending > maxBytes + UNCOUNTED_BYTES) this.#options.tooLarge(maxBytes);
    // A client without authentication must not take room from others.
    else if (known !== null && this.#pending > this.#reservation.bytes && !this.#isWaiting) {
      void this.#reserve(maxBytes);
    }
  }

  async #reserve(maxBytes: number): Promise<void> {
    const { pauseChanged, overloaded } = this.#options;
    this.#isWaiting = true;
    pauseChanged();
    try {
      await this.#reservation.growTo(Math.min(maxBytes + UNCOUNTED_BYTES, this.#pending * 2));
      this.#isWaiting = false;
      if (!this.#isOver) pauseChanged();
    } catch {
      this.#isWaiting = false;
      if (!this.#isOver) overloaded();
    }
  }
}
