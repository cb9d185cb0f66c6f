/** POST /v1/graphql on bare node:http, because at this endpoint the framework's share of the time would be the largest.
 *  In: one request, or an array of them. Out: the text the executor made, untouched, with its length.
 *  Failures are GraphQL errors with status 200; only a body that is no JSON, or too large, gets a status of its own.
 *  Not here: what a request means (execute/answer.ts). Spec: "GraphQL API"; docs/reference/behaviour/endpoints.md, docs/reference/behaviour/authentication.md. */
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import type { Snapshot } from '../admin/snapshot.ts';
import { textToWire } from '../config/header-prefix.ts';
import { type EngineError, toAdminBody, toGraphqlError } from '../errors/engine-error.ts';
import { answer } from '../execute/answer.ts';
import { bodyText } from '../execute/splice.ts';
import { parseJson } from '../json/parse-json.ts';
import type { Session } from '../resolve/session.ts';
import { addressOf, checkBatchSize, checkRateLimit } from './admit.ts';
import { answerContextOf } from './asker.ts';
import type { HttpContext } from './context.ts';
import type { RequestRecord } from './exchange.ts';
import { isRelayPath, OLDER_GRAPHQL_PATH } from './graphql-path.ts';
import { graphqlRequestFrom } from './graphql-request.ts';
import { beginOperation, endOperation } from './operation.ts';
import { readBody } from './read-body.ts';
import { errorFrom, retryAfter, showsInternal } from './refusal.ts';
import { type HttpResponse, handlerOf, type NodeHandler } from './respond.ts';

/** Refusals of what is no GraphQL request: they have their own status, and the plain error body. */
const OWN_STATUS: ReadonlySet<string> = new Set([
  'invalidJson',
  'bodyTooLarge',
  'hostNotAllowed',
  'originNotAllowed',
  'preflightMissing',
  'overloaded',
  'requestTooSlow',
]);

export function graphqlHandler(context: HttpContext): NodeHandler {
  return handlerOf(context, answerTo);
}

async function answerTo(
  context: HttpContext,
  record: RequestRecord,
  request: IncomingMessage,
): Promise<HttpResponse> {
  try {
    context.crossSite.checkSite(request);
    let isRead = false;
    const read = async (session: Session | null) => {
      isRead = true;
      record.graphqlBody = parseJson(await readBody(context, request, session));
      return record.graphqlBody;
    };
    record.session = await context.authenticate(request.headers, () => read(null));
    context.crossSite.checkPreflighted(request.headers);
    if (!isRead) await read(record.session);
    const { headers } = request;
    const work = {
      context,
      record,
      headers,
      address: addressOf(request, context.options.trustedProxies),
      session: record.session,
      isRelay: isRelayPath(request.url!),
      snapshot: context.state.snapshot(),
    };
    const { status, body } = await answerAll(work, record.graphqlBody);
    return { status: keepsStatus(request) ? status : 200, body };
  } catch (thrown) {
    return refusal(context, record, request, thrown);
  }
}

/** What one record is worked on with: however many requests it holds, they see one state of the engine. */
type Work = {
  readonly context: HttpContext;
  readonly record: RequestRecord;
  readonly headers: IncomingHttpHeaders;
  readonly address: string | undefined;
  readonly session: Session;
  readonly isRelay: boolean;
  readonly snapshot: Snapshot;
};

/** The older path tells by the status, too, how a request ended. */
function keepsStatus(request: IncomingMessage): boolean {
  return request.url!.startsWith(OLDER_GRAPHQL_PATH);
}

/** An array is answered in order, one after the other: mutations in it may build on each other. */
async function answerAll(work: Work, body: unknown): Promise<HttpResponse> {
  if (!Array.isArray(body)) return answerOne(work, body);
  const { session, snapshot } = work;
  checkBatchSize(body, { model: snapshot.model, session });
  const answers: string[] = [];
  for (const item of body) answers.push(bodyText((await answerOne(work, item)).body));
  return { status: 200, body: `[${answers.join(',')}]` };
}

async function answerOne(work: Work, asked: unknown): Promise<HttpResponse> {
  const { context, record, session, isRelay, address, snapshot } = work;
  const { model } = snapshot;
  const operation = beginOperation(context, record.id, 'http', work.headers);
  try {
    checkRateLimit(context.rateLimiter, { model, session, address });
    const asker = answerContextOf(context, session, work.headers, operation, record);
    const body = await answer(graphqlRequestFrom(asked), { model, isRelay, ...asker });
    endOperation(context, operation, null);
    return { status: 200, body };
  } catch (thrown) {
    const error = errorFrom(thrown, context.observe, record.id);
    endOperation(context, operation, error);
    return { status: error.status, body: graphqlErrors(context, record, error) };
  }
}

/** What keeps a request from being one at all has its own status and the plain error body. */
function refusal(
  context: HttpContext,
  record: RequestRecord,
  request: IncomingMessage,
  thrown: unknown,
): HttpResponse {
  const error = errorFrom(thrown, context.observe, record.id);
  endOperation(context, beginOperation(context, record.id, 'http', request.headers), error);
  if (OWN_STATUS.has(error.kind)) {
    record.error = toAdminBody(error, 'newer', false);
    return { status: error.status, body: JSON.stringify(record.error), headers: retryAfter(error) };
  }
  const isKept = keepsStatus(request) || (error.status === 401 && context.options.preserve401Errors);
  return { status: isKept ? error.status : 200, body: graphqlErrors(context, record, error) };
}

function graphqlErrors(context: HttpContext, record: RequestRecord, error: EngineError): string {
  record.error = toGraphqlError(error, showsInternal(context.options, record.session));
  return textToWire(JSON.stringify({ errors: [record.error] }), context.options.headerPrefix);
}
