/** Runs long computations in slices on the event loop, so that a request waits for a slice at most. There is one slice in each turn of
 *  the event loop, however many computations wait; they take turns. Between two slices the event loop answers requests.
 *  In: steps (metadata/steps.ts). Out: a promise of their result. Not here: what is computed. */
import { setImmediate } from 'node:timers';
import type { Steps } from '../metadata/steps.ts';

/** The length of a slice. It ends with the step in which this time is over. */
const SLICE_MS = 5;

/** Runs steps until a time. Returns true when none are left. */
type Computation = (until: number) => boolean;

const waiting: Computation[] = [];
/** The end of the slice of this turn; null before it has begun. */
let sliceEnd: number | null = null;
let isScheduled = false;

/** Resolves with the result of the steps, or rejects with what they throw. A short computation is finished when this returns. */
export function inSlices<T>(steps: Steps<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const run = (until: number): boolean => {
      try {
        while (performance.now() < until) {
          const { done, value } = steps.next();
          if (!done) continue;
          resolve(value);
          return true;
        }
        return false;
      } catch (error) {
        reject(error);
        return true;
      }
    };
    sliceEnd ??= performance.now() + SLICE_MS;
    schedule();
    const isNext = waiting.length === 0;
    if (!isNext || !run(sliceEnd)) waiting.push(run);
  });
}

/** Returns null until this turn of the event loop has lasted for a slice since the first call in it, and then a promise of a later turn. */
export function turnAfterSlice(): Promise<void> | null {
  sliceEnd ??= performance.now() + SLICE_MS;
  schedule();
  return performance.now() < sliceEnd ? null : nextTurn();
}

/** Resolves in a later turn of the event loop, after other requests had theirs. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => void setImmediate(resolve));
}

/** Returns a function that runs computations one after the other, for those that take much memory or share a cache. */
export function inOrder(): <T>(begin: () => Steps<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve();
  return (begin) => {
    const next = last.then(() => inSlices(begin()));
    last = next.catch(() => {});
    return next;
  };
}

function schedule(): void {
  if (isScheduled) return;
  isScheduled = true;
  setImmediate(() => {
    isScheduled = false;
    sliceEnd = null;
    if (waiting.length > 0) runSlice();
  });
}

function runSlice(): void {
  sliceEnd = performance.now() + SLICE_MS;
  schedule();
  for (let run = waiting.shift(); run; run = waiting.shift()) {
    if (run(sliceEnd)) continue;
    waiting.push(run);
    return;
  }
}
