/** Opens all WebSockets to other services, with the same TLS allow list and the same addresses as requests (http-client.ts). Raises
 *  NoResponse for an invalid address or header; all later errors are events of the socket. Redirects are not
 *  followed.
 *  Not here: the messages (remote/socket.ts, remote/feed.ts). */
import { Agent } from 'node:http';
import { Agent as TlsAgent } from 'node:https';
import { WebSocket } from 'ws';
import { guardedAgent, isLoopbackHost } from './addresses.ts';
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
const AGENT = guardedAgent(new Agent(), isLoopbackHost);
const TLS_AGENT = guardedAgent(new TlsAgent(), isLoopbackHost);
const SELF_SIGNED_AGENT = guardedAgent(new SelfSignedAgent({ rejectUnauthorized: false }), isLoopbackHost);

export function openWebsocket({ url, protocols, headers, mostBytes, trusts }: OutgoingWebsocket): WebSocket {
  try {
    const parsed = new URL(url);
    const secureAgent = trusts?.(parsed) ? SELF_SIGNED_AGENT : TLS_AGENT;
    const agent = parsed.protocol === 'https:' ? secureAgent : AGENT;
    parsed.protocol = parsed.protocol.replace('http', 'ws');
    return new WebSocket(parsed, [...protocols], {
      headers: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, headerBytes(value)])),
      maxPayload: mostBytes,
      perMessageDeflate: false,
      agent,
    });
  } catch (error) {
    const { code } = error as { readonly code?: unknown };
    throw new NoResponse('invalid', typeof code === 'string' ? code : 'the request is invalid');
  }
}
