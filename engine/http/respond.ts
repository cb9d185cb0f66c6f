/** Writes the response of an endpoint that does not use the framework: status, headers, text or bytes, log line.
 *  Not here: the content of the response (graphql.ts, rest.ts). */
import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http';
import type { Body } from '../execute/splice.ts';
import { acceptsGzip, GZIP_HEADERS, gzipped } from './body/gzip.ts';
import type { HttpContext } from './context.ts';
import { logRequest, type RequestRecord } from './request-record.ts';

/** The request headers a response depends on, so that caches keep the responses of clients apart. */
export const VARY = { vary: 'accept-encoding, origin' } as const;

/** The status in the log when the client has disconnected, as of the error `clientGone`. */
const CLIENT_GONE = 499;

export type NodeHandler = (request: IncomingMessage, response: ServerResponse, record: RequestRecord) => void;

export type HttpResponse = {
  readonly status: number;
  readonly body: Body;
  readonly headers?: Readonly<Record<string, string>> | undefined;
};

/** Returns a handler that writes what `handle` returns. */
export function handlerOf(
  context: HttpContext,
  handle: (context: HttpContext, record: RequestRecord, request: IncomingMessage) => Promise<HttpResponse>,
): NodeHandler {
  return async (request, response, record) => {
    const answered = await handle(context, record, request);
    const { body } = answered;
    const sent = acceptsGzip(request.headers['accept-encoding']) ? gzipped(body) : body;
    respond(context, record, request, response, answered, sent instanceof Promise ? await sent : sent);
  };
}

/** Writes the response with `body`, which may be its body compressed. */
function respond(
  context: HttpContext,
  record: RequestRecord,
  request: IncomingMessage,
  response: ServerResponse,
  { status, body: plain, headers: own }: HttpResponse,
  body: Body,
): void {
  if (response.destroyed) {
    logRequest(context.observe, record, request, { status: CLIENT_GONE, sizeBytes: 0 });
    return;
  }
  const sizeBytes = sizeOf(body);
  const headers = headersOf(context, record, request, sizeBytes);
  if (body !== plain) Object.assign(headers, GZIP_HEADERS);
  if (own !== undefined) Object.assign(headers, own);
  response.writeHead(status, headers);
  send(response, body);
  logRequest(context.observe, record, request, { status, sizeBytes });
}

function headersOf(
  { corsHeaders }: HttpContext,
  { id, session, cookies }: RequestRecord,
  { headers: { origin } }: IncomingMessage,
  sizeBytes: number,
): OutgoingHttpHeaders {
  const headers: OutgoingHttpHeaders = {
    'content-type': 'application/json; charset=utf-8',
    'content-length': sizeBytes,
    'x-request-id': id,
    vary: VARY.vary,
  };
  if (origin !== undefined) Object.assign(headers, corsHeaders(origin));
  if (session?.setCookies || cookies)
    headers['set-cookie'] = [...(session?.setCookies ?? []), ...(cookies ?? [])];
  return headers;
}

/** Writes text together with the headers, and all pieces of a body in bytes, in one write. */
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
