/** The answer of a call to an action: its webhook is told of the arguments and of who asks, what it answers is checked
 *  against the output type, and the rows that belong to it are read in one statement a source.
 *  Raises `actionRefused` with what the webhook says, and `actionFailed`. Reference: docs/reference/behaviour/actions.md.
 *  Not here: the shape of answers (action-output.ts), HTTP (webhook.ts). */

import { fail } from '../errors/engine-error.ts';
import { parseJson } from '../json/parse-json.ts';
import type { ActionCall } from '../plan/action-types.ts';
import { KEYS_VARIABLE } from '../plan/keyed-rows.ts';
import { namedIn } from '../resolve/custom-type.ts';
import { ADMIN_ROLE } from '../resolve/session.ts';
import type { ActionTypes, ResolvedAction } from '../resolve/types.ts';
import { TransformError } from '../transform/render.ts';
import { transformResponse } from '../transform/response.ts';
import { textOfColumn } from '../wire/statement.ts';
import { checkOutput, type JoinedRows, outputText } from './action-output.ts';
import type { AsyncActions } from './async-actions.ts';
import type { CallContext } from './calls.ts';
import type { PlannedRequest, ReadyCall } from './plan-cache.ts';
import { runPlan } from './run-plan.ts';
import {
  callWebhook,
  forwardedHeaders,
  listed,
  type Message,
  type OutboundContext,
  sessionVariablesOf,
  type WebhookAnswer,
  WebhookFailure,
} from './webhook.ts';
import { written } from './written.ts';

type ReadyAction = ReadyCall & { readonly call: ActionCall };

/** As JSON text. */
export async function answerAction(
  ready: ReadyAction,
  asked: PlannedRequest,
  context: CallContext,
): Promise<string> {
  const { call } = ready;
  const message = messageFor(call, asked, context);
  if (!call.output) return JSON.stringify(await writtenDown(call.action, message, context));
  const answered =
    call.kind === 'action' ? await ask(call.action, message, context) : await found(call, message, context);
  const parents = ready.joins.map((): object[] => []);
  checkOutput(call.output, answered.value, parents, (text) => refuse(text, answered));
  const rows = await joinedRows(ready, parents, asked, context);
  return outputText(call.output, answered.value, rows);
}

/** The call of an asynchronous action; its id. */
async function writtenDown(
  action: ResolvedAction,
  { body, sessionVariables }: Message,
  { session, outbound }: CallContext,
): Promise<string> {
  const actions = asynchronous(outbound);
  const { webhook } = action;
  const id = await actions.calls.add({
    action: action.name,
    sessionVariables: session.variables,
    message: { body, sessionVariables },
    clientHeaders: webhook.forwardsClientHeaders
      ? Object.fromEntries(forwardedHeaders(webhook, { sessionVariables }, outbound))
      : {},
  });
  actions.look();
  return id;
}

/** What is known of such a call, as far as it is the asker's own; administrators see everybody's. */
async function found(
  { action }: ActionCall,
  message: Message,
  { session, outbound }: CallContext,
): Promise<Answered> {
  const about = { action, message };
  const { id } = (message.body as { readonly input: { readonly id: string } }).input;
  if (!UUID.test(id)) fail('dataException', { text: `invalid input syntax for type uuid: "${id}"` });
  const owner = session.role === ADMIN_ROLE ? null : session.variables;
  const known = await asynchronous(outbound).calls.find(id, action.name, owner);
  if (!known) return { value: null, about };
  const value = {
    id,
    created_at: parseJson(known.createdAt),
    errors: known.errors === null ? null : parseJson(known.errors),
    output: known.response === null ? null : parseJson(known.response),
  };
  return { value, about };
}

const UUID = /^\{?[0-9a-f]{4}(-?[0-9a-f]{4}){7}\}?$/i;

/** Engines always have it; only tests of rooms further in do without. */
function asynchronous({ asyncActions }: OutboundContext): AsyncActions {
  if (!asyncActions) throw new Error('there is no place for calls of asynchronous actions');
  return asyncActions;
}

/** What the webhook is told. */
function messageFor(
  { action, input }: ActionCall,
  { text, variables }: PlannedRequest,
  { session, outbound }: CallContext,
): Message {
  const sessionVariables = sessionVariablesOf(session, outbound.headerPrefix);
  return {
    purpose: 'action',
    body: {
      action: { name: action.name },
      input: written(input, variables.values),
      session_variables: sessionVariables,
      request_query: text,
    },
    sessionVariables,
  };
}

/** A value, and where it comes from, for administrators. */
type Answered = { readonly value: unknown; readonly about: Exchange };

type Exchange = {
  readonly action: ResolvedAction;
  readonly message: Message;
  readonly answer?: WebhookAnswer;
};

export async function ask(
  action: ResolvedAction,
  message: Message,
  { outbound }: Pick<CallContext, 'outbound'>,
): Promise<Answered> {
  const webhook = { ...action.webhook, prefersClientHeaders: !outbound.prefersConfiguredHeaders };
  const answer = await callWebhook(webhook, message, outbound).catch((error: unknown) => {
    if (!(error instanceof WebhookFailure)) throw error;
    const internal = internalOf(error.problem ?? error.message, { action, message });
    return fail('actionFailed', { text: 'http exception when calling webhook' }, { internal });
  });
  const about = { action, message, answer };
  const cookies = answer.headers['set-cookie'] ?? [];
  if (outbound.record && cookies.length > 0) outbound.record.cookies = cookies;
  const value = bodyOf(answer, about);
  if (answer.status >= 200 && answer.status < 300) return { value, about };
  if (answer.status >= 400 && answer.status < 500) return refused(value, about);
  const reason = `expecting 2xx or 4xx status code, but found ${answer.status}`;
  return fail('actionFailed', { text: 'internal error' }, { internal: internalOf(reason, about) });
}

function bodyOf({ text, status, plain }: WebhookAnswer, about: Exchange): unknown {
  const { responseTransform } = about.action;
  const parsed = parsedJson(text);
  try {
    if (responseTransform) {
      const body = parsed === undefined ? text : parsed;
      return transformResponse(responseTransform, { status, body }, plain, about.message.sessionVariables);
    }
  } catch (error) {
    if (!(error instanceof TransformError)) throw error;
    const internal = internalOf(error.problem, about);
    return fail('actionFailed', { text: 'the response transform failed' }, { internal });
  }
  if (parsed !== undefined || status >= 500) return parsed;
  const internal = internalOf('the body is no JSON', about);
  return fail('actionFailed', { text: 'not a valid json response from webhook' }, { internal });
}

function parsedJson(text: string): unknown {
  try {
    return parseJson(text);
  } catch {
    return undefined;
  }
}

/** `{message, code?, extensions?}`: its own extensions are handed on as they are. */
function refused(value: unknown, about: Exchange): never {
  const { message, code, extensions } = (value ?? {}) as Readonly<Record<string, unknown>>;
  if (typeof message !== 'string') {
    const internal = internalOf('a refusal has a message', about);
    return fail('actionFailed', { text: 'internal error' }, { internal });
  }
  const own = typeof extensions === 'object' && extensions !== null ? { extensions } : {};
  const params = { message, code: typeof code === 'string' ? code : 'unexpected', ...own };
  return fail('actionRefused', params, { internal: internalOf('the webhook refused', about) });
}

/** Whether it is of the output type, as far as that can be said before its fields are asked for. */
export function checkAnswer(answered: Answered, types: ActionTypes): void {
  const type = answered.about.action.output;
  const fields = types.declared.get(namedIn(type))?.kind === 'object' ? [] : null;
  checkOutput({ type, fields, join: null }, answered.value, [], (text) => refuse(text, answered));
}

function refuse(text: string, { about }: Answered): never {
  return fail('actionFailed', { text }, { internal: internalOf('unexpected response', about) });
}

/** For administrators. Headers as the metadata has them: the environment may hold secrets. */
function internalOf(error: unknown, { action, message, answer }: Exchange): unknown {
  const { url, headers } = action.webhook;
  const transformed = action.webhook.requestTransform && answer ? answer.sent : null;
  const request = {
    url,
    headers,
    body: message.body,
    transformed_request: transformed && {
      method: transformed.method,
      body: transformed.body.kind === 'json' ? transformed.body.value : transformed.body,
    },
  };
  if (!answer) return { error, request, response: null };
  const response = {
    status: answer.status,
    body: parsedJson(answer.text) ?? answer.text,
    headers: listed(answer.headers),
  };
  return { error, request, response };
}

/** The rows of each join, one for each of its objects. */
async function joinedRows(
  { call, statements, joins }: ReadyAction,
  parents: readonly (readonly object[])[],
  { variables }: PlannedRequest,
  { session, databases }: CallContext,
): Promise<JoinedRows> {
  if (parents.every((objects) => objects.length === 0)) return [];
  const keys = call.joins.map(({ fields }, place) =>
    fields.map((field) => parents[place]!.map((object) => memberOf(object, field) ?? null)),
  );
  const binding = { session, variables: { ...variables.values, [KEYS_VARIABLE]: keys } };
  const rows = await runPlan({ operation: 'query', statements }, binding, databases);
  return joins.map(({ statement, column }) => {
    return parseJson(textOfColumn(rows[statement]?.[column] ?? null) ?? '[]') as JoinedRows[number];
  });
}

function memberOf(object: object, name: string): unknown {
  return Object.hasOwn(object, name) ? (object as Readonly<Record<string, unknown>>)[name] : undefined;
}
