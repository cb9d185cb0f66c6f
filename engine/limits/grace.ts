/** How long stopping may take, in one place: what is under way has the graceful timeout; giving back what did not end has a moment
 *  more; then what databases are still at is cancelled, for another moment, and the connections to them are cut, so that whatever
 *  still waits for an answer fails.
 *  Not here: what is given back (events/worker.ts), how connections are cut (wire/pool.ts). */

export type Grace = {
  /** What is under way is waited for until then. */
  readonly over: AbortSignal;
  /** Nothing is waited for any more. */
  readonly cut: AbortSignal;
  /** Everything was done in time. */
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
