/** Tests server-sent events with bytes split anywhere. */
import { expect, test } from 'vitest';
import '../../testing/seed.ts';
import { array, assert, constantFrom, nat, property, string } from 'fast-check';
import { EventStream } from './event-stream.ts';

function eventsOf(...chunks: readonly string[]): readonly (readonly [string, string])[] {
  const stream = new EventStream();
  return chunks.flatMap((chunk) =>
    stream.read(Buffer.from(chunk)).map(({ type, data }) => [type, data.toString()] as const),
  );
}

test('an event has a type and data; comments and other fields are ignored', () => {
  const text = ':\n\nretry: 1\nid: 7\nevent: next\ndata: {"a":1}\n\ndata:x\n\nevent: complete\n\n';
  expect(eventsOf(text)).toEqual([
    ['next', '{"a":1}'],
    ['message', 'x'],
    ['complete', ''],
  ]);
});

test.each(['data\n', 'data:\n', 'data: x\n', 'd', 'event'])('what an event keeps is counted: %j', (part) => {
  const stream = new EventStream();
  for (let i = 0; i < 1000; i++) stream.read(Buffer.from(part));
  expect(stream.heldBytes).toBeGreaterThan(1000 * 50);
  stream.read(Buffer.from('\n\n'));
  expect(stream.heldBytes).toBe(0);
});

test('data of several lines is one text, and only the first space is removed', () => {
  expect(eventsOf('data:  a\ndata\ndata:b:c\n\n')).toEqual([['message', ' a\n\nb:c']]);
});

test('lines end in any of three ways, and events with their blank line', () => {
  expect(eventsOf('data: a\r\n\r\ndata: b\r\rdata: c\n')).toEqual([
    ['message', 'a'],
    ['message', 'b'],
  ]);
  expect(eventsOf('event: a\r', '\ndata: b\r', '\n\r', '\n')).toEqual([['a', 'b']]);
});

test('events are the same wherever the bytes are split, and returned ones are released', () => {
  const text = string({
    unit: constantFrom('a', 'é', ':', ' ', '\n', '\r\n', 'data:', 'event:x'),
    maxLength: 40,
  });
  assert(
    property(text, array(nat(40)), (written, cuts) => {
      const bytes = Buffer.from(`${written}\n\n\n`);
      const places = [...cuts, bytes.length].sort((a, b) => a - b);
      const cut = new EventStream();
      const events = places.flatMap((end, i) => cut.read(bytes.subarray(places[i - 1] ?? 0, end)));
      expect(events).toEqual(new EventStream().read(bytes));
      expect(cut.heldBytes).toBe(0);
    }),
  );
});
