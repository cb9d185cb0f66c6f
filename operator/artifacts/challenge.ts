/** Answers the challenge of a registry (`WWW-Authenticate`): with Basic credentials, or with a token of the token service that it names.
 *  Source: RFC 9110 11.6.1, RFC 6750 3, and "Token Authentication" of the distribution project.
 *  Pure. Not here: sending requests (registry.ts). */
import { isIP } from 'node:net';
import { isRecord } from '@pergola/engine/metadata';
import { ArtifactProblem } from './artifact-problem.ts';
import type { Credentials } from './credentials.ts';

export type Challenge =
  | { readonly scheme: 'basic' }
  | { readonly scheme: 'bearer'; readonly realm: string; readonly service: string | undefined };

/** Returns the challenge; undefined for a scheme that is not supported. A token is preferred when both are offered. */
export function parseChallenge(header: string | undefined): Challenge | undefined {
  const [, parameters] = /(?:^|[\s,])bearer\s+((?:[\w-]+="[^"]*"[\s,]*)+)/i.exec(header ?? '') ?? [];
  if (parameters !== undefined) {
    const pairs = [...parameters.matchAll(/([\w-]+)="([^"]*)"/g)].map(([, name, value]) => [
      name!.toLowerCase(),
      value!,
    ]);
    const { realm, service } = Object.fromEntries(pairs) as Record<string, string | undefined>;
    return realm === undefined ? undefined : { scheme: 'bearer', realm, service };
  }
  return /(?:^|[\s,])basic(?:\s|$)/i.test(header ?? '') ? { scheme: 'basic' } : undefined;
}

export function basicAuthorization({ username, password }: Credentials): string {
  return `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`;
}

/** Returns the URL of a token that may only pull the repository, whatever scope the challenge names. Raises ArtifactProblem. */
export function tokenUrl(
  { realm, service }: { readonly realm: string; readonly service: string | undefined },
  registry: URL,
  name: string,
): URL {
  const url = URL.parse(realm, registry.href);
  // A token service over plain HTTP would let anyone on the way read the credentials and the token.
  if (!url || !(url.protocol === 'https:' || (url.protocol === 'http:' && registry.protocol === 'http:'))) {
    throw new ArtifactProblem(`the token service that ${registry.host} names is not at an https URL`);
  }
  if (url.username !== '' || url.password !== '') {
    throw new ArtifactProblem(`the URL of the token service that ${registry.host} names has credentials`);
  }
  if (service !== undefined) url.searchParams.set('service', service);
  url.searchParams.set('scope', `repository:${name}:pull`);
  return url;
}

/** True when an answer may lead from one URL to the other: over TLS anywhere, without it on the same server, whose author chose plain HTTP. */
export function isReachedSafely(url: URL, from: URL): boolean {
  return url.protocol === 'https:' || url.origin === from.origin;
}

/** True when the credentials of a registry may be sent to a token service: it has the same host name, or is in the domain that the registry
 *  is in, as auth.docker.io and registry-1.docker.io, gitlab.com and registry.gitlab.com. */
export function isSameDomain(registry: string, service: string): boolean {
  if (registry === service) return true;
  if (isIP(registry.replace(/^\[|\]$/g, '')) !== 0) return false;
  const [, ...parent] = registry.split('.');
  return parent.length >= 2 && (service === parent.join('.') || service.endsWith(`.${parent.join('.')}`));
}

/** Returns the authorization for the token in the answer of a token service. Raises ArtifactProblem. */
export function bearerAuthorization(answer: Buffer): string {
  const { token, access_token: accessToken } = fieldsOf(answer);
  const found = typeof token === 'string' && token !== '' ? token : accessToken;
  if (typeof found !== 'string' || !/^[\x21-\x7e]+$/.test(found)) {
    throw new ArtifactProblem('the answer of the token service has no token');
  }
  return `Bearer ${found}`;
}

function fieldsOf(answer: Buffer): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(answer.toString('utf8'));
    return isRecord(value) ? value : {};
  } catch {
    return {};
  }
}
