/** One way to call a webhook of the metadata: `{{NAME}}` of its URL filled in from the environment, its headers and, where it
 *  says so, the client's, a body of JSON, and its request transform over all of that. Connections are kept alive by Node's
 *  fetch; redirects are not followed.
 *  Out: what was answered and what had been sent, or a WebhookFailure. Not here: what an answer means (validate-input.ts,
 *  action.ts). Reference: metadata-model.md, UrlTemplate, HeaderSpec and RequestTransform. */
import type { RequestTransform } from '../metadata/schema/common.ts';
import type { Observe, WebhookCalled } from '../observe/observation.ts';
import { type Span, within } from '../observe/span.ts';
import { observed, publicUrl } from '../observe/webhook-call.ts';
import { SESSION_PREFIX, type Session } from '../resolve/session.ts';
import { TransformError } from '../transform/render.ts';
import { type HttpRequest, type PlainRequest, transformRequest } from '../transform/request.ts';
import type { TemplateProblem } from '../transform/template.ts';
import type { AsyncActions } from './async-actions.ts';
import type { Environment } from './database-url.ts';

/** What a request to the outside may take from around the request that causes it. */
export type Outward = {
  readonly env: Environment;
  /** The client's, names in lower case. */
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  /** First part of our headers on the wire. */
  readonly headerPrefix: string;
  readonly observe?: Observe;
  /** Of the request that causes it. */
  readonly span?: Span | null;
  /** Is whoever asks shown the causes of failures? */
  readonly showsInternal?: boolean;
  readonly exchange?: Noted;
  readonly asyncActions?: AsyncActions;
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
  readonly headers: Headers;
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

/** Of fetch: a request of these methods has no body. */
const BODILESS: ReadonlySet<string> = new Set(['GET', 'HEAD']);

export async function callWebhook(
  webhook: Webhook,
  message: Message,
  outward: Outward,
): Promise<WebhookAnswer> {
  const plain: PlainRequest = {
    method: 'POST',
    url: filledIn(webhook.url, outward.env),
    headers: headersFor(webhook, outward),
    body: message.body,
  };
  const sent = transformed(webhook, plain, message);
  const { purpose } = message;
  const { observe, span } = outward;
  const ask = () => (span ? spanned(span, purpose, webhook, plain, sent) : answerTo(webhook, plain, sent));
  return observe ? observed(observe, { purpose, url: webhook.url, method: sent.method }, ask) : ask();
}

/** The webhook is told of the span it is asked in, whatever the client or the metadata say of traces. */
function spanned(
  parent: Span,
  purpose: Message['purpose'],
  webhook: Webhook,
  plain: PlainRequest,
  sent: HttpRequest,
): Promise<WebhookAnswer> {
  const url = publicUrl(webhook.url);
  const span = parent.child(purpose, 'client', { 'http.request.method': sent.method, 'url.full': url });
  const headers = new Map([...sent.headers, ...Object.entries(span.headers)]);
  return within(span, () => answerTo(webhook, plain, { ...sent, headers }));
}

async function answerTo(webhook: Webhook, plain: PlainRequest, sent: HttpRequest): Promise<WebhookAnswer> {
  const signal = AbortSignal.timeout(webhook.timeoutSeconds * 1000);
  try {
    const response = await fetch(sent.url, { ...requestInit(sent), signal, redirect: 'manual' });
    const { status, headers } = response;
    return { status, headers, text: await response.text(), plain, sent };
  } catch (error) {
    if (signal.aborted) throw new WebhookFailure(`no answer in ${webhook.timeoutSeconds} s`, { sent });
    const cause = error instanceof Error ? (error.cause as { code?: unknown } | undefined) : undefined;
    const reason = typeof cause?.code === 'string' ? cause.code : 'it cannot be reached';
    throw new WebhookFailure(reason, { sent });
  }
}

/** Under the names clients give them. */
export function sessionVariablesOf({ variables }: Session, prefix: string): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(variables).map(([name, value]) => [prefix + name.slice(SESSION_PREFIX.length), value]),
  );
}

/** Raises WebhookFailure for a variable that is not set. */
export function filledIn(template: string, env: Environment): string {
  return template.replaceAll(/\{\{\s*(.*?)\s*\}\}/g, (_, name: string) => fromEnvironment(name, env));
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

function requestInit({ method, headers, body }: HttpRequest): RequestInit {
  const sent = new Headers([...headers]);
  // fetch would name itself where nobody does; empty is as near to nothing as it allows.
  if (!sent.has('user-agent')) sent.set('user-agent', '');
  const init = { method, headers: sent };
  if (BODILESS.has(method) || body.kind === 'none') return init;
  return { ...init, body: body.kind === 'form' ? body.text : JSON.stringify(body.value) };
}

function fromEnvironment(name: string, env: Environment): string {
  const value = env[name];
  if (value === undefined) throw new WebhookFailure(`environment variable "${name}" is not set`);
  return value;
}

function headersFor(webhook: Webhook, outward: Outward): ReadonlyMap<string, string> {
  const configured = configuredHeaders(webhook, outward.env);
  const forwarded = webhook.forwardsClientHeaders ? forwardedHeaders(webhook, outward) : [];
  const [weak, strong] = webhook.prefersClientHeaders ? [configured, forwarded] : [forwarded, configured];
  return new Map([...weak, ['content-type', 'application/json'], ...strong]);
}

/** Names in lower case. Raises WebhookFailure for a variable that is not set. */
export function configuredHeaders(
  { headers }: Pick<Webhook, 'headers'>,
  env: Environment,
): readonly [string, string][] {
  return headers.map(({ name, value, value_from_env: variable }) => [
    name.toLowerCase(),
    variable === undefined ? (value ?? '') : fromEnvironment(variable, env),
  ]);
}

/** Admin secrets are for us alone. */
export function forwardedHeaders(
  { ignoredClientHeaders = IGNORED }: Pick<Webhook, 'ignoredClientHeaders'>,
  { headers, headerPrefix }: Outward,
): readonly [string, string][] {
  const ignored = new Set(ignoredClientHeaders.map((name) => name.toLowerCase()));
  const secrets = [`${headerPrefix}admin-secret`, `${headerPrefix}access-key`];
  const isForwarded = (name: string) =>
    !ignored.has(name) &&
    !NEVER_FORWARDED.has(name) &&
    !secrets.includes(name) &&
    !name.startsWith('sec-websocket-');
  return Object.entries(headers).flatMap(([name, value]): [string, string][] =>
    value === undefined || !isForwarded(name)
      ? []
      : [[name, typeof value === 'string' ? value : value.join(', ')]],
  );
}
