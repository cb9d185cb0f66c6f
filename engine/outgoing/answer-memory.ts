/** The memory that answers of external services take, from the arrival of their bytes until they are used. It is a part of the budget of
 *  the process. An answer that finds no room waits: its service is not read meanwhile, until others are done or its call times out.
 *  One of the waiting holders, the first, may use the second half of the budget, so that answers that are half read never wait for
 *  each other.
 *  In: what each chunk weighs. Out: whether it may be read on. Raises NoResponse for an answer that would need more than half of the budget.
 *  Not here: reading (response-body.ts), results of statements (limits/memory-budget.ts). */
import { type MemoryBudget, SHARED_MEMORY } from '../limits/memory-budget.ts';
import { NoResponse } from './no-response.ts';

/** The bytes of a holder that are not counted, so that small answers never wait. */
const UNCOUNTED_BYTES = 16 * 1024;
/** The interval at which waiting holders try again, because results of statements release memory, too. */
const RETRY_MS = 50;

/** An answer that waits for memory. */
type Waiting = { readonly holder: AnswerMemory; readonly bytes: number; readonly resume: () => void };

export class AnswerBudget {
  /** The most bytes of one holder, and of all holders but the first. */
  readonly mostBytes: number;
  readonly #memory: MemoryBudget;
  #waiting: Waiting[] = [];
  /** The holder that has waited for longest, until it releases its bytes. */
  #first: AnswerMemory | null = null;
  #others = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(memory: MemoryBudget = SHARED_MEMORY) {
    this.#memory = memory;
    this.mostBytes = Math.floor(memory.mostBytes / 2);
  }

  /** Returns true when the bytes are held now. Otherwise calls `resume` when they are. */
  hold(holder: AnswerMemory, bytes: number, resume: () => void): boolean {
    const isNext = this.#waiting.length === 0 || holder === this.#first;
    if (isNext && this.#take(holder, bytes)) return true;
    if (this.#promote(holder) && this.#take(holder, bytes)) return true;
    this.#waiting.push({ holder, bytes, resume });
    this.#retryLater();
    return false;
  }

  /** Forgets an answer that waits. */
  forget(resume: () => void): void {
    this.#waiting = this.#waiting.filter((one) => one.resume !== resume);
    this.#admit();
  }

  /** Releases what a holder has for good. Its answers that wait are forgotten. */
  release(holder: AnswerMemory): void {
    if (holder === this.#first) this.#first = null;
    else this.#others -= holder.counted;
    this.#memory.release(holder.counted);
    this.#waiting = this.#waiting.filter((one) => one.holder !== holder);
    this.#admit();
  }

  #take(holder: AnswerMemory, bytes: number): boolean {
    const isFirst = holder === this.#first;
    if (!isFirst && this.#others + bytes > this.mostBytes) return false;
    if (!this.#memory.hold(bytes)) return false;
    if (!isFirst) this.#others += bytes;
    holder.counted += bytes;
    return true;
  }

  /** Resumes answers in the order in which they began to wait, as far as there is room. */
  #admit(): void {
    if (this.#waiting.length > 0) this.#promote(this.#waiting[0]!.holder);
    let isBlocked = false;
    const resumed: Waiting[] = [];
    this.#waiting = this.#waiting.filter((one) => {
      const mayTry = !isBlocked || one.holder === this.#first;
      if (mayTry && this.#take(one.holder, one.bytes)) {
        resumed.push(one);
        return false;
      }
      isBlocked = true;
      return true;
    });
    this.#retryLater();
    for (const { resume } of resumed) resume();
  }

  /** Makes a holder the first one if there is none. */
  #promote(holder: AnswerMemory): boolean {
    if (this.#first !== null) return false;
    this.#first = holder;
    this.#others -= holder.counted;
    return true;
  }

  #retryLater(): void {
    if (this.#waiting.length === 0) return;
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      this.#admit();
    }, RETRY_MS);
  }
}

/** The budget of the process. */
const SHARED_ANSWERS = new AnswerBudget();

/** The memory that the answers to one request hold. */
export class AnswerMemory {
  /** The bytes that the budget counts. */
  counted = 0;
  readonly #budget: AnswerBudget;
  #bytes = 0;
  #isOver = false;

  constructor(budget: AnswerBudget = SHARED_ANSWERS) {
    this.#budget = budget;
  }

  /** Returns true when the bytes are held now. Otherwise calls `resume` when they are. */
  hold(bytes: number, resume: () => void): boolean {
    const uncounted = Math.max(0, UNCOUNTED_BYTES - this.#bytes);
    this.#bytes += bytes;
    if (this.#isOver || bytes <= uncounted) return true;
    const { mostBytes } = this.#budget;
    if (this.#bytes > mostBytes) {
      const reason = `the answers to one request would take more than ${mostBytes} bytes of memory`;
      throw new NoResponse('too long', reason);
    }
    return this.#budget.hold(this, bytes - uncounted, resume);
  }

  forget(resume: () => void): void {
    this.#budget.forget(resume);
  }

  /** Releases all bytes, for good. */
  release(): void {
    if (!this.#isOver && this.#bytes > UNCOUNTED_BYTES) this.#budget.release(this);
    this.#isOver = true;
    this.counted = 0;
  }
}
