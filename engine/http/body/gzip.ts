/** Compresses responses for clients that accept gzip. Small bodies are not compressed. Medium ones are compressed on
 *  the event loop, which costs less than a hand-over to another thread; large ones in a thread, because they would
 *  delay all other requests. Level 1 gives most of the reduction at a third of the cost. RFC 9110, section 12.5.3. */
import { promisify } from 'node:util';
import { gzip, gzipSync } from 'node:zlib';
import type { Body } from '../../execute/splice.ts';

export const GZIP_HEADERS = { 'content-encoding': 'gzip' };

const MIN_BYTES = 700;
/** Compressing this much takes about a millisecond. */
const MAX_SYNC_BYTES = 256_000;
const LEVEL = { level: 1 };
const gzipInThread = promisify(gzip);

/** True when the header lists gzip with a weight above 0. */
export function acceptsGzip(acceptEncoding: string | readonly string[] | undefined): boolean {
  if (acceptEncoding === undefined) return false;
  return String(acceptEncoding)
    .split(',')
    .some((coding) => /^\s*(x-)?gzip\s*(;\s*q=(?!0(\.0*)?\s*$).*)?$/i.test(coding));
}

/** Compressed forms of long bodies in pieces: a cached answer is compressed once. */
const compressedBodies = new WeakMap<readonly Buffer[], Promise<Body>>();

/** Returns the compressed body, or the body itself when compression does not pay. */
export function gzipped(body: Body): Body | Promise<Body> {
  if (typeof body !== 'string') {
    const before = compressedBodies.get(body);
    if (before) return before;
  }
  const bytes = typeof body === 'string' ? Buffer.from(body) : Buffer.concat(body);
  if (bytes.length < MIN_BYTES) return body;
  if (bytes.length <= MAX_SYNC_BYTES) return [gzipSync(bytes, LEVEL)];
  const compressed = gzipInThread(bytes, LEVEL).then((piece): Body => [piece]);
  if (typeof body !== 'string') compressedBodies.set(body, compressed);
  return compressed;
}
