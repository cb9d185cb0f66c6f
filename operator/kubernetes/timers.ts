/** Time as the shell needs it: a clock that never goes back, something done later, chance. Tests bring their own.
 *  Not here: dates for statuses (the core's Clock). */

export type Timers = {
  /** Milliseconds since some moment; only differences mean anything. */
  readonly nowMs: () => number;
  /** Runs it once, later; calling what comes back prevents it. */
  readonly after: (ms: number, run: () => void) => () => void;
  /** In [0, 1): jitter. */
  readonly random: () => number;
};

/** What the runtime can wait for, 24 days; what is due later is looked at then. */
const LONGEST_MS = 2 ** 31 - 1;

export const systemTimers: Timers = {
  nowMs: () => performance.now(),
  after: (ms, run) => {
    const timer = setTimeout(run, Math.min(ms, LONGEST_MS));
    return () => clearTimeout(timer);
  },
  random: Math.random,
};

/** Ends early, and quietly, when the signal is raised. */
export function sleep(timers: Timers, ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve();
    const cancel = timers.after(ms, () => {
      signal.removeEventListener('abort', end);
      resolve();
    });
    const end = () => {
      cancel();
      resolve();
    };
    signal.addEventListener('abort', end, { once: true });
  });
}

export type BackoffRange = { readonly leastMs: number; readonly mostMs: number };

/** Doubling with each failure in a row, half of it by chance, so that many do not come back together. */
export function backoffMs(timers: Timers, failures: number, { leastMs, mostMs }: BackoffRange): number {
  const full = Math.min(mostMs, leastMs * 2 ** Math.max(0, failures - 1));
  return full * (0.5 + timers.random() / 2);
}
