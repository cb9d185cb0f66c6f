/** A GraphQL client over a WebSocket for tests, in either sub-protocol; it sends exactly what the test gives it.
 *  In: URL, sub-protocol (null sends no header), handshake headers. Out: messages in order, and the close code. */
import { setTimeout as sleep } from 'node:timers/promises';
import { WebSocket } from 'ws';

export type Message = { readonly type: string; readonly id?: string; readonly payload?: unknown };

export type TestSocket = {
  readonly protocol: string;
  readonly socket: WebSocket;
  readonly send: (message: unknown) => void;
  /** Resolves to the next message except keep-alives; fails when none arrives in time. */
  readonly next: (timeoutMs?: number) => Promise<Message>;
  /** Resolves to the messages that arrive within the given time. */
  readonly during: (ms: number) => Promise<readonly Message[]>;
  readonly closed: Promise<{ readonly code: number; readonly reason: string }>;
  readonly close: () => void;
};

const SIGNS_OF_LIFE: readonly string[] = ['ka', 'ping'];

export async function openSocket(
  url: string,
  protocol: string | null,
  headers: Readonly<Record<string, string | string[]>> = {},
  path = '/v1/graphql',
): Promise<TestSocket> {
  const socket = new WebSocket(`${url.replace('http', 'ws')}${path}`, protocol ?? [], { headers });
  const inbox: Message[] = [];
  const closed = new Promise<{ code: number; reason: string }>((resolve) => {
    socket.once('close', (code, reason) => resolve({ code, reason: String(reason) }));
  });
  socket.on('message', (data) => {
    const message = JSON.parse(String(data)) as Message;
    if (!SIGNS_OF_LIFE.includes(message.type)) inbox.push(message);
  });
  await new Promise((resolve, reject) => {
    socket.once('open', resolve);
    socket.once('error', reject);
  });
  return {
    protocol: socket.protocol,
    socket,
    send: (message) => socket.send(typeof message === 'string' ? message : JSON.stringify(message)),
    next: async (timeoutMs = 20_000) => {
      const isOpen = () => socket.readyState !== socket.CLOSED;
      for (let waited = 0; inbox.length === 0 && isOpen() && waited < timeoutMs; waited += 5) await sleep(5);
      const message = inbox.shift();
      if (!message) throw new Error(`no message within ${timeoutMs} ms`);
      return message;
    },
    during: async (ms) => {
      await sleep(ms);
      return inbox.splice(0);
    },
    closed,
    close: () => socket.close(),
  };
}

/** Opens a WebSocket of `graphql-transport-ws` with the admin secret of an engine and other headers, which the engine has accepted. */
export async function openSession(
  { url, adminSecret }: { readonly url: string; readonly adminSecret: string },
  headers: Readonly<Record<string, string>> = {},
  path?: string,
): Promise<TestSocket> {
  const session = await openSocket(url, 'graphql-transport-ws', {}, path);
  const all = { 'x-engine-admin-secret': adminSecret, ...headers };
  session.send({ type: 'connection_init', payload: { headers: all } });
  const { type } = await session.next();
  if (type !== 'connection_ack') throw new Error(`the engine sent ${type}`);
  return session;
}
