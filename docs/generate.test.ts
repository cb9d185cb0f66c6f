/** Generated pages are current, and what is written by hand leaves nothing out. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ERRORS } from '../engine/errors/errors.ts';
import { OPERATION_NAMES } from '../engine/metadata/operations.ts';
import { REASONS } from '../operator/kinds/resource.ts';
import { PAGES, pathOf } from './generate.ts';

test.each(PAGES)('docs/reference/$file is what its table says; `make generate` writes it', (page) => {
  expect(readFileSync(pathOf(page), 'utf8')).toBe(page.content());
});

test('every error and every operation has its place in the reference', () => {
  const text = PAGES.map((page) => page.content()).join('\n');
  const missing = [...Object.keys(ERRORS), ...OPERATION_NAMES].filter((name) => !text.includes(name));
  expect(missing).toEqual([]);
});

test('every reason a resource may not be Ready for has a row that says what to do', () => {
  const guide = readFileSync(join(import.meta.dirname, 'guides/troubleshooting.md'), 'utf8');
  const rows = [...guide.matchAll(/^\| `(\w+)` \| .+ \| .+ \|$/gm)].map(([, reason]) => reason);
  expect(rows.toSorted()).toEqual([...REASONS].toSorted());
});
