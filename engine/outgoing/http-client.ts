/** Sends all HTTP requests to other services: over kept-alive connections, with a limit for the total time, a limit
 *  for the size of the response, and an allow list of hosts with self-signed certificates. It uses Node's own client
 *  and not fetch, which takes three times the CPU, returns the body in many pieces and sends a User-Agent. Redirects
 *  are not followed, because they could lead anywhere; they are responses like others. Raises NoResponse.
 *  Not here: what is sent and what a response means (auth/, remote/, webhook/), telemetry (observe/webhook-call.ts). */
import {
  Agent,
  type ClientRequest,
  type IncomingHttpHeaders,
  type IncomingMessage,
  request as requestHttp,
} from 'node:http';
import { type AgentOptions, request as requestHttps, Agent as TlsAgent } from 'node:https';
import type { TLSSocket } from 'node:tls';
import { promisify } from 'node:util';
import { brotliDecompress, gunzip, inflate, type ZlibOptions } from 'node:zlib';
import type { CancelSignal } from '../limits/cancel-signal.ts';
import { LONGEST_MS } from '../metadata/schema/number.ts';
import { headerBytes } from './header-values.ts';
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

export type OutgoingOptions = {
  readonly timeoutMs: number;
  /** The most bytes of the response body. */
  readonly mostBytes: number;
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

/** The reason why there is no response. The message contains no part of the URL, which may come from the environment
 *  and hold secrets. */
export class NoResponse extends Error {
  readonly why: 'invalid' | 'timeout' | 'connection' | 'cut off' | 'too long';
  readonly isStale: boolean;

  constructor(why: NoResponse['why'], message: string, isStale = false) {
    super(message);
    this.why = why;
    this.isStale = isStale;
  }
}

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

const AGENT = new Agent(KEPT);
const TLS_AGENT = new TlsAgent(KEPT);
const SELF_SIGNED_AGENT = new SelfSignedAgent({ ...KEPT, rejectUnauthorized: false });

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
  return {
    status: response.statusCode ?? 0,
    headers: response.headers,
    body: await decoded(body, response.headers['content-encoding'], options.mostBytes).catch(() => {
      throw new NoResponse('cut off', 'the body is not what its content-encoding says, or is too long');
    }),
  };
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

/** Sends the body as bytes: Node writes headers together with a text, in the encoding of the text. */
function finish(request: ClientRequest, body: string | null): void {
  request.end(body === null ? undefined : Buffer.from(body));
}

type RoundTrip = { readonly response: IncomingMessage; readonly body: Buffer };

function roundTrip(
  request: ClientRequest,
  body: string | null,
  { timeoutMs, mostBytes, signal }: OutgoingOptions,
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
      bodyOf(response, mostBytes).then(
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

/** Reads a body into one buffer of the announced length, so that a long body is not in memory twice. It uses events,
 *  because an iterator would double the CPU time of a request. */
export function bodyOf(response: IncomingMessage, mostBytes: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const tooLong = () => reject(new NoResponse('too long', `the answer is longer than ${mostBytes} bytes`));
    const cutOff = () => reject(new NoResponse('cut off', 'the answer was cut off'));
    const announced = Number(response.headers['content-length'] ?? 0);
    if (announced > mostBytes) return tooLong();
    let bytes: Buffer = Buffer.allocUnsafe(announced || 16_384);
    let length = 0;
    response.on('data', (chunk: Buffer) => {
      if (length + chunk.length > mostBytes) return tooLong();
      bytes = withRoom(bytes, length, length + chunk.length);
      length += chunk.copy(bytes, length);
    });
    response.once('error', cutOff);
    response.once('end', () => (response.complete ? resolve(bytes.subarray(0, length)) : cutOff()));
  });
}

function withRoom(bytes: Buffer, used: number, needed: number): Buffer {
  if (needed <= bytes.length) return bytes;
  const larger = Buffer.allocUnsafe(Math.max(needed, 2 * bytes.length));
  bytes.copy(larger, 0, 0, used);
  return larger;
}

type Decode = (bytes: Buffer, options: ZlibOptions) => Promise<Buffer>;

const DECODERS: ReadonlyMap<string, Decode> = new Map([
  ['gzip', promisify<Buffer, ZlibOptions, Buffer>(gunzip)],
  ['x-gzip', promisify<Buffer, ZlibOptions, Buffer>(gunzip)],
  ['deflate', promisify<Buffer, ZlibOptions, Buffer>(inflate)],
  ['br', promisify<Buffer, ZlibOptions, Buffer>(brotliDecompress)],
]);

/** Decodes known codings; other bodies are returned unchanged. The engine sends no Accept-Encoding, so a server may choose any coding
 *  (RFC 9110, 8.4 and 12.5.3). Rejects a body that does not match its coding, or is longer than `mostBytes` when decoded. */
async function decoded(body: Buffer, coding: string | undefined, mostBytes: number): Promise<Buffer> {
  const decode = coding === undefined || body.length === 0 ? undefined : DECODERS.get(coding.toLowerCase());
  return decode ? decode(body, { maxOutputLength: mostBytes }) : body;
}
