/** Tests the batches of a stream as one result. */
import { expect, test } from 'vitest';
import { withEarlierBatches } from './page/batches.js';

test('the latest batches are one result, newest first, at most 20 of them, and all are counted', () => {
  const counts: number[] = [];
  const results: string[] = [];
  const source = {
    subscribe: (observer: { next: (result: object) => void }) => {
      for (let id = 1; id <= 22; id++) observer.next({ id });
    },
  };
  withEarlierBatches(source, (count) => counts.push(count)).subscribe({
    next: (result) => results.push(JSON.stringify(result)),
  });
  expect(results.slice(0, 2)).toEqual(['[{"id":1}]', '[{"id":2},{"id":1}]']);
  const last = JSON.parse(results.at(-1)!);
  expect([last.length, last[0], last.at(-1)]).toEqual([20, { id: 22 }, { id: 3 }]);
  expect(counts.at(-1)).toBe(22);
});
