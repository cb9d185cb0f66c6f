/** Authentication: request headers → Session, or the ERRORS row that says why not. Authenticators are called in
 *  order: the admin secret, the console secret, a token, the authentication hook, the unauthorized role; without an admin secret every
 *  request is trusted. Each one accepts the request, refuses it, or passes it on because it has no credentials of its
 *  kind. Tokens and the hook return a promise.
 *  Not here: what a role may do (resolve/), how a refusal is sent (http/). Reference:
 *  docs/reference/behaviour/authentication.md. */
import type { IncomingHttpHeaders } from 'node:http';
import type { JwtSecret } from '../config/jwt-secret.ts';
import type { Options } from '../config/options.ts';
import { fail } from '../errors/engine-error.ts';
import type { Observe } from '../observe/observation.ts';
import type { TrustsSelfSigned } from '../outgoing/tls-allowlist.ts';
import { ADMIN_ROLE, SESSION_PREFIX, type Session } from '../resolve/session.ts';
import {
  adminSecretsOf,
  consoleSecretsOf,
  isSecretSet,
  openSecrets,
  type SecretCheck,
} from './accepted-secrets.ts';
import { adminSecretOf, consoleSecretOf, sessionVariablesOf } from './session-variables.ts';
import { type AuthHook, sessionOfHook } from './webhook.ts';

export type AuthOptions = Pick<
  Options,
  | 'adminSecret'
  | 'adminSecrets'
  | 'adminSecretPath'
  | 'consoleSecret'
  | 'consoleSecretPath'
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

/** Returns the session of a request, at once or later. Throws or rejects with the ERRORS row of a refusal. */
export type Authenticate = (
  headers: IncomingHttpHeaders,
  /** Reads the GraphQL request, for a hook that needs it. The session is not known yet. */
  body?: () => Promise<unknown>,
) => Session | Promise<Session>;

/** An authenticator of the chain. Returns undefined to pass the request on to the next one. */
type Authenticator = (
  headers: IncomingHttpHeaders,
  body?: () => Promise<unknown>,
) => Session | Promise<Session> | undefined;

/** Fetches the keys that verify tokens and returns the authenticator. Throws when a key cannot be fetched, or the folder of admin
 *  secrets cannot be read. */
export async function openAuthenticator(
  options: AuthOptions,
  observe: Observe,
  trusts?: TrustsSelfSigned,
): Promise<Authenticate> {
  const secrets = jwtSecretsOf(options);
  if (secrets.length === 0) return authenticator(options, null, observe, trusts);
  // The token library has 46 modules, so it is loaded only if tokens are configured.
  const { openTokens } = await import('./token.ts');
  const byToken = await openTokens(secrets, options.headerPrefix, observe, trusts);
  return authenticator(options, byToken, observe, trusts);
}

/** Returns the JWT secrets; `jwt-secrets` replaces `jwt-secret`. */
export function jwtSecretsOf(options: AuthOptions): readonly JwtSecret[] {
  return options.jwtSecrets ?? (options.jwtSecret === undefined ? [] : [options.jwtSecret]);
}

export function authenticator(
  options: AuthOptions,
  byToken: Authenticator | null = null,
  observe: Observe = () => {},
  trusts?: TrustsSelfSigned,
): Authenticate {
  const chain = authenticatorsOf(options, byToken, observe, trusts);
  return (headers, body) => {
    for (const authenticateBy of chain) {
      const session = authenticateBy(headers, body);
      if (session !== undefined) return session;
    }
    return byToken ? fail('tokenMissing', {}) : fail('adminSecretMissing', { prefix: options.headerPrefix });
  };
}

/** Returns the chain, in order of precedence. */
function authenticatorsOf(
  options: AuthOptions,
  byToken: Authenticator | null,
  observe: Observe,
  trusts: TrustsSelfSigned | undefined,
): readonly Authenticator[] {
  const { headerPrefix: prefix, unauthorizedRole, unauthorizedSessionVariables } = options;
  if (!isSecretSet(options)) return [(headers) => trustedSession(headers, prefix)];
  const chain: Authenticator[] = [
    adminAuthenticator(openSecrets(adminSecretsOf(options), observe), prefix),
    consoleAuthenticator(openSecrets(consoleSecretsOf(options), observe), prefix),
  ];
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

function adminAuthenticator(isAdminSecret: SecretCheck, prefix: string): Authenticator {
  return (headers) => {
    const secret = adminSecretOf(headers, prefix);
    if (secret === undefined) return undefined;
    if (!isAdminSecret(secret)) fail('adminSecretInvalid', { prefix });
    return trustedSession(headers, prefix);
  };
}

/** Returns the session of a request with the console secret. An engine without one refuses every request that has one: its client must not get
 *  another role. */
function consoleAuthenticator(isConsoleSecret: SecretCheck, prefix: string): Authenticator {
  return (headers) => {
    const secret = consoleSecretOf(headers, prefix);
    if (secret === undefined) return undefined;
    if (!isConsoleSecret(secret)) fail('consoleSecretInvalid', { prefix });
    return consoleSession(headers, prefix);
  };
}

/** Returns the session of a request with the console secret, whose role is empty when the headers name none. Raises
 *  `consoleRoleNotAllowed` for the role of administrators. */
export function consoleSession(headers: IncomingHttpHeaders, prefix: string): Session {
  const role = sessionVariablesOf(headers, prefix)[`${SESSION_PREFIX}role`];
  if (role === undefined) return { role: '', variables: {}, mayUseBackendOnly: false, isConsole: true };
  if (role === ADMIN_ROLE) fail('consoleRoleNotAllowed', { prefix });
  return { ...trustedSession(headers, prefix), isConsole: true };
}

/** Returns the session of a trusted request: the role of its headers, or the administrator. Header names are
 *  lower-case. */
export function trustedSession(headers: IncomingHttpHeaders, prefix: string): Session {
  const variables = sessionVariablesOf(headers, prefix);
  const role = variables[`${SESSION_PREFIX}role`] ?? ADMIN_ROLE;
  // A proxy that sets an empty header must not make administrators.
  if (role.trim() === '') fail('emptyRole', { prefix });
  return sessionOf(role, variables, requestsBackendOnly(variables, prefix));
}

function sessionOf(
  role: string,
  variables: Readonly<Record<string, string>>,
  mayUseBackendOnly: boolean,
): Session {
  return { role, variables: { ...variables, [`${SESSION_PREFIX}role`]: role }, mayUseBackendOnly };
}

function requestsBackendOnly(variables: Readonly<Record<string, string>>, prefix: string): boolean {
  const text = variables[`${SESSION_PREFIX}use-backend-only-permissions`]?.toLowerCase();
  if (text === undefined || ['false', 'f', 'no', 'n'].includes(text)) return false;
  return ['true', 't', 'yes', 'y'].includes(text) || fail('backendOnlyNotBoolean', { prefix });
}
