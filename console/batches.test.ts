/** Tests what a subscription has sent as one result. */
import { expect, test } from 'vitest';
import { withEarlierBatches, withLastResult } from './page/batches.js';
import { operationOf } from './page/operation.js';

type Observer = Parameters<Parameters<typeof withLastResult>[0]['subscribe']>[0];
const ERRORS = [{ message: 'gone' }];

/** Returns what is shown, as JSON, and the errors and the end, when a source sends as `send` does. */
function shownOf(send: (observer: Observer) => void, onCount?: (count: number) => void): string[] {
  const source = { subscribe: send };
  const results: string[] = [];
  (onCount ? withEarlierBatches(source, onCount) : withLastResult(source)).subscribe({
    next: (result) => results.push(JSON.stringify(result)),
    error: (errors) => results.push(`error ${JSON.stringify(errors)}`),
    complete: () => results.push('end'),
  });
  return results;
}

test('the latest batches are one result, newest first, at most 20 of them, and all are counted', () => {
  const counts: number[] = [];
  const results = shownOf(
    ({ next }) => {
      for (let id = 1; id <= 22; id++) next({ id });
    },
    (count) => counts.push(count),
  );
  expect(results.slice(0, 2)).toEqual(['[{"id":1}]', '[{"id":2},{"id":1}]']);
  const last = JSON.parse(results.at(-1)!);
  expect([last.length, last[0], last.at(-1)]).toEqual([20, { id: 22 }, { id: 3 }]);
  expect(counts.at(-1)).toBe(22);
});

test('an error that ends a stream or a live query is shown with what had arrived, and alone when nothing had', () => {
  const fails = (count: number) => (observer: Observer) => {
    for (let id = 1; id <= count; id++) observer.next({ id });
    observer.error(ERRORS);
  };
  expect(shownOf(fails(2), () => {}).slice(-2)).toEqual([
    '[{"errors":[{"message":"gone"}]},{"id":2},{"id":1}]',
    'end',
  ]);
  expect(shownOf(fails(2))).toEqual([
    ...['{"id":1}', '{"id":2}', '[{"errors":[{"message":"gone"}]},{"id":2}]', 'end'],
  ]);
  for (const onCount of [undefined, () => {}])
    expect(shownOf(fails(0), onCount)).toEqual(['error [{"message":"gone"}]']);
});

const STREAM = 'book_stream(batch_size: 1, cursor: [{initial_value: {id: 0}}]) { id }';
test.each([
  [true, `subscription { ${STREAM} }`],
  [true, `subscription { ... { ... on subscription_root { ${STREAM} } } }`],
  [
    true,
    `subscription { ...A } fragment A on subscription_root { ...B } fragment B on subscription_root { ${STREAM} }`,
  ],
  [false, 'subscription { ...A } fragment A on subscription_root { ...A book { id } }'],
  [false, `subscription { ...Nothing } fragment A on subscription_root { ${STREAM} }`],
  [false, 'subscription { book { read(cursor: 1) } }'],
  [false, `query { ${STREAM} }`],
])('%s: %s is a stream', (isStream, query) => {
  expect(operationOf({ query }).isStream).toBe(isStream);
});
