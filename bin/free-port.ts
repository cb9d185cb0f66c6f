/** Ports of 127.0.0.1 on which nothing listens, for programs that cannot choose a port themselves.
 *  The ports are below those that operating systems give to outgoing connections (Linux: 32768 to 60999, RFC 6335: from 49152). Such a
 *  port is not taken by a connection between this check and the start of the program, and two callers rarely choose the same one. */
import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';

const LOWEST = 10_000;
const HIGHEST = 32_000;
const MOST_TRIES = 100;

/** Raises Error when a hundred random ports are all in use. */
export async function freePort(): Promise<number> {
  for (let tries = 0; tries < MOST_TRIES; tries++) {
    const port = randomInt(LOWEST, HIGHEST);
    if (await isFree(port)) return port;
  }
  throw new Error(`no free port between ${LOWEST} and ${HIGHEST}`);
}

/** True when a server could listen on the port. */
export function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
}
