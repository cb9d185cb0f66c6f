/** Lets the heap grow to twice its live size before it is collected. V8 lets a heap that allocates little grow by 8 MB only, and counts the
 *  bytes outside of it, such as answers, as growth: with 50 MB of answers a second it collected every second, with as much CPU as the requests took.
 *  Containers with little memory keep V8's own rule.
 *  Not here: collections near the limit of the container (memory-pressure.ts), or while nothing happens (idle-memory.ts). */
import { setFlagsFromString } from 'node:v8';
import { availableBytes } from './cache-budget.ts';

/** The memory from which garbage may take as much as what is live. */
const LEAST_BYTES = 512 * 2 ** 20;
/** The growth in percent of the live size. */
const GROWTH = 100;

export function growHeapMore(memory = availableBytes(), setFlag = setFlagsFromString): void {
  if (memory >= LEAST_BYTES) setFlag(`--heap-growing-percent=${GROWTH}`);
}
