/** The JSON of `--jwt-secret` → JwtSecret. In: `{"type": "RS256", "key": "…"}` or `{"jwk_url": "…"}`, and how claims
 *  are found. Error messages never repeat the text, because it contains keys.
 *  Not here: signatures (auth/token.ts). Reference: docs/reference/behaviour/authentication.md. */
import { createPublicKey } from 'node:crypto';
import { isRecord } from '../json/value.ts';
import { type OptionType, OptionValueError } from './option-types.ts';

const JWT_ALGORITHMS = [
  'HS256',
  'HS384',
  'HS512',
  'RS256',
  'RS384',
  'RS512',
  'ES256',
  'ES384',
  'ES512',
  'Ed25519',
] as const;
export type JwtAlgorithm = (typeof JWT_ALGORITHMS)[number];

/** The part of a request that carries the token. */
export type TokenLocation =
  | { readonly kind: 'authorization' }
  | { readonly kind: 'cookie'; readonly name: string }
  | { readonly kind: 'header'; readonly name: string };

/** The source of a session variable: a path into the claims, or a constant. */
export type ClaimSource =
  | { readonly kind: 'path'; readonly path: string; readonly standard: unknown }
  | { readonly kind: 'literal'; readonly value: unknown };

export type JwtSecret = {
  readonly key:
    | { readonly kind: 'given'; readonly algorithm: JwtAlgorithm; readonly text: string }
    | { readonly kind: 'url'; readonly url: string; readonly algorithm: JwtAlgorithm | null };
  /** The claim that contains the engine's claims, or a path to it. Unused with a `claimsMap`. */
  readonly namespace: { readonly kind: 'name' | 'path'; readonly text: string };
  readonly areClaimsStringified: boolean;
  readonly claimsMap: ReadonlyMap<string, ClaimSource> | null;
  readonly audiences: readonly string[] | null;
  readonly issuer: string | null;
  readonly allowedSkewSeconds: number;
  readonly location: TokenLocation;
};

/** The default claims namespace. It is part of the wire format, like the names of headers. */
const CLAIMS_NAMESPACE = 'https://hasura.io/jwt/claims';

export const jwtSecret: OptionType<JwtSecret> = {
  placeholder: 'JSON',
  parse: (text) => secretFrom(jsonOf(text)),
};

export const jwtSecrets: OptionType<readonly JwtSecret[]> = {
  placeholder: 'JSON',
  parse: (text) => {
    const list = jsonOf(text);
    if (!Array.isArray(list) || list.length === 0) return wrong('expects a JSON array of JWT secrets');
    const secrets = list.map(secretFrom);
    const issuers = new Set(secrets.map(({ issuer }) => issuer));
    if (issuers.size < secrets.length) wrong('needs a different "issuer" in each of its secrets');
    return secrets;
  },
};

type Json = Readonly<Record<string, unknown>>;

function secretFrom(value: unknown): JwtSecret {
  if (!isRecord(value)) return wrong('expects a JSON object such as {"type": "RS256", "key": "…"}');
  const path = optionalText(value, 'claims_namespace_path');
  const name = optionalText(value, 'claims_namespace');
  if (path !== null && name !== null) {
    wrong('takes "claims_namespace" or "claims_namespace_path", not both');
  }
  const format = optionalText(value, 'claims_format') ?? 'json';
  if (!['json', 'stringified_json'].includes(format)) {
    wrong('expects "claims_format" to be json or stringified_json');
  }
  return {
    key: keyFrom(value),
    namespace:
      path === null ? { kind: 'name', text: name ?? CLAIMS_NAMESPACE } : { kind: 'path', text: path },
    areClaimsStringified: format === 'stringified_json',
    claimsMap: claimsMapFrom(value['claims_map']),
    audiences: audiencesFrom(value['audience']),
    issuer: optionalText(value, 'issuer'),
    allowedSkewSeconds: skewFrom(value['allowed_skew']),
    location: locationFrom(value['header']),
  };
}

function keyFrom(value: Json): JwtSecret['key'] {
  const type = optionalText(value, 'type');
  const algorithm = JWT_ALGORITHMS.find((known) => known === type) ?? null;
  if (type !== null && algorithm === null) {
    return wrong(`expects "type" to be one of ${JWT_ALGORITHMS.join(', ')}`);
  }
  const url = optionalText(value, 'jwk_url');
  const text = optionalText(value, 'key');
  if (url !== null && text !== null) return wrong('takes "key" or "jwk_url", not both');
  if (url !== null) {
    return URL.canParse(url) ? { kind: 'url', url, algorithm } : wrong('expects "jwk_url" to be a URL');
  }
  if (text === null) return wrong('needs a "key" or a "jwk_url"');
  if (algorithm === null) return wrong('needs a "type" with its "key"');
  if (algorithm.startsWith('HS')) {
    const least = Number(algorithm.slice(2)) / 8;
    if (Buffer.byteLength(text) < least) wrong(`needs a "key" of at least ${least} bytes for ${algorithm}`);
  } else if (typeOfPublicKey(text) !== PUBLIC_KEY_TYPES[algorithm.slice(0, 2)]) {
    wrong(`needs a "key" that is a public key or certificate for ${algorithm} in PEM`);
  }
  return { kind: 'given', algorithm, text };
}

/** The types of public keys, by the first letters of the algorithms. */
const PUBLIC_KEY_TYPES: Readonly<Record<string, string>> = { RS: 'rsa', ES: 'ec', Ed: 'ed25519' };

/** Returns the type of a public key; undefined when the text is none. */
function typeOfPublicKey(text: string): string | undefined {
  try {
    return createPublicKey(text).asymmetricKeyType;
  } catch {
    return undefined;
  }
}

/** Parses `{"x-engine-role": {"path": "$.role", "default": "user"}, "x-engine-tenant": "one"}`; names become
 *  lower-case. The claims about roles are required, whatever their prefix. */
function claimsMapFrom(value: unknown): JwtSecret['claimsMap'] {
  if (value === undefined || value === null) return null;
  if (!isRecord(value)) return wrong('expects "claims_map" to be an object');
  const entries = Object.entries(value).map(([name, source]): [string, ClaimSource] => {
    if (isRecord(source) && typeof source['path'] === 'string') {
      return [name.toLowerCase(), { kind: 'path', path: source['path'], standard: source['default'] }];
    }
    return [name.toLowerCase(), { kind: 'literal', value: source }];
  });
  for (const claim of ['allowed-roles', 'default-role']) {
    const isNamed = entries.some(([name]) => name.endsWith(`-${claim}`));
    if (!isNamed) wrong(`needs "x-engine-${claim}" in its "claims_map"`);
  }
  return new Map(entries);
}

function audiencesFrom(value: unknown): readonly string[] | null {
  if (value === undefined || value === null) return null;
  const list = Array.isArray(value) ? value : [value];
  return list.every((item) => typeof item === 'string')
    ? list
    : wrong('expects "audience" to be a string or a list of strings');
}

function skewFrom(value: unknown): number {
  if (value === undefined || value === null) return 0;
  return typeof value === 'number' && value >= 0
    ? value
    : wrong('expects "allowed_skew" to be a number of seconds');
}

function locationFrom(value: unknown): TokenLocation {
  if (value === undefined || value === null) return { kind: 'authorization' };
  const location = isRecord(value) ? value : {};
  const name = optionalText(location, 'name');
  if (location['type'] === 'Authorization') return { kind: 'authorization' };
  if (location['type'] === 'Cookie' && name !== null) return { kind: 'cookie', name };
  if (location['type'] === 'CustomHeader' && name !== null)
    return { kind: 'header', name: name.toLowerCase() };
  return wrong('expects "header" to have the type Authorization, or Cookie or CustomHeader with a "name"');
}

function optionalText(value: Json, name: string): string | null {
  const text = value[name];
  if (text === undefined || text === null) return null;
  return typeof text === 'string' && text !== '' ? text : wrong(`expects "${name}" to be a text`);
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return wrong('expects JSON');
  }
}

function wrong(expectation: string): never {
  throw new OptionValueError(expectation);
}
