/** The body of an answer, decoded: who is not told what we accept may send any coding. RFC 9110, 8.4 and 12.5.3.
 *  Rejects what is not what it says, and what would be longer than `mostBytes`. */
import { promisify } from 'node:util';
import { brotliDecompress, gunzip, inflate, type ZlibOptions } from 'node:zlib';

type Decode = (bytes: Buffer, options: ZlibOptions) => Promise<Buffer>;

const DECODERS: ReadonlyMap<string, Decode> = new Map([
  ['gzip', promisify<Buffer, ZlibOptions, Buffer>(gunzip)],
  ['x-gzip', promisify<Buffer, ZlibOptions, Buffer>(gunzip)],
  ['deflate', promisify<Buffer, ZlibOptions, Buffer>(inflate)],
  ['br', promisify<Buffer, ZlibOptions, Buffer>(brotliDecompress)],
]);

/** Codings that are not known are left to whoever reads the body. */
export async function decoded(body: Buffer, coding: string | undefined, mostBytes: number): Promise<Buffer> {
  const decode = coding === undefined || body.length === 0 ? undefined : DECODERS.get(coding.toLowerCase());
  return decode ? decode(body, { maxOutputLength: mostBytes }) : body;
}
