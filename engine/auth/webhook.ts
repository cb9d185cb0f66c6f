/** An HTTP service that says who asks. It gets the request's headers (GET), or headers and the GraphQL request (POST), and
 *  answers 200 with session variables, or 401. Cookies it sets go on to the client; its caching headers say how long a
 *  WebSocket may rely on the answer. Reference: features.md rows 169–171. */
import type { IncomingHttpHeaders } from 'node:http';
import { fail } from '../errors/engine-error.ts';
import type { Observe } from '../observe/observation.ts';
import { observed } from '../observe/webhook-call.ts';
import { SESSION_PREFIX, type Session } from '../resolve/session.ts';
import { type Caching, cachingOf, freshnessMs } from './freshness.ts';
import { variableName, variableOf } from './session-variables.ts';

export type AuthHook = {
  readonly url: string;
  readonly mode: 'GET' | 'POST';
  readonly sendsRequestBody: boolean;
};

const TIMEOUT_MS = 30_000;

/** About this connection or this body, not about who asks. */
const NOT_FORWARDED = new Set([
  ...['content-length', 'content-type', 'content-md5', 'user-agent', 'host', 'origin', 'referer'],
  ...[
    'accept',
    'accept-encoding',
    'accept-language',
    'accept-datetime',
    'cache-control',
    'connection',
    'dnt',
  ],
  // Of one connection only; RFC 9110, section 7.6.1.
  ...['keep-alive', 'proxy-connection', 'te', 'trailer', 'transfer-encoding', 'upgrade', 'expect'],
]);

/** `body`: the GraphQL request, where it is one. */
export async function sessionOfHook(
  hook: AuthHook,
  headers: IncomingHttpHeaders,
  prefix: string,
  body: unknown,
  observe: Observe = () => {},
): Promise<Session> {
  const asking = { purpose: 'auth-hook', url: hook.url, method: hook.mode } as const;
  const response = await observed(observe, asking, () => ask(hook, headers, body));
  if (response.status === 401) return fail('hookUnauthorized', {});
  if (response.status !== 200) return fail('hookFailed', { reason: `it answered ${response.status}` });
  const answer = objectFrom(await response.json().catch(() => null));
  const variables = variablesFrom(answer, prefix);
  const role = variables[`${SESSION_PREFIX}role`];
  if (role === undefined || role === '') return fail('hookFailed', { reason: `it named no ${prefix}role` });
  const now = Date.now();
  const freshMs = freshnessMs(cachingIn(answer) ?? cachingOf(response.headers), now);
  return {
    role,
    variables,
    mayUseBackendOnly: false,
    ...(Number.isFinite(freshMs) ? { expiresAt: now + freshMs } : {}),
    setCookies: response.headers.getSetCookie(),
  };
}

function ask(hook: AuthHook, headers: IncomingHttpHeaders, body: unknown): Promise<Response> {
  const signal = AbortSignal.timeout(TIMEOUT_MS);
  const request =
    hook.mode === 'GET'
      ? { headers: forwarded(headers), signal }
      : {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify({
            headers: allOf(headers),
            ...(hook.sendsRequestBody ? { request: body ?? null } : {}),
          }),
          signal,
        };
  return fetch(hook.url, request).catch(() => fail('hookFailed', { reason: 'it could not be reached' }));
}

function forwarded(headers: IncomingHttpHeaders): Record<string, string> {
  return Object.fromEntries(Object.entries(allOf(headers)).filter(([name]) => !NOT_FORWARDED.has(name)));
}

function allOf(headers: IncomingHttpHeaders): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, Array.isArray(value) ? value.join(', ') : value]],
    ),
  );
}

type Answer = ReadonlyMap<string, unknown>;

/** By lower-case name. */
function objectFrom(answer: unknown): Answer {
  if (typeof answer !== 'object' || answer === null || Array.isArray(answer)) {
    return fail('hookFailed', { reason: 'it answered no JSON object' });
  }
  return new Map(Object.entries(answer).map(([name, value]) => [name.toLowerCase(), value]));
}

/** The caching headers may stand in the answer itself, and then win over those of the response. */
function cachingIn(answer: Answer): Caching | null {
  const [cacheControl, expires] = ['cache-control', 'expires'].map((name) => {
    const value = answer.get(name);
    return typeof value === 'string' ? value : null;
  });
  return cacheControl || expires ? { cacheControl: cacheControl ?? null, expires: expires ?? null } : null;
}

/** Only our own names, whatever else it says. */
function variablesFrom(answer: Answer, prefix: string): Record<string, string> {
  return Object.fromEntries(
    [...answer]
      .filter(([name]) => name.startsWith(prefix))
      .map(([name, value]) => [variableName(name, prefix), variableOf(value)]),
  );
}
