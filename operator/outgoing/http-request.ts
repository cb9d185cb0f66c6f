/** Sends HTTP/1.1 requests with node:http and node:https over a keep-alive agent. The built-in `fetch` and its library undici would do
 *  the same, and keep 20 MB of memory more.
 *  In: an agent, a request. Out: the response with its body as a stream; it is not decompressed, and redirects are not followed.
 *  Not here: certificates and addresses of the agents (kubernetes/, artifacts/registry.ts), repetition. */
import http, { type IncomingMessage } from 'node:http';
import https from 'node:https';
import { finished, Readable } from 'node:stream';
import { type AllowsLoopback, guardedAgent, type Network } from '@pergola/engine/addresses';
import type { EngineFetch } from '../engine/address.ts';

export type HttpAgent = http.Agent | https.Agent;

export type HttpRequest = {
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  /** The text, or its parts: a long text is not in memory as a whole. */
  readonly body?: string | Iterable<string> | undefined;
  readonly signal?: AbortSignal | undefined;
  /** The longest silence of the server, before and during the response. Unlimited by default. */
  readonly silenceMs?: number | undefined;
  /** The longest time until the response has arrived as a whole. Unlimited by default. */
  readonly limitMs?: number | undefined;
};

/** The silence after which TCP keep-alive probes begin: a connection whose peer has disappeared is closed. */
const PROBE_MS = 15_000;
/** The keep-alive timeout. It must be shorter than the three minutes of API servers; the timeout that a server announces is used if it
 *  is shorter. */
const KEEP_ALIVE_MS = 60_000;
/** The options of an agent that keeps connections. With the same delay of probes before and during a request, a kept connection needs no
 *  system calls to change it. */
export const KEPT_ALIVE = { keepAlive: true, keepAliveMsecs: PROBE_MS, timeout: KEEP_ALIVE_MS } as const;

type SocketOwner = Parameters<http.Agent['getName']>[0] & { readonly servername?: string };

/** Returns the key of the connections to a server. The default key includes all certificates, and Node computes and looks it up several
 *  times for each request. The certificates are options of the agent, so they are the same for all its requests. */
function nameOf({ host, port, servername = '' }: SocketOwner = {}): string {
  return `${host}:${port}:${servername}`;
}

/** Returns an agent for URLs with the protocol of the given one. */
export function agentFor(url: string, options: https.AgentOptions = {}): HttpAgent {
  const { Agent } = isTls(url) ? https : http;
  return Object.assign(new Agent({ ...options, ...KEPT_ALIVE }), { getName: nameOf });
}

/** Returns an agent that connects to admitted addresses only, for URLs that the author of a resource chooses. */
export function guardedAgentFor(
  url: string,
  allowsLoopback: AllowsLoopback,
  { network, ...options }: https.AgentOptions & { readonly network?: Network | undefined } = {},
): HttpAgent {
  return guardedAgent(agentFor(url, options), allowsLoopback, network);
}

/** Resolves with the response when its headers have arrived. Rejects with the network error or the reason of the signal; after the
 *  headers, reading the body rejects with them. */
export async function sendRequest(
  agent: HttpAgent,
  url: string,
  request: HttpRequest,
): Promise<IncomingMessage> {
  const { method, headers, body, signal, silenceMs = 0, limitMs } = request;
  signal?.throwIfAborted();
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  const sent = (isTls(url) ? https : http).request(url, { agent, method, headers, timeout: silenceMs });
  let response: IncomingMessage | undefined;
  const end = (error: Error) => (response ?? sent).destroy(error);
  const abort = () => end(signal!.reason as Error);
  signal?.addEventListener('abort', abort, { once: true });
  const limit = limitMs === undefined ? undefined : setTimeout(() => end(timeoutAfter(limitMs)), limitMs);
  sent.once('close', () => {
    signal?.removeEventListener('abort', abort);
    clearTimeout(limit);
  });
  sent.once('socket', (socket) => socket.setKeepAlive(true, PROBE_MS));
  sent.on('timeout', () => end(timeout(`the server was silent for ${silenceMs / 1000} s`)));
  // An error may follow the one that has ended the request. Without a listener it would end the process.
  sent.on('error', (error) => {
    if (!response) dropIdle(agent);
    reject(error);
  });
  sent.once('response', (arrived) => {
    response = arrived.on('error', () => {});
    resolve(arrived);
  });
  if (body === undefined || typeof body === 'string') sent.end(body);
  else Readable.from(body).pipe(sent);
  return promise;
}

/** Closes the connections that no request uses. After a request without a response they may be as dead as its own, and each would cost the
 *  next request all of its time. */
function dropIdle(agent: HttpAgent): void {
  for (const sockets of Object.values(agent.freeSockets))
    for (const socket of sockets ?? []) socket.destroy();
}

/** Resolves with the bytes of a response. An async iterator over it would take more time than a small response. */
export function bytesOf(response: IncomingMessage): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    response.on('data', (chunk: Buffer) => chunks.push(chunk));
    finished(response, { writable: false }, (error) =>
      error ? reject(error) : resolve(chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks)),
    );
  });
}

function timeoutAfter(limitMs: number): Error {
  return timeout(`there was no complete response within ${limitMs / 1000} s`);
}

function timeout(reason: string): Error {
  return Object.assign(new Error(`timeout: ${reason}`), { code: 'ETIMEDOUT' });
}

/** Returns what the client of an engine needs of `fetch`, over the given agent; counts requests. A connection whose answer is not an engine's is
 *  not kept: the address of a Service may have led elsewhere for a moment, and the connection would lead there as long as it is used. */
export function fetchOver(agent: HttpAgent, onRequest: () => void): EngineFetch {
  return async (url, { method, headers, body, signal }) => {
    onRequest();
    const { username, password } = new URL(url);
    if (username !== '' || password !== '') throw new Error('the URL includes credentials');
    const response = await sendRequest(agent, url, { method, headers, body, signal });
    if (!/\bjson\b/.test(response.headers['content-type'] ?? '')) {
      const { socket } = response;
      response.once('end', () => {
        socket.destroy();
        dropIdle(agent);
      });
    }
    return {
      status: response.statusCode ?? 0,
      headers: { get: (name) => response.headers[name]?.toString() ?? null },
      body: response,
    };
  };
}

function isTls(url: string): boolean {
  return url.startsWith('https:');
}
