/** The deadline of a request. The time limit counts from the first statement; Postgres ends a statement that exceeds it.
 *  Not here: limits of roles (resolve/request-policy.ts), limits of statements (pool.ts). Reference: docs/reference/behaviour/permissions.md. */
import { fail } from '../errors/engine-error.ts';

export type Deadline = { readonly limitMs: number; readonly at: number };

export function deadlineAfter(limitMs: number | null): Deadline | null {
  return limitMs === null ? null : { limitMs, at: performance.now() + limitMs };
}

/** Whole milliseconds, at least one. Raises `timeLimitExceeded`. */
export function timeLeft(deadline: Deadline): number {
  const leftMs = deadline.at - performance.now();
  return leftMs > 0 ? Math.ceil(leftMs) : timeIsUp(deadline);
}

export function timeIsUp({ limitMs }: Deadline): never {
  return fail('timeLimitExceeded', { most: limitMs / 1000 });
}
