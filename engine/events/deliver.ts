/** Delivers an event to a webhook. In: the event, the webhook and the message. Out: for each attempt its status, with request and response
 *  as they are logged, and what happens to the event next. A failure is an attempt without a status.
 *  Not here: rows (event-log.ts, scheduled-log.ts), retries (retry.ts).
 *  Reference: docs/reference/behaviour/event-triggers.md. */

import { parseJson } from '../json/parse-json.ts';
import type { ResponseTransform } from '../metadata/schema/common.ts';
import type { EventProcessed } from '../observe/observation.ts';
import type { Retries } from '../resolve/model/webhook.ts';
import { TransformError } from '../transform/render.ts';
import { transformResponse } from '../transform/response.ts';
import { callWebhook, type Message, type Webhook, type WebhookAnswer } from '../webhook/call.ts';
import { headerList, type OutboundContext, WebhookFailure } from '../webhook/outbound.ts';
import {
  type DeliveryResult,
  decideInterrupted,
  decideRetry,
  type RetryDecision,
  retryAfterOf,
} from './retry.ts';

/** An attempt to deliver an event, with request and response as the log of invocations has them. */
export type DeliveryAttempt = DeliveryResult & { readonly request: unknown; readonly response: unknown };

type Recipient = {
  readonly webhook: Webhook;
  readonly responseTransform?: ResponseTransform;
  readonly retries: Retries;
};

/** An event that was taken for delivery. */
type TakenEvent = {
  /** The number of earlier attempts. */
  readonly tries: number;
  readonly waitedSeconds: number;
  /** True when the engine that took the event before has ended. */
  readonly isInterrupted: boolean;
};

type Delivery = {
  readonly trigger: EventProcessed['trigger'];
  /** The version of the records: `1` for scheduled events, `2` for changed rows. */
  readonly version: '1' | '2';
  /** Returns the message of the attempt after a number of others. */
  readonly messageAfter: (tries: number) => Message;
  readonly record: (attempt: DeliveryAttempt, decision: RetryDecision) => Promise<void>;
};

/** Delivers an event and records the attempt. One that ended with the engine is recorded before it, and may be the last. */
export async function deliver(
  event: TakenEvent,
  to: Recipient,
  { trigger, version, messageAfter, record }: Delivery,
  outbound: OutboundContext,
): Promise<void> {
  const end = async (attempt: DeliveryAttempt, decision: RetryDecision) => {
    await record(attempt, decision);
    const outcome = decision.kind === 'now' ? 'again' : decision.kind;
    outbound.observe?.({ kind: 'event processed', trigger, outcome, waitedSeconds: event.waitedSeconds });
  };
  let { tries } = event;
  if (event.isInterrupted) {
    const decision = decideInterrupted(tries, to.retries);
    await end(interruptedAttempt(to, messageAfter(tries), version), decision);
    if (decision.kind === 'failed') return;
    tries += 1;
  }
  const attempt = await attemptDelivery(to, messageAfter(tries), outbound, version);
  await end(attempt, decideRetry(attempt, tries, to.retries));
}

async function attemptDelivery(
  recipient: Recipient,
  message: Message,
  outbound: OutboundContext,
  version: '1' | '2',
): Promise<DeliveryAttempt> {
  const request = { payload: message.body, headers: recipient.webhook.headers, version };
  try {
    const answer = await callWebhook(recipient.webhook, message, outbound);
    return {
      status: answer.status,
      retryAfterSeconds: retryAfterOf(answer.headers['retry-after'] ?? null),
      request: {
        ...request,
        payload: answer.secrets.redactedJson(
          answer.sent.body.kind === 'json' ? answer.sent.body.value : answer.sent.body,
        ),
      },
      response: { ...responseOf(answer, recipient, message), version },
    };
  } catch (error) {
    const message = error instanceof WebhookFailure ? (error.problem ?? error.message) : 'internal error';
    if (!(error instanceof WebhookFailure)) {
      outbound.observe?.({ kind: 'unexpected', requestId: null, error });
    }
    const response = { type: 'client_error', data: { message }, version };
    return { status: null, retryAfterSeconds: null, request, response };
  }
}

/** Returns the attempt during which the engine ended, as the log of invocations has it. */
function interruptedAttempt(
  { webhook }: Recipient,
  { body: payload }: Message,
  version: '1' | '2',
): DeliveryAttempt {
  const request = { payload, headers: webhook.headers, version };
  const message = 'the engine ended before it recorded the result';
  const response = { type: 'client_error', data: { message }, version };
  return { status: null, retryAfterSeconds: null, request, response };
}

function responseOf(answer: WebhookAnswer, { responseTransform }: Recipient, message: Message): object {
  const { status, headers, text, isCut, plain, secrets } = answer;
  const body = responseTransform ? transformedText(responseTransform, answer, plain, message) : text;
  const data = { status, body, headers: headerList(headers), ...(isCut && { truncated: true }) };
  return { type: 'webhook_response', data: secrets.redactedJson(data) };
}

function transformedText(
  transform: ResponseTransform,
  { status, text }: WebhookAnswer,
  plain: WebhookAnswer['plain'],
  { sessionVariables }: Message,
): string {
  try {
    return JSON.stringify(
      transformResponse(transform, { status, body: bodyOf(text) }, plain, sessionVariables),
    );
  } catch (error) {
    if (!(error instanceof TransformError)) throw error;
    return text;
  }
}

function bodyOf(text: string): unknown {
  try {
    return parseJson(text);
  } catch {
    return text;
  }
}
