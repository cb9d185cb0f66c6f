/** Tests which results of PermissionTests are stored: changes only, those of one manager, and a bounded number of bounded records. */
import { expect, test } from 'vitest';
import type { CustomResource } from '../kinds.ts';
import type { TestOutcome } from '../ports/permission-test.ts';
import { resource } from '../testing/resources.ts';
import { patchedRecords } from './stored-records.ts';
import { readTestResults, type TestResultRecord, testResultChanges } from './test-results.ts';

const AT = new Date('2026-01-01T00:00:00Z');
const about = { manager: 'm', at: AT, exists: (name: string) => !name.endsWith('gone') };
const REQUEST = JSON.stringify({ query: '{ note { id } }' });
const record = (more: Partial<TestResultRecord> = {}): TestResultRecord => ({
  ...{ manager: 'm', role: 'reader', reason: 'TestPassed', message: 'why' },
  ...{ since: AT.toISOString(), request: REQUEST },
  ...more,
});
const named = (name: string, more: object = {}) =>
  resource('PermissionTest', name, { role: 'reader', query: '{ note { id } }', ...more });
const outcome = (more: Partial<TestOutcome> = {}): TestOutcome => ({
  ...{ reason: 'TestPassed', message: 'why', isRun: true },
  ...more,
});
const results = (...entries: readonly (readonly [CustomResource, TestOutcome])[]) => new Map(entries);
const key = (name: string) => `PermissionTest default/${name}`;

test('a changed result, role or request is stored, the same one is not, and a deleted test loses its record', () => {
  const earlier = '2025-12-01T00:00:00Z';
  const before = new Map([
    [key('same'), record({ since: earlier })],
    [key('failed'), record({ since: earlier })],
    [key('asked'), record({ since: earlier })],
    [key('waiting'), record({ since: earlier })],
    [key('invalid'), record({ since: earlier })],
    [key('gone'), record()],
    [key('foreign-gone'), record({ manager: 'n' })],
  ]);
  const changes = testResultChanges(
    results(
      [named('same'), outcome()],
      [named('failed'), outcome({ reason: 'TestFailed', message: 'other' })],
      [named('asked', { query: '{ author { id } }', variables: { a: null } }), outcome()],
      [named('waiting'), outcome({ reason: 'NotRun', message: 'later' })],
      [named('foreign-gone'), outcome({ reason: 'TestFailed' })],
      [named('new'), outcome({ reason: 'NotRun', message: 'why not', isRun: false })],
    ),
    before,
    about,
  );
  expect(changes).toEqual({
    [key('gone')]: null,
    [key('failed')]: record({ reason: 'TestFailed', message: 'other' }),
    [key('asked')]: record({
      request: JSON.stringify({ query: '{ author { id } }', variables: { a: null } }),
    }),
    [key('new')]: record({ reason: 'NotRun', message: 'why not' }),
  });
  expect(patchedRecords(before, changes).get(key('same'))).toEqual(record({ since: earlier }));
});

test('the records are bounded: their number, their messages and their requests', () => {
  const tests = Array.from({ length: 600 }, (_, i) => [named(`t${i}`), outcome()] as const);
  expect(Object.keys(testResultChanges(results(...tests), new Map(), about))).toHaveLength(500);
  const long = named('long', { query: `{ note { id } } #${'x'.repeat(3000)}` });
  const found = testResultChanges(results([long, outcome({ message: 'y'.repeat(900) })]), new Map(), about)[
    key('long')
  ]!;
  expect([found.request, found.message.length]).toEqual(['', 500]);
});

test('invalid records are left out', () => {
  const tests = { [key('one')]: record(), [key('two')]: { ...record(), request: 7 }, [key('three')]: null };
  expect([...readTestResults({ tests }).keys()]).toEqual([key('one')]);
  expect(readTestResults(7).size).toBe(0);
});
