/** The one way WebSockets leave the engine, under the same TLS allow list as requests (http-client.ts). Raises NoAnswer for an
 *  address or headers that cannot be; whatever else goes wrong is an event of the socket. Redirects are not followed.
 *  Not here: what is said over it (execute/remote-socket.ts, remote-feed.ts). */
import { WebSocket } from 'ws';
import { ForgivingAgent, NoAnswer } from './http-client.ts';
import type { Trusts } from './tls-allowlist.ts';

export type OutgoingSocket = {
  /** Of HTTP: where its scheme is `https`, the socket's is `wss`. */
  readonly url: string;
  /** Sub-protocols, the best first. */
  readonly protocols: readonly string[];
  readonly headers: Readonly<Record<string, string>>;
  /** Of a message. */
  readonly mostBytes: number;
  readonly trusts?: Trusts | undefined;
};

/** No connection is kept: a socket ends with its own. */
const FORGIVING_AGENT = new ForgivingAgent({ rejectUnauthorized: false });

export function openOutside({ url, protocols, headers, mostBytes, trusts }: OutgoingSocket): WebSocket {
  try {
    const parsed = new URL(url);
    const isForgiving = parsed.protocol === 'https:' && trusts?.(parsed);
    parsed.protocol = parsed.protocol.replace('http', 'ws');
    return new WebSocket(parsed, [...protocols], {
      headers,
      maxPayload: mostBytes,
      perMessageDeflate: false,
      ...(isForgiving ? { agent: FORGIVING_AGENT } : {}),
    });
  } catch (error) {
    const { code } = error as { readonly code?: unknown };
    throw new NoAnswer('invalid', typeof code === 'string' ? code : 'the request is invalid');
  }
}
