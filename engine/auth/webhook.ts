/** The authentication hook: an HTTP service that identifies the client. It receives the headers of the request (GET),
 *  or headers and GraphQL request (POST), and answers 200 with session variables, or 401. Its cookies are sent on to
 *  the client; its caching headers limit how long a WebSocket may use the session.
 *  Not here: when it is called (authenticate.ts). Reference: docs/reference/behaviour/authentication.md. */
import type { IncomingHttpHeaders } from 'node:http';
import { fail } from '../errors/engine-error.ts';
import type { Observe } from '../observe/observation.ts';
import { observeCall } from '../observe/webhook-call.ts';
import { headerText } from '../outgoing/header-values.ts';
import { type OutgoingRequest, type OutgoingResponse, sendRequest } from '../outgoing/http-client.ts';
import { NoResponse } from '../outgoing/no-response.ts';
import type { TrustsSelfSigned } from '../outgoing/tls-allowlist.ts';
import { SESSION_PREFIX, type Session } from '../resolve/session.ts';
import { type Caching, cachingOf, statedMs } from './freshness.ts';
import { sessionEntries, variableOf } from './session-variables.ts';

export type AuthHook = {
  readonly url: string;
  readonly mode: 'GET' | 'POST';
  readonly sendsRequestBody: boolean;
  readonly timeoutSeconds: number;
  /** Hosts that may use a self-signed certificate. */
  readonly trusts?: TrustsSelfSigned | undefined;
};

const MOST_BYTES = 1024 * 1024;

/** Headers about this connection or this body, which say nothing about the client. */
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
  // Headers of a single connection; RFC 9110, section 7.6.1.
  ...['keep-alive', 'proxy-connection', 'te', 'trailer', 'transfer-encoding', 'upgrade', 'expect'],
]);

/** Calls the hook. `body` reads the GraphQL request, and is called only when the hook needs it. */
export async function sessionOfHook(
  hook: AuthHook,
  headers: IncomingHttpHeaders,
  prefix: string,
  body: (() => Promise<unknown>) | undefined,
  observe: Observe = () => {},
): Promise<Session> {
  const request = hook.mode === 'POST' && hook.sendsRequestBody ? await body?.() : undefined;
  const call = { purpose: 'auth-hook', url: hook.url, method: hook.mode } as const;
  const response = await observeCall(call, { observe }, () => callHook(hook, headers, request));
  if (response.status === 401) return fail('hookUnauthorized', {});
  if (response.status !== 200) {
    return fail('hookMalformed', { reason: '' }, { internal: `it answered ${response.status}` });
  }
  const answer = objectFrom(response.body);
  const variables = variablesFrom(answer, prefix);
  const role = variables[`${SESSION_PREFIX}role`];
  if (role === undefined || role === '') return fail('hookRoleMissing', { prefix });
  const now = Date.now();
  const own = cachingIn(answer);
  // Web frameworks send `max-age=0` or `no-cache` with every response, which says nothing about the session.
  const freshMs = own ? statedMs(own, now) : statedMs(cachingOf(response.headers), now) || Infinity;
  return {
    role,
    variables,
    mayUseBackendOnly: false,
    ...(Number.isFinite(freshMs) ? { expiresAt: now + freshMs } : {}),
    // The newest first, as clients of the reference engine expect.
    setCookies: (response.headers['set-cookie'] ?? []).toReversed(),
  };
}

async function callHook(
  hook: AuthHook,
  headers: IncomingHttpHeaders,
  body: unknown,
): Promise<OutgoingResponse> {
  const isRepeatable = hook.mode === 'GET';
  const timeoutMs = hook.timeoutSeconds * 1000;
  const options = { timeoutMs, mostBytes: MOST_BYTES, isRepeatable, trusts: hook.trusts };
  try {
    return await sendRequest(requestOf(hook, headers, body), options);
  } catch (error) {
    if (!(error instanceof NoResponse)) throw error;
    return fail('hookFailed', {}, { internal: error.message });
  }
}

function requestOf({ url, mode, sendsRequestBody }: AuthHook, headers: IncomingHttpHeaders, body: unknown) {
  if (mode === 'GET') {
    return { url, method: 'GET', headers: Object.entries(forwarded(headers)), body: null };
  }
  const payload = { headers: allOf(headers), ...(sendsRequestBody ? { request: body ?? null } : {}) };
  const sent: OutgoingRequest['headers'] = [['content-type', 'application/json']];
  return { url, method: 'POST', headers: sent, body: JSON.stringify(payload) };
}

function forwarded(headers: IncomingHttpHeaders): Record<string, string> {
  return Object.fromEntries(Object.entries(allOf(headers)).filter(([name]) => !NOT_FORWARDED.has(name)));
}

function allOf(headers: IncomingHttpHeaders): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, headerText(value)]],
    ),
  );
}

type HookAnswer = ReadonlyMap<string, unknown>;

/** Parses the answer; names become lower-case. */
function objectFrom(body: Buffer): HookAnswer {
  const answer = parsed(body.toString());
  if (typeof answer !== 'object' || answer === null || Array.isArray(answer)) {
    return fail('hookMalformed', { reason: ': expected a JSON object' });
  }
  return new Map(Object.entries(answer).map(([name, value]) => [name.toLowerCase(), value]));
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** Returns the caching headers in the body of the answer, which override those of the response. */
function cachingIn(answer: HookAnswer): Caching | null {
  const [cacheControl, expires] = ['cache-control', 'expires'].map((name) => {
    const value = answer.get(name);
    return typeof value === 'string' ? value : null;
  });
  return cacheControl || expires ? { cacheControl: cacheControl ?? null, expires: expires ?? null } : null;
}

function variablesFrom(answer: HookAnswer, prefix: string): Record<string, string> {
  return Object.fromEntries(sessionEntries(answer, prefix).map(([name, value]) => [name, variableOf(value)]));
}
