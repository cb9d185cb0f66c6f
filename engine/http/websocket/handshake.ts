/** WebSocket handshakes at the GraphQL paths, and the set of open connections. A browser sends cookies with a
 *  handshake from any page, so another origin that may not call is refused here. With CORS off, cookies are ignored unless --ws-read-cookie.
 *  Not here: messages of a connection (connection.ts). Reference: docs/reference/behaviour/subscriptions.md. */
import type { IncomingHttpHeaders, IncomingMessage, Server } from 'node:http';
import type { Socket } from 'node:net';
import { WebSocketServer } from 'ws';
import { keepLastHeader } from '../../auth/session-variables.ts';
import { EngineError } from '../../errors/engine-error.ts';
import { TimerWheel } from '../../limits/timer-wheel.ts';
import type { HttpContext } from '../context.ts';
import { mayUseCredentials } from '../cors.ts';
import { isOwnOrigin, isToken } from '../cross-site.ts';
import { writeError } from '../error-response.ts';
import { isGraphqlPath, isOlderPath, isRelayPath } from '../graphql-request.ts';
import { addressOf } from '../operation.ts';
import { requestIdOf } from '../request-record.ts';
import { WebsocketConnection } from './connection.ts';
import { WEBSOCKET_TICK_MS } from './keepalive.ts';
import { PROTOCOLS, protocolOf } from './messages.ts';

type Websockets = {
  /** Refuses new connections. Open ones close as soon as their queries and mutations have answered. */
  readonly finish: () => void;
  /** Cuts off the remaining connections. Returns the number of queries and mutations that were cut off. */
  readonly terminate: () => number;
};

/** True for WebSockets. Other upgrades (`h2c`) are declined: the request is answered over HTTP/1.1. */
export function isWebsocketUpgrade(request: IncomingMessage): boolean {
  return request.headers.upgrade?.toLowerCase() === 'websocket';
}

export function acceptWebsockets(server: Server, context: HttpContext): Websockets {
  const connections = new Set<WebsocketConnection>();
  const wheel = new TimerWheel(WEBSOCKET_TICK_MS);
  let isFinishing = false;
  const { live } = context;
  context.registry?.read('pergola_websocket_connections', () => [{ labels: {}, value: connections.size }]);
  context.registry?.read('pergola_active_subscriptions', () => [{ labels: {}, value: live.size }]);
  context.registry?.read('pergola_subscription_pollers', () => [{ labels: {}, value: live.pollerCount }]);
  const sockets = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    // Handles one message of a socket per turn of the event loop: hundreds in one packet must not delay other
    // clients.
    allowSynchronousEvents: false,
    maxPayload: context.options.maxRequestBodyLength,
    handleProtocols: (offered) =>
      [...offered].find((name) => PROTOCOLS.some((protocol) => protocol.name === name)) ?? false,
  });
  server.on('upgrade', (request, duplex, head) => {
    keepLastHeader(request, context.options.headerPrefix);
    const refusal = isFinishing
      ? new EngineError('resourceNotFound', {})
      : (refusalReason(context, request) ?? tooManyUnauthenticated(context, connections));
    if (refusal) {
      context.observe({
        kind: 'websocket',
        event: 'rejected',
        connectionId: requestIdOf(request),
        sessionVariables: null,
        expiresAt: null,
        detail: { reason: refusal.message },
      });
      return writeError(duplex, refusal);
    }
    sockets.handleUpgrade(request, duplex, head, (socket) => {
      const id = requestIdOf(request);
      const headers = credentialHeaders(context, request.headers);
      const address = addressOf(request, context.options.trustedProxies);
      const protocol = protocolOf(socket.protocol, isOlderPath(request.url!));
      const isRelay = isRelayPath(request.url!);
      const connection = new WebsocketConnection({
        id,
        socket,
        // Node's type is that of any stream.
        duplex: duplex as Socket,
        protocol,
        isRelay,
        headers,
        address,
        context,
        live,
        wheel,
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

function refusalReason(
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
  const isAllowed =
    isOwnOrigin(request.headers) || corsHeaders(origin)['access-control-allow-origin'] !== undefined;
  return isAllowed ? null : new EngineError('originNotAllowed', {});
}

/** Limits the number of connections without authentication. */
function tooManyUnauthenticated(
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

/** Returns the headers that may authenticate the client. Browsers send cookies and stored passwords with a handshake
 *  from any page, so these count only from this origin, from origins that may use credentials, and without an origin;
 *  with CORS off they count only with --ws-read-cookie. */
function credentialHeaders({ options }: HttpContext, headers: IncomingHttpHeaders): IncomingHttpHeaders {
  const { origin } = headers;
  const isTrusted = options.disableCors
    ? options.wsReadCookie
    : origin === undefined || isOwnOrigin(headers) || mayUseCredentials(options)(origin);
  if (isTrusted) return headers;
  const { cookie: _, authorization, ...others } = headers;
  return isToken(authorization) ? { ...others, authorization } : others;
}
