/** A signed token → Session. With several secrets, the issuer of the token selects one. A token that is present must
 *  be valid; the next authenticator is called only when there is none.
 *  Not here: what the claims mean (claims.ts), where keys come from (jwks.ts). Reference:
 *  docs/reference/behaviour/authentication.md. RFC 7519. */
import { createPublicKey } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { decodeJwt, errors, type JWTPayload, type JWTVerifyGetKey, jwtVerify } from 'jose';
import type { JwtAlgorithm, JwtSecret, TokenLocation } from '../config/jwt-secret.ts';
import { fail } from '../errors/engine-error.ts';
import type { Observe } from '../observe/observation.ts';
import type { TrustsSelfSigned } from '../outgoing/tls-allowlist.ts';
import type { Session } from '../resolve/session.ts';
import { sessionOfClaims } from './claims.ts';
import { cookieOf } from './cookie.ts';
import { openJwks } from './jwks.ts';

/** A secret with its key. */
type Verifier = { readonly secret: JwtSecret; readonly key: JWTVerifyGetKey };

/** Prepares the keys. Throws when a key cannot be read or fetched. */
export async function openTokens(
  secrets: readonly JwtSecret[],
  prefix: string,
  observe: Observe,
  trusts?: TrustsSelfSigned,
): Promise<(headers: IncomingHttpHeaders) => Promise<Session> | undefined> {
  const open = (secret: JwtSecret) => openVerifier(secret, observe, trusts);
  const verifiers = await Promise.all(secrets.map(open));
  return (headers) => sessionOfToken(verifiers, headers, prefix);
}

async function openVerifier(
  secret: JwtSecret,
  observe: Observe,
  trusts?: TrustsSelfSigned,
): Promise<Verifier> {
  if (secret.key.kind === 'url') {
    return { secret, key: (await openJwks(secret.key.url, observe, trusts)).find };
  }
  const { algorithm, text } = secret.key;
  const key = algorithm.startsWith('HS') ? new TextEncoder().encode(text) : createPublicKey(text);
  return { secret, key: () => key };
}

/** Returns undefined when the request has no token. */
function sessionOfToken(
  verifiers: readonly Verifier[],
  headers: IncomingHttpHeaders,
  prefix: string,
): Promise<Session> | undefined {
  for (const { secret } of verifiers) {
    const token = tokenIn(headers, secret.location);
    if (token !== undefined) return verified(verifiers, secret.location, token, headers, prefix);
  }
  return undefined;
}

async function verified(
  verifiers: readonly Verifier[],
  location: TokenLocation,
  token: string,
  headers: IncomingHttpHeaders,
  prefix: string,
): Promise<Session> {
  const { secret, key } = verifierFor(
    verifiers.filter((each) => JSON.stringify(each.secret.location) === JSON.stringify(location)),
    token,
  );
  const payload = await jwtVerify(token, key, {
    algorithms: algorithmsOf(secret.key.algorithm),
    clockTolerance: secret.allowedSkewSeconds,
  }).then(
    (result) => result.payload,
    (error: unknown) => fail('jwtUnverified', { reason: reasonOf(error) }),
  );
  refuseForeign(payload, secret);
  const requestedRole = headers[`${prefix}role`];
  const session = sessionOfClaims(payload, secret, prefix, textOf(requestedRole));
  return payload.exp === undefined ? session : { ...session, expiresAt: payload.exp * 1000 };
}

/** Selects a verifier by the issuer of the unverified token. The signature must then be that issuer's. */
function verifierFor(verifiers: readonly Verifier[], token: string): Verifier {
  const [only] = verifiers;
  if (verifiers.length === 1) return only!;
  const issuer = unverifiedIssuer(token);
  const chosen = verifiers.find(({ secret }) => secret.issuer === issuer);
  return chosen ?? verifiers.find(({ secret }) => secret.issuer === null) ?? failForeign('JWTNotInIssuer');
}

function unverifiedIssuer(token: string): string | undefined {
  try {
    return decodeJwt(token).iss;
  } catch {
    return undefined;
  }
}

/** Checks issuer and audience. An absent claim is accepted; a present one must match. */
function refuseForeign(payload: JWTPayload, { issuer, audiences }: JwtSecret): void {
  if (issuer !== null && payload.iss !== undefined && payload.iss !== issuer) failForeign('JWTNotInIssuer');
  if (audiences === null || payload.aud === undefined) return;
  const meant = Array.isArray(payload.aud) ? payload.aud : [payload.aud];
  if (!meant.some((each) => audiences.includes(each))) failForeign('JWTNotInAudience');
}

function failForeign(reason: string): never {
  return fail('jwtUnverified', { reason });
}

/** Returns the accepted algorithms: any asymmetric one when keys come with their algorithm, never a shared secret
 *  then. */
function algorithmsOf(algorithm: JwtAlgorithm | null): string[] {
  if (algorithm === null) {
    return ['RS256', 'RS384', 'RS512', 'ES256', 'ES384', 'ES512', 'EdDSA', 'Ed25519'];
  }
  return algorithm === 'Ed25519' ? ['Ed25519', 'EdDSA'] : [algorithm];
}

function reasonOf(error: unknown): string {
  if (error instanceof errors.JWTExpired) return 'JWTExpired';
  if (error instanceof errors.JWTClaimValidationFailed && error.claim === 'nbf') return 'JWTNotYetValid';
  if (error instanceof errors.JWSSignatureVerificationFailed) return 'JWSError JWSInvalidSignature';
  if (error instanceof errors.JOSEAlgNotAllowed) return 'JWSError (the algorithm is not the configured one)';
  if (error instanceof errors.JWKSNoMatchingKey) return 'JWSError (no key of the provider matches)';
  return 'JWSError (the token is malformed)';
}

function tokenIn(headers: IncomingHttpHeaders, location: TokenLocation): string | undefined {
  switch (location.kind) {
    case 'cookie':
      return cookieOf(headers.cookie, location.name);
    case 'header':
      return withoutScheme(textOf(headers[location.name]));
    case 'authorization':
      return withoutScheme(headers.authorization);
  }
}

/** Removes the scheme: `Bearer x` → `x`. A header without a scheme is a token as it is. */
function withoutScheme(value: string | undefined): string | undefined {
  return value?.replace(/^bearer\s+/i, '').trim();
}

function textOf(value: string | readonly string[] | undefined): string | undefined {
  return typeof value === 'object' ? value.join(', ') : value;
}
