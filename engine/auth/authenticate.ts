/** Who asks: request headers → Session, or the ERRORS row that says why not.
 *  An ordered list of authenticators is asked in turn; the first that knows the request answers or refuses, and one that
 *  does not know it passes. Today: no secret configured, the admin secret, the role of the unauthorized. Tokens and
 *  webhooks take their place between the secret and the unauthorized role, and may answer later (a promise).
 *  Not here: what a role may do (resolve/), how a refusal is written to the socket (http/). Spec: "Authentication". */
import { hash, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import type { Options } from '../config/options.ts';
import { fail } from '../errors/engine-error.ts';
import { ADMIN_ROLE, SESSION_PREFIX, type Session } from '../resolve/session.ts';
import { secretOf, sessionVariablesOf } from './session-variables.ts';

export type AuthOptions = Pick<Options, 'adminSecret' | 'adminSecrets' | 'unauthorizedRole' | 'headerPrefix'>;

/** A session at once or later; throws (or rejects with) the ERRORS row of a refusal. */
export type Authenticate = (headers: IncomingHttpHeaders) => Session | Promise<Session>;

/** `undefined`: this request is not mine, ask the next. */
export type Authenticator = (headers: IncomingHttpHeaders) => Session | Promise<Session> | undefined;

export function isSecretSet(options: AuthOptions): boolean {
  return secretsOf(options).length > 0;
}

export function authenticator(options: AuthOptions): Authenticate {
  const chain = authenticatorsOf(options);
  return (headers) => {
    for (const ask of chain) {
      const session = ask(headers);
      if (session !== undefined) return session;
    }
    return fail('adminSecretMissing', { prefix: options.headerPrefix });
  };
}

/** Order is precedence. */
function authenticatorsOf(options: AuthOptions): readonly Authenticator[] {
  const prefix = options.headerPrefix;
  if (!isSecretSet(options)) return [(headers) => trusted(headers, prefix)];
  const { unauthorizedRole } = options;
  return [
    bySecret(secretsOf(options), prefix),
    ...(unauthorizedRole === undefined
      ? []
      : [(headers: IncomingHttpHeaders) => unauthorized(headers, prefix, unauthorizedRole)]),
  ];
}

/** `admin-secrets` takes the place of `admin-secret`. */
function secretsOf(options: AuthOptions): readonly string[] {
  return options.adminSecrets ?? (options.adminSecret === undefined ? [] : [options.adminSecret]);
}

function bySecret(secrets: readonly string[], prefix: string): Authenticator {
  const digests = secrets.map(digestOf);
  return (headers) => {
    const secret = secretOf(headers, prefix);
    if (secret === undefined) return undefined;
    const digest = digestOf(secret);
    // Every digest is compared, and digests are equally long: time tells nothing about the secrets.
    const isKnown = digests.map((known) => timingSafeEqual(known, digest)).includes(true);
    return isKnown ? trusted(headers, prefix) : fail('adminSecretInvalid', { prefix });
  };
}

function digestOf(secret: string): Buffer {
  // One call, not a hash object: this runs on every request.
  return hash('sha256', secret, 'buffer');
}

/** The request may be any role; without saying which it is the administrator. Names of headers are lower-case. */
export function trusted(headers: IncomingHttpHeaders, prefix: string): Session {
  const variables = sessionVariablesOf(headers, prefix);
  const role = variables[`${SESSION_PREFIX}role`] ?? ADMIN_ROLE;
  // A proxy that sets the header to nothing must not make administrators.
  if (role.trim() === '') fail('emptyRole', { prefix });
  return sessionOf(role, variables, wantsBackendOnly(variables, prefix));
}

/** The role is ours to say, and `backend_only` is not to be had; variables are the client's own claims. */
function unauthorized(headers: IncomingHttpHeaders, prefix: string, role: string): Session {
  return sessionOf(role, sessionVariablesOf(headers, prefix), false);
}

function sessionOf(
  role: string,
  variables: Readonly<Record<string, string>>,
  mayUseBackendOnly: boolean,
): Session {
  return { role, variables: { ...variables, [`${SESSION_PREFIX}role`]: role }, mayUseBackendOnly };
}

function wantsBackendOnly(variables: Readonly<Record<string, string>>, prefix: string): boolean {
  const text = variables[`${SESSION_PREFIX}use-backend-only-permissions`]?.toLowerCase();
  if (text === undefined || ['false', 'f', 'no', 'n'].includes(text)) return false;
  return ['true', 't', 'yes', 'y'].includes(text) || fail('backendOnlyNotBoolean', { prefix });
}
