/** The freshness lifetime of a response, from its caching headers. RFC 9111, sections 5.2.2 and 5.3. */
import type { IncomingHttpHeaders } from 'node:http';

export type Caching = {
  readonly cacheControl: string | null;
  readonly expires: string | null;
};

export function cachingOf(headers: IncomingHttpHeaders): Caching {
  return { cacheControl: headers['cache-control'] ?? null, expires: headers.expires ?? null };
}

/** Returns how long a response may be kept, in milliseconds; infinity without caching headers, or when they cannot be parsed.
 *  `no-cache` and `no-store` outweigh an age, and an age outweighs `must-revalidate`. */
export function freshnessMs(caching: Caching, now: number): number {
  const control = caching.cacheControl ?? '';
  const lifetimeMs = statedMs(caching, now);
  if (/\b(no-cache|no-store)\b/i.test(control)) return 0;
  return lifetimeMs === Number.POSITIVE_INFINITY && /\bmust-revalidate\b/i.test(control) ? 0 : lifetimeMs;
}

/** Returns the lifetime that `max-age`, `s-maxage` or else `Expires` states, in milliseconds; infinity without any. */
export function statedMs({ cacheControl, expires }: Caching, now: number): number {
  const control = cacheControl?.toLowerCase() ?? '';
  const age = /\bs-maxage=(\d+)/.exec(control) ?? /\bmax-age=(\d+)/.exec(control);
  if (age) return Number(age[1]) * 1000;
  const until = Date.parse(expires ?? '');
  return Number.isNaN(until) ? Number.POSITIVE_INFINITY : Math.max(0, until - now);
}
