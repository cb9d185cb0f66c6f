/** Tests that everything has one version. */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { VERSION } from '../../engine/http/version.ts';
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
  const later = new Date('2026-02-01T00:00:00Z');
  expect(released(after, '1.2.3', later)).toBe(after.replace('(2026-01-31)', '(2026-02-01)'));
  const more = after.replace('## Unreleased\n', '## Unreleased\n\n- More.\n');
  expect(() => released(more, '1.2.3', later)).toThrow('move them into the section of 1.2.3');
  expect(() => released(after, '1.2.4', date)).toThrow('nothing unreleased');
  expect(() => released('# Changelog\n\n## 0.0.1 (2025-01-01)\n', '1.2.4', date)).toThrow(
    'nothing unreleased',
  );
});

test('the newest section begins with what to do before an upgrade, and what is new in short', () => {
  const sections = readFileSync(join(ROOT, 'CHANGELOG.md'), 'utf8')
    .split(/^## .*$/m)
    .slice(1);
  // Nothing may be unreleased.
  const newest = sections.find((section) => section.trim() !== '') ?? '';
  const [, before, short] = newest.split(/^(?=### )/m);
  expect(before).toMatch(/^### Before you upgrade\n/);
  expect(short).toMatch(/^### New, in short\n/);
  expect(`${before}${short}`.split('\n').length).toBeLessThan(50);
});

test('the version has a dated section below Unreleased, and no section comes twice', () => {
  const changelog = readFileSync(join(ROOT, 'CHANGELOG.md'), 'utf8');
  const heads = changelog.match(/^## .*$/gm) ?? [];
  expect(heads[0]).toBe('## Unreleased');
  expect(heads[1]).toMatch(new RegExp(`^## ${version().replaceAll('.', '\\.')} \\(\\d{4}-\\d{2}-\\d{2}\\)$`));
  expect(new Set(heads).size).toBe(heads.length);
});

test('the command prints the version, and the engine reports it', () => {
  expect(VERSION).toMatch(new RegExp(`\\+pergola\\.${version().replaceAll('.', '\\.')}$`));
  const command = join(ROOT, 'bin/pergola.mjs');
  const printed = execFileSync(process.execPath, [command, '--version'], { encoding: 'utf8' });
  expect(printed).toContain(version());
});
