/** Calls a webhook of the metadata. The URL's `{{NAME}}` are filled in from the environment, headers come from the metadata and,
 *  where configured, from the client, the body is JSON, and the request transform is applied to all of that.
 *  In: a webhook, a message and the outbound context. Out: the response and the request that was sent. Raises WebhookFailure.
 *  Not here: connections (outgoing/), headers (outbound.ts), the meaning of a response (input-validation.ts, action.ts).
 *  Reference: docs/reference/behaviour/metadata.md. */
import type { IncomingHttpHeaders } from 'node:http';
import type { RequestTransform } from '../metadata/schema/common.ts';
import { fillTemplate } from '../metadata/variables.ts';
import type { WebhookCalled } from '../observe/observation.ts';
import { observeCall } from '../observe/webhook-call.ts';
import { sendRequest } from '../outgoing/http-client.ts';
import { NoResponse } from '../outgoing/no-response.ts';
import type { BodyLimits } from '../outgoing/response-body.ts';
import { TransformError } from '../transform/render.ts';
import { type PlainRequest, type TransformedRequest, transformRequest } from '../transform/request.ts';
import type { TemplateProblem } from '../transform/template.ts';
import {
  type ConfiguredHeader,
  configuredHeaders,
  forwardedHeaders,
  type OutboundContext,
  WebhookFailure,
} from './outbound.ts';
import { SentSecrets } from './sent-secrets.ts';

export type Webhook = {
  readonly url: string;
  readonly headers: readonly ConfiguredHeader[];
  readonly forwardsClientHeaders: boolean;
  /** Client headers that are not forwarded. Without a list: those about the client's own body and browser. */
  readonly ignoredClientHeaders?: readonly string[];
  /** True when the client's headers take precedence over the metadata's. */
  readonly prefersClientHeaders?: boolean;
  readonly timeoutSeconds: number;
  readonly requestTransform?: RequestTransform;
};

/** The message for a webhook: a JSON value, and the session variables for templates, under the names clients use. */
export type Message = {
  readonly purpose: WebhookCalled['purpose'];
  readonly body: unknown;
  readonly sessionVariables: Readonly<Record<string, string>>;
  /** The name of the action, for logs. */
  readonly action?: string;
  /** The delivered event and its trigger, for logs. */
  readonly event?: WebhookCalled['event'];
};

export type WebhookAnswer = {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  /** True when the text is only the beginning of an event's response. */
  readonly isCut: boolean;
  readonly responseSizeBytes: number;
  /** Redacts what is logged or reported about the request and its answer. */
  readonly secrets: SentSecrets;
  /** The request before its transform. */
  readonly plain: PlainRequest;
  readonly sent: TransformedRequest;
};

/** A longer response is an error, because it would leave no memory for others. */
const MOST_BYTES = 64 * 1024 * 1024;
/** The part of an event's response that is read and logged. Its status and headers say what happens next, so the rest is not needed. */
const MOST_LOGGED_BYTES = 64 * 1024;

/** Methods whose requests have no body. RFC 9110, 9.3.1 and 9.3.2. */
const BODILESS: ReadonlySet<string> = new Set(['GET', 'HEAD']);

export async function callWebhook(
  webhook: Webhook,
  message: Message,
  outbound: OutboundContext,
): Promise<WebhookAnswer> {
  const secrets = new SentSecrets(outbound.variables);
  const plain: PlainRequest = {
    method: 'POST',
    url: fillTemplate(webhook.url, secrets.read),
    headers: headersFor(webhook, message, outbound, secrets),
    body: message.body,
  };
  const sent = transformed(webhook, plain, message, secrets);
  const { purpose, action, event } = message;
  const body = bodyText(sent);
  const call = {
    ...{ purpose, action, event, url: webhook.url, method: sent.method, requestId: outbound.requestId },
    requestSizeBytes: Buffer.byteLength(body ?? ''),
  };
  // The headers of the call's own span replace trace headers of the client and the metadata.
  return observeCall(call, outbound, async (traceHeaders) => {
    const headers = new Map([...sent.headers, ...Object.entries(traceHeaders)]);
    const limits = event
      ? { mostBytes: MOST_LOGGED_BYTES, isCut: true }
      : { mostBytes: MOST_BYTES, isParsed: true, memory: outbound.memory };
    const answer = await answerTo(webhook, { ...sent, headers }, body, limits, outbound);
    const { status, headers: answered, body: bytes } = answer;
    const text = bytes.toString();
    const isCut = event !== undefined && bytes.byteLength === MOST_LOGGED_BYTES;
    const about = { responseSizeBytes: bytes.byteLength, secrets, plain, sent };
    return { status, headers: answered, text, isCut, ...about };
  });
}

function answerTo(
  { timeoutSeconds }: Webhook,
  sent: TransformedRequest,
  body: string | null,
  limits: BodyLimits,
  { trusts, signal }: OutboundContext,
) {
  const { method, url, headers } = sent;
  const terms = {
    ...limits,
    timeoutMs: timeoutSeconds * 1000,
    isRepeatable: false,
    trusts,
    signal,
  };
  return sendRequest({ method, url, headers, body }, terms).catch((error: unknown) => {
    throw error instanceof NoResponse ? new WebhookFailure(error.message, { sent }) : error;
  });
}

/** Returns null when the request has no body. */
function bodyText({ method, body }: TransformedRequest): string | null {
  if (BODILESS.has(method) || body.kind === 'none') return null;
  return body.kind === 'form' ? body.text : (JSON.stringify(body.value) ?? null);
}

function transformed(
  { requestTransform }: Webhook,
  plain: PlainRequest,
  { sessionVariables }: Message,
  secrets: SentSecrets,
): TransformedRequest {
  if (!requestTransform) return { ...plain, body: { kind: 'json', value: plain.body } };
  try {
    return transformRequest(requestTransform, plain, sessionVariables);
  } catch (error) {
    if (!(error instanceof TransformError)) throw error;
    const problem = secrets.redactedJson(error.problem) as TemplateProblem;
    throw new WebhookFailure('the request transform failed', { problem });
  }
}

function headersFor(
  webhook: Webhook,
  message: Message,
  outbound: OutboundContext,
  secrets: SentSecrets,
): ReadonlyMap<string, string> {
  const configured = configuredHeaders(webhook, secrets.read);
  const forwarded = webhook.forwardsClientHeaders ? forwardedHeaders(webhook, message, outbound) : [];
  secrets.addHeaders(forwarded);
  const [weak, strong] = webhook.prefersClientHeaders ? [configured, forwarded] : [forwarded, configured];
  return new Map([...weak, ['content-type', 'application/json'], ...strong]);
}
