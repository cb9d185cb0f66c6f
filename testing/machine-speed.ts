/** The speed of the machine, for tests that limit a time: their limits are those of a usual machine, and a shared one may take several times
 *  as long for the same work. */
import { availableParallelism, loadavg } from 'node:os';

const STEPS = 20_000_000;
/** The time of the work on a core of 2.5 to 3 GHz that nothing else uses, in milliseconds. */
const USUAL_MS = 35;
/** The largest result: limits on an even slower machine would mean nothing. */
const MOST = 4;
const TRIES = 5;

/** Returns how many times as long as on a usual machine the same work on one thread takes on this one, at least 1. Tests that run beside each
 *  other wait for a core, so that the number of processes that want one (the load average of a minute) counts, too. */
export function slowness(tries = TRIES): number {
  work(STEPS / 50);
  const bestMs = Math.min(...Array.from({ length: tries }, timed));
  const waiting = loadavg()[0]! / availableParallelism();
  return Math.min(MOST, Math.max(1, waiting) * Math.max(1, bestMs / USUAL_MS));
}

/** Returns true when a time is within the limit of a usual machine, as long as that takes on this one. The speed is measured only for times
 *  above the limit, because the measurement takes a fifth of a second of a core. */
export function isWithin(ms: number, usualLimitMs: number): boolean {
  return ms < usualLimitMs || ms < usualLimitMs * slowness();
}

function timed(): number {
  const beganMs = performance.now();
  work(STEPS);
  return performance.now() - beganMs;
}

function work(steps: number): number {
  let sum = 0;
  // Without Math.imul the product is a floating-point number, which takes five times as long, or not, as the compiler decides.
  for (let i = 0; i < steps; i++) sum = (Math.imul(sum, 31) + i) | 0;
  return sum;
}
