/** Sends one GraphQL request over HTTP to a remote schema. A redirect counts as a failure.
 *  In: an endpoint, a body, the origin of the request. Out: status, headers and bytes. Raises `remoteSchemaUnreachable`, whose
 *  `internal` gives the cause. Not here: connections (outgoing/), the document (plan/remote-schema.ts), the fields of an answer
 *  (answer.ts). Reference: docs/reference/behaviour/remote-schemas.md. */
import { EngineError } from '../errors/engine-error.ts';
import { quotedText } from '../errors/quoted.ts';
import { LONGEST_MS, timerMs } from '../metadata/schema/number.ts';
import { fillTemplate } from '../metadata/variables.ts';
import { observeCall } from '../observe/webhook-call.ts';
import { type OutgoingResponse, sendRequest } from '../outgoing/http-client.ts';
import { NoResponse } from '../outgoing/no-response.ts';
import type { RemoteEndpoint } from '../resolve/model/remote-schema.ts';
import { SESSION_PREFIX, type Session } from '../resolve/session.ts';
import type { UpstreamSchema } from '../resolve/upstream.ts';
import {
  configuredHeaders,
  forwardedHeaders,
  type OutboundContext,
  WebhookFailure,
} from '../webhook/outbound.ts';

export type RequestOrigin = {
  readonly session: Session;
  readonly outbound: OutboundContext;
  /** The time limit of the role. Null: only the endpoint's own timeout applies. */
  readonly timeLimitMs?: number | null;
  /** True when the request may be sent again after an idle connection turns out to be closed. */
  readonly isRepeatable: boolean;
  /** The schema of the service at its last introspection. Cached answers are valid only as long as it is. */
  readonly schema?: UpstreamSchema;
  /** True when the answer will be parsed. */
  readonly isParsed?: boolean;
  /** A limit of the answer's length below the general one, and the error for a longer answer. */
  readonly limit?: { readonly bytes: number; readonly exceeded: EngineError };
};

/** A longer answer is an error. On small machines the memory for answers ends earlier (outgoing/answer-memory.ts). */
const MOST_BYTES = 256 * 1024 * 1024;

export async function postToRemote(
  endpoint: RemoteEndpoint,
  body: string,
  origin: RequestOrigin,
): Promise<OutgoingResponse> {
  const { outbound, isRepeatable, schema, isParsed, limit } = origin;
  const { remoteCache } = outbound;
  try {
    const url = fillTemplate(endpoint.url, outbound.variables);
    const headers = headersFor(endpoint, origin);
    const call = { purpose: 'remote-schema', url: endpoint.url, method: 'POST' } as const;
    const terms = {
      timeoutMs: timeoutMsOf(endpoint, origin),
      mostBytes: limit?.bytes ?? MOST_BYTES,
      memory: outbound.memory,
      isParsed,
      isRepeatable,
      trusts: outbound.trusts,
      signal: outbound.signal,
    };
    const fetch = () =>
      observeCall(call, outbound, (traceHeaders) => {
        const sent = Object.entries({ ...headers, ...traceHeaders });
        return sendRequest({ url, method: 'POST', headers: sent, body }, terms);
      });
    const isCacheable = isRepeatable && schema !== undefined && remoteCache != null;
    const answer = await (isCacheable ? remoteCache.answer(schema, [url, headers, body], fetch) : fetch());
    if (answer.status < 300 || answer.status >= 400) return answer;
    throw new WebhookFailure(`Redirects are not followed (status ${answer.status})`);
  } catch (error) {
    if (limit && error instanceof NoResponse && error.why === 'too long') throw limit.exceeded;
    throw unreachable(endpoint, messageOf(error));
  }
}

/** The type of `internal` when a service has not answered. */
export const HTTP_EXCEPTION = 'http_exception';

/** Returns the error for a remote schema without an answer. Only administrators see `message`. */
export function unreachable({ url }: RemoteEndpoint, message: string): EngineError {
  const internal = { type: HTTP_EXCEPTION, message: quotedText(message) };
  return new EngineError('remoteSchemaUnreachable', { url }, [], internal);
}

export function timeoutMsOf(
  { timeoutSeconds }: RemoteEndpoint,
  { timeLimitMs }: Pick<RequestOrigin, 'timeLimitMs'>,
): number {
  return Math.min(timerMs(timeoutSeconds), timeLimitMs ?? LONGEST_MS);
}

/** Returns the cause of a failure for administrators. Rethrows what is not a failure of the request. */
export function messageOf(error: unknown): string {
  if (error instanceof WebhookFailure) return error.message;
  if (!(error instanceof NoResponse)) throw error;
  switch (error.why) {
    case 'timeout':
      return 'Response timeout';
    case 'connection':
      return `Connection failure: ${error.message}`;
    case 'invalid':
      return error.message === 'ERR_INVALID_URL' ? 'Invalid URL' : `Invalid request: ${error.message}`;
    case 'cut off':
    case 'too long':
      return `No whole response: ${error.message}`;
    default:
      return error.why satisfies never;
  }
}

/** Returns the headers of the request. The metadata's headers take precedence over session variables, and those over the client's
 *  headers. */
export function headersFor(
  endpoint: RemoteEndpoint,
  { session, outbound }: Pick<RequestOrigin, 'session' | 'outbound'>,
): Readonly<Record<string, string>> {
  return {
    ...(endpoint.forwardsClientHeaders ? clientHeaders(outbound) : {}),
    ...sessionHeaders(session, outbound),
    'content-type': 'application/json',
    ...Object.fromEntries(configuredHeaders(endpoint, outbound.variables)),
  };
}

/** Headers of the client that look like session variables are left out: a client could send any. */
function clientHeaders(outbound: OutboundContext): Readonly<Record<string, string>> {
  return Object.fromEntries(forwardedHeaders({}, { sessionVariables: {} }, outbound));
}

function sessionHeaders(
  { variables }: Session,
  { headerPrefix }: OutboundContext,
): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(variables).map(([name, value]) => [
      headerPrefix + name.slice(SESSION_PREFIX.length),
      value,
    ]),
  );
}
