/** The request policies that are about requests and not about what they ask: how many come in one body, and how often.
 *  Nothing but a look-up where no limit is set. Not here: counting (limits/rate-limiter.ts). */
import type { IncomingMessage } from 'node:http';
import { fail } from '../errors/engine-error.ts';
import type { RateLimiter } from '../limits/rate-limiter.ts';
import { requestPolicyOf } from '../resolve/request-policy.ts';
import type { Session } from '../resolve/session.ts';
import type { Model } from '../resolve/types.ts';

export type Requester = {
  readonly model: Model;
  readonly session: Session;
  readonly address: string | undefined;
};

/** One operation. Raises `rateLimitExceeded`. */
export function checkRateLimit(limiter: RateLimiter, { model, session, address }: Requester): void {
  const { rate } = requestPolicyOf(model, session.role);
  if (rate) limiter.admit(rate, session, address);
}

/** Raises `batchLimitExceeded`. */
export function checkBatchSize(
  { length: found }: readonly unknown[],
  { model, session }: Omit<Requester, 'address'>,
): void {
  const { mostInBatch: most } = requestPolicyOf(model, session.role);
  if (most !== null && found > most) fail('batchLimitExceeded', { found, most });
}

/** The client's address. Each of `trustedProxies` has added the one it was asked from to X-Forwarded-For; what stands
 *  before those anyone may have written. */
export function addressOf({ headers, socket }: IncomingMessage, trustedProxies: number): string | undefined {
  if (trustedProxies === 0) return socket.remoteAddress;
  const forwarded = String(headers['x-forwarded-for'] ?? '').split(',');
  return forwarded.at(-trustedProxies)?.trim() || socket.remoteAddress;
}
