/** Errors as clients receive them: a thrown value → the row of ERRORS to answer with, its extra headers, and the raw HTTP response
 *  for a socket that has no request. Also here: who may see the `internal` part of an error.
 *  Not here: the body of an error (errors/engine-error.ts). */
import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { adviceOn } from '../config/compatibility.ts';
import type { Options } from '../config/options.ts';
import { EngineError, toAdminBody } from '../errors/engine-error.ts';
import type { Observe } from '../observe/observation.ts';
import { ADMIN_ROLE, type Session } from '../resolve/session.ts';

/** Requests with more headers are refused. This is Node's default, stated. */
export const MAX_HEADERS = 1000;

/** Returns the error the client receives, with the option that lifts it, if one does. An error that is no EngineError is a defect of ours: it
 *  is reported with its cause, and the client receives `unexpected`. */
export function errorFrom(
  thrown: unknown,
  { observe, options }: { readonly observe: Observe; readonly options: Options },
  requestId: string,
): EngineError {
  if (thrown instanceof EngineError) return thrown.advised(adviceOn(thrown, options));
  if (isClientAbort(thrown))
    return new EngineError('parseFailed', { text: 'the request ended before its body' });
  observe({ kind: 'unexpected', requestId, error: thrown });
  return new EngineError('unexpected', { text: 'internal server error' });
}

/** True when the client closed the connection while it was sending the body. */
function isClientAbort(thrown: unknown): boolean {
  return (
    thrown instanceof Error &&
    thrown.message === 'aborted' &&
    'code' in thrown &&
    thrown.code === 'ECONNRESET'
  );
}

/** Returns the Retry-After header of a 503, for requests refused because the engine is overloaded. RFC 9110, section 10.2.3. */
export function retryAfter({ status }: EngineError): Readonly<Record<string, string>> {
  return status === 503 ? { 'retry-after': '5' } : {};
}

/** True when the session may see the internal cause of errors: everyone in dev mode, otherwise administrators unless
 *  --admin-internal-errors is off. */
export function showsInternal(
  options: Pick<Options, 'devMode' | 'adminInternalErrors'>,
  session: Session | null,
): boolean {
  return options.devMode || (options.adminInternalErrors && session?.role === ADMIN_ROLE);
}

/** Writes the error to a socket that has no response object, and closes the connection. */
export function writeError(socket: Duplex, error: EngineError): void {
  const body = JSON.stringify(toAdminBody(error, 'newer', false));
  const headers = {
    'content-type': 'application/json; charset=utf-8',
    'content-length': Buffer.byteLength(body),
    connection: 'close',
    ...retryAfter(error),
  };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.on('error', () => {});
  socket.write(`HTTP/1.1 ${error.status} ${STATUS_CODES[error.status]}\r\n${lines.join('')}\r\n${body}`);
  // A client that never closes its side must not keep the connection.
  socket.once('finish', () => socket.destroy());
  socket.end();
}

/** Answers a request that the HTTP parser could not read, and closes the connection. `maxBytes` is --max-total-header-length.
 *  RFC 6585, section 5; RFC 9110, section 15.5.9. */
export function writeParserError(error: NodeJS.ErrnoException, socket: Socket, maxBytes: number): void {
  const isAnswered = socket.bytesWritten > 0;
  if (error.code === 'ECONNRESET' || !socket.writable || isAnswered) socket.destroy();
  else writeError(socket, parserError(error, maxBytes));
}

function parserError({ code }: NodeJS.ErrnoException, mostBytes: number): EngineError {
  switch (code) {
    case 'HPE_HEADER_OVERFLOW':
      return new EngineError('headersTooLarge', { most: MAX_HEADERS, mostBytes });
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return new EngineError('requestTooSlow', {});
    default:
      return new EngineError('parseFailed', { text: 'the request is no HTTP' });
  }
}
