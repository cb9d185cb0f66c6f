/** Tests which clients are disconnected, and when: queues only, with given lengths. */
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { SendQueues } from './send-queues.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

const KIB = 1024;

function queuesUnderTest(maxBytes = 1024 * 1024 * KIB) {
  const queues = new SendQueues({ fullBytes: 1024 * KIB, timeoutMs: 5000, maxBytes });
  const cut: string[] = [];
  const add = (name: string, kib: number) => {
    const queue = { kib };
    queues.add({
      get bytes() {
        return queue.kib * KIB;
      },
      cut: (limit) => {
        cut.push(`${name}: ${limit}`);
        queue.kib = 0;
      },
    });
    return queue;
  };
  const seconds = (count: number) => vi.advanceTimersByTimeAsync(count * 1000);
  return { queues, cut, add, seconds };
}

test('a queue that stays full is cut off after its timeout, plus a second for each 128 KiB', async () => {
  const { cut, add, seconds } = queuesUnderTest();
  add('stalled', 1280);
  add('short', 1000);
  await seconds(15);
  expect(cut).toEqual([]);
  await seconds(3);
  expect(cut).toEqual(['stalled: slow client']);
  await seconds(60);
  expect(cut).toHaveLength(1);
});

test('a client that empties its queue has a new timeout', async () => {
  const { cut, add, seconds } = queuesUnderTest();
  const queue = add('busy', 1280);
  for (let i = 0; i < 10; i++) {
    await seconds(10);
    queue.kib = 0;
    await seconds(2);
    queue.kib = 1280;
  }
  expect(cut).toEqual([]);
});

test('above the budget the longest waiting queues are cut off, until the others fit', async () => {
  const { queues, cut, add, seconds } = queuesUnderTest(1000 * KIB);
  add('a', 400);
  add('b', 300);
  add('c', 200);
  add('reads', 60);
  await seconds(3);
  expect([cut, queues.fullBytes]).toEqual([[], 1024 * KIB]);
  const later = add('d', 400);
  await seconds(1);
  // The newest queue may still be read.
  expect([cut, queues.fullBytes]).toEqual([['a: queued bytes'], 64 * KIB]);
  await seconds(1);
  expect([cut.length, queues.totalBytes, queues.fullBytes]).toEqual([1, 960 * KIB, 1024 * KIB]);
  later.kib = 700;
  await seconds(1);
  expect([cut.slice(1), queues.totalBytes]).toEqual([['d: queued bytes'], 560 * KIB]);
});
