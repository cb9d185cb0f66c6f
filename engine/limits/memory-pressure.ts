/** Collects garbage when the process comes near to the memory of its container. The heap has a limit of its own, at which V8 collects;
 *  buffers outside of it, such as the bytes of large answers that were given up, may be garbage for seconds while the heap is small.
 *  In: the limit, and how to measure and collect. Not here: an idle process (idle-memory.ts), what may be held at all (memory-budget.ts). */
import { readFileSync } from 'node:fs';
import { availableBytes } from './cache-budget.ts';
import { collectAll } from './idle-memory.ts';

/** The share of the memory from which garbage is collected. */
const NEAR = 0.75;
const INTERVAL_MS = 500;
/** The share that large bodies and answers may fill. */
const FULL = 0.9;
/** The memory is measured when this share of it is about to be allocated. */
const STEP = 1 / 16;
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

let running: MemoryPressure | null = null;

/** Starts to collect near the memory of the container, until the process ends. */
export function collectUnderPressure(): NodeJS.Timeout {
  const pressure = new MemoryPressure({
    mostBytes: availableBytes(),
    residentBytes: ownBytes,
    collect: collectAll,
    nowMs: () => performance.now(),
  });
  running = pressure;
  return setInterval(() => pressure.check(), INTERVAL_MS).unref();
}

/** Makes room for bytes that are about to be allocated. Returns false when there is none. A process that does not collect under pressure has room. */
export function makeRoom(bytes: number): boolean {
  return running?.makeRoom(bytes) ?? true;
}

/** Returns the resident bytes that the container counts for this process: without the program and libraries, whose pages are files. */
function ownBytes(): number {
  const bytes = process.memoryUsage.rss();
  try {
    const [, resident = 1, shared = 0] = readFileSync('/proc/self/statm', 'latin1').split(' ').map(Number);
    return bytes * (1 - shared / resident);
  } catch {
    // Only Linux has the file.
    return bytes;
  }
}

export class MemoryPressure {
  readonly #process: PressedProcess;
  #notBefore = 0;
  #pauseMs = LEAST_PAUSE_MS;
  #allocated = 0;
  /** The resident memory after the last collection. */
  #collectedBytes = 0;

  constructor(process: PressedProcess) {
    this.#process = process;
  }

  /** Collects before an allocation that would fill the memory: what is allocated between two checks may be more than a small container has. After a
   *  collection that has not helped, it waits until there is as much new garbage as is worth one. Returns false when the memory has no room. */
  makeRoom(bytes: number): boolean {
    const { mostBytes, residentBytes, nowMs } = this.#process;
    this.#allocated += bytes;
    if (this.#allocated < mostBytes * STEP) return true;
    this.#allocated = 0;
    const resident = residentBytes();
    if (resident + bytes < mostBytes * FULL) return true;
    const hasGrown = resident - this.#collectedBytes >= mostBytes * STEP;
    if (hasGrown || this.#pauseMs === LEAST_PAUSE_MS || nowMs() >= this.#notBefore) this.#collect();
    return this.#collectedBytes + bytes <= mostBytes;
  }

  check(): void {
    const { mostBytes, residentBytes, nowMs } = this.#process;
    if (residentBytes() < mostBytes * NEAR) this.#pauseMs = LEAST_PAUSE_MS;
    else if (nowMs() >= this.#notBefore) this.#collect();
  }

  #collect(): void {
    const { mostBytes, residentBytes, collect, nowMs } = this.#process;
    const before = residentBytes();
    collect();
    this.#collectedBytes = residentBytes();
    const hasHelped = before - this.#collectedBytes >= mostBytes * LEAST_FREED;
    if (hasHelped) this.#pauseMs = LEAST_PAUSE_MS;
    this.#notBefore = nowMs() + this.#pauseMs;
    if (!hasHelped) this.#pauseMs = Math.min(this.#pauseMs * 2, LONGEST_PAUSE_MS);
  }
}
