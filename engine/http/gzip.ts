/** Responses compressed for clients that ask for it. Small ones are left as they are; those of middling size are compressed
 *  on the spot, which costs less than handing them to another thread; large ones elsewhere, because they would hold up
 *  everyone. Level 1: most of the gain at a third of the cost. RFC 9110, section 12.5.3. */
import { promisify } from 'node:util';
import { gzip, gzipSync } from 'node:zlib';
import type { Body } from '../execute/splice.ts';

export const GZIP_HEADERS = { 'content-encoding': 'gzip' };

const LEAST_BYTES = 700;
/** About a millisecond of compressing. */
const MOST_SYNC_BYTES = 256_000;
const LEVEL = { level: 1 };
const gzipElsewhere = promisify(gzip);

/** `gzip`, and not with a weight of nothing. */
export function acceptsGzip(acceptEncoding: string | readonly string[] | undefined): boolean {
  if (acceptEncoding === undefined) return false;
  return String(acceptEncoding)
    .split(',')
    .some((coding) => /^\s*(x-)?gzip\s*(;\s*q=(?!0(\.0*)?\s*$).*)?$/i.test(coding));
}

/** Of long bodies in pieces: an answer that is kept is compressed once. */
const known = new WeakMap<readonly Buffer[], Promise<Body>>();

/** The same body when it is not worth it. */
export function gzipped(body: Body): Body | Promise<Body> {
  if (typeof body !== 'string') {
    const before = known.get(body);
    if (before) return before;
  }
  const bytes = typeof body === 'string' ? Buffer.from(body) : Buffer.concat(body);
  if (bytes.length < LEAST_BYTES) return body;
  if (bytes.length <= MOST_SYNC_BYTES) return [gzipSync(bytes, LEVEL)];
  const compressed = gzipElsewhere(bytes, LEVEL).then((piece): Body => [piece]);
  if (typeof body !== 'string') known.set(body, compressed);
  return compressed;
}
