/** Tests that everything has one version. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { setVersion, VERSIONED, version, versionsIn } from './version.ts';

const ROOT = join(import.meta.dirname, '../..');

test.each(VERSIONED)('$file has the version after $before', ({ file, before }) => {
  const found = versionsIn(readFileSync(join(ROOT, file), 'utf8'), before);
  expect(found.length).toBeGreaterThan(0);
  expect(new Set(found)).toEqual(new Set([version()]));
});

test('the lockfile has the version', () => {
  const lock = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8'));
  const own = ['', 'engine', 'operator', 'crds'].map((workspace) => lock.packages[workspace].version);
  expect(new Set([lock.version, ...own])).toEqual(new Set([version()]));
});

test('what is no version is refused before anything is written', () => {
  for (const wrong of ['', 'v1.2.3', '1.2', '1.2.3+build', '1.2.3\n']) {
    expect(() => setVersion(wrong)).toThrow('is no version');
  }
});
