/** Who asks: request headers → Session, or the ERRORS row that says why not.
 *  An ordered list of authenticators is asked in turn; the first that knows the request answers or refuses, and one that
 *  does not know it passes: no secret configured, the admin secret, a token, the authentication hook, the role of the
 *  unauthorized. Tokens and the hook answer later (a promise).
 *  Not here: what a role may do (resolve/), how a refusal is written to the socket (http/). Spec: "Authentication". */
import { hash, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import type { JwtSecret } from '../config/jwt-secret.ts';
import type { Options } from '../config/options.ts';
import { fail } from '../errors/engine-error.ts';
import type { Observe } from '../observe/observation.ts';
import type { TrustsSelfSigned } from '../outgoing/tls-allowlist.ts';
import { ADMIN_ROLE, SESSION_PREFIX, type Session } from '../resolve/session.ts';
import { secretOf, sessionVariablesOf } from './session-variables.ts';
import { type AuthHook, sessionOfHook } from './webhook.ts';

export type AuthOptions = Pick<
  Options,
  | 'adminSecret'
  | 'adminSecrets'
  | 'unauthorizedRole'
  | 'unauthorizedSessionVariables'
  | 'headerPrefix'
  | 'jwtSecret'
  | 'jwtSecrets'
  | 'authHook'
  | 'authHookMode'
  | 'authHookSendRequestBody'
  | 'authHookTimeout'
>;

/** A session at once or later; throws (or rejects with) the ERRORS row of a refusal. */
export type Authenticate = (
  headers: IncomingHttpHeaders,
  /** Reads the GraphQL request. Called only for a hook that wants it: nobody knows yet who sends it. */
  body?: () => Promise<unknown>,
) => Session | Promise<Session>;

/** `undefined`: this request is not mine, ask the next. */
export type Authenticator = (
  headers: IncomingHttpHeaders,
  body?: () => Promise<unknown>,
) => Session | Promise<Session> | undefined;

/** Fetches what tokens are verified with. Throws when it cannot be had. */
export async function openAuthenticator(
  options: AuthOptions,
  observe: Observe,
  trusts?: TrustsSelfSigned,
): Promise<Authenticate> {
  const secrets = jwtSecretsOf(options);
  if (secrets.length === 0) return authenticator(options, null, observe, trusts);
  // Tokens come with a library of 46 modules, which an engine without them need not load.
  const { openTokens } = await import('./token.ts');
  const byToken = await openTokens(secrets, options.headerPrefix, observe, trusts);
  return authenticator(options, byToken, observe, trusts);
}

/** `jwt-secrets` takes the place of `jwt-secret`. */
export function jwtSecretsOf(options: AuthOptions): readonly JwtSecret[] {
  return options.jwtSecrets ?? (options.jwtSecret === undefined ? [] : [options.jwtSecret]);
}

export function isSecretSet(options: AuthOptions): boolean {
  return secretsOf(options).length > 0;
}

export function authenticator(
  options: AuthOptions,
  byToken: Authenticator | null = null,
  observe: Observe = () => {},
  trusts?: TrustsSelfSigned,
): Authenticate {
  const chain = authenticatorsOf(options, byToken, observe, trusts);
  return (headers, body) => {
    for (const ask of chain) {
      const session = ask(headers, body);
      if (session !== undefined) return session;
    }
    return byToken ? fail('tokenMissing', {}) : fail('adminSecretMissing', { prefix: options.headerPrefix });
  };
}

/** Order is precedence. */
function authenticatorsOf(
  options: AuthOptions,
  byToken: Authenticator | null,
  observe: Observe,
  trusts: TrustsSelfSigned | undefined,
): readonly Authenticator[] {
  const { headerPrefix: prefix, unauthorizedRole, unauthorizedSessionVariables } = options;
  if (!isSecretSet(options)) return [(headers) => trustedSession(headers, prefix)];
  const chain: Authenticator[] = [secretAuthenticator(secretsOf(options), prefix)];
  if (byToken) chain.push(byToken);
  const hook = hookOf(options, trusts);
  if (hook) chain.push((headers, body) => sessionOfHook(hook, headers, prefix, body, observe));
  if (unauthorizedRole !== undefined) {
    chain.push((headers) =>
      sessionOf(
        unauthorizedRole,
        unauthorizedSessionVariables ? sessionVariablesOf(headers, prefix) : {},
        false,
      ),
    );
  }
  return chain;
}

function hookOf(options: AuthOptions, trusts: TrustsSelfSigned | undefined): AuthHook | null {
  const { authHook: url, authHookMode: mode } = options;
  if (url === undefined) return null;
  const { authHookSendRequestBody: sendsRequestBody, authHookTimeout: timeoutSeconds } = options;
  return { url, mode, sendsRequestBody, timeoutSeconds, trusts };
}

/** `admin-secrets` takes the place of `admin-secret`. */
function secretsOf(options: AuthOptions): readonly string[] {
  return options.adminSecrets ?? (options.adminSecret === undefined ? [] : [options.adminSecret]);
}

function secretAuthenticator(secrets: readonly string[], prefix: string): Authenticator {
  const digests = secrets.map(digestOf);
  // Secrets found right once: hashing them on every request took 3 % of a small one. A look-up compares hashes of whole
  // texts, with a seed of this process; its time tells nothing about how much of a wrong secret is right.
  const proven = new Set<string>();
  return (headers) => {
    const secret = secretOf(headers, prefix);
    if (secret === undefined) return undefined;
    if (proven.has(secret)) return trustedSession(headers, prefix);
    const digest = digestOf(secret);
    // Every digest is compared, and digests are equally long: time tells nothing about the secrets.
    const isKnown = digests.map((known) => timingSafeEqual(known, digest)).includes(true);
    if (!isKnown) fail('adminSecretInvalid', { prefix });
    proven.add(secret);
    return trustedSession(headers, prefix);
  };
}

function digestOf(secret: string): Buffer {
  return hash('sha256', secret, 'buffer');
}

/** The request may be any role; without saying which it is the administrator. Names of headers are lower-case. */
export function trustedSession(headers: IncomingHttpHeaders, prefix: string): Session {
  const variables = sessionVariablesOf(headers, prefix);
  const role = variables[`${SESSION_PREFIX}role`] ?? ADMIN_ROLE;
  // A proxy that sets the header to nothing must not make administrators.
  if (role.trim() === '') fail('emptyRole', { prefix });
  return sessionOf(role, variables, wantsBackendOnly(variables, prefix));
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
