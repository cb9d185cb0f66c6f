/** When the time of a request is up. The time limit counts from the first statement; Postgres itself ends what runs into it.
 *  Not here: whose limit (resolve/request-policy.ts), how a statement is told (pool.ts). Reference: docs/reference/behaviour/permissions.md. */
import { fail } from '../errors/engine-error.ts';

export type Deadline = { readonly limitMs: number; readonly at: number };

export function deadlineAfter(limitMs: number): Deadline {
  return { limitMs, at: performance.now() + limitMs };
}

/** Whole milliseconds, at least one. Raises `timeLimitExceeded`. */
export function timeLeft(deadline: Deadline): number {
  const leftMs = deadline.at - performance.now();
  return leftMs > 0 ? Math.ceil(leftMs) : timeIsUp(deadline);
}

export function timeIsUp({ limitMs }: Deadline): never {
  return fail('timeLimitExceeded', { most: limitMs / 1000 });
}
