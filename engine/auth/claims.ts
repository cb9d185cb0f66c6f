/** Claims of a verified token → role and session variables. The claims are in a namespace of the token, as an object
 *  or as JSON text, or at the paths of a claims map. The request may choose one of the allowed roles; otherwise it
 *  has the default role. Raises `jwtMissingRoleClaim`, `jwtInvalidClaims`, `roleNotAllowed`.
 *  Names have the configured prefix, or all of them that of the reference engine (session-variables.ts).
 *  Not here: verifying the token (token.ts). Reference: docs/reference/behaviour/authentication.md. */
import type { JWTPayload } from 'jose';
import type { ClaimSource, JwtSecret } from '../config/jwt-secret.ts';
import { fail } from '../errors/engine-error.ts';
import { isRecord } from '../json/value.ts';
import { jsonPath } from '../resolve/json-path.ts';
import { SESSION_PREFIX, type Session } from '../resolve/session.ts';
import { sessionEntries, variableOf } from './session-variables.ts';

/** The claims of the engine, by lower-case name with the internal prefix. */
type Claims = ReadonlyMap<string, unknown>;

const ALLOWED_ROLES = `${SESSION_PREFIX}allowed-roles`;
const DEFAULT_ROLE = `${SESSION_PREFIX}default-role`;

export function sessionOfClaims(
  payload: JWTPayload,
  secret: JwtSecret,
  prefix: string,
  requestedRole: string | undefined,
): Session {
  const claims = secret.claimsMap
    ? mapped(payload, secret.claimsMap, prefix)
    : new Map(sessionEntries(Object.entries(ownClaims(payload, secret)), prefix));
  const allowed = allowedRoles(claims);
  const standard = defaultRole(claims, secret);
  const role = requestedRole ?? standard;
  if (!allowed.includes(role)) fail('roleNotAllowed', {});
  const variables = Object.fromEntries(
    [...claims]
      .filter(([name]) => name !== ALLOWED_ROLES && name !== DEFAULT_ROLE)
      .map(([name, value]) => [name, value === null ? failNull() : variableOf(value)]),
  );
  return { role, variables: { ...variables, [`${SESSION_PREFIX}role`]: role }, mayUseBackendOnly: false };
}

/** Refuses null, which as text would be the name `null`. */
function failNull(): never {
  return failClaims(`${SESSION_PREFIX}* claims: parsing Text failed, expected String, but encountered Null`);
}

function defaultRole(claims: Claims, { claimsMap }: JwtSecret): string {
  const role = present(claims, DEFAULT_ROLE);
  const expected = claimsMap ? 'a role' : 'a single role name';
  return typeof role === 'string'
    ? role
    : fail('jwtInvalidClaims', {
        text:
          `invalid ${DEFAULT_ROLE}; should be ${expected}: parsing RoleName failed, ` +
          `expected String, but encountered ${jsonTypeOf(role)}`,
      });
}

/** Returns a claim about roles. Null is a claim of the wrong type, and not a missing one. */
function present(claims: Claims, claim: string): unknown {
  return claims.has(claim) ? claims.get(claim) : fail('jwtMissingRoleClaim', { claim });
}

function allowedRoles(claims: Claims): readonly string[] {
  const roles = present(claims, ALLOWED_ROLES);
  if (Array.isArray(roles) && roles.every((role) => typeof role === 'string')) return roles;
  const [place, found] = Array.isArray(roles)
    ? ['[0]', roles.find((role) => typeof role !== 'string')]
    : ['[]', roles];
  const expected = Array.isArray(roles) ? 'String' : 'Array';
  return fail('jwtInvalidClaims', {
    text:
      `invalid ${ALLOWED_ROLES}; should be a list of roles: parsing ${place} failed, ` +
      `expected ${expected}, but encountered ${jsonTypeOf(found)}`,
  });
}

/** Returns the object in the claims namespace. */
function ownClaims(payload: JWTPayload, { namespace, areClaimsStringified }: JwtSecret): object {
  const found =
    namespace.kind === 'name' ? payload[namespace.text] : valueAt(payload, jsonPath(namespace.text));
  if (found === undefined) {
    return failClaims(
      namespace.kind === 'name'
        ? `claims key: '${namespace.text}' not found`
        : `claims not found at claims_namespace_path: '${namespace.text}'`,
    );
  }
  if (!areClaimsStringified) {
    return isRecord(found) ? found : failClaims('expecting a json object when claims_format is json');
  }
  if (typeof found !== 'string') {
    return failClaims('expecting a string when claims_format is stringified_json');
  }
  const key = namespace.kind === 'name' ? 'claims_namespace' : 'claims_namespace_path';
  const claims = jsonIn(found);
  return isRecord(claims)
    ? claims
    : failClaims(`expecting stringified json at: '${key} ${namespace.text}', but found: ${found}`);
}

function failClaims(text: string): never {
  return fail('jwtInvalidClaims', { text });
}

function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function mapped(payload: JWTPayload, map: ReadonlyMap<string, ClaimSource>, prefix: string): Claims {
  const entries = sessionEntries(map, prefix).flatMap(([name, source]): [string, unknown][] => {
    if (source.kind === 'literal') return [[name, source.value]];
    const found = valueAt(payload, jsonPath(source.path));
    const value = found === undefined ? source.standard : found;
    if (value !== undefined) return [[name, value]];
    return name === ALLOWED_ROLES || name === DEFAULT_ROLE
      ? []
      : failClaims(`JWT claim from claims_map, ${name} not found`);
  });
  return new Map(entries);
}

function valueAt(value: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>(
    (found, step) =>
      typeof found === 'object' && found !== null && Object.hasOwn(found, step)
        ? (found as Record<string, unknown>)[step]
        : undefined,
    value,
  );
}

function jsonTypeOf(value: unknown): string {
  if (value === null) return 'Null';
  if (Array.isArray(value)) return 'Array';
  const name = typeof value;
  return name.charAt(0).toUpperCase() + name.slice(1);
}
