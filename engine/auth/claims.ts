/** Claims of a verified token → role and session variables. The claims are in a namespace of the token, as an object
 *  or as JSON text, or at the paths of a claims map. The request may choose one of the allowed roles; otherwise it
 *  has the default role. Raises `jwtMissingRoleClaim`, `jwtInvalidClaims`, `roleNotAllowed`.
 *  Not here: verifying the token (token.ts). Reference: docs/reference/behaviour/authentication.md. */
import type { JWTPayload } from 'jose';
import type { ClaimSource, JwtSecret } from '../config/jwt-secret.ts';
import { fail } from '../errors/engine-error.ts';
import { jsonPath } from '../resolve/json-path.ts';
import { SESSION_PREFIX, type Session } from '../resolve/session.ts';
import { variableName, variableOf } from './session-variables.ts';

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
    : named(ownClaims(payload, secret), prefix);
  const allowed = allowedRoles(claims);
  const standard = claims.get(DEFAULT_ROLE) ?? fail('jwtMissingRoleClaim', { claim: DEFAULT_ROLE });
  if (typeof standard !== 'string') {
    return fail('jwtInvalidClaims', { text: `invalid ${DEFAULT_ROLE}; should be a role` });
  }
  const role = requestedRole ?? standard;
  if (!allowed.includes(role)) fail('roleNotAllowed', {});
  const variables = Object.fromEntries(
    [...claims]
      .filter(([name]) => name !== ALLOWED_ROLES && name !== DEFAULT_ROLE)
      .map(([name, value]) => [name, variableOf(value)]),
  );
  return { role, variables: { ...variables, [`${SESSION_PREFIX}role`]: role }, mayUseBackendOnly: false };
}

function allowedRoles(claims: Claims): readonly string[] {
  const roles = claims.get(ALLOWED_ROLES) ?? fail('jwtMissingRoleClaim', { claim: ALLOWED_ROLES });
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
function ownClaims(payload: JWTPayload, { namespace, areClaimsStringified }: JwtSecret): unknown {
  const found =
    namespace.kind === 'name' ? payload[namespace.text] : valueAt(payload, jsonPath(namespace.text));
  if (found === undefined) {
    return fail('jwtInvalidClaims', { text: `claims key: '${namespace.text}' not found` });
  }
  if (!areClaimsStringified) return found;
  try {
    return JSON.parse(String(found));
  } catch {
    return fail('jwtInvalidClaims', { text: 'the claims are not JSON in a string, as claims_format says' });
  }
}

function named(claims: unknown, prefix: string): Claims {
  if (typeof claims !== 'object' || claims === null || Array.isArray(claims)) {
    return fail('jwtInvalidClaims', { text: 'the claims are no JSON object' });
  }
  const ours = Object.entries(claims).filter(([name]) => name.toLowerCase().startsWith(prefix));
  return new Map(ours.map(([name, value]) => [variableName(name, prefix), value]));
}

function mapped(payload: JWTPayload, map: ReadonlyMap<string, ClaimSource>, prefix: string): Claims {
  const entries = [...map].flatMap(([name, source]): [string, unknown][] => {
    const value =
      source.kind === 'literal' ? source.value : (valueAt(payload, jsonPath(source.path)) ?? source.standard);
    return value === undefined ? [] : [[variableName(name, prefix), value]];
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
