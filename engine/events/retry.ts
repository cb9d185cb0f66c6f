/** What becomes of an event after a try. Pure. Reference: docs/reference/behaviour/event-triggers.md. */
import type { Retries } from '../resolve/types.ts';

export type RetryDecision =
  | { readonly kind: 'delivered' }
  | { readonly kind: 'again'; readonly afterSeconds: number }
  | { readonly kind: 'failed' };

export type DeliveryResult = {
  /** Null when there was no answer. */
  readonly status: number | null;
  /** What the answer's Retry-After says; null where it does not. */
  readonly retryAfterSeconds: number | null;
};

/** A year: Postgres has no later dates than some. */
const MOST_SECONDS = 31_536_000;

/** `tries`: made before this one. Once more than the retries, where the webhook asks for it. */
export function decideRetry(
  { status, retryAfterSeconds }: DeliveryResult,
  tries: number,
  retries: Retries,
): RetryDecision {
  if (status !== null && status >= 200 && status < 300) return { kind: 'delivered' };
  if (retryAfterSeconds !== null && tries <= retries.most) return again(retryAfterSeconds);
  return tries < retries.most ? again(retries.intervalSeconds) : { kind: 'failed' };
}

function again(seconds: number): RetryDecision {
  return { kind: 'again', afterSeconds: Math.min(seconds, MOST_SECONDS) };
}

/** A number of seconds; a date, which the header may have too, is not understood. RFC 9110, 10.2.3. */
export function retryAfterOf(text: string | null): number | null {
  return text !== null && /^\s*\d{1,9}\s*$/.test(text) ? Number(text) : null;
}
