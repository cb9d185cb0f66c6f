/** One request on its way: its id, and who asks and what went wrong as they become known. The log line is made of it.
 *  Requests that pass through the framework carry theirs in a WeakMap, so that its types stay as they are. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { FastifyRequest } from 'fastify';
import { EngineError, fail } from '../errors/engine-error.ts';
import type { Observe } from '../observe/observation.ts';
import { ADMIN_ROLE, type Session } from '../resolve/session.ts';

export type RequestRecord = {
  readonly id: string;
  readonly startedAt: number;
  /** Aborted when the client closes the connection before it has the response. */
  signal: AbortSignal | undefined;
  /** Null before authentication, and on public endpoints. */
  session: Session | null;
  /** The error body sent; null while all is well. */
  error: unknown;
  /** The GraphQL request or requests, for the log of a failure. Arguments of operations are never kept: they hold secrets. */
  graphqlBody: unknown;
  /** Values of Set-Cookie headers that webhooks and remote schemas have for the client; null while there are none. */
  cookies: readonly string[] | null;
};

export function newRecord(id: string, signal?: AbortSignal): RequestRecord {
  return {
    id,
    startedAt: performance.now(),
    signal,
    session: null,
    cookies: null,
    error: null,
    graphqlBody: null,
  };
}

export function disconnectSignal(response: ServerResponse): AbortSignal {
  const gone = new AbortController();
  response.once('close', () => {
    if (!response.writableFinished) gone.abort(new EngineError('clientGone', {}));
  });
  return gone.signal;
}

const records = new WeakMap<FastifyRequest, RequestRecord>();

export function recordOf(request: FastifyRequest): RequestRecord {
  const known = records.get(request);
  if (known !== undefined) return known;
  const record = newRecord(request.id);
  records.set(request, record);
  return record;
}

/** The session of a request behind authentication. */
export function sessionOf(request: FastifyRequest): Session {
  const { session } = recordOf(request);
  if (session === null) throw new Error(`${request.url} is not behind authentication`);
  return session;
}

/** Raises `accessDenied` for any other role. */
export function adminSessionOf(request: FastifyRequest): Session {
  const session = sessionOf(request);
  return session.role === ADMIN_ROLE ? session : fail('accessDenied', {});
}

/** Tells the log that the response has been handed to the socket. */
export function logRequest(
  observe: Observe,
  record: RequestRecord,
  request: IncomingMessage,
  response: { readonly status: number; readonly sizeBytes: number },
): void {
  observe({
    kind: 'request finished',
    requestId: record.id,
    method: request.method ?? '',
    path: request.url?.split('?', 1)[0] ?? '',
    ip: request.socket.remoteAddress,
    httpVersion: request.httpVersion,
    status: response.status,
    durationMs: performance.now() - record.startedAt,
    responseSizeBytes: response.sizeBytes,
    sessionVariables: record.session?.variables ?? null,
    error: record.error,
    query: record.error === null ? null : documentsOf(record.graphqlBody),
  });
}

/** The documents asked, without their variables. */
function documentsOf(body: unknown): unknown {
  if (Array.isArray(body)) return body.map(documentsOf);
  if (typeof body !== 'object' || body === null) return null;
  const { query, operationName } = body as { query?: unknown; operationName?: unknown };
  return { query, operationName };
}
