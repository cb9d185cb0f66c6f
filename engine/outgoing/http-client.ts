/** The one way HTTP requests leave the engine: connections that are kept alive, a time limit for the whole of it, a limit to
 *  the answer's size, and the hosts whose certificates are trusted although nobody known has signed them. Node's own client and
 *  not fetch: a third of its CPU, the body arrives in one buffer of its size, and services are not told what library calls.
 *  Redirects are answers like others: nothing follows them, they could lead anywhere. Raises NoAnswer.
 *  Not here: what is asked and what an answer means (auth/, execute/), how traces are sent over them (observe/). */
import {
  Agent,
  type ClientRequest,
  type IncomingHttpHeaders,
  type IncomingMessage,
  request as requestHttp,
} from 'node:http';
import { type AgentOptions, request as requestHttps, Agent as TlsAgent } from 'node:https';
import type { TLSSocket } from 'node:tls';
import { LONGEST_MS } from '../metadata/schema/number.ts';
import { decoded } from './content-coding.ts';
import { isAllowedFault, type TrustsSelfSigned } from './tls-allowlist.ts';

export type OutgoingRequest = {
  /** User and password in it are sent as such. */
  readonly url: string;
  readonly method: string;
  readonly headers: Iterable<readonly [string, string]>;
  /** Null: it has none. */
  readonly body: string | null;
};

export type OutgoingOptions = {
  readonly timeoutMs: number;
  /** Of the answer. */
  readonly mostBytes: number;
  /** May be asked a second time when a connection that lay idle turns out to be dead. */
  readonly isRepeatable: boolean;
  readonly trusts?: TrustsSelfSigned | undefined;
  /** Aborted when nobody waits for the answer any more; its reason is raised. */
  readonly signal?: AbortSignal | undefined;
};

export type OutgoingResponse = {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** Decoded. */
  readonly body: Buffer;
};

/** Why there is no answer. The message names no part of the URL: it may come from the environment, which may hold secrets. */
export class NoResponse extends Error {
  readonly why: 'invalid' | 'timeout' | 'connection' | 'cut off' | 'too long';
  readonly isStale: boolean;

  constructor(why: NoResponse['why'], message: string, isStale = false) {
    super(message);
    this.why = why;
    this.isStale = isStale;
  }
}

/** Shorter than services and balancers keep an idle connection (60 s is usual), so that it is we who close it. */
const IDLE_MS = 30_000;
const KEPT: AgentOptions = { keepAlive: true, timeout: IDLE_MS };

/** Hangs up on a certificate with any other fault than those of the allow list, before anything is sent. */
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

/** The connections a URL is asked over, for who brings a client of its own, too. */
export function agentFor(url: URL, trusts?: TrustsSelfSigned): Agent {
  if (url.protocol !== 'https:') return AGENT;
  return trusts?.(url) ? SELF_SIGNED_AGENT : TLS_AGENT;
}

/** About the bytes on the connection, which are ours to say. */
const OURS: ReadonlySet<string> = new Set(['content-length', 'transfer-encoding']);

export async function sendRequest(
  request: OutgoingRequest,
  terms: OutgoingOptions,
): Promise<OutgoingResponse> {
  return send(request, terms).catch((error: unknown) => {
    if (terms.isRepeatable && error instanceof NoResponse && error.isStale) return send(request, terms);
    throw error;
  });
}

async function send(request: OutgoingRequest, terms: OutgoingOptions): Promise<OutgoingResponse> {
  const { response, body } = await roundTrip(opened(request, terms), request.body, terms);
  return {
    status: response.statusCode ?? 0,
    headers: response.headers,
    body: await decoded(body, response.headers['content-encoding'], terms.mostBytes).catch(() => {
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
    const sent = Object.fromEntries([...headers].filter(([name]) => !OURS.has(name)));
    const options = { method, headers: sent, agent: agentFor(parsed, trusts) };
    return isTls ? requestHttps(parsed, options) : requestHttp(parsed, options);
  } catch (error) {
    throw new NoResponse('invalid', codeOf(error) ?? 'the request is invalid');
  }
}

/** The head of an answer whose body may go on for as long as it likes: that is the caller's, to read or to destroy. */
export function requestStream(
  request: OutgoingRequest,
  {
    signal,
    timeoutMs,
    trusts,
  }: Pick<OutgoingOptions, 'timeoutMs' | 'trusts'> & { readonly signal: AbortSignal },
): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const sent = opened(request, { trusts });
    const hangUp = () => sent.destroy();
    const timer = setTimeout(() => {
      reject(new NoResponse('timeout', `no answer in ${timeoutMs / 1000} s`));
      hangUp();
    }, timeoutMs);
    signal.addEventListener('abort', hangUp, { once: true });
    sent.once('close', () => clearTimeout(timer));
    sent.on('error', (error) =>
      reject(new NoResponse('connection', codeOf(error) ?? 'it cannot be reached')),
    );
    sent.once('response', (response) => {
      clearTimeout(timer);
      resolve(response);
    });
    sent.end(request.body ?? undefined);
  });
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
      signal?.removeEventListener('abort', abort);
      settle();
    };
    const abort = () => {
      refuse(signal?.reason);
      request.destroy();
    };
    const refuse = (error: unknown) => end(() => reject(error));
    const timer = setTimeout(
      () => {
        refuse(new NoResponse('timeout', `no answer in ${timeoutMs / 1000} s`));
        request.destroy();
      },
      Math.min(timeoutMs, LONGEST_MS),
    );
    if (signal?.aborted) return abort();
    signal?.addEventListener('abort', abort);
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
    request.end(body ?? undefined);
  });
}

function codeOf(error: unknown): string | null {
  const { code } = error as { readonly code?: unknown };
  return typeof code === 'string' ? code : null;
}

/** Of an answer, in one buffer: of the announced length, so that a long body is not in memory twice. Events and not an iterator, which costs
 *  as much CPU again as all else that is ours here. */
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
