/** One request of GraphQL over HTTP to a remote schema. A redirect is no answer.
 *  In: endpoint, body, who asks. Out: status, headers and bytes. Raises `remoteSchemaUnreachable`, whose `internal` says why.
 *  Not here: connections (outgoing/), what is asked (plan/remote-schema.ts), what the bytes say (remote-answer.ts).
 *  Reference: docs/reference/behaviour/remote-schemas.md. */
import { EngineError } from '../errors/engine-error.ts';
import { LONGEST_MS, timerMs } from '../metadata/schema/number.ts';
import { fillTemplate } from '../metadata/variables.ts';
import { observeCall } from '../observe/webhook-call.ts';
import { NoResponse, type OutgoingResponse, sendRequest } from '../outgoing/http-client.ts';
import { SESSION_PREFIX, type Session } from '../resolve/session.ts';
import type { RemoteEndpoint } from '../resolve/types.ts';
import type { UpstreamSchema } from '../resolve/upstream.ts';
import { configuredHeaders, forwardedHeaders, type OutboundContext, WebhookFailure } from './webhook.ts';

export type RemoteAsker = {
  readonly session: Session;
  readonly outbound: OutboundContext;
  /** Of the role; null: only the endpoint's own. */
  readonly timeLimitMs?: number | null;
  /** May be asked a second time when a connection that lay idle turns out to be dead. */
  readonly isRepeatable: boolean;
  /** What the service said of itself when it was last introspected: its answers are kept no longer than that. */
  readonly schema?: UpstreamSchema;
};

/** Longer answers are cut off: they would not leave room for others. */
const MOST_BYTES = 256 * 1024 * 1024;

export async function askRemote(
  endpoint: RemoteEndpoint,
  body: string,
  asker: RemoteAsker,
): Promise<OutgoingResponse> {
  const { outbound, isRepeatable, schema } = asker;
  const { remoteCache } = outbound;
  try {
    const url = fillTemplate(endpoint.url, outbound.variables);
    const headers = headersFor(endpoint, asker);
    const asking = { purpose: 'remote-schema', url: endpoint.url, method: 'POST' } as const;
    const terms = {
      timeoutMs: timeoutMsOf(endpoint, asker),
      mostBytes: MOST_BYTES,
      isRepeatable,
      trusts: outbound.trusts,
      signal: outbound.signal,
    };
    const ask = () =>
      observeCall(asking, outbound, (traceHeaders) => {
        const sent = Object.entries({ ...headers, ...traceHeaders });
        return sendRequest({ url, method: 'POST', headers: sent, body }, terms);
      });
    const isKept = isRepeatable && schema !== undefined && remoteCache !== undefined;
    const answer = await (isKept ? remoteCache.answer(schema, [url, headers, body], ask) : ask());
    if (answer.status < 300 || answer.status >= 400) return answer;
    throw new WebhookFailure(`Redirects are not followed (status ${answer.status})`);
  } catch (error) {
    throw unreachable(endpoint, messageOf(error));
  }
}

/** `message` is for administrators. */
export function unreachable({ url }: RemoteEndpoint, message: string): EngineError {
  return new EngineError('remoteSchemaUnreachable', { url }, [], { type: 'http_exception', message });
}

export function timeoutMsOf(
  { timeoutSeconds }: RemoteEndpoint,
  { timeLimitMs }: Pick<RemoteAsker, 'timeLimitMs'>,
): number {
  return Math.min(timerMs(timeoutSeconds), timeLimitMs ?? LONGEST_MS);
}

/** Told to administrators. */
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

/** The metadata's before session variables, those before the client's own. */
export function headersFor(
  endpoint: RemoteEndpoint,
  { session, outbound }: Pick<RemoteAsker, 'session' | 'outbound'>,
): Readonly<Record<string, string>> {
  return {
    ...(endpoint.forwardsClientHeaders ? clientHeaders(outbound) : {}),
    ...sessionHeaders(session, outbound),
    'content-type': 'application/json',
    ...Object.fromEntries(configuredHeaders(endpoint, outbound.variables)),
  };
}

/** Whoever is not trusted to say so must not seem to have session variables. */
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
