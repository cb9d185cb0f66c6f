/** Tests the batches of a stream as one result. */
import { expect, test } from 'vitest';
import { withEarlierBatches } from './page/batches.js';

type Observer = Parameters<ReturnType<typeof withEarlierBatches>['subscribe']>[0];
const IGNORED = { error: () => {}, complete: () => {} };

test('the latest batches are one result, newest first, at most 20 of them, and all are counted', () => {
  const counts: number[] = [];
  const results: string[] = [];
  const source = {
    subscribe: (observer: Observer) => {
      for (let id = 1; id <= 22; id++) observer.next({ id });
    },
  };
  withEarlierBatches(source, (count) => counts.push(count)).subscribe({
    ...IGNORED,
    next: (result) => results.push(JSON.stringify(result)),
  });
  expect(results.slice(0, 2)).toEqual(['[{"id":1}]', '[{"id":2},{"id":1}]']);
  const last = JSON.parse(results.at(-1)!);
  expect([last.length, last[0], last.at(-1)]).toEqual([20, { id: 22 }, { id: 3 }]);
  expect(counts.at(-1)).toBe(22);
});

test('an error leaves the batches before it, and is the result when there are none', () => {
  const resultsOf = (batches: readonly object[]) => {
    const results: string[] = [];
    const source = {
      subscribe: (observer: Observer) => {
        for (const batch of batches) observer.next(batch);
        observer.error([{ message: 'gone' }]);
      },
    };
    withEarlierBatches(source, () => {}).subscribe({
      next: (result) => results.push(JSON.stringify(result)),
      error: (errors) => results.push(`error ${JSON.stringify(errors)}`),
      complete: () => results.push('complete'),
    });
    return results;
  };
  const errors = '[{"message":"gone"}]';
  expect(resultsOf([{ id: 1 }]).slice(-2)).toEqual([`[{"errors":${errors}},{"id":1}]`, 'complete']);
  expect(resultsOf([])).toEqual([`error ${errors}`]);
});
