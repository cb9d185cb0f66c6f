/** A POST of JSON to a URL of the metadata: `{{NAME}}` filled in from the environment, headers of the metadata's and, where it
 *  says so, of the client's. Connections are kept alive by Node's fetch; redirects are not followed.
 *  Out: status and text, or a WebhookFailure. Not here: what an answer means (validate-input.ts).
 *  Reference: metadata-model.md, UrlTemplate and HeaderSpec. */
import type { Environment } from './database-url.ts';

/** What a request to the outside may take from around the request that causes it. */
export type Outward = {
  readonly env: Environment;
  /** The client's, names in lower case. */
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  /** First part of our headers on the wire. */
  readonly headerPrefix: string;
};

export type Webhook = {
  readonly url: string;
  readonly headers: readonly {
    readonly name: string;
    readonly value?: string;
    readonly value_from_env?: string;
  }[];
  readonly forwardsClientHeaders: boolean;
  readonly timeoutSeconds: number;
};

/** It could not be asked. The message names no resolved value: the environment may hold secrets. */
export class WebhookFailure extends Error {}

/** About the connection or the body of the client's own request, not about who it is. */
const NOT_FORWARDED: ReadonlySet<string> = new Set([
  'accept',
  'accept-datetime',
  'accept-encoding',
  'accept-language',
  'cache-control',
  'connection',
  'content-encoding',
  'content-length',
  'content-md5',
  'content-type',
  'dnt',
  'expect',
  'host',
  'keep-alive',
  'origin',
  'proxy-authorization',
  'proxy-connection',
  'referer',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'user-agent',
]);

export async function post(
  webhook: Webhook,
  body: string,
  outward: Outward,
): Promise<{ readonly status: number; readonly text: string }> {
  const url = filledIn(webhook.url, outward.env);
  const headers = headersFor(webhook, outward);
  const signal = AbortSignal.timeout(webhook.timeoutSeconds * 1000);
  try {
    const response = await fetch(url, { method: 'POST', body, headers, signal, redirect: 'manual' });
    return { status: response.status, text: await response.text() };
  } catch (error) {
    if (signal.aborted) throw new WebhookFailure(`no answer in ${webhook.timeoutSeconds} s`);
    const cause = error instanceof Error ? (error.cause as { code?: unknown } | undefined) : undefined;
    throw new WebhookFailure(typeof cause?.code === 'string' ? cause.code : 'it cannot be reached');
  }
}

function filledIn(template: string, env: Environment): string {
  return template.replaceAll(/\{\{\s*(.*?)\s*\}\}/g, (_, name: string) => fromEnvironment(name, env));
}

function fromEnvironment(name: string, env: Environment): string {
  const value = env[name];
  if (value === undefined) throw new WebhookFailure(`environment variable "${name}" is not set`);
  return value;
}

/** The metadata's go before the client's. */
function headersFor({ headers, forwardsClientHeaders }: Webhook, outward: Outward): Headers {
  const sent = new Headers();
  if (forwardsClientHeaders) {
    for (const [name, value] of Object.entries(outward.headers)) {
      if (value === undefined || !mayForward(name, outward.headerPrefix)) continue;
      sent.set(name, typeof value === 'string' ? value : value.join(', '));
    }
  }
  sent.set('content-type', 'application/json');
  for (const { name, value, value_from_env: variable } of headers) {
    sent.set(name, variable === undefined ? (value ?? '') : fromEnvironment(variable, outward.env));
  }
  return sent;
}

/** Admin secrets are for us alone. */
function mayForward(name: string, prefix: string): boolean {
  const isSecret = name === `${prefix}admin-secret` || name === `${prefix}access-key`;
  return !isSecret && !NOT_FORWARDED.has(name) && !name.startsWith('sec-websocket-');
}
