/** Calls the input validation webhooks of a mutation, one after the other, before any statement runs. Status 200 accepts the input,
 *  400 rejects it with the webhook's `message`, and any other status is an internal failure. Nothing is written in either case.
 *  In: the validations of a plan. Raises `validationFailed`, `inputNotValidated`.
 *  Not here: the rows to validate (plan/validate-input.ts), HTTP (call.ts). Reference: docs/reference/behaviour/permissions.md. */
import { fail } from '../errors/engine-error.ts';
import { MOST_JSON, quotedText } from '../errors/quoted.ts';
import type { Variables } from '../plan/literal.ts';
import { literalValue } from '../plan/literal.ts';
import type { Validation } from '../plan/types.ts';
import type { Session } from '../resolve/session.ts';
import { callWebhook } from './call.ts';
import { type OutboundContext, sessionVariablesOf, WebhookFailure } from './outbound.ts';
import type { SentSecrets } from './sent-secrets.ts';

export async function validateInput(
  { webhook, value, steps }: Validation,
  { session, variables }: { readonly session: Session; readonly variables: Variables },
  outbound: OutboundContext,
): Promise<void> {
  const sessionVariables = sessionVariablesOf(session, outbound.headerPrefix);
  const body = {
    version: 1,
    role: session.role,
    session_variables: sessionVariables,
    data: { input: steps.reduce(nestedRows, itemsOf(literalValue(value, (name) => variables[name]))) },
  };
  const message = { purpose: 'input-validation', body, sessionVariables } as const;
  const { status, text, secrets } = await callWebhook(webhook, message, outbound).catch((error: unknown) => {
    if (!(error instanceof WebhookFailure)) throw error;
    return fail('inputNotValidated', { reason: error.message }, { internal: { url: webhook.url } });
  });
  if (status === 200) return;
  if (status === 400) fail('validationFailed', { text: messageIn(text, webhook.url, secrets) });
  const internal = { url: webhook.url, status, body: bodyForAdministrators(text, secrets) };
  fail('inputNotValidated', { reason: `it answered with status ${status}` }, { internal });
}

/** Returns the message of a rejection. A body, where there is one, must contain it. */
function messageIn(text: string, url: string, secrets: SentSecrets): string {
  if (text.trim() === '') return 'the input is not valid';
  const message = messageOf(text);
  if (typeof message === 'string') return message;
  const reason = 'it answered with status 400 and no message';
  return fail(
    'inputNotValidated',
    { reason },
    { internal: { url, status: 400, body: bodyForAdministrators(text, secrets) } },
  );
}

function bodyForAdministrators(text: string, secrets: SentSecrets): string {
  return secrets.redacted(quotedText(text, MOST_JSON));
}

function messageOf(text: string): unknown {
  try {
    return (JSON.parse(text) as { message?: unknown } | null)?.message;
  } catch {
    return undefined;
  }
}

/** Returns the rows under a field of each row. */
function nestedRows(rows: readonly unknown[], field: string): readonly unknown[] {
  return rows.flatMap((row) => itemsOf((row as Readonly<Record<string, unknown>> | null)?.[field]));
}

/** Returns a list. A single object counts as a list of one. */
function itemsOf(value: unknown): readonly unknown[] {
  if (value === null || value === undefined) return [];
  return Array.isArray(value) ? value : [value];
}
