/** One way to call a webhook of the metadata: `{{NAME}}` of its URL filled in from the environment, its headers and, where it
 *  says so, the client's, a body of JSON, and its request transform over all of that.
 *  Out: what was answered and what had been sent, or a WebhookFailure. Not here: connections (outgoing/), what an answer means
 *  (validate-input.ts, action.ts). Reference: docs/reference/behaviour/metadata.md. */
import type { IncomingHttpHeaders } from 'node:http';
import type { RequestTransform } from '../metadata/schema/common.ts';
import type { Metadata } from '../metadata/schema/metadata.ts';
import { fillTemplate } from '../metadata/variables.ts';
import type { Observe, WebhookCalled } from '../observe/observation.ts';
import type { Span } from '../observe/span.ts';
import { observeCall } from '../observe/webhook-call.ts';
import { NoResponse, sendRequest } from '../outgoing/http-client.ts';
import type { TrustsSelfSigned } from '../outgoing/tls-allowlist.ts';
import { SESSION_PREFIX, type Session } from '../resolve/session.ts';
import { type Environment, VariableRules } from '../resolve/variables.ts';
import { TransformError } from '../transform/render.ts';
import { type HttpRequest, type PlainRequest, transformRequest } from '../transform/request.ts';
import type { TemplateProblem } from '../transform/template.ts';
import type { AsyncActions } from './async-actions.ts';
import type { RemoteCache } from './remote-cache.ts';

/** Returns the value of an environment variable that may be sent. Raises WebhookFailure for one that is not set or is never sent. */
export type OutboundVariables = (name: string) => string;

/** Applies the rules of the current document whenever a request leaves: not all that is sent was in a document when it was
 *  checked (one-off events), and a source may have been added since. */
export function outboundVariables(
  env: Environment,
  metadata: () => Pick<Metadata, 'sources'>,
): OutboundVariables {
  let cached: { readonly sources: Metadata['sources']; readonly rules: VariableRules } | undefined;
  return (name) => {
    const { sources } = metadata();
    if (cached?.sources !== sources) cached = { sources, rules: new VariableRules({ sources }, env) };
    const problem = cached.rules.problemOf(name);
    if (problem !== null) throw new WebhookFailure(problem);
    return env[name]!;
  };
}

/** What a request to the outside may take from around the request that causes it. */
export type OutboundContext = {
  readonly variables: OutboundVariables;
  /** The client's, names in lower case. */
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  /** First part of our headers on the wire. */
  readonly headerPrefix: string;
  /** Whose certificates may be self-signed; absent: nobody's. */
  readonly trusts?: TrustsSelfSigned;
  readonly observe?: Observe;
  /** Of the request that causes it. */
  readonly span?: Span | null;
  /** Aborted when nobody waits for the answer of the request that causes it. */
  readonly signal?: AbortSignal | undefined;
  /** Is whoever asks shown the causes of failures? */
  readonly showsInternal?: boolean;
  readonly record?: Noted;
  readonly asyncActions?: AsyncActions;
  /** Absent: what remote schemas answer is not kept. */
  readonly remoteCache?: RemoteCache;
  /** Actions' headers go before those of the client (--configured-header-precedence). */
  readonly prefersConfiguredHeaders?: boolean;
};

/** What is noted of a request besides its answer. */
export type Noted = {
  /** Values of Set-Cookie headers that others have for the client. */
  cookies: readonly string[] | null;
  /** What was told beside data; null while all is well. */
  error: unknown;
};

export type Webhook = {
  readonly url: string;
  readonly headers: readonly {
    readonly name: string;
    readonly value?: string;
    readonly value_from_env?: string;
  }[];
  readonly forwardsClientHeaders: boolean;
  /** Not forwarded; without a list, those about the client's own body and browser. */
  readonly ignoredClientHeaders?: readonly string[];
  /** Do the client's go before the metadata's. */
  readonly prefersClientHeaders?: boolean;
  readonly timeoutSeconds: number;
  readonly requestTransform?: RequestTransform;
};

/** What a webhook is told: a JSON value, and the session variables templates may ask for, as clients name them. */
export type Message = {
  readonly purpose: WebhookCalled['purpose'];
  readonly body: unknown;
  readonly sessionVariables: Readonly<Record<string, string>>;
};

export type WebhookAnswer = {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  /** Before its transform. */
  readonly plain: PlainRequest;
  readonly sent: HttpRequest;
};

/** It could not be asked. The message names no resolved value: the environment may hold secrets. `problem` is a template's,
 *  `sent` what went out when it was the answer that did not come. */
export class WebhookFailure extends Error {
  readonly problem: TemplateProblem | undefined;
  readonly sent: HttpRequest | undefined;

  constructor(message: string, about: { problem?: TemplateProblem; sent?: HttpRequest } = {}) {
    super(message);
    this.problem = about.problem;
    this.sent = about.sent;
  }
}

/** The reference's fourteen. */
const IGNORED: readonly string[] = [
  'accept',
  'accept-datetime',
  'accept-encoding',
  'accept-language',
  'cache-control',
  'connection',
  'content-length',
  'content-md5',
  'content-type',
  'dnt',
  'host',
  'origin',
  'referer',
  'user-agent',
];

/** About the connection of the client or the bytes on it: never forwarded. RFC 9110, 7.6.1. */
const NEVER_FORWARDED: ReadonlySet<string> = new Set([
  'connection',
  'content-encoding',
  'content-length',
  'expect',
  'host',
  'keep-alive',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

/** Longer answers are cut off: they would not leave room for others. */
const MOST_BYTES = 64 * 1024 * 1024;

/** A request of these methods has no body. RFC 9110, 9.3.1 and 9.3.2. */
const BODILESS: ReadonlySet<string> = new Set(['GET', 'HEAD']);

export async function callWebhook(
  webhook: Webhook,
  message: Message,
  outbound: OutboundContext,
): Promise<WebhookAnswer> {
  const plain: PlainRequest = {
    method: 'POST',
    url: fillTemplate(webhook.url, outbound.variables),
    headers: headersFor(webhook, message, outbound),
    body: message.body,
  };
  const sent = transformed(webhook, plain, message);
  const asking = { purpose: message.purpose, url: webhook.url, method: sent.method };
  // It is told of the span it is asked in, whatever the client or the metadata say of traces.
  return observeCall(asking, outbound, async (traceHeaders) => {
    const headers = new Map([...sent.headers, ...Object.entries(traceHeaders)]);
    const answer = await answerTo(webhook, { ...sent, headers }, outbound);
    return { status: answer.status, headers: answer.headers, text: answer.body.toString(), plain, sent };
  });
}

function answerTo({ timeoutSeconds }: Webhook, sent: HttpRequest, { trusts, signal }: OutboundContext) {
  const { method, url, headers } = sent;
  const terms = {
    timeoutMs: timeoutSeconds * 1000,
    mostBytes: MOST_BYTES,
    isRepeatable: false,
    trusts,
    signal,
  };
  return sendRequest({ method, url, headers, body: bodyText(sent) }, terms).catch((error: unknown) => {
    throw error instanceof NoResponse ? new WebhookFailure(error.message, { sent }) : error;
  });
}

/** Null: none is sent. */
function bodyText({ method, body }: HttpRequest): string | null {
  if (BODILESS.has(method) || body.kind === 'none') return null;
  return body.kind === 'form' ? body.text : (JSON.stringify(body.value) ?? null);
}

/** Under the names clients give them. */
export function sessionVariablesOf({ variables }: Session, prefix: string): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(variables).map(([name, value]) => [prefix + name.slice(SESSION_PREFIX.length), value]),
  );
}

function transformed(
  { requestTransform }: Webhook,
  plain: PlainRequest,
  { sessionVariables }: Message,
): HttpRequest {
  if (!requestTransform) return { ...plain, body: { kind: 'json', value: plain.body } };
  try {
    return transformRequest(requestTransform, plain, sessionVariables);
  } catch (error) {
    if (!(error instanceof TransformError)) throw error;
    throw new WebhookFailure('the request transform failed', { problem: error.problem });
  }
}

function headersFor(
  webhook: Webhook,
  message: Message,
  outbound: OutboundContext,
): ReadonlyMap<string, string> {
  const configured = configuredHeaders(webhook, outbound.variables);
  const forwarded = webhook.forwardsClientHeaders ? forwardedHeaders(webhook, message, outbound) : [];
  const [weak, strong] = webhook.prefersClientHeaders ? [configured, forwarded] : [forwarded, configured];
  return new Map([...weak, ['content-type', 'application/json'], ...strong]);
}

/** Names in lower case. Raises WebhookFailure like `variables`. */
export function configuredHeaders(
  { headers }: Pick<Webhook, 'headers'>,
  variables: OutboundVariables,
): readonly [string, string][] {
  return headers.map(({ name, value, value_from_env: variable }) => [
    name.toLowerCase(),
    variable === undefined ? (value ?? '') : variables(variable),
  ]);
}

/** The client's headers a webhook receives. Headers with the engine's prefix are forwarded only where the session has that
 *  variable with that value: a webhook takes them for session variables, and a client can send any. The admin secret never is. */
export function forwardedHeaders(
  { ignoredClientHeaders = IGNORED }: Pick<Webhook, 'ignoredClientHeaders'>,
  { sessionVariables }: Pick<Message, 'sessionVariables'>,
  { headers, headerPrefix }: OutboundContext,
): readonly [string, string][] {
  const ignored = new Set(ignoredClientHeaders.map((name) => name.toLowerCase()));
  const isForwarded = (name: string, value: string) =>
    !ignored.has(name) &&
    !NEVER_FORWARDED.has(name) &&
    !(name.startsWith(headerPrefix) && sessionVariables[name] !== value) &&
    !name.startsWith('sec-websocket-');
  return Object.entries(headers).flatMap(([name, given]): [string, string][] => {
    const value = typeof given === 'object' ? given.join(', ') : given;
    return value === undefined || !isForwarded(name, value) ? [] : [[name, value]];
  });
}

/** As logs and administrators are shown them: one entry for each value. */
export function listed(
  headers: IncomingHttpHeaders,
): readonly { readonly name: string; readonly value: string }[] {
  return Object.entries(headers).flatMap(([name, value]) =>
    [value ?? []].flat().map((each) => ({ name, value: each })),
  );
}
