/** How long a caller waits for Postgres: until it has gone, until its time limit, or until the result is too large. Not here: what happens
 *  then (pool.ts). */

import type { CancelSignal } from '../limits/cancel-signal.ts';
import type { AnswerHolding } from '../limits/memory-budget.ts';

/** How long the caller waits for a result. After that, the statement is cancelled in Postgres; a queued one is not
 *  sent. */
export type Patience = {
  /** Aborted when the caller no longer waits. The statement fails with its reason. */
  readonly signal?: CancelSignal | undefined;
  /** The time limit of the statement, which fails with TimeIsUp. */
  readonly limitMs?: number | null | undefined;
  /** Holds the bytes of the result. The statement fails with the error that it raises. */
  readonly holding?: AnswerHolding | undefined;
};

/** Raised when a statement exceeds its time limit. */
export class TimeIsUp extends Error {
  readonly limitMs: number;

  constructor(limitMs: number) {
    super(`the statement took longer than ${limitMs / 1000} s`);
    this.limitMs = limitMs;
  }
}

/** Calls `over` once when patience ends, immediately if it has ended already. The returned function stops waiting. */
export function whenOver({ signal, limitMs }: Patience, over: (reason: Error) => void): () => void {
  const end = () => {
    clearTimeout(timer);
    signal?.removeEventListener('abort', abort);
  };
  const abort = {
    handleEvent: () => {
      end();
      over(signal!.reason as Error);
    },
  };
  const timer =
    limitMs == null
      ? undefined
      : setTimeout(() => {
          end();
          over(new TimeIsUp(limitMs));
        }, limitMs);
  if (signal?.aborted) abort.handleEvent();
  else signal?.addEventListener('abort', abort);
  return end;
}
