/** One request of GraphQL over HTTP to a remote schema, over connections that are kept alive. Node's own client and not fetch: a
 *  third of its CPU, and the body arrives in one buffer of its size. Redirects are not followed: they could lead anywhere.
 *  In: endpoint, body, who asks. Out: status, headers and bytes. Raises `remoteSchemaUnreachable`, whose `internal` says why.
 *  Not here: what is asked (plan/remote-schema.ts), what the bytes say (remote-answer.ts). Reference: features.md rows 110–113. */
import {
  Agent,
  type ClientRequest,
  type IncomingHttpHeaders,
  type IncomingMessage,
  request as requestHttp,
} from 'node:http';
import { request as requestHttps, Agent as TlsAgent } from 'node:https';
import { EngineError } from '../errors/engine-error.ts';
import { SESSION_PREFIX, type Session } from '../resolve/session.ts';
import type { RemoteEndpoint } from '../resolve/types.ts';
import { configuredHeaders, filledIn, forwardedHeaders, type Outward, WebhookFailure } from './webhook.ts';

export type RemoteAnswer = {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
};

export type RemoteAsker = {
  readonly session: Session;
  readonly outward: Outward;
  /** Of the role; null: only the endpoint's own. */
  readonly timeLimitMs?: number | null;
  /** May be asked a second time when a connection that lay idle turns out to be dead. */
  readonly isRepeatable: boolean;
};

/** Longer answers are cut off: they would not leave room for others. */
const MOST_BYTES = 256 * 1024 * 1024;

const AGENT = new Agent({ keepAlive: true });
const TLS_AGENT = new TlsAgent({ keepAlive: true });

/** Why there is no answer; told to administrators. */
class Unanswered extends Error {
  readonly isStale: boolean;

  constructor(message: string, isStale = false) {
    super(message);
    this.isStale = isStale;
  }
}

export async function askRemote(
  endpoint: RemoteEndpoint,
  body: string,
  asker: RemoteAsker,
): Promise<RemoteAnswer> {
  const timeoutMs = Math.min(endpoint.timeoutSeconds * 1000, asker.timeLimitMs ?? Number.POSITIVE_INFINITY);
  try {
    const url = new URL(filledIn(endpoint.url, asker.outward.env));
    const headers = headersFor(endpoint, asker, body);
    const sending = { url, headers, body, timeoutMs };
    return await send(sending).catch((error: unknown) => {
      if (error instanceof Unanswered && error.isStale && asker.isRepeatable) return send(sending);
      throw error;
    });
  } catch (error) {
    const message = messageOf(error);
    const internal = { type: 'http_exception', message };
    throw new EngineError('remoteSchemaUnreachable', { url: endpoint.url }, [], internal);
  }
}

/** Names no resolved value: the environment may hold secrets. */
function messageOf(error: unknown): string {
  if (error instanceof Unanswered || error instanceof WebhookFailure) return error.message;
  const { code } = error as { readonly code?: unknown };
  if (code === 'ERR_INVALID_URL') return 'Invalid URL';
  return `Connection failure: ${typeof code === 'string' ? code : 'unknown'}`;
}

/** The metadata's before session variables, those before the client's own. */
function headersFor(
  endpoint: RemoteEndpoint,
  { session, outward }: RemoteAsker,
  body: string,
): Readonly<Record<string, string | number>> {
  return {
    ...(endpoint.forwardsClientHeaders ? clientHeaders(outward) : {}),
    ...sessionHeaders(session, outward),
    'content-type': 'application/json',
    ...Object.fromEntries(configuredHeaders(endpoint, outward.env)),
    'content-length': Buffer.byteLength(body),
  };
}

/** Whoever is not trusted to say so must not seem to have session variables. */
function clientHeaders(outward: Outward): Readonly<Record<string, string>> {
  const forwarded = forwardedHeaders({}, outward);
  return Object.fromEntries(forwarded.filter(([name]) => !name.startsWith(outward.headerPrefix)));
}

function sessionHeaders({ variables }: Session, { headerPrefix }: Outward): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(variables).map(([name, value]) => [
      headerPrefix + name.slice(SESSION_PREFIX.length),
      value,
    ]),
  );
}

type Sending = {
  readonly url: URL;
  readonly headers: Readonly<Record<string, string | number>>;
  readonly body: string;
  readonly timeoutMs: number;
};

function send({ url, headers, body, timeoutMs }: Sending): Promise<RemoteAnswer> {
  return new Promise((resolve, reject) => {
    const isTls = url.protocol === 'https:';
    const options = { method: 'POST', headers, agent: isTls ? TLS_AGENT : AGENT };
    const request: ClientRequest = isTls ? requestHttps(url, options) : requestHttp(url, options);
    const end = (settle: () => void) => {
      clearTimeout(timer);
      settle();
    };
    const refuse = (error: Error) => end(() => reject(error));
    const timer = setTimeout(() => {
      refuse(new Unanswered('Response timeout'));
      request.destroy();
    }, timeoutMs);
    request.on('error', (error: NodeJS.ErrnoException) => {
      const isStale = request.reusedSocket && error.code === 'ECONNRESET';
      refuse(new Unanswered(`Connection failure: ${error.code ?? error.message}`, isStale));
    });
    request.on('response', (response) => {
      bytesOf(response).then(
        (bytes) =>
          end(() => resolve({ status: response.statusCode ?? 0, headers: response.headers, body: bytes })),
        (error: Error) => {
          refuse(error);
          request.destroy();
        },
      );
    });
    request.end(body);
  });
}

/** In one buffer: of the announced length, so that a long body is not in memory twice. */
async function bytesOf(response: IncomingMessage): Promise<Buffer> {
  const { statusCode = 0 } = response;
  if (statusCode >= 300 && statusCode < 400) {
    throw new Unanswered(`Redirects are not followed (status ${statusCode})`);
  }
  const announced = Number(response.headers['content-length'] ?? 0);
  if (announced > MOST_BYTES) throw new Unanswered(`The response is longer than ${MOST_BYTES} bytes`);
  let bytes: Buffer = Buffer.allocUnsafe(announced || 16_384);
  let length = 0;
  try {
    for await (const chunk of response as AsyncIterable<Buffer>) {
      if (length + chunk.length > MOST_BYTES) break;
      bytes = withRoom(bytes, length, length + chunk.length);
      length += chunk.copy(bytes, length);
    }
  } catch {
    throw new Unanswered('The response was cut off');
  }
  if (!response.complete)
    throw new Unanswered(`The response was cut off, or is longer than ${MOST_BYTES} bytes`);
  return bytes.subarray(0, length);
}

function withRoom(bytes: Buffer, used: number, needed: number): Buffer {
  if (needed <= bytes.length) return bytes;
  const larger = Buffer.allocUnsafe(Math.max(needed, 2 * bytes.length));
  bytes.copy(larger, 0, 0, used);
  return larger;
}
