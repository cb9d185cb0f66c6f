/** The speed of the machine, for tests that limit a time: their limits are those of a usual machine, and a shared one may take several times
 *  as long for the same work. */
import { availableParallelism, loadavg } from 'node:os';

const STEPS = 20_000_000;
/** The time of the work on a core of 2.5 to 3 GHz that nothing else uses, in milliseconds. */
const USUAL_MS = 35;
/** Members of the object that measures memory, and the usual time of parsing it. On a virtual machine with nested page tables and without huge
 *  pages that takes several times as long, although the processor is as fast. */
const MEMBERS = 50_000;
const USUAL_MEMORY_MS = 16;
/** The largest result: limits on an even slower machine would mean nothing. */
const MOST = 4;
const TRIES = 5;

/** Returns how many times as long as on a usual machine the same work on one thread takes on this one, at least 1. Tests that run beside each
 *  other wait for a core, so that the number of processes that want one (the load average of a minute) counts, too. */
export function slowness(tries = TRIES): number {
  compute(STEPS / 50);
  const waiting = loadavg()[0]! / availableParallelism();
  const ratios = [bestOf(tries, () => compute(STEPS)) / USUAL_MS, bestOf(tries, parse) / USUAL_MEMORY_MS];
  return Math.min(MOST, Math.max(1, waiting) * Math.max(1, ...ratios));
}

/** Returns true when a time is within the limit of a usual machine, as long as that takes on this one. The speed is measured only for times
 *  above the limit, because the measurement takes a fifth of a second of a core. */
export function isWithin(ms: number, usualLimitMs: number): boolean {
  return ms < usualLimitMs || ms < usualLimitMs * slowness();
}

function bestOf(tries: number, work: () => unknown): number {
  return Math.min(...Array.from({ length: tries }, () => timed(work)));
}

function timed(work: () => unknown): number {
  const beganMs = performance.now();
  work();
  return performance.now() - beganMs;
}

function compute(steps: number): number {
  let sum = 0;
  // Without Math.imul the product is a floating-point number, which takes five times as long, or not, as the compiler decides.
  for (let i = 0; i < steps; i++) sum = (Math.imul(sum, 31) + i) | 0;
  return sum;
}

let members: string | undefined;

/** Each key is a new text for the engine of JavaScript, so that parsing needs memory that no cache of the processor holds. */
function parse(): unknown {
  members ??= `{${Array.from({ length: MEMBERS }, (_, at) => `"member ${at}":${at}`).join()}}`;
  return JSON.parse(members);
}
