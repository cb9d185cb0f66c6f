/** Time that moves when a test says so; no jitter. */
import type { Timers } from '../timers.ts';

export class ManualTimers implements Timers {
  #now = 0;
  #waiting: { readonly at: number; readonly run: () => void }[] = [];

  readonly nowMs = (): number => this.#now;
  readonly random = (): number => 0;

  readonly after = (ms: number, run: () => void): (() => void) => {
    const entry = { at: this.#now + ms, run };
    this.#waiting.push(entry);
    return () => {
      this.#waiting = this.#waiting.filter((other) => other !== entry);
    };
  };

  /** What is due runs in order; what it leads to has run when this resolves. */
  async pass(ms: number): Promise<void> {
    const until = this.#now + ms;
    for (;;) {
      const [next] = this.#waiting.filter(({ at }) => at <= until).toSorted((a, b) => a.at - b.at);
      if (!next) break;
      this.#waiting = this.#waiting.filter((other) => other !== next);
      this.#now = next.at;
      next.run();
      await new Promise((resolve) => setImmediate(resolve));
    }
    this.#now = until;
    await new Promise((resolve) => setImmediate(resolve));
  }
}
