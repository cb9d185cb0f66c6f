/** Collects garbage when the process comes near to the memory of its container. The heap has a limit of its own, at which V8 collects;
 *  buffers outside of it, such as the bytes of large answers that were given up, may be garbage for seconds while the heap is small.
 *  In: the limit, and how to measure and collect. Not here: an idle process (idle-memory.ts), what may be held at all (memory-budget.ts). */
import { availableBytes } from './cache-budget.ts';
import { collectAll } from './idle-memory.ts';

/** The share of the memory from which garbage is collected. */
const NEAR = 0.75;
const INTERVAL_MS = 500;
/** The share of the memory that a collection frees at least if it helps. */
const LEAST_FREED = 0.05;
/** The pause after a collection. It is doubled after one that has not helped: then the memory is in use. */
const LEAST_PAUSE_MS = 2000;
const LONGEST_PAUSE_MS = 60_000;

export type PressedProcess = {
  readonly mostBytes: number;
  readonly residentBytes: () => number;
  readonly collect: () => void;
  readonly nowMs: () => number;
};

/** Starts to collect near the memory of the container, until the process ends. */
export function collectUnderPressure(): NodeJS.Timeout {
  const pressure = new MemoryPressure({
    mostBytes: availableBytes(),
    residentBytes: () => process.memoryUsage.rss(),
    collect: collectAll,
    nowMs: () => performance.now(),
  });
  return setInterval(() => pressure.check(), INTERVAL_MS).unref();
}

export class MemoryPressure {
  readonly #process: PressedProcess;
  #notBefore = 0;
  #pauseMs = LEAST_PAUSE_MS;

  constructor(process: PressedProcess) {
    this.#process = process;
  }

  check(): void {
    const { mostBytes, residentBytes, collect, nowMs } = this.#process;
    const before = residentBytes();
    if (before < mostBytes * NEAR) {
      this.#pauseMs = LEAST_PAUSE_MS;
      return;
    }
    if (nowMs() < this.#notBefore) return;
    collect();
    const hasHelped = before - residentBytes() >= mostBytes * LEAST_FREED;
    if (hasHelped) this.#pauseMs = LEAST_PAUSE_MS;
    this.#notBefore = nowMs() + this.#pauseMs;
    if (!hasHelped) this.#pauseMs = Math.min(this.#pauseMs * 2, LONGEST_PAUSE_MS);
  }
}
