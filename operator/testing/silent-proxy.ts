/** A TCP proxy that goes silent, as behind a dead node or a router that lost its table: connections stay open, and nothing passes in either
 *  direction. It can also be away, as a server that is down. Not here: servers that answer slowly or wrongly. */
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

export type SilentProxy = {
  readonly port: number;
  /** Stops passing bytes on the connections that are open now. */
  readonly freeze: () => void;
  /** Closes all connections and new ones at once, until it is called with false. */
  readonly setAway: (isAway: boolean) => void;
  readonly close: () => void;
};

/** Starts a proxy in front of a port of this machine. */
export async function silentProxy(target: number): Promise<SilentProxy> {
  const sockets = new Set<Socket>();
  let isAway = false;
  const destroyAll = () => {
    for (const socket of sockets) socket.destroy();
  };
  const server = createServer((client) => {
    if (isAway) {
      client.destroy();
      return;
    }
    const upstream = connect(target, '127.0.0.1');
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on('error', () => {});
      socket.on('close', () => sockets.delete(socket));
    }
    client.pipe(upstream).pipe(client);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    freeze: () => {
      for (const socket of sockets) socket.unpipe().pause();
    },
    setAway: (wanted) => {
      isAway = wanted;
      if (isAway) destroyAll();
    },
    close: () => {
      destroyAll();
      server.close();
    },
  };
}
