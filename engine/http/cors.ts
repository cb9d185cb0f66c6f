/** Which origins a browser may call from, and the headers that tell it so. Origins are echoed, never `*`, because
 *  requests may carry credentials. Pure: option and origin in, headers out.
 *  In: `--cors-domain`: `*`, or origins, where `https://*.example.com` is any one label in front. */
import type { Options } from '../config/options.ts';

export type Headers = Readonly<Record<string, string>>;

/** Headers for a response to `origin`; none for origins that may not call and for requests that are not cross-origin. */
export type CorsHeaders = (origin: string | undefined) => Headers;

const NONE: Headers = {};
const METHODS = 'GET,POST,PUT,PATCH,DELETE,OPTIONS';
const PREFLIGHT_MAX_AGE_SECONDS = '1728000';

export function corsPolicy(options: Pick<Options, 'corsDomain' | 'disableCors'>): CorsHeaders {
  if (options.disableCors) return () => NONE;
  const patterns = options.corsDomain.split(',').map((domain) => patternOf(domain.trim()));
  return (origin) => {
    if (origin === undefined || !patterns.some((pattern) => pattern.test(origin))) return NONE;
    return {
      'access-control-allow-origin': origin,
      'access-control-allow-credentials': 'true',
    };
  };
}

/** What a preflight is answered, besides the headers of every response. */
export function preflightHeaders(requestedHeaders: string | undefined): Headers {
  return {
    'access-control-allow-methods': METHODS,
    'access-control-max-age': PREFLIGHT_MAX_AGE_SECONDS,
    ...(requestedHeaders === undefined ? {} : { 'access-control-allow-headers': requestedHeaders }),
  };
}

function patternOf(domain: string): RegExp {
  if (domain === '*') return /./;
  const escaped = domain.replace(/\/$/, '').replace(/[.+?^${}()|[\]\\]/g, '\\$&');
  return new RegExp(`^${escaped.replace('*', '[^./:@]+')}$`, 'i');
}
