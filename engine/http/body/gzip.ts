/** Compresses responses for clients that accept gzip. Small bodies are not compressed. Medium ones are compressed on
 *  the event loop, which costs less than a hand-over to another thread; large ones in a thread, because they would
 *  delay all other requests. Level 1 gives most of the reduction at a third of the cost. RFC 9110, section 12.5.3. */
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { constants, createGzip, type Gzip, gzipSync } from 'node:zlib';
import type { Body } from '../../execute/splice.ts';

export const GZIP_HEADERS = { 'content-encoding': 'gzip' };

const MIN_BYTES = 700;
/** Compressing this much takes about a millisecond. */
const MAX_SYNC_BYTES = 256_000;
const LEVEL = { level: 1 };
/** The length of pieces of compressed bodies. */
const CHUNK_BYTES = 256 * 1024;

/** True when the header lists gzip with a weight above 0. */
export function acceptsGzip(acceptEncoding: string | readonly string[] | undefined): boolean {
  if (acceptEncoding === undefined) return false;
  return String(acceptEncoding)
    .split(',')
    .some((coding) => /^\s*(x-)?gzip\s*(;\s*q=(?!0(\.0*)?\s*$).*)?$/i.test(coding));
}

type Compressed = { readonly pieces: readonly Buffer[]; readonly body: Promise<Body> };

/** Compressed forms of long bodies by their longest piece, which is kept where a response is: such a response is compressed once. */
const compressedBodies = new WeakMap<Buffer, Compressed>();

/** Returns the compressed body, or the body itself when compression does not pay. */
export function gzipped(body: Body): Body | Promise<Body> {
  const pieces = typeof body === 'string' ? [Buffer.from(body)] : body;
  const size = pieces.reduce((sum, { length }) => sum + length, 0);
  if (size < MIN_BYTES) return body;
  if (size <= MAX_SYNC_BYTES)
    return [compressedNow(pieces.length === 1 ? pieces[0]! : Buffer.concat(pieces))];
  const longest = pieces.reduce((one, other) => (other.length > one.length ? other : one));
  const before = compressedBodies.get(longest);
  if (before && isSame(before.pieces, pieces)) return before.body;
  const compressed = compressedInThread(pieces);
  compressedBodies.set(longest, { pieces, body: compressed });
  return compressed;
}

/** The parts of Node's gzip that compress at once. They are not documented, and unchanged since Node 11. */
type Compressor = Gzip & {
  _handle?: { close: () => void } | null;
  _processChunk?: (bytes: Buffer, flush: number) => Buffer;
  reset: () => void;
};

let compressor: Compressor | undefined;
const stayOpen = () => {};

/** Compresses on the event loop, with one compressor for all bodies. `gzipSync` makes one for each: its quarter of a megabyte has to be
 *  cleared, and the object survives young collections, so that a full one comes every few hundred bodies. */
function compressedNow(body: Buffer): Buffer {
  compressor ??= createGzip(LEVEL) as unknown as Compressor;
  const { _handle: handle, _processChunk: compress } = compressor;
  if (!handle || !compress) return gzipSync(body, LEVEL);
  const { close } = handle;
  handle.close = stayOpen;
  try {
    const compressed = compress.call(compressor, body, constants.Z_FINISH);
    // A copy, because the next body is compressed into the same buffer.
    return Buffer.from(compressed);
  } finally {
    handle.close = close;
    compressor._handle = handle;
    compressor.removeAllListeners('error');
    compressor.reset();
  }
}

function isSame(some: readonly Buffer[], others: readonly Buffer[]): boolean {
  return (
    some.length === others.length && some.every((piece, i) => piece === others[i] || piece.equals(others[i]!))
  );
}

/** Compresses the pieces one after the other, without a copy of the whole. */
async function compressedInThread(pieces: readonly Buffer[]): Promise<Body> {
  const gzip = createGzip({ ...LEVEL, chunkSize: CHUNK_BYTES });
  const compressed: Buffer[] = [];
  await pipeline(Readable.from(pieces), gzip, async (chunks: AsyncIterable<Buffer>) => {
    for await (const chunk of chunks) compressed.push(chunk);
  });
  return compressed;
}
