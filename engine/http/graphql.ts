/** /v1/graphql on bare node:http, because at this endpoint the framework would take the largest share of the time.
 *  In: one GraphQL request, or an array of them; with GET a query in the query string. Out: the text of the executor, unchanged. Failures are GraphQL errors with status
 *  200; only a body that is not JSON, or too large, and requests that are refused as such have a status of their own.
 *  Not here: what a request means (execute/answer.ts), writing the response (respond.ts). Reference:
 *  docs/reference/behaviour/endpoints.md, docs/reference/behaviour/authentication.md. */
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { type EngineError, fail, toAdminBody, toGraphqlError } from '../errors/engine-error.ts';
import { answer } from '../execute/answer.ts';
import type { Body } from '../execute/splice.ts';
import { parseJson } from '../json/parse-json.ts';
import { turnAfterSlice } from '../limits/slices.ts';
import { textToWire } from '../metadata/header-prefix.ts';
import { SelectionSize } from '../plan/selection-size.ts';
import type { Session } from '../resolve/session.ts';
import { isLongBody, parseLongBody } from './body/long-body.ts';
import { readBody } from './body/read-body.ts';
import type { HttpContext } from './context.ts';
import { errorFrom, retryAfter, showsInternal } from './error-response.ts';
import { bodyOfUrl, graphqlRequestFrom, isOlderPath, isRelayPath } from './graphql-request.ts';
import {
  addressOf,
  answerContextOf,
  beginOperation,
  checkBatchSize,
  checkMutation,
  checkRateLimit,
  checkRole,
  endOperation,
  type Requester,
} from './operation.ts';
import type { RequestRecord } from './request-record.ts';
import { type HttpResponse, handlerOf, type NodeHandler } from './respond.ts';
import { type ResponseType, responseTypeOf } from './response-type.ts';

/** Errors that have their own status, because the request never became a GraphQL request. The body has the plain error and `errors`. */
const OWN_STATUS: ReadonlySet<string> = new Set([
  'invalidJson',
  'bodyTooLarge',
  'hostNotAllowed',
  'originNotAllowed',
  'preflightMissing',
  'overloaded',
  'requestTooSlow',
]);

/** A request after authentication. All operations of an array are answered from one snapshot of the engine. */
type GraphqlWork = Requester & {
  readonly context: HttpContext;
  readonly record: RequestRecord;
  readonly headers: IncomingHttpHeaders;
  readonly isRelay: boolean;
  readonly isGet: boolean;
};

export function graphqlHandler(context: HttpContext): NodeHandler {
  return handlerOf(context, handle);
}

/** The whole path of a request: authenticate and parse, take a snapshot, answer; respond.ts writes what it returns. */
async function handle(
  context: HttpContext,
  record: RequestRecord,
  request: IncomingMessage,
): Promise<HttpResponse> {
  let type = responseTypeOf(request.headers.accept);
  try {
    const session = await authenticateAndParse(context, record, request);
    // A list of responses is not one of the media type.
    if (Array.isArray(record.graphqlBody)) type = responseTypeOf(undefined);
    const isGet = request.method === 'GET';
    const { status, body } = await answerAll({
      context,
      record,
      session,
      model: context.state.snapshot().model,
      headers: request.headers,
      address: addressOf(request, context.options.trustedProxies),
      isRelay: isRelayPath(request.url!),
      isGet,
    });
    if (isGet && status === 405) return { status, body, headers: { ...typed(type), allow: 'POST' } };
    const headers = isGet ? { ...typed(type), ...UNCACHED } : typed(type);
    return { status: keepsStatus(request, type) ? status : 200, body, headers };
  } catch (thrown) {
    return refusal({ context, record, request, type }, thrown);
  }
}

/** True when a failed request has the status of its error. Older clients expect 200. */
function keepsStatus(request: IncomingMessage, type: ResponseType): boolean {
  return type !== 'application/json' || isOlderPath(request.url!);
}

/** Returns the header of a type other than the default one. */
function typed(type: ResponseType): HttpResponse['headers'] {
  return type === 'application/json' ? undefined : { 'content-type': `${type}; charset=utf-8` };
}

/** The answer to a GET depends on the session, which caches do not take into account. */
const UNCACHED = { 'cache-control': 'no-store' };

/** Returns the session; the parsed body is in the record afterwards. An authentication hook may need the body before the session
 *  is known; otherwise the body is read after authentication, up to the limit of the role. */
async function authenticateAndParse(
  context: HttpContext,
  record: RequestRecord,
  request: IncomingMessage,
): Promise<Session> {
  const { crossSite } = context;
  const isGet = request.method === 'GET';
  const parse = async (session: Session | null) => {
    if (isGet) record.graphqlBody = bodyOfUrl(request.url!);
    else {
      const text = await readBody(context, request, record, session);
      record.graphqlBody = isLongBody(text)
        ? await parseLongBody(text, context.state.snapshot().model, session)
        : parseJson(text);
    }
    return record.graphqlBody;
  };
  crossSite.checkSite(request);
  const found = context.authenticate(request.headers, () => parse(null));
  record.session = found instanceof Promise ? await found : found;
  checkRole(record.session, context.options.headerPrefix);
  // Browsers send GET across origins without a preflight, but it never runs a mutation.
  if (!isGet) crossSite.checkPreflighted(request.headers);
  if (record.graphqlBody === undefined) await parse(record.session);
  return record.session;
}

/** Answers the operations of an array in order, one after the other, because a mutation may depend on the one before it. Operations that fail
 *  at once would otherwise share a turn of the event loop. */
async function answerAll(work: GraphqlWork): Promise<HttpResponse> {
  const { graphqlBody: body } = work.record;
  if (!Array.isArray(body)) return answerOne(work, body);
  checkBatchSize(body, work);
  const batch = new SelectionSize(work.model.requestBounds);
  const answers: Body[] = [];
  for (const item of body) {
    const nextTurn = turnAfterSlice();
    if (nextTurn) await nextTurn;
    answers.push((await answerOne(work, item, batch)).body);
  }
  return { status: 200, body: listOf(answers) };
}

/** Joins answers to a list: text if all are, otherwise pieces of bytes without copies. */
function listOf(answers: readonly Body[]): Body {
  if (answers.every((answer) => typeof answer === 'string')) return `[${answers.join(',')}]`;
  return answers
    .flatMap((answer, i) => [
      Buffer.from(i === 0 ? '[' : ','),
      ...(typeof answer === 'string' ? [Buffer.from(answer)] : answer),
    ])
    .concat(Buffer.from(']'));
}

async function answerOne(work: GraphqlWork, body: unknown, batch?: SelectionSize): Promise<HttpResponse> {
  const { context, record, session, model, isRelay, isGet, headers } = work;
  const operation = beginOperation(context, record.id, 'http', headers);
  try {
    checkRateLimit(context.rateLimiter, work);
    const request = graphqlRequestFrom(body);
    const answerContext = answerContextOf(context, session, headers, operation, record);
    const mayWrite = () => {
      if (isGet) fail('methodNotAllowed', { allowed: 'POST' });
      checkMutation(session);
    };
    const text = await answer(request, { model, isRelay, mayWrite, batch, ...answerContext });
    endOperation(context, operation, null);
    return { status: 200, body: text };
  } catch (thrown) {
    const error = errorFrom(thrown, context, record.id);
    endOperation(context, operation, error);
    return { status: error.status, body: graphqlErrors(context, record, error) };
  }
}

type Refused = {
  readonly context: HttpContext;
  readonly record: RequestRecord;
  readonly request: IncomingMessage;
  readonly type: ResponseType;
};

/** Answers a request that failed before its operations began. */
function refusal({ context, record, request, type }: Refused, thrown: unknown): HttpResponse {
  const error = errorFrom(thrown, context, record.id);
  endOperation(context, beginOperation(context, record.id, 'http', request.headers), error);
  if (OWN_STATUS.has(error.kind)) {
    const plain = toAdminBody(error, 'newer', false);
    record.error = plain;
    const also = type === 'application/json' ? plain : {};
    const body = JSON.stringify({ ...also, errors: [toGraphqlError(error, false)] });
    return { status: error.status, body, headers: { ...typed(type), ...retryAfter(error) } };
  }
  const isKept = keepsStatus(request, type) || (error.status === 401 && context.options.preserve401Errors);
  return {
    status: isKept ? error.status : 200,
    body: graphqlErrors(context, record, error),
    headers: typed(type),
  };
}

function graphqlErrors(context: HttpContext, record: RequestRecord, error: EngineError): string {
  record.error = toGraphqlError(error, showsInternal(context.options, record.session));
  return textToWire(JSON.stringify({ errors: [record.error] }), context.options.headerPrefix);
}
