/** The memory that an event of an external subscription takes while it arrives. It is a part of the budget of answers (answer-memory.ts): without
 *  room, the service is not read. An event that takes too long is given up, because it would keep the memory.
 *  In: the numbers of bytes. Out: calls of pause, resume and lost. Not here: the bytes (remote/socket.ts, remote/event-stream.ts). */
import { type AnswerBudget, AnswerMemory } from './answer-memory.ts';
import { NoResponse } from './no-response.ts';

type EventMemoryOptions = {
  /** The time in which an event has to arrive once it takes memory that others need. */
  readonly limitMs: number;
  readonly pause: () => void;
  readonly resume: () => void;
  /** Called once, with the reason why the event is given up. */
  readonly lost: (reason: string) => void;
  /** The budget that the event takes from; the shared one by default. */
  readonly budget?: AnswerBudget;
};

export class EventMemory {
  readonly #options: EventMemoryOptions;
  #memory: AnswerMemory;
  #timer: NodeJS.Timeout | undefined;
  /** The bytes that were counted and are no part of an event. */
  #excess = 0;
  #isPaused = false;
  #isOver = false;

  constructor(options: EventMemoryOptions) {
    this.#options = options;
    this.#memory = new AnswerMemory(options.budget);
  }

  /** True when the service must not be read. */
  get isPaused(): boolean {
    return this.#isPaused;
  }

  arrived(bytes: number): void {
    if (this.#isOver) return;
    const excess = Math.min(bytes, this.#excess);
    this.#excess -= excess;
    try {
      // An event is also copied into the response.
      if (!this.#memory.hold(2 * (bytes - excess), this.#resume)) {
        this.#isPaused = true;
        this.#options.pause();
      }
    } catch (error) {
      if (!(error instanceof NoResponse)) throw error;
      this.#lose(error.message);
      return;
    }
    if (this.#memory.counted > 0 || this.#isPaused) this.#timer ??= this.#limit();
  }

  /** Takes back bytes that were counted, of what is no part of an event. */
  ignore(bytes: number): void {
    this.#excess += bytes;
  }

  /** Releases the memory of an event that has arrived. */
  whole(): void {
    if (this.#isOver) return;
    this.#release();
    this.#memory = new AnswerMemory(this.#options.budget);
    if (this.#isPaused) this.#resume();
  }

  end(): void {
    this.#isOver = true;
    this.#release();
  }

  readonly #resume = (): void => {
    this.#isPaused = false;
    this.#options.resume();
  };

  #limit(): NodeJS.Timeout {
    const { limitMs } = this.#options;
    return setTimeout(() => this.#lose(`an event takes longer than ${limitMs / 1000} s`), limitMs);
  }

  #lose(reason: string): void {
    this.end();
    this.#options.lost(reason);
  }

  #release(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#memory.release();
  }
}
