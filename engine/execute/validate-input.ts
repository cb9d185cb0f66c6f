/** Asks the webhooks of a mutation, one after the other, before any statement runs: 200 lets it go on, 400 refuses it with the
 *  webhook's `message`, anything else is a failure of ours, and nothing is written either.
 *  In: what plan/validate-input.ts found. Raises `validationFailed`, `inputNotValidated`. Reference: docs/reference/behaviour/permissions.md.
 *  Not here: HTTP (webhook.ts). */
import { fail } from '../errors/engine-error.ts';
import type { Validation } from '../plan/types.ts';
import type { Session } from '../resolve/session.ts';
import type { Variables } from './bind.ts';
import { callWebhook, type OutboundContext, sessionVariablesOf, WebhookFailure } from './webhook.ts';
import { written } from './written.ts';

export type Asker = { readonly session: Session; readonly variables: Variables };

export async function validateInputs(
  validations: readonly Validation[],
  asker: Asker,
  outbound: OutboundContext,
): Promise<void> {
  for (const validation of validations) await validateInput(validation, asker, outbound);
}

async function validateInput(
  { webhook, value, steps }: Validation,
  { session, variables }: Asker,
  outbound: OutboundContext,
): Promise<void> {
  const sessionVariables = sessionVariablesOf(session, outbound.headerPrefix);
  const body = {
    version: 1,
    role: session.role,
    session_variables: sessionVariables,
    data: { input: steps.reduce(nestedRows, itemsOf(written(value, variables))) },
  };
  const message = { purpose: 'input-validation', body, sessionVariables } as const;
  const { status, text } = await callWebhook(webhook, message, outbound).catch((error: unknown) => {
    if (!(error instanceof WebhookFailure)) throw error;
    return fail('inputNotValidated', { reason: error.message }, { internal: { url: webhook.url } });
  });
  if (status === 200) return;
  if (status === 400) fail('validationFailed', { text: messageIn(text, webhook.url) });
  const internal = { url: webhook.url, status, body: text };
  fail('inputNotValidated', { reason: `it answered with status ${status}` }, { internal });
}

/** Without a body there is nothing to tell; with one, it has to be what it should. */
function messageIn(text: string, url: string): string {
  if (text.trim() === '') return 'the input is not valid';
  const message = messageOf(text);
  if (typeof message === 'string') return message;
  const reason = 'it answered with status 400 and no message';
  return fail('inputNotValidated', { reason }, { internal: { url, status: 400, body: text } });
}

function messageOf(text: string): unknown {
  try {
    return (JSON.parse(text) as { message?: unknown } | null)?.message;
  } catch {
    return undefined;
  }
}

/** What lies under a field of each row. */
function nestedRows(rows: readonly unknown[], field: string): readonly unknown[] {
  return rows.flatMap((row) => itemsOf((row as Readonly<Record<string, unknown>> | null)?.[field]));
}

/** A lone object stands for a list of one. */
function itemsOf(value: unknown): readonly unknown[] {
  if (value === null || value === undefined) return [];
  return Array.isArray(value) ? value : [value];
}
