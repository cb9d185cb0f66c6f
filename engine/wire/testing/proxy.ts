/** A proxy between a client and a real Postgres that does what networks do: it splits the stream into pieces of any
 *  size, delays it, ends it in the middle of a message, or stops forwarding. */
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

export type CuttingProxy = {
  /** The URL of the database through the proxy. */
  readonly url: string;
  /** The sizes of the pieces of Postgres's bytes, repeated; empty forwards them unchanged. */
  sizes: readonly number[];
  /** The number of bytes from Postgres after which everything is cut off. */
  mostBytes: number;
  /** The most milliseconds that Postgres's bytes are held back. */
  delayMs: number;
  /** True: connections are accepted and kept, but nothing is forwarded, not even their end. */
  isSilent: boolean;
  /** The number of connections so far. */
  accepted: number;
  /** The number of prepared statements that were executed so far. */
  executed: number;
  /** Stops forwarding on the connections that are open now, which stay open: as behind a router that has lost its table. */
  readonly freeze: () => void;
  readonly close: () => Promise<void>;
};

/** Opens a proxy. `port` lets a database come back at its address. */
export async function openProxy(databaseUrl: string, port = 0): Promise<CuttingProxy> {
  const target = new URL(databaseUrl);
  const sockets = new Set<Socket>();
  const server = createServer({ allowHalfOpen: true }, (client) => {
    proxy.accepted += 1;
    const upstream = connect(Number(target.port), target.hostname);
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.setNoDelay(true);
      socket.on('error', () => {});
      socket.on('close', () => {
        sockets.delete(socket);
        client.destroy();
        upstream.destroy();
      });
    }
    const isExecute = messageTypes('E');
    client.on('data', (bytes) => {
      proxy.executed += isExecute(bytes);
      if (!proxy.isSilent) upstream.write(bytes);
    });
    client.on('end', () => proxy.isSilent || upstream.end());
    let turn = 0;
    const forward = (bytes: Buffer) => {
      if (proxy.isSilent) return;
      const allowed = bytes.subarray(0, Math.max(0, proxy.mostBytes));
      proxy.mostBytes -= bytes.length;
      for (let at = 0; at < allowed.length; ) {
        const size = proxy.sizes.length === 0 ? allowed.length : proxy.sizes[turn++ % proxy.sizes.length]!;
        client.write(allowed.subarray(at, at + size));
        at += size;
      }
      if (proxy.mostBytes < 0) client.destroySoon();
    };
    const held: Buffer[] = [];
    upstream.on('data', (bytes) => {
      if (proxy.delayMs === 0 && held.length === 0) return forward(bytes);
      held.push(bytes);
      // The oldest, whichever timer fires: timers with different delays do not fire in the order of the stream.
      setTimeout(() => forward(held.shift()!), proxy.delayMs);
    });
  });
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  const url = new URL(databaseUrl);
  url.hostname = '127.0.0.1';
  url.port = String((server.address() as AddressInfo).port);
  const proxy: CuttingProxy = {
    url: url.href,
    sizes: [],
    mostBytes: Number.POSITIVE_INFINITY,
    delayMs: 0,
    isSilent: false,
    accepted: 0,
    executed: 0,
    freeze: () => {
      for (const socket of sockets) socket.pause();
    },
    close: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return proxy;
}

/** Returns a function that counts the messages of one type in the next bytes of a client. The first message has no type. PostgreSQL
 *  manual, "Message Flow". */
function messageTypes(letter: string): (bytes: Buffer) => number {
  let rest = Buffer.alloc(0);
  let headBytes = 0;
  return (bytes) => {
    rest = Buffer.concat([rest, bytes]);
    let count = 0;
    while (rest.length >= headBytes + 4) {
      const size = headBytes + rest.readUInt32BE(headBytes);
      if (rest.length < size) break;
      if (headBytes === 1 && rest[0] === letter.charCodeAt(0)) count += 1;
      // A request for TLS is followed by another message without a type.
      if (size > 8) headBytes = 1;
      rest = rest.subarray(size);
    }
    return count;
  };
}
