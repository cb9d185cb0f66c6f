/** The origins a browser may call from, and the CORS headers for them. Origins are echoed, because requests may carry
 *  credentials. `*` allows every origin without credentials: a browser then sends no cookies, and hides answers to
 *  requests that had some. In: `--cors-domain`, which is `*` or a list of origins; `https://*.example.com` matches
 *  any one label. Out: headers. Pure.
 *  Not here: requests without a preflight (cross-site.ts). */

import type { Options } from '../config/options.ts';
import { textToWire } from '../metadata/header-prefix.ts';
import { SESSION_PREFIX } from '../resolve/session.ts';

type CorsHeaders = Readonly<Record<string, string>>;

/** Returns the headers for a response to `origin`; none for origins that may not call and for requests that are not
 *  cross-origin. */
export type CorsPolicy = (origin: string | undefined) => CorsHeaders;

const NONE: CorsHeaders = {};
const METHODS = 'GET,POST,PUT,PATCH,DELETE,OPTIONS';
/** The response headers that pages may read, besides those that every page may. */
const EXPOSED = 'X-Engine-Query-Cache-Key,X-Engine-Query-Family-Cache-Key,Warning';
const PREFLIGHT_MAX_AGE_SECONDS = '1728000';

export type CorsOptions = Pick<Options, 'corsDomain' | 'disableCors' | 'corsAnyOriginCredentials'> &
  Partial<Pick<Options, 'headerPrefix'>>;

export function corsPolicy(options: CorsOptions): CorsPolicy {
  if (options.disableCors) return () => NONE;
  const isAny = domainsOf(options).includes('*');
  const isTrusted = mayUseCredentials(options);
  const headers = {
    'access-control-allow-methods': METHODS,
    'access-control-expose-headers': textToWire(EXPOSED, options.headerPrefix ?? SESSION_PREFIX),
  };
  return (origin) => {
    if (origin === undefined) return NONE;
    const allowed = { 'access-control-allow-origin': origin, ...headers };
    if (isTrusted(origin)) return { ...allowed, 'access-control-allow-credentials': 'true' };
    return isAny ? allowed : NONE;
  };
}

/** True for origins that may call with cookies: those `--cors-domain` lists, and every origin with
 *  --cors-any-origin-credentials. */
export function mayUseCredentials(options: CorsOptions): (origin: string) => boolean {
  if (options.disableCors) return () => false;
  const domains = domainsOf(options);
  if (domains.includes('*') && options.corsAnyOriginCredentials) return () => true;
  const patterns = domains.filter((domain) => domain !== '*').map(namePattern);
  return (origin) => patterns.some((pattern) => pattern.test(origin));
}

function domainsOf({ corsDomain }: CorsOptions): readonly string[] {
  return corsDomain
    .split(',')
    .map((domain) => domain.trim())
    .filter((domain) => domain !== '');
}

/** Returns the headers that only the answer to a preflight has. */
export function preflightHeaders(requestedHeaders: string | undefined): CorsHeaders {
  return {
    'access-control-max-age': PREFLIGHT_MAX_AGE_SECONDS,
    'access-control-allow-headers': requestedHeaders ?? '',
    'content-type': 'text/plain; charset=utf-8',
  };
}

/** Returns the pattern of a domain: a single `*` matches everything, `*` within a name matches one label. */
export function namePattern(domain: string): RegExp {
  if (domain === '*') return /./;
  const escaped = domain.replace(/\/$/, '').replace(/[.+?^${}()|[\]\\]/g, '\\$&');
  return new RegExp(`^${escaped.replace('*', '[^./:@]+')}$`, 'i');
}
