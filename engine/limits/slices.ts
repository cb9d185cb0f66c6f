/** Runs long computations in slices on the event loop, so that a request waits for a slice at most. There is one slice in each turn of
 *  the event loop, however many computations wait; they take turns. Between two slices the event loop answers requests.
 *  In: steps (metadata/steps.ts). Out: a promise of their result. Not here: what is computed. */
import { setImmediate } from 'node:timers';
import type { Steps } from '../metadata/steps.ts';

/** The length of a slice. It ends with the step in which this time is over. */
const SLICE_MS = 8;

type Computation = {
  /** Runs a step. Returns true when it was the last one. */
  readonly step: () => boolean;
};

const waiting: Computation[] = [];
let isScheduled = false;

/** Resolves with the result of the steps, or rejects with what they throw. */
export function inSlices<T>(steps: Steps<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const step = (): boolean => {
      try {
        const { done, value } = steps.next();
        if (done) resolve(value);
        return done === true;
      } catch (error) {
        reject(error);
        return true;
      }
    };
    waiting.push({ step });
    schedule();
  });
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
    runSlice(performance.now() + SLICE_MS);
    if (waiting.length > 0) schedule();
  });
}

function runSlice(until: number): void {
  for (;;) {
    const computation = waiting.shift();
    if (!computation) return;
    let isDone = false;
    while (!isDone && performance.now() < until) isDone = computation.step();
    if (!isDone) {
      waiting.push(computation);
      return;
    }
  }
}
