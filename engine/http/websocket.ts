/** Handshakes of WebSockets at /v1/graphql, and the connections that come of them.
 *  A browser sends cookies along from any page, so an origin that may not call is refused here, and with CORS off cookies
 *  are not looked at. Not here: what is said over a connection (websocket-connection.ts). Reference: docs/reference/behaviour/subscriptions.md. */
import { type IncomingHttpHeaders, type IncomingMessage, type Server, STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import { WebSocketServer } from 'ws';
import { EngineError, toAdminBody } from '../errors/engine-error.ts';
import { addressOf } from './admit.ts';
import type { HttpContext } from './context.ts';
import { mayUseCredentials } from './cors.ts';
import { isSameOrigin, isToken } from './cross-site.ts';
import { isGraphqlPath, isRelayPath } from './graphql-path.ts';
import { retryAfter } from './refusal.ts';
import { requestIdOf } from './request-id.ts';
import { WebsocketConnection } from './websocket-connection.ts';
import { PROTOCOLS, protocolOf } from './websocket-messages.ts';

export type Websockets = {
  /** Takes no more; connections close as soon as their queries and mutations have answered. */
  readonly finish: () => void;
  /** Cuts off what is left; how many queries and mutations that were. */
  readonly terminate: () => number;
};

/** Only these; other upgrades a client offers (`h2c`) are declined by answering the request as it is. */
export function isWebsocketUpgrade(request: IncomingMessage): boolean {
  return request.headers.upgrade?.toLowerCase() === 'websocket';
}

export function acceptWebsockets(server: Server, context: HttpContext): Websockets {
  const connections = new Set<WebsocketConnection>();
  let isFinishing = false;
  const { live } = context;
  context.registry?.read('pergola_websocket_connections', () => [{ labels: {}, value: connections.size }]);
  context.registry?.read('pergola_active_subscriptions', () => [{ labels: {}, value: live.size }]);
  context.registry?.read('pergola_subscription_pollers', () => [{ labels: {}, value: live.pollerCount }]);
  const sockets = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    // One message of a socket in a turn of the event loop: hundreds that came in one packet must not hold up all other clients.
    allowSynchronousEvents: false,
    maxPayload: context.options.maxRequestBodyLength,
    handleProtocols: (offered) =>
      [...offered].find((name) => PROTOCOLS.some((protocol) => protocol.name === name)) ?? false,
  });
  server.on('upgrade', (request, duplex, head) => {
    const refusal = isFinishing
      ? new EngineError('resourceNotFound', {})
      : (refusalOf(context, request) ?? refusalOfMore(context, connections));
    if (refusal) {
      context.observe({
        kind: 'websocket',
        event: 'rejected',
        connectionId: requestIdOf(request),
        sessionVariables: null,
        expiresAt: null,
        detail: { reason: refusal.message },
      });
      return refuse(duplex, refusal);
    }
    sockets.handleUpgrade(request, duplex, head, (socket) => {
      const id = requestIdOf(request);
      const headers = believed(context, request.headers);
      const address = addressOf(request, context.options.trustedProxies);
      const protocol = protocolOf(socket.protocol);
      const isRelay = isRelayPath(request.url!);
      const connection = new WebsocketConnection({
        id,
        socket,
        duplex,
        protocol,
        isRelay,
        headers,
        address,
        context,
        live,
      });
      connections.add(connection);
      socket.once('close', () => connections.delete(connection));
    });
  });
  return {
    finish: () => {
      isFinishing = true;
      for (const connection of connections) connection.finish();
    },
    terminate: () => {
      const cutOff = [...connections].reduce((sum, { inFlight }) => sum + inFlight, 0);
      for (const connection of connections) connection.terminate();
      return cutOff;
    },
  };
}

function refusalOf(
  { options, corsHeaders, crossSite }: HttpContext,
  request: IncomingMessage,
): EngineError | null {
  const { origin } = request.headers;
  if (!isGraphqlPath(request.url!) || !options.enabledApis.includes('graphql')) {
    return new EngineError('resourceNotFound', {});
  }
  try {
    crossSite.checkSite(request);
  } catch (error) {
    if (error instanceof EngineError) return error;
    throw error;
  }
  if (origin === undefined || options.disableCors) return null;
  const isAllowed = corsHeaders(origin)['access-control-allow-origin'] !== undefined;
  return isAllowed ? null : new EngineError('originNotAllowed', {});
}

/** Clients that are not known yet may hold only so many connections. */
function refusalOfMore(
  { options, observe }: HttpContext,
  connections: ReadonlySet<WebsocketConnection>,
): EngineError | null {
  const most = options.maxUnauthenticatedWebsockets;
  if (connections.size < most) return null;
  let count = 0;
  for (const { isUnauthenticated } of connections) if (isUnauthenticated) count += 1;
  if (count < most) return null;
  observe({ kind: 'request refused', error: 'unauthenticated sockets' });
  return new EngineError('overloaded', { text: 'too many connections wait for connection_init' });
}

/** The headers that may say who asks. A browser sends cookies and stored passwords to a handshake from any page, so they count
 *  only from this origin and from those that may use credentials, or where no browser sent it; with CORS off, never. */
function believed({ options }: HttpContext, headers: IncomingHttpHeaders): IncomingHttpHeaders {
  const { origin, host } = headers;
  const isTrusted =
    !options.disableCors &&
    (origin === undefined || isSameOrigin(origin, host) || mayUseCredentials(options)(origin));
  if (isTrusted) return headers;
  const { cookie: _, authorization, ...others } = headers;
  return isToken(authorization) ? { ...others, authorization } : others;
}

function refuse(duplex: Duplex, error: EngineError): void {
  const body = JSON.stringify(toAdminBody(error, 'newer', false));
  duplex.on('error', () => {});
  duplex.write(
    `HTTP/1.1 ${error.status} ${STATUS_CODES[error.status]}\r\nConnection: close\r\n` +
      Object.entries(retryAfter(error))
        .map(([name, value]) => `${name}: ${value}\r\n`)
        .join('') +
      `Content-Type: application/json; charset=utf-8\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  );
  // A client that never closes its side must not keep the connection.
  duplex.once('finish', () => duplex.destroy());
  duplex.end();
}
