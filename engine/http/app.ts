/** The endpoints that use the framework, which are all but GraphQL and REST, and what they share: CORS, request ids,
 *  JSON bodies, authentication, errors, 404, the request log.
 *  Not here: what an endpoint does (its own file), listening and closing (server.ts). Reference:
 *  docs/reference/behaviour/endpoints.md. */
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import fastify, {
  type FastifyError,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
} from 'fastify';
import type { ApiName } from '../config/options.ts';
import { EngineError, toAdminBody } from '../errors/engine-error.ts';
import { parsingJson } from '../json/parse-json.ts';
import { inSlices } from '../limits/slices.ts';
import { textToWire } from '../metadata/header-prefix.ts';
import { ADMIN_ENDPOINTS, adminRoutes } from './admin.ts';
import { acceptsGzip, GZIP_HEADERS, gzipped } from './body/gzip.ts';
import { readBody } from './body/read-body.ts';
import { configRoutes, publicRoutes } from './config.ts';
import { consoleRoutes } from './console.ts';
import type { HttpContext } from './context.ts';
import { preflightHeaders } from './cors.ts';
import { developerRoutes } from './developer.ts';
import { errorFrom, retryAfter, showsInternal, writeParserError } from './error-response.ts';
import { metricsRoutes, readMetrics } from './metrics.ts';
import { pgDumpRoutes } from './pg-dump.ts';
import { logRequest, recordOf } from './request-record.ts';
import { VARY } from './respond.ts';

/** The endpoints behind authentication, by the API that enables them. */
const ROUTES: Partial<Record<ApiName, (app: FastifyInstance, context: HttpContext) => void>> = {
  metadata: adminRoutes,
  config: configRoutes,
  pgdump: pgDumpRoutes,
  developer: developerRoutes,
};

type MakeServer = (handle: (request: IncomingMessage, response: ServerResponse) => void) => Server;

export async function buildApp(context: HttpContext, makeServer: MakeServer): Promise<FastifyInstance> {
  const app = fastify({
    genReqId: (raw) => recordOf({ raw }).id,
    serverFactory: makeServer,
    clientErrorHandler: (error, socket) =>
      writeParserError(error, socket as Socket, context.options.maxTotalHeaderLength),
    frameworkErrors: (error, request, reply) => sendError(context, error, request, reply as FastifyReply),
  });
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('application/json', async (request: FastifyRequest) =>
    inSlices(parsingJson(await readBody(context, request.raw, recordOf(request), recordOf(request).session))),
  );
  app.addHook('onRequest', async (request, reply) => addCommonHeaders(context, request, reply));
  // Before the body is read: an unknown path needs no body. A known path with another method is unknown, too.
  app.addHook('onRequest', async (request) => {
    if (request.is404) throw new EngineError('resourceNotFound', {});
  });
  app.addHook('onSend', async (request, reply, payload) => {
    if (typeof payload !== 'string' || !acceptsGzip(request.headers['accept-encoding'])) return payload;
    const body = await gzipped(payload);
    if (typeof body === 'string') return body;
    reply.headers(GZIP_HEADERS).removeHeader('content-length');
    return Buffer.concat(body);
  });
  app.addHook('onResponse', async (request, reply) => {
    const sizeBytes = Number(reply.getHeader('content-length') ?? 0);
    logRequest(context.observe, recordOf(request), request.raw, { status: reply.statusCode, sizeBytes });
  });
  app.setErrorHandler<FastifyError>((error, request, reply) => sendError(context, error, request, reply));
  publicRoutes(app, context);
  const { registry, options } = context;
  if (registry) readMetrics(context, registry);
  if (registry && options.enabledApis.includes('metrics')) metricsRoutes(app, context, registry);
  if (context.options.enableConsole) consoleRoutes(app, context);
  await app.register(async (scope) => {
    scope.addHook('onRequest', async (request) => {
      recordOf(request).session = await context.authenticate(request.headers);
      if (request.method !== 'POST') return;
      context.crossSite.checkPreflighted(request.headers);
      // Any declared content type is accepted; the body is JSON or an error.
      request.raw.headers['content-type'] = 'application/json';
    });
    for (const api of context.options.enabledApis) ROUTES[api]?.(scope, context);
  });
  await app.ready();
  return app;
}

/** Adds the headers of every response, and answers preflights. */
async function addCommonHeaders(
  context: HttpContext,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<unknown> {
  reply.headers({ 'x-request-id': request.id, ...VARY });
  context.crossSite.checkSite(request);
  reply.headers(context.corsHeaders(request.headers.origin));
  if (request.method !== 'OPTIONS') return;
  const isAllowed = reply.hasHeader('access-control-allow-origin');
  if (!isAllowed && request.headers['access-control-request-method'] === undefined) return;
  if (isAllowed) reply.headers(preflightHeaders(request.headers['access-control-request-headers']));
  return reply.code(204).send();
}

function sendError(
  context: HttpContext,
  thrown: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
): FastifyReply {
  const record = recordOf(request);
  const error = errorFrom(engineErrorOf(thrown), context, record.id);
  const dialect = request.url.startsWith(ADMIN_ENDPOINTS[0]!) ? 'specification' : 'newer';
  const body = toAdminBody(error, dialect, showsInternal(context.options, record.session));
  record.error = body;
  return reply
    .code(error.status)
    .headers(retryAfter(error))
    .type('application/json; charset=utf-8')
    .send(textToWire(JSON.stringify(body), context.options.headerPrefix));
}

/** Returns errors of the framework as errors of the engine. */
function engineErrorOf(thrown: unknown): unknown {
  if (!(thrown instanceof Error) || thrown instanceof EngineError) return thrown;
  const { statusCode } = thrown as FastifyError;
  return statusCode !== undefined && statusCode < 500
    ? new EngineError('parseFailed', { text: thrown.message })
    : thrown;
}
