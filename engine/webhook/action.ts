/** Calls the webhook of an action, or queues and looks up calls of asynchronous actions.
 *  In: an ActionCall, the request's text and variables. Out: the action's value, unchecked, with the exchange it comes from.
 *  Raises `actionRefused` with the webhook's message, and `actionFailed`. Reference: docs/reference/behaviour/actions.md.
 *  Not here: the fields selected from the value (action-output.ts), rows joined to it (execute/), HTTP (call.ts). */
import { fail } from '../errors/engine-error.ts';
import { isQuotable, MOST_JSON, quotedJson, quotedText } from '../errors/quoted.ts';
import { isNumber, numberText, wholeText } from '../json/number.ts';
import { parseJson } from '../json/parse-json.ts';
import { isRecord } from '../json/value.ts';
import type { ActionCall } from '../plan/action-types.ts';
import { literalValue, type Variables } from '../plan/literal.ts';
import { namedIn, requiredFields } from '../resolve/custom-type.ts';
import type { ResolvedAction } from '../resolve/model/action.ts';
import type { ActionTypes, CustomField, TypeUse } from '../resolve/model/custom-type.ts';
import { ADMIN_ROLE, type Session } from '../resolve/session.ts';
import { TransformError } from '../transform/render.ts';
import { transformResponse } from '../transform/response.ts';
import { checkOutput } from './action-output.ts';
import type { ActionCallQueue } from './async-action-types.ts';
import { callWebhook, type Message, type WebhookAnswer } from './call.ts';
import {
  forwardedHeaders,
  headerList,
  type OutboundContext,
  sessionVariablesOf,
  WebhookFailure,
} from './outbound.ts';

/** The request that selects an action. */
type ActionRequest = {
  /** The GraphQL document as the client wrote it. */
  readonly text: string;
  readonly variables: Variables;
};

type ActionContext = { readonly session: Session; readonly outbound: OutboundContext };

/** The value of an action, and where it comes from, for errors that administrators see. */
type ActionAnswer = { readonly value: unknown; readonly exchange: Exchange };

type Exchange = {
  readonly action: ResolvedAction;
  readonly message: Message;
  readonly answer?: WebhookAnswer;
};

/** Returns the id of a new call of an asynchronous action, the result of an earlier one, or what the webhook answers now. */
export function performAction(
  call: ActionCall,
  request: ActionRequest,
  context: ActionContext,
): Promise<ActionAnswer> {
  const message = messageFor(call, request, context);
  if (!call.output) return queueCall(call.action, message, context);
  if (call.kind === 'action-result') return findCall(call, message, context);
  return callAction(call.action, message, context);
}

/** Queues a call of an asynchronous action. Its value is the call's id. */
async function queueCall(
  action: ResolvedAction,
  message: Message,
  { session, outbound }: ActionContext,
): Promise<ActionAnswer> {
  const queue = queueOf(outbound);
  const { webhook } = action;
  const { body, sessionVariables } = message;
  const value = await queue.calls.add({
    action: action.name,
    sessionVariables: session.variables,
    message: { body, sessionVariables },
    clientHeaders: webhook.forwardsClientHeaders
      ? Object.fromEntries(forwardedHeaders(webhook, { sessionVariables }, outbound))
      : {},
  });
  queue.look();
  return { value, exchange: { action, message } };
}

/** Looks up an earlier call. Clients find only their own calls, administrators find all. */
async function findCall(
  { action }: ActionCall,
  message: Message,
  { session, outbound }: ActionContext,
): Promise<ActionAnswer> {
  const exchange = { action, message };
  const { id } = (message.body as { readonly input: { readonly id: string } }).input;
  if (!UUID.test(id)) fail('dataException', { text: `invalid input syntax for type uuid: "${id}"` });
  const owner = session.role === ADMIN_ROLE ? null : session.variables;
  const found = await queueOf(outbound).calls.find(id, action.name, owner);
  if (!found) return { value: null, exchange };
  const value = {
    id,
    created_at: parseJson(found.createdAt),
    errors: found.errors === null ? null : parseJson(found.errors),
    output: found.response === null ? null : parseJson(found.response),
  };
  return { value, exchange };
}

const UUID = /^\{?[0-9a-f]{4}(-?[0-9a-f]{4}){7}\}?$/i;

/** Returns the queue. A running engine always has one; only unit tests do without. */
function queueOf({ asyncActions }: OutboundContext): ActionCallQueue {
  if (!asyncActions) throw new Error('no queue for calls of asynchronous actions');
  return asyncActions;
}

function messageFor(
  { kind, action, input, types }: ActionCall,
  { text, variables }: ActionRequest,
  { session, outbound }: ActionContext,
): Message {
  const sessionVariables = sessionVariablesOf(session, outbound.headerPrefix);
  // The result of an earlier call is read by an id that is no argument of the action.
  const fields = kind === 'action' ? action.arguments : [];
  const given = literalValue(input, (name) => variables[name]) as Readonly<Record<string, unknown>>;
  return {
    purpose: 'action',
    action: action.name,
    body: {
      action: { name: action.name },
      input: coercedFields(given, fields, types),
      session_variables: sessionVariables,
      request_query: text,
    },
    sessionVariables,
  };
}

/** Calls the webhook now. */
export async function callAction(
  action: ResolvedAction,
  message: Message,
  { outbound }: Pick<ActionContext, 'outbound'>,
): Promise<ActionAnswer> {
  const webhook = { ...action.webhook, prefersClientHeaders: !outbound.configuredHeaderPrecedence };
  const answer = await callWebhook(webhook, message, outbound).catch((error: unknown) => {
    if (!(error instanceof WebhookFailure)) throw error;
    const internal = internalOf(error.problem ?? error.message, { action, message });
    return fail('actionFailed', { text: 'http exception when calling webhook' }, { internal });
  });
  const exchange = { action, message, answer };
  const cookies = answer.headers['set-cookie'] ?? [];
  if (outbound.record && cookies.length > 0) outbound.record.cookies = cookies;
  const value = bodyOf(answer, exchange);
  if (answer.status >= 200 && answer.status < 300) return { value, exchange };
  if (answer.status >= 400 && answer.status < 500) return refused(value, exchange);
  const reason = `expecting 2xx or 4xx status code, but found ${answer.status}`;
  return fail('actionFailed', { text: 'internal error' }, { internal: internalOf(reason, exchange) });
}

function bodyOf({ text, status, plain }: WebhookAnswer, exchange: Exchange): unknown {
  const { responseTransform } = exchange.action;
  const parsed = parsedJson(text);
  try {
    if (responseTransform) {
      const body = parsed === undefined ? text : parsed;
      return transformResponse(responseTransform, { status, body }, plain, exchange.message.sessionVariables);
    }
  } catch (error) {
    if (!(error instanceof TransformError)) throw error;
    const internal = internalOf(error.problem, exchange);
    return fail('actionFailed', { text: 'the response transform failed' }, { internal });
  }
  if (parsed !== undefined || status >= 500) return parsed;
  const internal = internalOf('the body is no JSON', exchange);
  return fail('actionFailed', { text: 'not a valid json response from webhook' }, { internal });
}

function parsedJson(text: string): unknown {
  try {
    return parseJson(text);
  } catch {
    return undefined;
  }
}

/** Raises the webhook's `{message, code?, extensions?}`. Its extensions are passed on unchanged, unless they are too long. */
function refused(value: unknown, exchange: Exchange): never {
  const { message, code, extensions } = (value ?? {}) as Readonly<Record<string, unknown>>;
  if (typeof message !== 'string') {
    const internal = internalOf('a refusal has a message', exchange);
    return fail('actionFailed', { text: 'internal error' }, { internal });
  }
  const own =
    typeof extensions === 'object' && extensions !== null && isQuotable(extensions) ? { extensions } : {};
  const params = { message, code: typeof code === 'string' ? code : 'unexpected', ...own };
  return fail('actionRefused', params, { internal: internalOf('the webhook refused', exchange) });
}

/** Checks the value of an asynchronous call against the output type. No selection is known yet. */
export function checkAnswer(answered: ActionAnswer, types: ActionTypes): void {
  const type = answered.exchange.action.output;
  const fields = types.declared.get(namedIn(type))?.kind === 'object' ? [] : null;
  const required = requiredFields(types, type);
  checkOutput({ type, fields, required, join: null }, answered.value, [], (text) =>
    refuseOutput(text, answered),
  );
}

/** Raises `actionFailed`: the value is not of the output type. */
export function refuseOutput(text: string, { exchange }: ActionAnswer): never {
  return fail('actionFailed', { text }, { internal: internalOf('unexpected response', exchange) });
}

/** Returns the exchange for administrators. Headers are those of the metadata, because the environment may hold secrets. */
function internalOf(error: unknown, { action, message, answer }: Exchange): unknown {
  const { url, headers } = action.webhook;
  const transformed = action.webhook.requestTransform && answer ? answer.sent : null;
  const request = {
    url,
    headers,
    body: quotedJson(message.body),
    transformed_request: transformed && {
      method: transformed.method,
      body: quotedJson(transformed.body.kind === 'json' ? transformed.body.value : transformed.body),
    },
  };
  if (!answer) return { error, request, response: null };
  const response = {
    status: answer.status,
    body: bodyForAdministrators(answer.text),
    headers: headerList(answer.headers),
  };
  return answer.secrets.redactedJson({ error, request, response });
}

/** Returns a body as JSON, as text, or the beginning of a long one. */
function bodyForAdministrators(text: string): unknown {
  if (text.length > MOST_JSON) return quotedText(text, MOST_JSON);
  return parsedJson(text) ?? text;
}

/** Returns the arguments, or the fields of an input object, in the form of their types, whatever form the client wrote. A single value for a
 *  list is a list of one, and a number for an `ID` is a text. Everything else stays as it was written, and plan/input.ts has checked it.
 *  GraphQL specification, "List", "ID", "Input Coercion". */
function coercedFields(
  values: Readonly<Record<string, unknown>>,
  fields: readonly CustomField[],
  types: ActionTypes,
): Readonly<Record<string, unknown>> {
  const byName = new Map(fields.map(({ name, type }) => [name, type]));
  return Object.fromEntries(
    Object.entries(values).map(([name, value]) => {
      const type = byName.get(name);
      return [name, type ? coerced(value, type, types) : value];
    }),
  );
}

function coerced(value: unknown, type: TypeUse, types: ActionTypes): unknown {
  if (value === null) return null;
  if (type.kind === 'list') {
    const items = Array.isArray(value) ? value : [value];
    return items.map((item) => coerced(item, type.item, types));
  }
  if (type.name === 'ID') return isNumber(value) ? (wholeText(value) ?? numberText(value)) : value;
  const declared = types.declared.get(type.name);
  return declared?.kind === 'input' && isRecord(value) ? coercedFields(value, declared.fields, types) : value;
}
