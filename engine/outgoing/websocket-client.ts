/** The one way WebSockets leave the engine, under the same TLS allow list as requests (http-client.ts). Raises NoAnswer for an
 *  address or headers that cannot be; whatever else goes wrong is an event of the socket. Redirects are not followed.
 *  Not here: what is said over it (remote/socket.ts, remote/feed.ts). */
import { WebSocket } from 'ws';
import { NoResponse, SelfSignedAgent } from './http-client.ts';
import type { TrustsSelfSigned } from './tls-allowlist.ts';

export type OutgoingWebsocket = {
  /** Of HTTP: where its scheme is `https`, the socket's is `wss`. */
  readonly url: string;
  /** Sub-protocols, the best first. */
  readonly protocols: readonly string[];
  readonly headers: Readonly<Record<string, string>>;
  /** Of a message. */
  readonly mostBytes: number;
  readonly trusts?: TrustsSelfSigned | undefined;
};

/** No connection is kept: a socket ends with its own. */
const SELF_SIGNED_AGENT = new SelfSignedAgent({ rejectUnauthorized: false });

export function openWebsocket({ url, protocols, headers, mostBytes, trusts }: OutgoingWebsocket): WebSocket {
  try {
    const parsed = new URL(url);
    const isForgiving = parsed.protocol === 'https:' && trusts?.(parsed);
    parsed.protocol = parsed.protocol.replace('http', 'ws');
    return new WebSocket(parsed, [...protocols], {
      headers,
      maxPayload: mostBytes,
      perMessageDeflate: false,
      ...(isForgiving ? { agent: SELF_SIGNED_AGENT } : {}),
    });
  } catch (error) {
    const { code } = error as { readonly code?: unknown };
    throw new NoResponse('invalid', typeof code === 'string' ? code : 'the request is invalid');
  }
}
