/** A signed token → Session. With several secrets, the issuer of the token selects one. A token that is present must
 *  be valid; the next authenticator is called only when there is none.
 *  Not here: what the claims mean (claims.ts), where keys come from (jwks.ts). Reference:
 *  docs/reference/behaviour/authentication.md. RFC 7519. */
import { createPublicKey } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import {
  type CryptoKey,
  decodeJwt,
  errors,
  type JWTHeaderParameters,
  type JWTPayload,
  type JWTVerifyGetKey,
  type JWTVerifyOptions,
  jwtVerify,
} from 'jose';
import type { JwtAlgorithm, JwtSecret, TokenLocation } from '../config/jwt-secret.ts';
import { fail } from '../errors/engine-error.ts';
import type { Observe } from '../observe/observation.ts';
import { headerText } from '../outgoing/header-values.ts';
import type { TrustsSelfSigned } from '../outgoing/tls-allowlist.ts';
import type { Session } from '../resolve/session.ts';
import { sessionOfClaims } from './claims.ts';
import { openJwks } from './jwks.ts';

/** A secret and what verifies its tokens. Returns the claims of a token, or rejects with an error of the library. */
type Verifier = {
  readonly secret: JwtSecret;
  readonly verify: (token: string, options: JWTVerifyOptions) => Promise<JWTPayload>;
};

/** A verifier and the token at its place in the request. */
type Candidate = Verifier & { readonly token: string };

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
    const { candidates } = await openJwks(secret.key.url, observe, trusts);
    return { secret, verify: (token, options) => verifyWithEach(token, options, candidates) };
  }
  const { algorithm, text } = secret.key;
  const key = algorithm.startsWith('HS') ? new TextEncoder().encode(text) : createPublicKey(text);
  const verify: Verifier['verify'] = async (token, options) => (await jwtVerify(token, key, options)).payload;
  return { secret, verify };
}

/** A token is tried with this many keys at most, so that one costs no more than a few milliseconds. */
const MOST_KEYS = 32;

/** Tries the keys in order until one verifies the signature. Whatever else is wrong with the token is not the key's fault. */
async function verifyWithEach(
  token: string,
  options: JWTVerifyOptions,
  candidates: (header: JWTHeaderParameters) => AsyncGenerator<CryptoKey>,
): Promise<JWTPayload> {
  let untried: AsyncGenerator<CryptoKey> | undefined;
  let failure: unknown;
  const nextKey: JWTVerifyGetKey = async (header) => {
    untried ??= candidates(header);
    const { done, value } = await untried.next();
    if (done) throw failure ?? new errors.JWKSNoMatchingKey();
    return value;
  };
  for (let tries = 0; tries < MOST_KEYS; tries++) {
    try {
      return (await jwtVerify(token, nextKey, options)).payload;
    } catch (error) {
      if (error === failure || !(error instanceof errors.JWSSignatureVerificationFailed)) throw error;
      failure = error;
    }
  }
  throw failure;
}

/** Returns undefined when the request has no token. */
function sessionOfToken(
  verifiers: readonly Verifier[],
  headers: IncomingHttpHeaders,
  prefix: string,
): Promise<Session> | undefined {
  const candidates = verifiers.flatMap((verifier) => {
    const token = tokenIn(headers, verifier.secret.location);
    return token === undefined ? [] : [{ ...verifier, token }];
  });
  return candidates.length === 0 ? undefined : verified(chosen(candidates), headers, prefix);
}

async function verified(
  { secret, verify, token }: Candidate,
  headers: IncomingHttpHeaders,
  prefix: string,
): Promise<Session> {
  const payload = await verify(token, {
    algorithms: algorithmsOf(secret.key.algorithm),
    clockTolerance: secret.allowedSkewSeconds,
  }).catch((error: unknown) => fail('jwtUnverified', { reason: reasonOf(error) }));
  refuseForeign(payload, secret);
  const requested = textOf(headers[`${prefix}role`]);
  const role = requested === undefined ? undefined : headerText(requested);
  const session = sessionOfClaims(payload, secret, prefix, role);
  return payload.exp === undefined ? session : { ...session, expiresAt: payload.exp * 1000 };
}

/** Selects the secret and its token by the issuer of the unverified token; the signature must then be that issuer's. Without a
 *  secret of exactly that issuer, a secret without an issuer or a token without one fits. Raises `severalTokens` when more than one
 *  fits. */
function chosen(candidates: readonly Candidate[]): Candidate {
  const read = candidates.map((each) => ({ each, issuer: unverifiedIssuer(each.token) }));
  const exact = read.filter(({ each, issuer }) => issuer !== undefined && each.secret.issuer === issuer);
  const loose = read.filter(({ each, issuer }) => issuer === undefined || each.secret.issuer === null);
  const [found, ...more] = exact.length > 0 ? exact : loose;
  if (more.length > 0) fail('severalTokens', {});
  return found?.each ?? failForeign('JWTNotInIssuer');
}

function unverifiedIssuer(token: string): string | undefined {
  try {
    return decodeJwt(token).iss;
  } catch {
    return undefined;
  }
}

/** Checks the issuer, the audience and the time of issue. An absent claim is accepted; a present one must match. */
function refuseForeign(payload: JWTPayload, { issuer, audiences, allowedSkewSeconds }: JwtSecret): void {
  const now = Date.now() / 1000;
  if (payload.iat !== undefined && payload.iat > now + allowedSkewSeconds) failForeign('JWTIssuedAtFuture');
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
      return bearerOf(headers.authorization);
  }
}

/** Returns the token of `Bearer x`. Raises `authorizationMalformed` for anything else. */
function bearerOf(value: string | undefined): string | undefined {
  if (value === undefined) return undefined;
  const [, token] = /^\s*bearer\s+(\S+)\s*$/i.exec(value) ?? [];
  return token ?? fail('authorizationMalformed', {});
}

/** Removes the scheme: `Bearer x` → `x`. A header without a scheme is a token as it is. */
function withoutScheme(value: string | undefined): string | undefined {
  return value?.replace(/^bearer\s+/i, '').trim();
}

function textOf(value: string | readonly string[] | undefined): string | undefined {
  return typeof value === 'object' ? value.join(', ') : value;
}

/** Returns one cookie of a Cookie header. RFC 6265, section 4.2.1. */
function cookieOf(header: string | undefined, name: string): string | undefined {
  for (const pair of header?.split(';') ?? []) {
    const equals = pair.indexOf('=');
    if (equals < 0 || pair.slice(0, equals).trim() !== name) continue;
    return pair
      .slice(equals + 1)
      .trim()
      .replace(/^"(.*)"$/, '$1');
  }
  return undefined;
}
