/** A proxy in front of Postgres that calls back at one message of the client: before the message reaches the server, or after. In: the
 *  server, the number of the message. Out: a URL, and how many messages the client has sent. Not here: who is killed (kill-arena.ts). */
import { connect as connectSocket, createServer, type Socket } from 'node:net';

export type Cut = {
  /** The number of the client's message, from 1. */
  readonly message: number;
  /** True when the server receives the message. */
  readonly isSent: boolean;
};

export type CuttingProxy = {
  readonly url: string;
  readonly messages: () => number;
  readonly close: () => Promise<void>;
};

/** Starts a proxy. `onCut` is called once, and from then on the client receives nothing. */
export async function startCuttingProxy(
  url: string,
  cut: Cut | null,
  onCut: () => void,
): Promise<CuttingProxy> {
  const { hostname, port } = new URL(url);
  const sockets = new Set<Socket>();
  let messages = 0;
  const server = createServer((client) => {
    const upstream = connectSocket(Number(port), hostname);
    let isCut = false;
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on('error', () => {});
      socket.once('close', () => {
        sockets.delete(socket);
        client.destroy();
        upstream.end();
      });
    }
    client.on('data', (chunk) => {
      if (isCut) return;
      isCut = ++messages === cut?.message;
      if (!isCut || cut?.isSent) upstream.write(chunk);
      if (isCut) onCut();
    });
    upstream.on('data', (chunk) => {
      if (!isCut) client.write(chunk);
    });
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const address = server.address();
  const own = new URL(url);
  own.hostname = '127.0.0.1';
  own.port = String(typeof address === 'object' ? address?.port : 0);
  return {
    url: own.href,
    messages: () => messages,
    close: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((done) => server.close(done));
    },
  };
}
