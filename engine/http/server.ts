/** The server: one node:http listener. POST /v1/graphql goes straight to graphql.ts, /api/rest/ to rest.ts, everything else to
 *  app.ts; WebSockets are websocket.ts's.
 *  In: options, state, log. Out: the URL it listens at, and a `close` that lets requests in flight finish. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import type { EngineState } from '../admin/state.ts';
import { openAuthenticator } from '../auth/authenticate.ts';
import type { Options } from '../config/options.ts';
import { ended, type Grace } from '../limits/grace.ts';
import { RateLimiter } from '../limits/rate-limiter.ts';
import type { Observe } from '../observe/observation.ts';
import { RemoteCache } from '../remote/cache.ts';
import { LiveQueries } from '../subscribe/live-queries.ts';
import { buildApp } from './app.ts';
import { ByteBudget } from './byte-budget.ts';
import type { HttpContext } from './context.ts';
import { corsPolicy } from './cors.ts';
import { crossSitePolicy } from './cross-site.ts';
import { cutUnread } from './cut-unread.ts';
import { graphqlHandler } from './graphql.ts';
import { isGraphqlPath } from './graphql-path.ts';
import { releaseBody } from './read-body.ts';
import { errorFrom } from './refusal.ts';
import { keepLastHeader } from './repeated-headers.ts';
import { isRest, restHandler } from './rest.ts';
import { SendQueues } from './send-queues.ts';
import { Tracing } from './tracing.ts';
import { MOST_HEADERS } from './unreadable.ts';
import { acceptWebsockets, isWebsocketUpgrade } from './websocket.ts';

export type HttpServer = {
  /** `http://localhost:8080` */
  readonly url: string;
  /** Accepts nothing more and waits for requests in flight; how many were cut off when the time was up. */
  readonly close: (grace: Grace) => Promise<number>;
};

/** Longer than load balancers keep an idle connection (60 s is usual), so that it is they who close it: otherwise a request
 *  may be on its way just when we do. */
const KEEP_ALIVE_MS = 75_000;

/** How often connections without a whole request are looked at. */
const CHECK_HEADERS_MS = 1000;

/** Without a request for so long, connections are idle. */
const QUIET_MS = 200;
/** How long there may be requests after all; balancers take about as long to look elsewhere. */
const LINGER_MS = 2000;

export async function openServer(
  options: Options,
  state: EngineState,
  observe: Observe,
  { registry, asyncActions }: Pick<HttpContext, 'registry' | 'asyncActions'>,
): Promise<HttpServer> {
  const context = await contextOf(options, state, observe, { registry, asyncActions });
  const hasGraphql = options.enabledApis.includes('graphql');
  const answerGraphql = graphqlHandler(context);
  const answerRest = restHandler(context);
  const inFlight = new Set<ServerResponse>();
  /** When a request last came or was answered. */
  let busyAt = 0;
  const app = await buildApp(context, (handle) =>
    createServer(
      {
        maxHeaderSize: options.maxTotalHeaderLength,
        keepAliveTimeout: KEEP_ALIVE_MS,
        headersTimeout: options.requestHeaderTimeout * 1000,
        connectionsCheckingInterval: CHECK_HEADERS_MS,
        shouldUpgradeCallback: isWebsocketUpgrade,
      },
      (request, response) => {
        inFlight.add(response);
        busyAt = performance.now();
        response.once('close', () => {
          inFlight.delete(response);
          releaseBody(request);
          leave();
          busyAt = performance.now();
        });
        const leave = context.sendQueues.add({
          bytes: () => response.socket?.writableLength ?? 0,
          cut: (error) => {
            observe({ kind: 'request refused', error });
            response.destroy();
          },
        });
        response.once('finish', () => cutUnread(request));
        if (context.life.isStopping) response.setHeader('connection', 'close');
        keepLastHeader(request, options.headerPrefix);
        if (hasGraphql && isGraphql(request)) answerGraphql(request, response);
        else if (hasGraphql && isRest(request)) answerRest(request, response);
        else handle(request, response);
      },
    ),
  );
  app.server.maxHeadersCount = MOST_HEADERS;
  const websockets = acceptWebsockets(app.server, context);
  readTraffic(context, inFlight);
  await listen(app.server, options);
  return {
    url: urlOf(app.server, options),
    close: async ({ over, cut }) => {
      context.life.isStopping = true;
      for (const response of inFlight) if (!response.headersSent) response.setHeader('connection', 'close');
      await quiet(() => busyAt, over);
      const closed = new Promise<void>((resolve) => app.server.close(() => resolve()));
      app.server.closeIdleConnections();
      websockets.finish();
      await ended([closed], over);
      const cutOff = inFlight.size + websockets.terminate();
      app.server.closeAllConnections();
      context.sendQueues.close();
      await ended([closed.then(() => app.close()), context.tracing.close()], cut);
      return cutOff;
    },
  };
}

/** Numbers of requests, read when somebody looks. */
function readTraffic({ registry, budget, sendQueues }: HttpContext, inFlight: ReadonlySet<unknown>): void {
  registry?.read('pergola_http_requests_in_flight', () => [{ labels: {}, value: inFlight.size }]);
  registry?.read('pergola_request_bytes_in_flight', () => [{ labels: {}, value: budget.held }]);
  registry?.read('pergola_queued_bytes', () => [{ labels: {}, value: sendQueues.totalBytes }]);
}

async function contextOf(
  options: Options,
  state: EngineState,
  observe: Observe,
  { registry, asyncActions }: Pick<HttpContext, 'registry' | 'asyncActions'>,
): Promise<HttpContext> {
  return {
    options,
    state,
    observe,
    registry,
    authenticate: await openAuthenticator(options, observe, state.trusts),
    corsHeaders: corsPolicy(options),
    crossSite: crossSitePolicy(options),
    tracing: new Tracing(options, state, observe),
    life: { isStopping: false },
    rateLimiter: new RateLimiter(),
    budget: new ByteBudget(options.maxBodyBytesInFlight),
    sendQueues: new SendQueues({
      fullBytes: options.sendQueueLength,
      timeoutMs: options.sendQueueTimeout * 1000,
      mostBytes: options.maxQueuedBytes,
    }),
    live: liveQueries(options, state, observe),
    asyncActions,
    remoteCache: options.remoteSchemaCacheSize > 0 ? new RemoteCache(options.remoteSchemaCacheSize) : null,
  };
}

function liveQueries(options: Options, state: EngineState, observe: Observe): LiveQueries {
  return new LiveQueries({
    refetchIntervalMs: options.liveQueriesMultiplexedRefetchInterval,
    streamIntervalMs: options.streamingQueriesMultiplexedRefetchInterval,
    batchSize: options.liveQueriesMultiplexedBatchSize,
    streamBatchSize: options.streamingQueriesMultiplexedBatchSize,
    limits: {
      mostPerConnection: options.maxSubscriptionsPerConnection,
      mostPerSession: options.maxSubscriptionsPerSession,
      mostPerRole: options.maxSubscriptionsPerRole,
    },
    // The other half is for requests.
    mostAtOnce: Math.max(1, Math.floor(options.pgConnections / 2)),
    model: () => state.snapshot().model,
    databases: state.sources,
    errorOf: (thrown) => errorFrom(thrown, observe, 'live query'),
  });
}

/** Waits for a pause between requests. Until then every response tells its client to use the connection no more, so that
 *  none is closed with a request on its way; whoever does not know yet that we stop is still served. */
async function quiet(busyAt: () => number, over: AbortSignal): Promise<void> {
  const until = performance.now() + LINGER_MS;
  const isQuiet = () => performance.now() > until || performance.now() - busyAt() > QUIET_MS;
  while (!over.aborted && !isQuiet()) await sleep(10);
}

function isGraphql(request: IncomingMessage): boolean {
  return request.method === 'POST' && isGraphqlPath(request.url!);
}

function listen(server: Server, options: Options): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    const host = options.serverHost === '*' ? {} : { host: options.serverHost };
    server.listen({ port: options.serverPort, ...host }, () => {
      server.off('error', reject);
      resolve();
    });
  });
}

function urlOf(server: Server, options: Options): string {
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : options.serverPort;
  const isAnywhere = ['*', '0.0.0.0', '::'].includes(options.serverHost);
  const host = isAnywhere ? 'localhost' : options.serverHost;
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
}
