/** Tests which bytes of a client count, and against what: a stream without a network. */
import { PassThrough } from 'node:stream';
import { expect, test } from 'vitest';
import { ByteBudget } from '../body/byte-budget.ts';
import { IncomingBytes } from './incoming-bytes.ts';

const KIB = 1024;

function incomingUnderTest() {
  const duplex = new PassThrough();
  const events: string[] = [];
  const incoming = new IncomingBytes({
    duplex,
    budget: new ByteBudget(1024 * KIB),
    maxBytes: () => 256 * KIB,
    tooLarge: () => events.push('too large'),
    overloaded: () => events.push('overloaded'),
    pauseChanged: () => events.push('pause changed'),
  });
  return { incoming, events, arrive: (bytes: number) => duplex.emit('data', Buffer.alloc(bytes)) };
}

test('a client that sends only pongs, for months, never waits for room', () => {
  const { incoming, events, arrive } = incomingUnderTest();
  for (let i = 0; i < 100_000; i++) {
    arrive(6);
    incoming.controlCompleted(0);
  }
  expect(events).toEqual([]);
});

test('pongs between the parts of a message do not hide its size', () => {
  const { incoming, events, arrive } = incomingUnderTest();
  for (let part = 0; part < 100; part++) {
    arrive(4 * KIB);
    arrive(6);
    incoming.controlCompleted(0);
  }
  expect(events).toContain('too large');
});
