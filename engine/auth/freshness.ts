/** The freshness lifetime of a response, from its caching headers. RFC 9111, sections 5.2.2 and 5.3. */
import type { IncomingHttpHeaders } from 'node:http';

export type Caching = {
  readonly cacheControl: string | null;
  readonly expires: string | null;
};

export function cachingOf(headers: IncomingHttpHeaders): Caching {
  return { cacheControl: headers['cache-control'] ?? null, expires: headers.expires ?? null };
}

/** Returns the remaining lifetime in milliseconds; infinity without caching headers, or when they cannot be parsed. */
export function freshnessMs({ cacheControl, expires }: Caching, now: number): number {
  const control = cacheControl?.toLowerCase() ?? '';
  const age = /\bs-maxage=(\d+)/.exec(control) ?? /\bmax-age=(\d+)/.exec(control);
  if (age) return Number(age[1]) * 1000;
  if (/\b(no-cache|no-store|must-revalidate)\b/.test(control)) return 0;
  const until = Date.parse(expires ?? '');
  return Number.isNaN(until) ? Number.POSITIVE_INFINITY : Math.max(0, until - now);
}
