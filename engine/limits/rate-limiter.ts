/** Limits the requests of each caller in a sliding window of one minute, with constant memory for a caller. The requests of the
 *  previous minute count by the share that the window still covers, as if they were evenly distributed. Rejected requests do not
 *  count. In: a role's limit and the caller. Out: nothing, or `rateLimitExceeded`. Each replica has its own counts.
 *  Not here: limits of roles (resolve/request-policy.ts). Reference: docs/reference/behaviour/permissions.md. */
import { fail } from '../errors/engine-error.ts';
import { own } from '../metadata/own.ts';
import type { ResolvedRateLimit } from '../resolve/request-policy.ts';
import type { Session } from '../resolve/session.ts';

const MINUTE_MS = 60_000;
/** The most callers that are counted; the least recent caller is dropped first. */
const MOST_CALLERS = 100_000;

type Count = { minute: number; now: number; before: number };

export class RateLimiter {
  /** The least recent caller comes first, because a Map keeps the order of insertion. */
  readonly #counts = new Map<string, Count>();
  readonly #clock: () => number;

  /** `clock` in milliseconds, from any moment. */
  constructor(clock = () => performance.now()) {
    this.#clock = clock;
  }

  /** Raises `rateLimitExceeded`. `address` is the client's. */
  admit({ mostPerMinute, by }: ResolvedRateLimit, session: Session, address: string | undefined): void {
    const time = this.#clock();
    const count = this.#countOf(callerOf(by, session, address), Math.floor(time / MINUTE_MS));
    const stillCovered = 1 - (time % MINUTE_MS) / MINUTE_MS;
    if (count.now + count.before * stillCovered >= mostPerMinute) {
      fail('rateLimitExceeded', { most: mostPerMinute });
    }
    count.now += 1;
  }

  #countOf(caller: string, minute: number): Count {
    const count = this.#counts.get(caller) ?? { minute, now: 0, before: 0 };
    this.#counts.delete(caller);
    this.#counts.set(caller, count);
    if (this.#counts.size > MOST_CALLERS) this.#counts.delete(this.#counts.keys().next().value!);
    if (count.minute === minute) return count;
    count.before = count.minute === minute - 1 ? count.now : 0;
    count.now = 0;
    count.minute = minute;
    return count;
  }
}

function callerOf(
  by: ResolvedRateLimit['by'],
  { role, variables }: Session,
  address: string | undefined,
): string {
  if (by === 'address') return JSON.stringify([role, address ?? null]);
  return by.length === 0 ? role : JSON.stringify([role, ...by.map((name) => own(variables, name) ?? null)]);
}
