/** Opens all WebSockets to other services, with the same TLS allow list as requests (http-client.ts). Raises
 *  NoResponse for an invalid address or header; all later errors are events of the socket. Redirects are not
 *  followed.
 *  Not here: the messages (remote/socket.ts, remote/feed.ts). */
import { WebSocket } from 'ws';
import { headerBytes } from './header-values.ts';
import { SelfSignedAgent } from './http-client.ts';
import { NoResponse } from './no-response.ts';
import type { TrustsSelfSigned } from './tls-allowlist.ts';

type OutgoingWebsocket = {
  /** An HTTP URL; `https` becomes `wss`. */
  readonly url: string;
  /** The sub-protocols, the preferred one first. */
  readonly protocols: readonly string[];
  readonly headers: Readonly<Record<string, string>>;
  /** The most bytes of a message. */
  readonly mostBytes: number;
  readonly trusts?: TrustsSelfSigned | undefined;
};

/** A WebSocket uses its connection alone, so none is kept alive. */
const SELF_SIGNED_AGENT = new SelfSignedAgent({ rejectUnauthorized: false });

export function openWebsocket({ url, protocols, headers, mostBytes, trusts }: OutgoingWebsocket): WebSocket {
  try {
    const parsed = new URL(url);
    const isForgiving = parsed.protocol === 'https:' && trusts?.(parsed);
    parsed.protocol = parsed.protocol.replace('http', 'ws');
    return new WebSocket(parsed, [...protocols], {
      headers: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, headerBytes(value)])),
      maxPayload: mostBytes,
      perMessageDeflate: false,
      ...(isForgiving ? { agent: SELF_SIGNED_AGENT } : {}),
    });
  } catch (error) {
    const { code } = error as { readonly code?: unknown };
    throw new NoResponse('invalid', typeof code === 'string' ? code : 'the request is invalid');
  }
}
