/** The port of the clock, whose times are written to statuses.
 *  Not here: timers (kubernetes/timers.ts). */

export interface Clock {
  now(): Date;
  /** Resolves after the time; after 0, once the rest of the process has run. */
  sleep(ms: number): Promise<void>;
  /** Returns a number in [0, 1), for jitter. */
  random(): number;
}
