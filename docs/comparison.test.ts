/** Tests the table of docs/guides/comparison.md: each cell of ours names a test that exists, and each cell of another product has a source and the day
 *  on which it was read, or the day on which none was found. Not here: whether the sources still say it. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const GUIDES = join(import.meta.dirname, 'guides');
const page = readFileSync(join(GUIDES, 'comparison.md'), 'utf8');
const table = page.split('## Compared with others')[1]!.split(/^## /m)[0]!;
const rows = table
  .split('\n')
  .filter((line) => line.startsWith('| '))
  .slice(1)
  .map((line) => line.split('|').slice(1, -1));

const SOURCE = /^ \S.*\(\[source\]\(https:[^)]+\), 20\d\d-\d\d-\d\d\) $/;
const NOT_FOUND = /^ not found \(20\d\d-\d\d-\d\d\) $/;

test.each(rows.map(([topic = '', ours = '', ...others]) => [topic.trim(), ours, others] as const))(
  'what is said about %s is tested, or has a source with a date',
  (_, ours, others) => {
    const file = /\(\[test\]\(([^)]+\.test\.ts)\)\) $/.exec(ours)?.[1] ?? 'none';
    expect([file, existsSync(join(GUIDES, file))]).toEqual([file, true]);
    expect(others.filter((cell) => !SOURCE.test(cell) && !NOT_FOUND.test(cell))).toEqual([]);
  },
);

test('the table has rows for each product', () => {
  expect(rows.length).toBeGreaterThan(5);
  expect(new Set(rows.map((cells) => cells.length))).toEqual(new Set([7]));
});

test('what is said about versions of others has a source and the day on which it was read', () => {
  const versions = page.split('## How long versions are supported')[1]!.split(/^## /m)[0]!;
  expect(versions).toMatch(/\| \[policy\]\(https:[^)]+\), read on 20\d\d-\d\d-\d\d \|/);
});
