/** Tests the list of slow operations: what is in it, and its bounds. */
import { expect, test } from 'vitest';
import type { OperationFinished } from './observation.ts';
import { SlowOperations } from './slow-operations.ts';

const finished = (
  durationMs: number,
  operationName: string | null,
  more: Partial<OperationFinished> = {},
): OperationFinished => ({
  kind: 'operation finished',
  requestId: '1',
  transport: 'http',
  type: 'query',
  durationMs,
  error: null,
  request: null,
  plan: null,
  usage: {
    role: 'reader',
    operationName,
    inDocument: new Set(['query_root.book', 'query_root.book(where:)', 'book.id']),
  },
  ...more,
});

test('each operation of a role is listed once, as it was when it was slowest', () => {
  const slow = new SlowOperations(() => Date.parse('2026-01-01T00:00:00Z'));
  for (const ms of [5, 20, 10]) slow.observe(finished(ms, 'Books'));
  slow.observe(finished(7, null));
  slow.observe(finished(90, 'Live', { type: 'subscription' }));
  slow.observe(finished(90, null, { usage: null }));
  const books = {
    ...{ operation: 'Books', fields: ['book'], type: 'query', role: 'reader', transport: 'http' },
    ...{ duration_ms: 20, at: '2026-01-01T00:00:00.000Z', error: null },
  };
  expect(slow.slowest).toEqual([books, { ...books, operation: null, duration_ms: 7 }]);
});

test('a document that was slower in the same minute costs a comparison, and counts anew in the next one', () => {
  const clock = { now: 0 };
  const slow = new SlowOperations(() => clock.now);
  let reads = 0;
  const inDocument = new Set(['query_root.book']);
  const usage = {
    role: 'reader',
    inDocument,
    get operationName() {
      reads++;
      return 'Books';
    },
  };
  for (const ms of [5, 4, 5, 3]) slow.observe(finished(ms, null, { usage }));
  expect(reads).toBe(1);
  clock.now += 60_000;
  slow.turn();
  slow.observe(finished(9, null, { usage }));
  expect([reads, slow.slowest.map(({ duration_ms }) => duration_ms)]).toEqual([2, [9]]);
});

test('a minute keeps the ten slowest, and an hour passes', () => {
  const clock = { now: 0 };
  const slow = new SlowOperations(() => clock.now);
  for (let i = 1; i <= 30; i++) slow.observe(finished(i, `o${i}`));
  expect(slow.slowest.map(({ duration_ms }) => duration_ms)).toEqual([
    30, 29, 28, 27, 26, 25, 24, 23, 22, 21,
  ]);
  clock.now += 60_000;
  slow.turn();
  slow.observe(finished(1, 'later'));
  expect(slow.slowest).toHaveLength(11);
  for (let i = 0; i < 61; i++) {
    clock.now += 60_000;
    slow.turn();
  }
  expect(slow.slowest.map(({ operation }) => operation)).toEqual([]);
});

test('names of clients are cut', () => {
  const slow = new SlowOperations();
  slow.observe(finished(1, 'x'.repeat(5000)));
  expect(slow.slowest[0]!.operation).toHaveLength(100);
});
