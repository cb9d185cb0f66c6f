/** The memory that results of statements and answers hold while they are in flight: one budget in bytes for the process, from the arrival of
 *  their first byte until the client has received them. What does not fit is refused at once, before memory is allocated for it.
 *  Not here: bodies of requests (http/body/byte-budget.ts), caches (cache-budget.ts), queues of slow clients (http/body/send-queues.ts). */
import { EngineError } from '../errors/engine-error.ts';
import { availableBytes } from './cache-budget.ts';
import { makeRoom } from './memory-pressure.ts';

/** The share of the memory of the container. Results are outside of the heap, which takes half of it. */
const SHARE = 6;

/** The bytes of a holder up to this total are not counted, so that small answers are served while large ones are refused. */
const UNCOUNTED_BYTES = 16 * 1024;

export class MemoryBudget {
  readonly mostBytes: number;
  #held = 0;

  constructor(mostBytes: number) {
    this.mostBytes = mostBytes;
  }

  get held(): number {
    return this.#held;
  }

  /** Returns false, and holds nothing, when the bytes do not fit. */
  hold(bytes: number): boolean {
    if (this.#held + bytes > this.mostBytes) return false;
    makeRoom(bytes);
    this.#held += bytes;
    return true;
  }

  release(bytes: number): void {
    this.#held -= bytes;
  }
}

/** Returns the bytes that results and answers may hold in this process. */
export function memoryBytes(memory = availableBytes()): number {
  return Math.floor(memory / SHARE);
}

/** The budget of the process. */
export const SHARED_MEMORY = new MemoryBudget(memoryBytes());

/** The bytes that one request, or one call of an external service, holds. They grow as their size becomes known. */
export class Holding {
  readonly #budget: MemoryBudget;
  #bytes = 0;
  #counted = 0;
  #isOver = false;

  constructor(budget: MemoryBudget = SHARED_MEMORY) {
    this.#budget = budget;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** Holds this many bytes more. Raises `overloaded`, and holds what it held before, when they do not fit. */
  hold(bytes: number): void {
    const total = this.#bytes + bytes;
    if (total > UNCOUNTED_BYTES && !this.#isOver) {
      if (!this.#budget.hold(total - this.#counted))
        throw new EngineError('overloaded', { text: 'too many bytes of answers are in memory' });
      this.#counted = total;
    }
    this.#bytes = total;
  }

  /** Releases all bytes, for good: what arrives afterwards is discarded by its receiver. A second call does nothing. */
  release(): void {
    this.#isOver = true;
    this.#budget.release(this.#counted);
    this.#counted = 0;
    this.#bytes = 0;
  }
}

/** The bytes that the answers to one request hold, up to the limit of its role. The answers of a batch count together. */
export class AnswerHolding extends Holding {
  #mostBytes: number | null = null;
  #besideBytes = 0;
  #answeredBytes = 0;
  #refusal: unknown = null;

  /** Sets the limit of the role; null for none. `besideBytes` of each result are no part of the answer. Raises `responseTooLarge` when the
   *  answers before in a batch were too large, and `overloaded` when there was no memory for one of them, so that nothing runs whose answer
   *  could hardly be sent. */
  limitTo(mostBytes: number | null, besideBytes = 0): void {
    this.#mostBytes = mostBytes;
    this.#besideBytes = besideBytes;
    this.#check(this.#answeredBytes, '');
    if (this.#refusal) throw this.#refusal;
  }

  override hold(bytes: number): void {
    try {
      super.hold(bytes);
    } catch (error) {
      this.#refusal = error;
      throw error;
    }
  }

  /** Holds the next bytes of a result of which `before` have arrived. Raises `responseTooLarge` and `overloaded`. */
  receive(bytes: number, before: number): void {
    this.#check(before + bytes - this.#besideBytes, '');
    this.hold(bytes);
  }

  /** Counts an answer that is complete. Raises `responseTooLarge`, with a note for the client. */
  answer(bytes: number, note = ''): void {
    this.#answeredBytes += bytes;
    this.#check(this.#answeredBytes, note);
  }

  #check(bytes: number, note: string): void {
    const most = this.#mostBytes;
    if (most !== null && bytes > most) throw new EngineError('responseTooLarge', { most, note });
  }
}
