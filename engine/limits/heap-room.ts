/** Ends a long computation before its live values fill the heap, which would end the process for all requests.
 *  In: steps, how to measure and collect. Out: their result, or what `refuse` throws. Not here: bytes outside of the heap (memory-budget.ts). */
import { getHeapStatistics } from 'node:v8';
import type { Steps } from '../metadata/steps.ts';
import { collectAll } from './idle-memory.ts';

/** The share of live values. V8 gives up after four collections in a row that leave 80 % of the old generation, a little less than this. */
const FULL = 0.8;
/** The share that is allocated between two collections at least. */
const LEAST_GROWTH = 0.1;
/** The number of steps between two measurements. */
const MEASURED = 64;

export type Heap = {
  readonly limitBytes: number;
  /** Returns the bytes of live values and of garbage. */
  readonly usedBytes: () => number;
  readonly collect: () => void;
};

/** Runs the steps while the heap has room for them. */
export function* withinHeap<T>(
  steps: Steps<T>,
  refuse: (limitBytes: number) => never,
  heap: Heap = PROCESS,
): Steps<T> {
  const { limitBytes, usedBytes, collect } = heap;
  const full = limitBytes * FULL;
  let most = full;
  for (let number = 1; ; number++) {
    const step = steps.next();
    if (step.done) return step.value;
    if (number % MEASURED === 0 && usedBytes() > most) {
      collect();
      const live = usedBytes();
      if (live > full) refuse(limitBytes);
      most = Math.max(full, live + limitBytes * LEAST_GROWTH);
    }
    yield;
  }
}

const PROCESS: Heap = {
  get limitBytes() {
    return getHeapStatistics().heap_size_limit;
  },
  usedBytes: () => getHeapStatistics().used_heap_size,
  collect: collectAll,
};
