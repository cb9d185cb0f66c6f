/** The runs of a statement of subscriptions, and their time. Not here: the statements (live-queries.ts). */
export class PollCost {
  readonly #startedAt = performance.now();
  #runs = 0;
  #failures = 0;
  #totalMs = 0;
  #lastMs: number | null = null;

  /** Runs a statement and adds its time. */
  async adding<T>(run: () => Promise<T>): Promise<T> {
    const startedAt = performance.now();
    try {
      return await run();
    } catch (error) {
      this.#failures += 1;
      throw error;
    } finally {
      this.#lastMs = performance.now() - startedAt;
      this.#totalMs += this.#lastMs;
      this.#runs += 1;
    }
  }

  /** `share` is the share of the time since the first subscriber for which the statement ran. */
  get view() {
    const elapsedMs = Math.max(performance.now() - this.#startedAt, 1);
    const mean = this.#runs === 0 ? null : rounded(this.#totalMs / this.#runs);
    const last = this.#lastMs === null ? null : rounded(this.#lastMs);
    const share = Math.round((this.#totalMs / elapsedMs) * 10_000) / 10_000;
    return { runs: this.#runs, mean_ms: mean, last_ms: last, failures: this.#failures, share };
  }
}

function rounded(ms: number): number {
  return Math.round(ms * 10) / 10;
}
