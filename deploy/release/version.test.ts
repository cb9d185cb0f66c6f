/** Tests that everything has one version. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { released, setVersion, VERSIONED, version, versionsIn } from './version.ts';

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

test('what is unreleased becomes the dated section of the version, once', () => {
  const date = new Date('2026-01-31T23:00:00Z');
  const before = '# Changelog\n\n## Unreleased\n\n- New.\n\n## 0.0.1 (2025-01-01)\n\n- Old.\n';
  const after = released(before, '1.2.3', date);
  expect(after).toBe(before.replace('## Unreleased\n', '## Unreleased\n\n## 1.2.3 (2026-01-31)\n'));
  expect(released(after, '1.2.3', date)).toBe(after);
  expect(() => released(after, '1.2.4', date)).toThrow('nothing unreleased');
  expect(() => released('# Changelog\n\n## 0.0.1 (2025-01-01)\n', '1.2.4', date)).toThrow(
    'nothing unreleased',
  );
});

test('the unreleased section begins with what to do before an upgrade, and what is new in short', () => {
  const [, unreleased = ''] = readFileSync(join(ROOT, 'CHANGELOG.md'), 'utf8').split(/^## .*$/m);
  const [, before, short] = unreleased.split(/^(?=### )/m);
  // Nothing may be unreleased.
  if (unreleased.trim() === '') return;
  expect(before).toMatch(/^### Before you upgrade\n/);
  expect(short).toMatch(/^### New, in short\n/);
  expect(`${before}${short}`.split('\n').length).toBeLessThan(50);
});
