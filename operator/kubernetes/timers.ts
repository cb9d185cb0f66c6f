/** A monotonic clock, timers and random numbers, which tests replace.
 *  Not here: dates for statuses (`Clock` in ports/clock.ts). */

export type Timers = {
  /** Returns the milliseconds since an arbitrary moment. */
  readonly nowMs: () => number;
  /** Runs the function once after a delay. The returned function cancels it. */
  readonly after: (ms: number, run: () => void) => () => void;
  /** Returns a number in [0, 1), for jitter. */
  readonly random: () => number;
};

/** The longest delay of the runtime, 24 days. A longer one ends then. */
const LONGEST_MS = 2 ** 31 - 1;

export const systemTimers: Timers = {
  nowMs: () => performance.now(),
  after: (ms, run) => {
    const timer = setTimeout(run, Math.min(ms, LONGEST_MS));
    return () => clearTimeout(timer);
  },
  random: Math.random,
};

/** Resolves after the delay, or when the signal is aborted. */
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

/** Returns a delay that doubles with each failure in a row. Half of it is random, so that many clients do not retry together. */
export function backoffMs(timers: Timers, failures: number, { leastMs, mostMs }: BackoffRange): number {
  const full = Math.min(mostMs, leastMs * 2 ** Math.max(0, failures - 1));
  return full * (0.5 + timers.random() / 2);
}

type Retry = {
  readonly timers: Timers;
  readonly backoff: BackoffRange;
  /** Called with the error of each failed attempt. */
  readonly onProblem: (problem: Error) => void;
};

/** Returns the result of the first attempt that does not reject; undefined when the signal is aborted before. */
export async function untilResolved<T>(
  attempt: () => Promise<T>,
  { timers, backoff, onProblem }: Retry,
  signal: AbortSignal,
): Promise<T | undefined> {
  for (let failures = 1; !signal.aborted; failures++) {
    try {
      return await attempt();
    } catch (error) {
      if (!signal.aborted) onProblem(error as Error);
    }
    await sleep(timers, backoffMs(timers, failures, backoff), signal);
  }
  return undefined;
}
