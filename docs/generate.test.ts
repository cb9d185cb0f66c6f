/** Generated pages are current. */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { ERRORS } from '../engine/errors/errors.ts';
import { OPERATION_NAMES } from '../engine/metadata/operations.ts';
import { PAGES, pathOf } from './generate.ts';

test.each(PAGES)('docs/reference/$file is what its table says; `make generate` writes it', (page) => {
  expect(readFileSync(pathOf(page), 'utf8')).toBe(page.content());
});

test('every error and every operation has its place in the reference', () => {
  const text = PAGES.map((page) => page.content()).join('\n');
  const missing = [...Object.keys(ERRORS), ...OPERATION_NAMES].filter((name) => !text.includes(name));
  expect(missing).toEqual([]);
});
