/** Sends all HTTP requests to other services: over kept-alive connections, with a limit for the total time, a limit
 *  for the size of the response, and an allow list of hosts with self-signed certificates. It uses Node's own client
 *  and not fetch, which takes three times the CPU, returns the body in many pieces and sends a User-Agent. Redirects
 *  are not followed, because they could lead anywhere; they are responses like others. Addresses are checked when a
 *  connection is opened (addresses.ts). Raises NoResponse.
 *  Not here: the body of a response (response-body.ts), what is sent and what a response means (auth/, remote/, webhook/), telemetry
 *  (observe/webhook-call.ts). */
import {
  Agent,
  type ClientRequest,
  type IncomingHttpHeaders,
  type IncomingMessage,
  request as requestHttp,
} from 'node:http';
import { type AgentOptions, request as requestHttps, Agent as TlsAgent } from 'node:https';
import type { TLSSocket } from 'node:tls';
import type { CancelSignal } from '../limits/cancel-signal.ts';
import { LONGEST_MS } from '../metadata/schema/number.ts';
import { guardedAgent, isLoopbackHost } from './addresses.ts';
import { headerBytes } from './header-values.ts';
import { NoResponse } from './no-response.ts';
import { type BodyLimits, readBody } from './response-body.ts';
import { isAllowedFault, type TrustsSelfSigned } from './tls-allowlist.ts';

export type OutgoingRequest = {
  /** A user and password in it are sent as Basic credentials. */
  readonly url: string;
  readonly method: string;
  /** Values are text; they are sent as UTF-8. */
  readonly headers: Iterable<readonly [string, string]>;
  /** Null for a request without a body. */
  readonly body: string | null;
};

export type OutgoingOptions = BodyLimits & {
  readonly timeoutMs: number;
  /** True when the request may be sent a second time, because an idle connection turned out to be closed. */
  readonly isRepeatable: boolean;
  readonly trusts?: TrustsSelfSigned | undefined;
  /** Aborted when the caller no longer waits; its reason is raised. */
  readonly signal?: CancelSignal | undefined;
};

export type OutgoingResponse = {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** The body after decoding. */
  readonly body: Buffer;
};

/** Shorter than services and load balancers keep an idle connection (60 s is usual), so that the engine closes it
 *  first. */
const IDLE_MS = 30_000;
const KEPT: AgentOptions = { keepAlive: true, timeout: IDLE_MS };

/** Accepts the certificate faults of the allow list. On any other fault it closes the connection before anything is
 *  sent. */
export class SelfSignedAgent extends TlsAgent {
  override createConnection(...args: Parameters<TlsAgent['createConnection']>) {
    const socket = super.createConnection(...args) as TLSSocket;
    socket.once('secureConnect', () => {
      const code = String(socket.authorizationError);
      if (!socket.authorized && !isAllowedFault(code)) {
        socket.destroy(Object.assign(new Error('the certificate is refused'), { code }));
      }
    });
    return socket;
  }
}

const AGENT = guardedAgent(new Agent(KEPT), isLoopbackHost);
const TLS_AGENT = guardedAgent(new TlsAgent(KEPT), isLoopbackHost);
const SELF_SIGNED_AGENT = guardedAgent(
  new SelfSignedAgent({ ...KEPT, rejectUnauthorized: false }),
  isLoopbackHost,
);

/** Returns the agent for a URL, also for clients other than this one. */
export function agentFor(url: URL, trusts?: TrustsSelfSigned): Agent {
  if (url.protocol !== 'https:') return AGENT;
  return trusts?.(url) ? SELF_SIGNED_AGENT : TLS_AGENT;
}

/** Headers about the bytes on the connection, which only this client may set. */
const RESERVED_HEADERS: ReadonlySet<string> = new Set(['content-length', 'transfer-encoding']);

export async function sendRequest(
  request: OutgoingRequest,
  options: OutgoingOptions,
): Promise<OutgoingResponse> {
  return send(request, options).catch((error: unknown) => {
    if (options.isRepeatable && error instanceof NoResponse && error.isStale) return send(request, options);
    throw error;
  });
}

async function send(request: OutgoingRequest, options: OutgoingOptions): Promise<OutgoingResponse> {
  const { response, body } = await roundTrip(opened(request, options), request.body, options);
  return { status: response.statusCode ?? 0, headers: response.headers, body };
}

function opened(
  { url, method, headers }: OutgoingRequest,
  { trusts }: Pick<OutgoingOptions, 'trusts'>,
): ClientRequest {
  try {
    const parsed = new URL(url);
    const isTls = parsed.protocol === 'https:';
    const sent = [...headers].filter(([name]) => !RESERVED_HEADERS.has(name));
    const values = Object.fromEntries(sent.map(([name, value]) => [name, headerBytes(value)]));
    const options = { method, headers: values, agent: agentFor(parsed, trusts) };
    return isTls ? requestHttps(parsed, options) : requestHttp(parsed, options);
  } catch (error) {
    throw new NoResponse('invalid', codeOf(error) ?? 'the request is invalid');
  }
}

/** Returns the response once its headers have arrived. Its body may be endless; the caller reads or destroys it. */
export function requestStream(
  request: OutgoingRequest,
  {
    signal,
    timeoutMs,
    trusts,
  }: Pick<OutgoingOptions, 'timeoutMs' | 'trusts'> & { readonly signal: CancelSignal },
): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const sent = opened(request, { trusts });
    const abort = () => sent.destroy();
    const timer = setTimeout(() => {
      reject(new NoResponse('timeout', `no answer in ${timeoutMs / 1000} s`));
      abort();
    }, timeoutMs);
    signal.addEventListener('abort', { handleEvent: abort });
    sent.once('close', () => clearTimeout(timer));
    sent.on('error', (error) =>
      reject(new NoResponse('connection', codeOf(error) ?? 'it cannot be reached')),
    );
    sent.once('response', (response) => {
      clearTimeout(timer);
      resolve(response);
    });
    finish(sent, request.body);
  });
}

/** Node writes headers and a text at once, in the encoding of the text, which for headers is Latin-1. A body with other characters is sent
 *  as bytes, after the headers. */
function finish(request: ClientRequest, body: string | null): void {
  if (body === null) request.end();
  else if (Buffer.byteLength(body) === body.length) request.end(body, 'latin1');
  else request.end(Buffer.from(body));
}

type RoundTrip = { readonly response: IncomingMessage; readonly body: Buffer };

function roundTrip(
  request: ClientRequest,
  body: string | null,
  { timeoutMs, signal, ...limits }: OutgoingOptions,
): Promise<RoundTrip> {
  return new Promise((resolve, reject) => {
    const end = (settle: () => void) => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', gone);
      settle();
    };
    const abort = () => {
      refuse(signal?.reason);
      request.destroy();
    };
    const gone = { handleEvent: abort };
    const refuse = (error: unknown) => end(() => reject(error));
    const timer = setTimeout(
      () => {
        refuse(new NoResponse('timeout', `no answer in ${timeoutMs / 1000} s`));
        request.destroy();
      },
      Math.min(timeoutMs, LONGEST_MS),
    );
    if (signal?.aborted) return abort();
    signal?.addEventListener('abort', gone);
    request.on('error', (error) => {
      const code = codeOf(error);
      const isStale = request.reusedSocket && (code === 'ECONNRESET' || code === 'EPIPE');
      refuse(new NoResponse('connection', code ?? 'it cannot be reached', isStale));
    });
    request.on('response', (response) => {
      readBody(response, limits).then(
        (bytes) => end(() => resolve({ response, body: bytes })),
        (error: unknown) => {
          refuse(error);
          request.destroy();
        },
      );
    });
    finish(request, body);
  });
}

function codeOf(error: unknown): string | null {
  const { code } = error as { readonly code?: unknown };
  return typeof code === 'string' ? code : null;
}
