import { expect, test } from 'vitest';
import { passedBefore, storiesToRepeat, type VitestReport } from './stories.ts';

const STORIES = ['install.e2e.ts', 'argocd.e2e.ts', 'chaos.e2e.ts'];

const reportOf = (...files: readonly (readonly [string, string, readonly string[]])[]): VitestReport => ({
  numPassedTests: 0,
  numFailedTests: 0,
  testResults: files.map(([name, status, statuses]) => ({
    name: `/repository/deploy/e2e/${name}`,
    status,
    assertionResults: statuses.map((one) => ({ status: one })),
  })),
});

test('a story that failed and those that were not reached are repeated', () => {
  const report = reportOf(
    ['install.e2e.ts', 'passed', ['passed', 'passed']],
    ['argocd.e2e.ts', 'failed', ['passed', 'failed', 'skipped']],
  );
  const rest = storiesToRepeat(STORIES, report);
  expect(rest).toEqual(['argocd.e2e.ts', 'chaos.e2e.ts']);
  expect(passedBefore(report, rest)).toBe(2);
});

test('a story whose tests passed and whose hook failed is repeated', () => {
  const report = reportOf(
    ['install.e2e.ts', 'failed', ['passed']],
    ['argocd.e2e.ts', 'passed', ['passed']],
    ['chaos.e2e.ts', 'passed', ['passed']],
  );
  expect(storiesToRepeat(STORIES, report)).toEqual(['install.e2e.ts']);
});

test('a story of which every test was skipped has not passed', () => {
  expect(storiesToRepeat(STORIES, reportOf(['argocd.e2e.ts', 'passed', ['skipped']]))).toEqual(STORIES);
});

test('without a report every story is repeated', () => {
  expect(storiesToRepeat(STORIES, undefined)).toEqual(STORIES);
  expect(passedBefore(undefined, STORIES)).toBe(0);
});

test('nothing is repeated if every story passed', () => {
  const report = reportOf(...STORIES.map((story) => [story, 'passed', ['passed']] as const));
  expect(storiesToRepeat(STORIES, report)).toEqual([]);
  expect(passedBefore(report, [])).toBe(3);
});
