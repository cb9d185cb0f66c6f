/** The deadlines of a shutdown: running work has the graceful timeout; releasing unfinished work has a moment more; then running
 *  statements are cancelled, for another moment, and the connections to databases are cut, so that everything that still waits for
 *  an answer fails. Not here: releasing events (events/worker.ts), cutting connections (wire/pool.ts). */

export type Grace = {
  /** Aborted at the end of the graceful timeout for running work. */
  readonly over: AbortSignal;
  /** Aborted when connections are cut. */
  readonly cut: AbortSignal;
  /** Reports that everything ended in time. */
  readonly done: () => void;
};

const GIVE_BACK_MS = 1000;

export function graceOf(timeoutMs: number): Grace {
  const over = new AbortController();
  const cut = new AbortController();
  const timers = [
    setTimeout(() => over.abort(), timeoutMs),
    setTimeout(() => cut.abort(), timeoutMs + GIVE_BACK_MS),
  ];
  return {
    over: over.signal,
    cut: cut.signal,
    done: () => {
      for (const timer of timers) clearTimeout(timer);
    },
  };
}

/** Waits for work to end, well or badly, and no longer than the signal allows. */
export function ended(works: readonly unknown[], signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener('abort', () => resolve(), { once: true });
    void Promise.allSettled(works).then(() => resolve());
  });
}
