/** POST /v1/graphql on bare node:http, because at this endpoint the framework's share of the time would be the largest.
 *  In: one request, or an array of them. Out: the text the executor made, untouched, with its length.
 *  Failures are GraphQL errors with status 200; only a body that is no JSON, or too large, gets a status of its own.
 *  Not here: what a request means (execute/answer.ts). Spec: "GraphQL API"; reference: features.md 1.14, row 172. */
import type { IncomingHttpHeaders, IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http';
import type { Snapshot } from '../admin/snapshot.ts';
import { textToWire } from '../config/header-prefix.ts';
import { type EngineError, toAdminBody, toGraphqlError } from '../errors/engine-error.ts';
import { answer } from '../execute/answer.ts';
import { type Body, bodyText } from '../execute/splice.ts';
import type { Session } from '../resolve/session.ts';
import type { HttpContext } from './context.ts';
import { type Exchange, finish, newExchange } from './exchange.ts';
import { OLDER_GRAPHQL_PATH } from './graphql-path.ts';
import { graphqlRequestFrom } from './graphql-request.ts';
import { acceptsGzip, GZIP_HEADERS, gzipped } from './gzip.ts';
import { parseJson } from './parse-json.ts';
import { readBody } from './read-body.ts';
import { errorFrom, showsInternal } from './refusal.ts';
import { requestIdOf } from './request-id.ts';

export type NodeHandler = (request: IncomingMessage, response: ServerResponse) => void;

type Answer = { readonly status: number; readonly body: Body };

export function graphqlHandler(context: HttpContext): NodeHandler {
  return async (request, response) => {
    const exchange = newExchange(requestIdOf(request));
    const { status, body: plain } = await answerTo(context, exchange, request);
    const body = acceptsGzip(request.headers['accept-encoding']) ? await gzipped(plain) : plain;
    if (response.destroyed) return;
    const sizeBytes = sizeOf(body);
    const headers = headersOf(context, exchange, request, sizeBytes);
    if (body !== plain) Object.assign(headers, GZIP_HEADERS);
    response.writeHead(status, headers);
    send(response, body);
    finish(context.observe, exchange, request, { status, sizeBytes });
  };
}

function headersOf(
  { corsHeaders }: HttpContext,
  { id, session }: Exchange,
  { headers: { origin } }: IncomingMessage,
  sizeBytes: number,
): OutgoingHttpHeaders {
  const headers: OutgoingHttpHeaders = {
    'content-type': 'application/json; charset=utf-8',
    'content-length': sizeBytes,
    'x-request-id': id,
  };
  if (origin !== undefined) Object.assign(headers, corsHeaders(origin));
  if (session?.setCookies) headers['set-cookie'] = [...session.setCookies];
  return headers;
}

/** Text goes out with the headers in one write; bytes as they are, all of them in one write too. */
function send(response: ServerResponse, body: Body): void {
  if (typeof body === 'string') {
    response.end(body);
    return;
  }
  response.cork();
  for (const piece of body) response.write(piece);
  response.end();
  response.uncork();
}

function sizeOf(body: Body): number {
  if (typeof body === 'string') return Buffer.byteLength(body);
  return body.reduce((size, { length }) => size + length, 0);
}

async function answerTo(context: HttpContext, exchange: Exchange, request: IncomingMessage): Promise<Answer> {
  try {
    const text = await readBody(request, context.options.maxRequestBodyLength);
    exchange.session = await context.authenticate(request.headers, () => parseJson(text));
    exchange.asked = parseJson(text);
    const { headers } = request;
    const work = {
      context,
      exchange,
      headers,
      session: exchange.session,
      snapshot: context.state.snapshot(),
    };
    const { status, body } = await answerAll(work, exchange.asked);
    return { status: keepsStatus(request) ? status : 200, body };
  } catch (thrown) {
    return refusal(context, exchange, thrown, keepsStatus(request));
  }
}

/** What one exchange is worked on with: however many requests it holds, they see one state of the engine. */
type Work = {
  readonly context: HttpContext;
  readonly exchange: Exchange;
  readonly headers: IncomingHttpHeaders;
  readonly session: Session;
  readonly snapshot: Snapshot;
};

/** The older path tells by the status, too, how a request ended. */
function keepsStatus(request: IncomingMessage): boolean {
  return request.url!.startsWith(OLDER_GRAPHQL_PATH);
}

/** An array is answered in order, one after the other: mutations in it may build on each other. */
async function answerAll(work: Work, body: unknown): Promise<Answer> {
  if (!Array.isArray(body)) return answerOne(work, body);
  const answers: string[] = [];
  for (const item of body) answers.push(bodyText((await answerOne(work, item)).body));
  return { status: 200, body: `[${answers.join(',')}]` };
}

async function answerOne(work: Work, asked: unknown): Promise<Answer> {
  const { context, exchange, session, snapshot } = work;
  try {
    const body = await answer(graphqlRequestFrom(asked), {
      model: snapshot.model,
      session,
      databases: context.state.sources,
      outward: { env: context.state.env, headers: work.headers, headerPrefix: context.options.headerPrefix },
    });
    return { status: 200, body };
  } catch (thrown) {
    const error = errorFrom(thrown, context.observe, exchange.id);
    return { status: error.status, body: graphqlErrors(context, exchange, error) };
  }
}

/** What keeps a request from being one at all has its own status and the plain error body. */
function refusal(context: HttpContext, exchange: Exchange, thrown: unknown, keepsStatus: boolean): Answer {
  const error = errorFrom(thrown, context.observe, exchange.id);
  if (error.kind === 'invalidJson' || error.kind === 'bodyTooLarge') {
    exchange.error = toAdminBody(error, 'newer', false);
    return { status: error.status, body: JSON.stringify(exchange.error) };
  }
  const isKept = keepsStatus || (error.status === 401 && context.options.preserve401Errors);
  return { status: isKept ? error.status : 200, body: graphqlErrors(context, exchange, error) };
}

function graphqlErrors(context: HttpContext, exchange: Exchange, error: EngineError): string {
  exchange.error = toGraphqlError(error, showsInternal(context.options, exchange.session));
  return textToWire(JSON.stringify({ errors: [exchange.error] }), context.options.headerPrefix);
}
