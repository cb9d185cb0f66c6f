/** Reads the body of a response, decoded, within limits that hold for its bytes after decoding: a body that is too long is not decoded
 *  further. In: a response and its limits. Out: bytes. Raises NoResponse. Not here: connections (http-client.ts), the memory of all answers
 *  (answer-memory.ts). */
import type { IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate, type ZlibOptions } from 'node:zlib';
import type { AnswerMemory } from './answer-memory.ts';
import { NoResponse } from './no-response.ts';

export type BodyLimits = {
  /** The most bytes of the body after decoding. */
  readonly mostBytes: number;
  /** True when the first `mostBytes` are enough: the rest is not read, and the connection is closed. */
  readonly isCut?: boolean | undefined;
  /** Holds the memory of the body until its user releases it. Absent for bodies that are short by `mostBytes`. */
  readonly memory?: AnswerMemory | undefined;
  /** True when the body will be parsed, which takes more memory than its bytes. */
  readonly isParsed?: boolean | undefined;
};

/** Returns the body in one buffer. It uses events, because an iterator would double the CPU time of a request. */
export function readBody(response: IncomingMessage, limits: BodyLimits): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const { mostBytes, isCut, memory, isParsed } = limits;
    const announced = Number(response.headers['content-length'] ?? 0);
    const tooLong = () => new NoResponse('too long', `the answer is longer than ${mostBytes} bytes`);
    if (announced > mostBytes && !isCut) return reject(tooLong());
    const body = new Blocks(Math.min(announced, mostBytes));
    const stream = decoded(response, (isEmpty) =>
      end(isEmpty ? null : new NoResponse('cut off', NOT_AS_CODED)),
    );
    const resume = () => void stream.resume();
    const end = (error: unknown) => {
      if (memory) memory.forget(resume);
      stream.removeListener('data', read);
      if (stream !== response) stream.destroy();
      if (error === null) return resolve(body.joined());
      body.clear();
      reject(error);
    };
    const read = (chunk: Buffer) => {
      const isTooLong = chunk.length > mostBytes - body.length;
      if (isTooLong && !isCut) return end(tooLong());
      const needed = isTooLong ? chunk.subarray(0, mostBytes - body.length) : chunk;
      try {
        if (memory && !memory.hold(isParsed ? parsedBytes(needed) : 2 * needed.length, resume))
          stream.pause();
      } catch (error) {
        return end(error);
      }
      body.append(needed);
      if (!isTooLong) return;
      end(null);
      response.destroy();
    };
    const cutOff = () => end(new NoResponse('cut off', 'the answer was cut off'));
    stream.on('data', read);
    response.once('error', cutOff);
    if (memory) stream.once('close', () => memory.forget(resume));
    stream.once('end', () => (response.complete ? end(null) : cutOff()));
  });
}

const NOT_AS_CODED = 'the body is not what its content-encoding says';

const SMALL_BLOCK_BYTES = 16 * 1024;
const LARGE_BLOCK_BYTES = 512 * 1024;

/** The time after which large blocks that nobody uses are left to the garbage collector. */
const IDLE_MS = 5_000;

/** Large blocks that are used again. Otherwise the blocks of answers that were refused would take memory until the garbage collector runs,
 *  which services could fill faster. There are never more than answers may hold. */
const FREE: Buffer[] = [];
let idle: NodeJS.Timeout | undefined;

function free(blocks: readonly Buffer[]): void {
  const large = blocks.filter(({ length }) => length === LARGE_BLOCK_BYTES);
  if (large.length === 0) return;
  FREE.push(...large);
  idle ??= setTimeout(() => void FREE.splice(0), IDLE_MS).unref();
  idle.refresh();
}

/** Bytes that grow. They are copied into blocks, so that neither a buffer that was too small nor the many buffers of a service that writes
 *  byte by byte take memory. A short body of the announced length is one block. */
class Blocks {
  length = 0;
  #blocks: Buffer[] = [];
  #block: Buffer;
  #used = 0;

  constructor(announced: number) {
    const isShort = announced > 0 && announced < LARGE_BLOCK_BYTES;
    this.#block = Buffer.allocUnsafe(isShort ? announced : SMALL_BLOCK_BYTES);
  }

  append(chunk: Buffer): void {
    this.length += chunk.length;
    for (let at = 0; at < chunk.length; ) {
      if (this.#used === this.#block.length) this.#next();
      const copied = chunk.copy(this.#block, this.#used, at);
      this.#used += copied;
      at += copied;
    }
  }

  /** Returns the bytes. Nothing may be appended afterwards. */
  joined(): Buffer {
    const last = this.#block.subarray(0, this.#used);
    if (this.#blocks.length === 0) return last;
    const whole = Buffer.concat([...this.#blocks, last], this.length);
    this.clear();
    return whole;
  }

  clear(): void {
    free([...this.#blocks, this.#block]);
    this.#blocks = [];
  }

  #next(): void {
    this.#blocks.push(this.#block);
    const isLarge = this.length >= LARGE_BLOCK_BYTES;
    this.#block = isLarge
      ? (FREE.pop() ?? Buffer.allocUnsafe(LARGE_BLOCK_BYTES))
      : Buffer.allocUnsafe(2 * this.#block.length);
    this.#used = 0;
  }
}

/** Returns an estimate of the memory of JSON as bytes, as text and as values. The amounts for each structural character are those of V8 for
 *  lists of empty objects, rows and short texts; characters inside of strings count, too, which only makes the estimate larger. */
function parsedBytes(chunk: Buffer): number {
  let bytes = 2 * chunk.length;
  for (let i = 0; i < chunk.length; i++) bytes += VALUE_BYTES[chunk[i]!]!;
  return bytes;
}

const VALUE_BYTES = new Uint8Array(256);
for (const [character, bytes] of Object.entries({ '{': 32, '[': 32, ':': 16, ',': 24 })) {
  VALUE_BYTES[character.charCodeAt(0)] = bytes;
}

const CHUNK: ZlibOptions = { chunkSize: 64 * 1024 };
const DECODERS: ReadonlyMap<string, () => ReturnType<typeof createGunzip>> = new Map([
  ['gzip', () => createGunzip(CHUNK)],
  ['x-gzip', () => createGunzip(CHUNK)],
  ['deflate', () => createInflate(CHUNK)],
  ['br', () => createBrotliDecompress(CHUNK)],
]);

/** Decodes known codings; other bodies are returned unchanged. The engine sends no Accept-Encoding, so a server may choose any coding
 *  (RFC 9110, 8.4 and 12.5.3). Calls `failed` for a body that does not match its coding; one without any bytes
 *  has none. */
function decoded(response: IncomingMessage, failed: (isEmpty: boolean) => void): Readable {
  const decode = DECODERS.get(response.headers['content-encoding']?.toLowerCase() ?? '');
  if (!decode) return response;
  const decoder = decode();
  let isEmpty = true;
  response.once('data', () => {
    isEmpty = false;
  });
  decoder.once('error', () => failed(isEmpty));
  return response.pipe(decoder);
}
