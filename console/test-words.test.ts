/** Tests what the page Access says of PermissionTests. */
import { expect, test } from 'vitest';
import { resultsInWords, testsOfCell } from './page/test-words.js';

const results = (...reasons: readonly string[]) =>
  reasons.map((reason, i) => ({ resource: `PermissionTest a/t${i}`, reason }));

test.each([
  [[], 'no test'],
  [['TestPassed'], '1 test passed'],
  [['TestPassed', 'TestPassed'], '2 tests passed'],
  [['TestFailed'], '1 test failed'],
  [['TestFailed', 'TestPassed', 'NotRun'], '1 of 3 tests failed'],
  [['NotRun', 'NotRun'], '2 tests, not run'],
  [['TestPassed', 'NotRun'], '1 of 2 tests passed'],
])('the results %j are %s', (reasons, text) => {
  expect(resultsInWords(results(...reasons))).toBe(text);
});

test('the tests of a cell are those of a permission that grants it, on the same table of the same source', () => {
  const tests = results('TestPassed', 'TestPassed', 'TestPassed', 'TestPassed', 'TestPassed');
  const at = { source: 'default', table: { schema: 'public', name: 'book' } };
  const covered = [
    { role: 'reader', operation: 'select', ...at },
    { role: 'other', operation: 'select', ...at },
    { role: 'reader', operation: 'insert', ...at },
    { role: 'reader', operation: 'select', ...at, source: 'archive' },
    { role: 'reader', operation: 'select', ...at, table: { schema: 'shelf', name: 'book' } },
  ].map((one, i) => ({ ...one, tests: [`PermissionTest a/t${i}`] }));
  const found = (...roles: readonly string[]) =>
    testsOfCell({ tests, covered }, at, 'select', { grants: roles.map((role) => ({ role })) }).map(
      ({ resource }) => resource,
    );
  expect(found('reader')).toEqual(['PermissionTest a/t0']);
  expect(found('reader', 'other')).toEqual(['PermissionTest a/t0', 'PermissionTest a/t1']);
  expect(found('third')).toEqual([]);
});
