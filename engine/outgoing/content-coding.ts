/** Decodes the body of a response. The engine sends no Accept-Encoding, so a server may choose any coding. RFC 9110,
 *  8.4 and 12.5.3. Rejects a body that does not match its coding, or is longer than `mostBytes` when decoded. */
import { promisify } from 'node:util';
import { brotliDecompress, gunzip, inflate, type ZlibOptions } from 'node:zlib';

type Decode = (bytes: Buffer, options: ZlibOptions) => Promise<Buffer>;

const DECODERS: ReadonlyMap<string, Decode> = new Map([
  ['gzip', promisify<Buffer, ZlibOptions, Buffer>(gunzip)],
  ['x-gzip', promisify<Buffer, ZlibOptions, Buffer>(gunzip)],
  ['deflate', promisify<Buffer, ZlibOptions, Buffer>(inflate)],
  ['br', promisify<Buffer, ZlibOptions, Buffer>(brotliDecompress)],
]);

/** Decodes known codings; other bodies are returned unchanged. */
export async function decoded(body: Buffer, coding: string | undefined, mostBytes: number): Promise<Buffer> {
  const decode = coding === undefined || body.length === 0 ? undefined : DECODERS.get(coding.toLowerCase());
  return decode ? decode(body, { maxOutputLength: mostBytes }) : body;
}
