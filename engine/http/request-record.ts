/** What the engine knows about one HTTP request while it serves it: its id, its session and its error once they are known. The
 *  log line and some headers of the response are made from it.
 *  Not here: GraphQL operations, of which a request may hold several (operation.ts). */
import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { FastifyRequest } from 'fastify';
import { EngineError, fail } from '../errors/engine-error.ts';
import { RequestSignal } from '../limits/cancel-signal.ts';
import { Linked } from '../limits/linked-set.ts';
import { AnswerHolding } from '../limits/memory-budget.ts';
import type { Observe, RequestFinished } from '../observe/observation.ts';
import { ADMIN_ROLE, type Session } from '../resolve/session.ts';
import type { ByteReservation } from './body/byte-budget.ts';

/** One for each request, so that it holds nothing that only some requests need. It is a queue of bytes to send (body/send-queues.ts). */
export class RequestRecord extends Linked {
  readonly id: string;
  readonly startedAt = performance.now();
  readonly response: ServerResponse;
  readonly #observe: Observe;
  /** Aborted with `clientGone` when the client closes the connection before it has received the response. */
  readonly signal = new RequestSignal();
  /** The bytes of results and answers, until the response is closed. */
  readonly holding = new AnswerHolding();
  /** Null before authentication, and on public endpoints. */
  session: Session | null = null;
  /** The body of the error the client receives; null on success. */
  error: unknown = null;
  /** The parsed body of a GraphQL request, for the log of a failure; undefined until it is read. Arguments of admin operations are
   *  never kept, because they may hold secrets. */
  graphqlBody: unknown = undefined;
  /** Values of Set-Cookie headers that webhooks and remote schemas send to the client; null when there are none. */
  cookies: readonly string[] | null = null;
  /** The bytes of the budget that a long body holds until the response is closed; null for others. */
  reservation: ByteReservation | null = null;

  constructor(request: IncomingMessage, response: ServerResponse, observe: Observe) {
    super();
    this.id = requestIdOf(request);
    this.response = response;
    this.#observe = observe;
  }

  /** The response bytes that wait for the client. */
  get bytes(): number {
    return this.response.socket?.writableLength ?? 0;
  }

  /** Disconnects a client that does not read its response. */
  cut(limit: string): void {
    this.#observe({ kind: 'request refused', error: limit });
    this.response.destroy();
  }

  /** Called once, when the response is closed. */
  close(): void {
    this.reservation?.end();
    this.holding.release();
    if (!this.response.writableFinished) this.signal.abort(new EngineError('clientGone', {}));
  }
}

/** Longer request ids of clients are truncated, so that a client cannot fill the log. */
const MAX_ID_LENGTH = 200;

/** Returns the id of a request in logs and in its response: the client's `x-request-id`, or a new one. */
export function requestIdOf(request: IncomingMessage): string {
  const given = request.headers['x-request-id'];
  return typeof given === 'string' && given !== '' ? given.slice(0, MAX_ID_LENGTH) : randomUUID();
}

/** The records of requests that the framework handles. */
const records = new WeakMap<IncomingMessage, RequestRecord>();

export function keepRecord(request: IncomingMessage, record: RequestRecord): void {
  records.set(request, record);
}

/** Returns the record of a request that the framework handles. */
export function recordOf({ raw }: Pick<FastifyRequest, 'raw'>): RequestRecord {
  const record = records.get(raw);
  if (!record) throw new Error(`${raw.url} has no record`);
  return record;
}

/** Returns the session of a request to an endpoint behind authentication. */
export function sessionOf(request: FastifyRequest): Session {
  const { session } = recordOf(request);
  if (session === null) throw new Error(`${request.url} is not behind authentication`);
  return session;
}

/** Returns the session of an administrator. Raises `accessDenied` for any other role. */
export function adminSessionOf(request: FastifyRequest): Session {
  const session = sessionOf(request);
  return session.role === ADMIN_ROLE ? session : fail('accessDenied', {});
}

/** Returns the session of an administrator, or of a request with the console secret. Raises `accessDenied` for any other. */
export function readerSessionOf(request: FastifyRequest): Session {
  const session = sessionOf(request);
  return session.isConsole ? session : adminSessionOf(request);
}

/** Reports a request whose response has been handed to the socket. */
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
    mode: modeOf(record),
    error: record.error,
    query: record.error === null ? null : documentsOf(record.graphqlBody),
  });
}

function modeOf({ error, graphqlBody }: RequestRecord): RequestFinished['mode'] {
  if (error !== null) return 'error';
  if (graphqlBody === undefined) return 'non-graphql';
  return Array.isArray(graphqlBody) ? 'batched' : 'single';
}

/** Returns the documents of a GraphQL body without their variables. */
function documentsOf(body: unknown): unknown {
  if (Array.isArray(body)) return body.map(documentsOf);
  if (typeof body !== 'object' || body === null) return null;
  const { query, operationName } = body as { query?: unknown; operationName?: unknown };
  return { query, operationName };
}
