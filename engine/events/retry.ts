/** Decides what happens to an event after an attempt: delivered, retried or failed. Pure.
 *  Reference: docs/reference/behaviour/event-triggers.md. */
import type { Retries } from '../resolve/model/webhook.ts';

export type RetryDecision =
  | { readonly kind: 'delivered' }
  | { readonly kind: 'again'; readonly afterSeconds: number }
  /** The event stays taken and is attempted at once. */
  | { readonly kind: 'now' }
  | { readonly kind: 'failed' };

export type DeliveryResult = {
  /** The HTTP status; null if there was no answer. */
  readonly status: number | null;
  /** The value of the answer's Retry-After header; null if it has none. */
  readonly retryAfterSeconds: number | null;
};

/** A delay of more than a year is cut, because dates of Postgres end. */
const MOST_SECONDS = 31_536_000;

/** Decides by the result of an attempt and the number of attempts before it. A Retry-After header allows one attempt more than the
 *  configured retries. */
export function decideRetry(
  { status, retryAfterSeconds }: DeliveryResult,
  tries: number,
  retries: Retries,
): RetryDecision {
  if (status !== null && status >= 200 && status < 300) return { kind: 'delivered' };
  if (retryAfterSeconds !== null && tries <= retries.most) return again(retryAfterSeconds);
  return tries < retries.most ? again(retries.intervalSeconds) : { kind: 'failed' };
}

/** The number of attempts after which an event is failed although the engine always ended before it recorded a result. */
const MOST_INTERRUPTED = 5;

/** Decides about an attempt during which the engine ended, by the number of attempts before it. It counts as an attempt; the event is
 *  attempted again even if the configured retries are fewer, because the end of the engine may have had another cause. */
export function decideInterrupted(tries: number, retries: Retries): RetryDecision {
  return { kind: tries < Math.max(retries.most, MOST_INTERRUPTED - 1) ? 'now' : 'failed' };
}

function again(seconds: number): RetryDecision {
  return { kind: 'again', afterSeconds: Math.min(seconds, MOST_SECONDS) };
}

/** Parses a Retry-After header in seconds. Zero and dates, which are not supported, give null. RFC 9110, 10.2.3. */
export function retryAfterOf(text: string | null): number | null {
  return text !== null && /^\s*0*[1-9]\d{0,8}\s*$/.test(text) ? Number(text) : null;
}
