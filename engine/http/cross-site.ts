/** Refuses requests that a browser sends for a page of another site. There are two checks, both on headers only.
 *  `checkPreflighted`: a request that may write must be one that browsers preflight across origins: it has a JSON
 *  content type, or a header that pages cannot set without a preflight. Otherwise cookies, an IP address or nothing
 *  at all could authenticate it.
 *  `checkSite`: an engine without an admin secret trusts everyone who reaches it, so it answers only for its own host
 *  names (a page can point a name of its own at this address) and to pages of its own origin.
 *  Not here: which origins preflights and handshakes allow (cors.ts). Fetch standard, "CORS-safelisted
 *  request-header". */
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import { isSecretSet } from '../auth/accepted-secrets.ts';
import { jwtSecretsOf } from '../auth/authenticate.ts';
import type { Options } from '../config/options.ts';
import { fail } from '../errors/engine-error.ts';
import { mayUseCredentials, namePattern } from './cors.ts';

export type CrossSite = {
  /** Raises `hostNotAllowed`, `originNotAllowed`. Does nothing when an admin secret is set. */
  readonly checkSite: (request: Pick<IncomingMessage, 'headers' | 'url'>) => void;
  /** Raises `preflightMissing`. */
  readonly checkPreflighted: (headers: IncomingHttpHeaders) => void;
  /** Removes the cookies of a request of an origin whose cookies do not count. With CORS off, a proxy decides about origins. */
  readonly dropForeignCookies: (headers: IncomingHttpHeaders) => void;
};

/** The media types of our bodies. Pages can send other types (text, forms) without a preflight. */
const JSON_TYPE = /^\s*application\/(graphql|([\w.-]+\+)?json)\s*(;|$)/i;

/** Headers that make browsers send a preflight, besides those with the engine's prefix. */
const FORCING_HEADERS = ['x-requested-with', 'apollo-require-preflight', 'graphql-require-preflight'];

/** Load balancers call these paths under any name; the answers hold no secret. */
const PUBLIC_PATHS: readonly string[] = [
  '/healthz',
  '/hasura/healthz',
  '/healthz/sources',
  '/livez',
  '/v1/version',
];

export function crossSitePolicy(options: Options): CrossSite {
  const { headerPrefix } = options;
  const tokenHeaders = jwtSecretsOf(options).flatMap(({ location: place }) =>
    place.kind === 'header' ? [place.name.toLowerCase()] : [],
  );
  const forcing = new Set([...FORCING_HEADERS, ...tokenHeaders]);
  const mayUse = mayUseCredentials(options);
  const isForcing = (name: string) => name.startsWith(headerPrefix) || forcing.has(name);
  return {
    checkSite: isSecretSet(options) ? () => {} : siteCheck(options),
    checkPreflighted: (headers) => {
      if (options.allowSimpleRequests) return;
      if (JSON_TYPE.test(headers['content-type'] ?? '') || isToken(headers.authorization)) return;
      if (!Object.keys(headers).some(isForcing)) fail('preflightMissing', { prefix: headerPrefix });
    },
    dropForeignCookies: (headers) => {
      const { origin, cookie } = headers;
      if (origin === undefined || cookie === undefined || options.disableCors) return;
      if (!isOwnOrigin(headers) && !mayUse(origin)) delete headers.cookie;
    },
  };
}

function siteCheck(options: Options): CrossSite['checkSite'] {
  const names = (options.allowedHosts ?? '').split(',').map((name) => name.trim());
  const patterns = names.filter((name) => name !== '').map(namePattern);
  const isOwnName = (name: string) =>
    isLoopback(name) ||
    isIP(name) !== 0 ||
    name === options.serverHost.toLowerCase() ||
    patterns.some((pattern) => pattern.test(name));
  const mayCall = mayUseCredentials(options);
  return ({ headers: { host, origin }, url = '' }) => {
    if (PUBLIC_PATHS.includes(url.split('?', 1)[0]!)) return;
    if (host !== undefined && !isOwnName(hostName(host))) fail('hostNotAllowed', { host });
    if (origin === undefined || isSameOrigin(origin, host) || mayCall(origin)) return;
    const name = URL.parse(origin)?.host;
    if (!name || !isLoopback(hostName(name))) fail('originNotAllowed', {});
  };
}

/** True for a page of this engine's own origin. A proxy may have changed the host, but no page can set the header in which the
 *  browser says so. Fetch Metadata, "Sec-Fetch-Site". */
export function isOwnOrigin(headers: IncomingHttpHeaders): boolean {
  const { origin, host } = headers;
  return headers['sec-fetch-site'] === 'same-origin' || (origin !== undefined && isSameOrigin(origin, host));
}

/** True when the page comes from the host the request is sent to. Schemes are not compared: a proxy may have ended
 *  TLS. */
function isSameOrigin(origin: string, host: string | undefined): boolean {
  return host !== undefined && URL.parse(origin)?.host === host.toLowerCase();
}

/** True for a bearer token. Browsers send other schemes by themselves, and pages cannot set the header without a
 *  preflight. */
export function isToken(authorization: string | undefined): boolean {
  return authorization !== undefined && /^\s*bearer\s/i.test(authorization);
}

function isLoopback(name: string): boolean {
  return name === 'localhost' || name.endsWith('.localhost') || name === '::1' || /^127\.[\d.]+$/.test(name);
}

/** Returns the host without its port: `Shop.example:8080` → `shop.example`, `[::1]:8080` → `::1`. */
function hostName(host: string): string {
  return host
    .toLowerCase()
    .replace(/:\d*$/, '')
    .replace(/^\[(.*)\]$/, '$1');
}
