/** Tests decode.ts with streams of messages, split anywhere. */
import '../../testing/seed.ts';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Decoder, failureAt, MOST_TEXT, rowAt } from './decode.ts';

type Message = { readonly type: number; readonly body: Buffer };

const message = fc.record({
  type: fc.constantFrom(...Buffer.from('12CDEINSTZ')),
  body: fc.uint8Array({ maxLength: 300 }).map((bytes) => Buffer.from(bytes)),
});

function framed({ type, body }: Message): Buffer {
  const header = Buffer.alloc(5);
  header[0] = type;
  header.writeInt32BE(body.length + 4, 1);
  return Buffer.concat([header, body]);
}

/** Returns what a decoder makes of a stream split at the given positions. Each piece is overwritten afterwards, as the buffer that
 *  sockets read into is. */
function decoded(
  stream: Buffer,
  cuts: readonly number[],
  accepts?: (type: number, size: number) => boolean,
): Message[] {
  const messages: Message[] = [];
  const decoder = new Decoder((type, bytes, start, end, isKept) => {
    const body = bytes.subarray(start, end);
    messages.push({ type, body: isKept ? body : Buffer.from(body) });
  }, accepts);
  const places = [0, ...[...cuts].sort((a, b) => a - b), stream.length];
  for (const [i, place] of places.slice(0, -1).entries()) {
    const piece = Buffer.from(stream.subarray(place, places[i + 1]));
    decoder.push(piece);
    piece.fill(0xff);
  }
  return messages;
}

test('messages are the same wherever the stream is split', () => {
  fc.assert(
    fc.property(
      fc.array(message, { maxLength: 20 }),
      fc.array(fc.nat(7000), { maxLength: 40 }),
      (messages, cuts) => {
        const stream = Buffer.concat(messages.map(framed));
        expect(
          decoded(
            stream,
            cuts.map((cut) => Math.min(cut, stream.length)),
          ),
        ).toEqual(messages);
      },
    ),
    { numRuns: 500 },
  );
});

test('a message that would have to be collected is skipped when it is not accepted, wherever the stream is split', () => {
  fc.assert(
    fc.property(
      fc.array(message, { maxLength: 20 }),
      fc.array(fc.nat(7000), { maxLength: 40 }),
      (messages, cuts) => {
        const stream = Buffer.concat(messages.map(framed));
        const within = cuts.map((cut) => Math.min(cut, stream.length));
        const refused: number[] = [];
        const accepts = (type: number, size: number) => {
          if (size <= 100) return true;
          refused.push(type);
          return false;
        };
        const received = decoded(stream, within, accepts);
        const left = messages.filter(
          (each) => !received.some((other) => other.body.equals(each.body) && other.type === each.type),
        );
        expect(received.length + refused.length).toBe(messages.length);
        expect(left.every(({ body }) => body.length + 5 > 100)).toBe(true);
        // The order of the others is kept.
        let at = 0;
        for (const each of received) {
          at =
            messages.findIndex(
              (other, i) => i >= at && other.type === each.type && other.body.equals(each.body),
            ) + 1;
          expect(at).toBeGreaterThan(0);
        }
      },
    ),
    { numRuns: 300 },
  );
});

test('messages are the same byte by byte', () => {
  const messages = [1, 4, 0, 70].map((length, i) => ({ type: 65 + i, body: Buffer.alloc(length, i) }));
  const stream = Buffer.concat(messages.map(framed));
  expect(decoded(stream, [...stream.keys()])).toEqual(messages);
});

test('arbitrary bytes only ever raise a protocol error', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
      // A length of half a gigabyte is valid, but too much for this test.
      const stream = Buffer.from(bytes).map((byte, i) => (i % 5 === 1 || i % 5 === 2 ? byte & 0x80 : byte));
      try {
        decoded(
          Buffer.from(stream),
          [3, 50].filter((cut) => cut < stream.length),
        );
      } catch (error) {
        expect(String(error)).toMatch(/no message is -?\d+ bytes long/);
      }
    }),
  );
});

test('an impossible length is refused', () => {
  const decoder = new Decoder(() => {});
  expect(() => decoder.push(Buffer.from([68, 0, 0, 0, 3, 0]))).toThrow('no message is 3 bytes long');
  expect(() => new Decoder(() => {}).push(Buffer.from([68, 0x7f, 255, 255, 255]))).toThrow('bytes long');
});

function rowOf(columns: readonly (Buffer | null)[]): Buffer {
  const count = Buffer.alloc(2);
  count.writeUInt16BE(columns.length);
  const fields = columns.map((column) => {
    const length = Buffer.alloc(4);
    length.writeInt32BE(column?.length ?? -1);
    return Buffer.concat([length, column ?? Buffer.alloc(0)]);
  });
  return Buffer.concat([count, ...fields]);
}

test('short columns are text, null is null, long ones stay bytes', () => {
  const long = Buffer.alloc(MOST_TEXT + 1, 'x');
  const bytes = rowOf([Buffer.from('ä€𝄞'), null, Buffer.alloc(0), long]);
  for (const isKept of [false, true]) expect(rowAt(bytes, 0, isKept)).toEqual(['ä€𝄞', null, '', long]);
});

test('a failure has the field names of Postgres', () => {
  const fields =
    'SERROR\0VERROR\0C23505\0Mduplicate key\0DKey (id)=(1) already exists.\0nitem_pkey\0Rcheck\0\0';
  const bytes = Buffer.from(fields);
  expect(failureAt(bytes, 0, bytes.length)).toMatchObject({
    code: '23505',
    message: 'duplicate key',
    detail: 'Key (id)=(1) already exists.',
    constraint: 'item_pkey',
    routine: 'check',
  });
});
