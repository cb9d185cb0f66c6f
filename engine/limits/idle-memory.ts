/** Returns memory to the system while the process is idle. V8 keeps the pages of its garbage, and what the garbage holds outside of the heap,
 *  until new values need them: after a whole introspection of large metadata, 420 MB for 90 MB of live values.
 *  In: the resident memory and how busy the process is, at an interval. Out: one full collection after each growth.
 *  Not here: the bounds of what is live (cache-budget.ts). */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

const INTERVAL_MS = 10_000;
/** The share of a core that an idle process takes at most. The time of its event loop would include waiting for a core. */
const MOST_UTILIZATION = 0.02;
/** The growth that is worth a collection, which takes 50 to 150 ms of CPU: a request that arrives meanwhile waits. */
const LEAST_GROWTH = 48 * 2 ** 20;

export type ProcessMemory = {
  readonly residentBytes: () => number;
  /** Returns the share of a core that the process took since the last call. */
  readonly utilization: () => number;
  readonly collect: () => void;
};

/** Starts to return memory while the process is idle, until the process ends. */
export function returnIdleMemory(): NodeJS.Timeout {
  const idle = new IdleMemory(PROCESS);
  return setInterval(() => idle.check(), INTERVAL_MS).unref();
}

export class IdleMemory {
  readonly #process: ProcessMemory;
  /** The resident memory after the last collection, or the least since then. */
  #leastBytes: number;

  constructor(process: ProcessMemory) {
    this.#process = process;
    this.#leastBytes = process.residentBytes();
  }

  check(): void {
    const isIdle = this.#process.utilization() <= MOST_UTILIZATION;
    const bytes = this.#process.residentBytes();
    this.#leastBytes = Math.min(this.#leastBytes, bytes);
    if (!isIdle || bytes - this.#leastBytes < LEAST_GROWTH) return;
    this.#process.collect();
    // What is still resident is in use.
    this.#leastBytes = this.#process.residentBytes();
  }
}

/** Collects all garbage, and returns its memory to the system, as V8 does before it fails for lack of memory. Node has this function
 *  only for processes with a flag, or for contexts that are created after the flag was set. */
export function collectAll(): void {
  setFlagsFromString('--expose-gc');
  const collect: (options: { readonly type: 'major'; readonly flavor: 'last-resort' }) => void =
    runInNewContext('gc');
  setFlagsFromString('--no-expose-gc');
  // Collections that free little, in a row and with nothing between them, would end the process.
  setFlagsFromString('--no-detect-ineffective-gcs-near-heap-limit');
  collect({ type: 'major', flavor: 'last-resort' });
  setFlagsFromString('--detect-ineffective-gcs-near-heap-limit');
}

let last = { at: performance.now(), cpu: process.cpuUsage() };

const PROCESS: ProcessMemory = {
  residentBytes: () => process.memoryUsage.rss(),
  utilization: () => {
    const { user, system } = process.cpuUsage(last.cpu);
    const elapsedMs = performance.now() - last.at;
    last = { at: performance.now(), cpu: process.cpuUsage() };
    return (user + system) / 1000 / elapsedMs;
  },
  collect: collectAll,
};
