/** The server: one node:http listener. GraphQL requests go straight to graphql.ts, REST requests to rest.ts,
 *  everything else to app.ts, and WebSockets to websocket/handshake.ts.
 *  In: options, state, telemetry. Out: the URL it listens at, and a `close` that lets requests in flight finish.
 *  Not here: what an endpoint does (its own file). */
import { createServer, type IncomingMessage, type Server } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { keepLastHeader } from '../auth/session-variables.ts';
import type { Options } from '../config/options.ts';
import { ended, type Grace } from '../limits/grace.ts';
import { LinkedSet } from '../limits/linked-set.ts';
import { SHARED_MEMORY } from '../limits/memory-budget.ts';
import type { Observe } from '../observe/observation.ts';
import type { EngineState } from '../state/state.ts';
import { buildApp } from './app.ts';
import { discardUnreadBody } from './body/read-body.ts';
import { createContext, type HttpContext } from './context.ts';
import { MAX_HEADERS } from './error-response.ts';
import { graphqlHandler } from './graphql.ts';
import { isGraphqlPath } from './graphql-request.ts';
import { keepRecord, RequestRecord } from './request-record.ts';
import { isRest, restHandler } from './rest.ts';
import type { TelemetrySources } from './tracing.ts';
import { acceptWebsockets, isWebsocketUpgrade } from './websocket/handshake.ts';

export type HttpServer = {
  /** The address of the server, for example `http://localhost:8080`. */
  readonly url: string;
  /** Lets every answer from now on end its connection, and serves on for so long: load balancers go on sending requests meanwhile. */
  readonly drain: (ms: number) => Promise<void>;
  /** Stops accepting requests and waits for those in flight. Returns the number of requests that were cut off at the
   *  deadline. */
  readonly close: (grace: Grace) => Promise<number>;
};

/** Longer than load balancers keep an idle connection (60 s is usual), so that they close it first. Otherwise the
 *  engine could close a connection while a request is on its way. */
const KEEP_ALIVE_MS = 75_000;

/** The interval of checks for connections without a complete request. */
const CHECK_HEADERS_MS = 1000;

/** After this time without a request, connections count as idle. */
const QUIET_MS = 200;
/** The longest wait for idle connections; load balancers take about as long to choose another replica. */
const LINGER_MS = 2000;

export async function openServer(
  options: Options,
  state: EngineState,
  observe: Observe,
  { registry, asyncActions, tap }: Pick<HttpContext, 'registry' | 'asyncActions'> & TelemetrySources,
): Promise<HttpServer> {
  const context = await createContext(options, state, observe, { registry, asyncActions, tap });
  const hasGraphql = options.enabledApis.includes('graphql');
  const answerGraphql = graphqlHandler(context);
  const answerRest = restHandler(context);
  const inFlight = new LinkedSet<RequestRecord>();
  context.sendQueues.addAll(inFlight);
  /** The time at which the last request arrived or was answered. */
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
        const record = new RequestRecord(request, response, observe);
        inFlight.add(record);
        busyAt = record.startedAt;
        response.on('close', () => {
          inFlight.delete(record);
          record.close();
          discardUnreadBody(request);
          busyAt = performance.now();
        });
        if (context.life.isStopping) response.setHeader('connection', 'close');
        keepLastHeader(request, options.headerPrefix);
        context.crossSite.dropForeignCookies(request.headers);
        if (hasGraphql && isGraphql(request)) answerGraphql(request, response, record);
        else if (hasGraphql && isRest(request)) answerRest(request, response, record);
        else {
          keepRecord(request, record);
          handle(request, response);
        }
      },
    ),
  );
  app.server.maxHeadersCount = MAX_HEADERS;
  const websockets = acceptWebsockets(app.server, context);
  readTraffic(context, inFlight);
  await listen(app.server, options);
  return {
    url: urlOf(app.server, options),
    drain: (ms) => {
      announceEnd(context, inFlight);
      return sleep(ms);
    },
    close: async ({ over, cut }) => {
      announceEnd(context, inFlight);
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

/** Lets every answer that has not begun tell its client to close the connection. */
function announceEnd({ life }: HttpContext, inFlight: Iterable<RequestRecord>): void {
  life.isStopping = true;
  for (const { response } of inFlight) if (!response.headersSent) response.setHeader('connection', 'close');
}

/** Registers the metrics of requests in flight, collected when they are scraped. */
function readTraffic(
  { registry, budget, sendQueues }: HttpContext,
  inFlight: { readonly size: number },
): void {
  registry?.read('pergola_http_requests_in_flight', () => [{ labels: {}, value: inFlight.size }]);
  registry?.read('pergola_request_bytes_in_flight', () => [{ labels: {}, value: budget.held }]);
  registry?.read('pergola_answer_bytes_in_flight', () => [{ labels: {}, value: SHARED_MEMORY.held }]);
  registry?.read('pergola_queued_bytes', () => [{ labels: {}, value: sendQueues.totalBytes }]);
}

/** Waits for a pause between requests. Until then every response tells its client to close the connection, so that
 *  none is closed while a request is on its way. Clients that have not noticed the shutdown are still served. */
async function quiet(busyAt: () => number, over: AbortSignal): Promise<void> {
  const until = performance.now() + LINGER_MS;
  const isQuiet = () => performance.now() > until || performance.now() - busyAt() > QUIET_MS;
  while (!over.aborted && !isQuiet()) await sleep(10);
}

function isGraphql(request: IncomingMessage): boolean {
  return (request.method === 'POST' || request.method === 'GET') && isGraphqlPath(request.url!);
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
