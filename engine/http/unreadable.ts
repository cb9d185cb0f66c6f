/** Requests the HTTP parser has given up: too many headers or bytes of them, too slow, or no HTTP at all. There is no request to answer
 *  through the framework then, only a socket. RFC 6585, 5; RFC 9110, 15.5.9. */
import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { EngineError, toAdminBody } from '../errors/engine-error.ts';

/** A request with more is refused. Node's default, said aloud. */
export const MOST_HEADERS = 1000;

/** Writes the answer and hangs up. `mostBytes`: --max-total-header-length. */
export function refuseUnreadable(error: NodeJS.ErrnoException, socket: Socket, mostBytes: number): void {
  // Whoever is gone, or has had part of an answer, is told nothing.
  if (error.code === 'ECONNRESET' || !socket.writable || socket.bytesWritten > 0) {
    socket.destroy();
    return;
  }
  const refusal = refusalOf(error, mostBytes);
  const body = JSON.stringify(toAdminBody(refusal, 'newer', false));
  socket.write(
    `HTTP/1.1 ${refusal.status} ${STATUS_CODES[refusal.status]}\r\n` +
      `content-type: application/json; charset=utf-8\r\ncontent-length: ${Buffer.byteLength(body)}\r\n` +
      `connection: close\r\n\r\n${body}`,
  );
  // A client that never closes its side must not keep the connection.
  socket.destroySoon();
}

function refusalOf({ code }: NodeJS.ErrnoException, mostBytes: number): EngineError {
  switch (code) {
    case 'HPE_HEADER_OVERFLOW':
      return new EngineError('headersTooLarge', { most: MOST_HEADERS, mostBytes });
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return new EngineError('requestTooSlow', {});
    default:
      return new EngineError('parseFailed', { text: 'the request is no HTTP' });
  }
}
