/** Sources that could not be reached when they were last asked are asked again, at growing intervals, until one of them
 *  answers: then everything that stands on it comes back by itself. Not here: what comes back (state.ts). */

const FIRST_PAUSE_MS = 1000;
const LONGEST_PAUSE_MS = 30_000;

export type RecoveryOptions = {
  /** Is any source without a catalog. */
  readonly isNeeded: () => boolean;
  /** Asks those; did one answer and is it back. */
  readonly attempt: () => Promise<boolean>;
};

export class Recovery {
  readonly #options: RecoveryOptions;
  #timer: NodeJS.Timeout | undefined;
  #pauseMs = FIRST_PAUSE_MS;
  #isClosed = false;

  constructor(options: RecoveryOptions) {
    this.#options = options;
  }

  /** What is published has changed. */
  look(): void {
    if (this.#isClosed || this.#timer || !this.#options.isNeeded()) return;
    this.#timer = setTimeout(() => void this.#attempt(), this.#pauseMs).unref();
    this.#pauseMs = Math.min(this.#pauseMs * 2, LONGEST_PAUSE_MS);
  }

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#timer);
  }

  async #attempt(): Promise<void> {
    const isBack = await this.#options.attempt().catch(() => false);
    if (isBack) this.#pauseMs = FIRST_PAUSE_MS;
    this.#timer = undefined;
    this.look();
  }
}
