/** A response is complete and its request is not: the client goes on sending a body nobody will read. A short rest is left to
 *  arrive, so that the connection can be used again. Of a long one nothing more is read, and the connection is closed a moment later:
 *  at once, the client might lose the response. RFC 9112, section 9.6. */
import type { IncomingMessage } from 'node:http';

const SHORT_BYTES = 64 * 1024;
const PATIENCE_MS = 1000;

export function cutUnread(request: IncomingMessage): void {
  if (request.complete) return;
  const { socket } = request;
  const announced = Number(request.headers['content-length'] ?? Number.POSITIVE_INFINITY);
  if (announced > SHORT_BYTES) socket.pause();
  setTimeout(() => {
    if (!request.complete) socket.destroy();
  }, PATIENCE_MS).unref();
}
