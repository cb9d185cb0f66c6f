/** Tests encode.ts: messages are read back field by field. */
import '../../testing/seed.ts';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Decoder } from './decode.ts';
import { arrayLiteral, Outbox } from './encode.ts';
import type { Value } from './statement.ts';

/** Frontend messages have the same framing as backend messages. */
function written(outbox: Outbox): { readonly type: string; readonly body: Buffer }[] {
  const messages: { type: string; body: Buffer }[] = [];
  const bytes = outbox.take();
  new Decoder((type, at, start, end) => {
    messages.push({ type: String.fromCharCode(type), body: Buffer.from(at.subarray(start, end)) });
  }).push(bytes);
  return messages;
}

/** The fields of Bind: portal, statement, formats, values, formats. */
function boundValues(body: Buffer, name: string): (string | null)[] {
  let at = 1 + Buffer.byteLength(name) + 1;
  expect(body.toString('utf8', 0, at)).toBe(`\0${name}\0`);
  expect(body.readInt16BE(at)).toBe(0);
  const count = body.readUInt16BE(at + 2);
  at += 4;
  const values: (string | null)[] = [];
  for (let i = 0; i < count; i++) {
    const length = body.readInt32BE(at);
    at += 4;
    values.push(length < 0 ? null : body.toString('utf8', at, at + length));
    at += Math.max(length, 0);
  }
  expect(body.readInt16BE(at)).toBe(0);
  expect(at + 2).toBe(body.length);
  return values;
}

test('values are sent unchanged, whatever their content and length', () => {
  const value = fc.option(fc.string({ unit: 'grapheme', maxLength: 3000 }));
  fc.assert(
    fc.property(fc.array(value, { maxLength: 50 }), (values) => {
      const outbox = new Outbox();
      outbox.run('s', values);
      const [bind, execute, sync, ...rest] = written(outbox);
      expect([bind!.type, execute!.type, sync!.type, rest]).toEqual(['B', 'E', 'S', []]);
      expect(boundValues(bind!.body, 's')).toEqual(values);
    }),
  );
});

test('a value that looks like protocol or SQL stays a value', () => {
  const outbox = new Outbox();
  const hostile = ["'; drop table item; --", 'S\0\0\0\u0004', '\0', '$1'];
  outbox.run('', hostile);
  const messages = written(outbox);
  expect(messages.map(({ type }) => type)).toEqual(['B', 'E', 'S']);
  expect(boundValues(messages[0]!.body, '')).toEqual(hostile);
});

test('65,535 values are counted correctly', () => {
  const outbox = new Outbox();
  outbox.run('s', new Array<Value>(65_535).fill('1'));
  expect(boundValues(written(outbox)[0]!.body, 's')).toHaveLength(65_535);
});

test('bytes are sent unchanged, lists as array literals', () => {
  const outbox = new Outbox();
  outbox.run('s', [Buffer.from('{"é"}'), ['a', null, ['b"\\']]]);
  expect(boundValues(written(outbox)[0]!.body, 's')).toEqual(['{"é"}', '{"a",NULL,{"b\\"\\\\"}}']);
});

test('every element of an array literal is quoted', () => {
  expect(arrayLiteral(['null', '', 'a,b', '{}', ' '])).toBe('{"null","","a,b","{}"," "}');
});

test('a name is closed before it is parsed; the unnamed statement is not', () => {
  const outbox = new Outbox();
  outbox.prepare({ name: 'a', text: 'select 1' });
  outbox.prepare({ name: '', text: 'select 2' });
  expect(written(outbox).map(({ type, body }) => [type, body.toString('latin1')])).toEqual([
    ['C', 'Sa\0'],
    ['P', 'a\0select 1\0\0\0'],
    ['P', '\0select 2\0\0\0'],
  ]);
});

test('bytes that were taken are not sent again', () => {
  const outbox = new Outbox();
  outbox.query('begin');
  const first = outbox.take();
  outbox.query('a longer statement, written over the first');
  expect(first.toString('latin1', 5)).toBe('begin\0');
  expect(outbox.isEmpty).toBe(false);
});
