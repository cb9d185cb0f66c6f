/** The release that the next one is tested against: its version, its commit and its chart are in deploy/e2e/previous.
 *  `node deploy/release/previous.ts v0.4.0 [FOLDER]` makes it the release of that tag. In: the history of this clone, helm. Out: release.json
 *  and the chart, in the folder (default: deploy/e2e/previous).
 *  Not here: its sources (deploy/e2e/previous/source). */
import { execFileSync } from 'node:child_process';
import { globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

const ROOT = join(import.meta.dirname, '../..');
export const PREVIOUS = join(ROOT, 'deploy/e2e/previous');

export type PreviousRelease = { readonly version: string; readonly commit: string };

export function previousRelease(folder = PREVIOUS): PreviousRelease {
  return JSON.parse(readFileSync(join(folder, 'release.json'), 'utf8'));
}

/** Makes the release of a tag or commit the previous one. */
export function movePrevious(revision: string, folder = PREVIOUS, helm = 'helm'): void {
  const git = (...args: readonly string[]) =>
    execFileSync('git', args, { cwd: ROOT, maxBuffer: 2 ** 30, stdio: ['ignore', 'pipe', 'inherit'] });
  const commit = git('rev-parse', '--verify', `${revision}^{commit}`).toString().trim();
  const { version } = JSON.parse(git('show', `${commit}:package.json`).toString()) as PreviousRelease;
  const sources = mkdtempSync(join(tmpdir(), 'pergola-previous-'));
  try {
    execFileSync('tar', ['-x', '-C', sources], { input: git('archive', commit, 'charts/pergola') });
    for (const chart of globSync(join(folder, '*.tgz'))) rmSync(chart);
    const packed = ['package', join(sources, 'charts/pergola'), '--destination', folder];
    execFileSync(helm, packed, { stdio: 'pipe' });
  } finally {
    rmSync(sources, { recursive: true });
  }
  writeFileSync(join(folder, 'release.json'), `${JSON.stringify({ version, commit }, null, 2)}\n`);
}

/** Returns the versions that the previous release may have: that of this release while the next one is made, and the one below it in the changelog. Empty
 *  when no version is below it. */
export function mayBePrevious(changelog: string, current: string): readonly string[] {
  const versions = [...changelog.matchAll(/^## (\S+) \(/gm)].map(([, version]) => version!);
  const before = versions[versions.indexOf(current) + 1];
  return before === undefined ? [] : [current, before];
}

if (import.meta.main) {
  const [, , revision, folder] = process.argv;
  if (revision === undefined) {
    console.error('node deploy/release/previous.ts TAG: the release that the next one is tested against');
    process.exitCode = 2;
  } else movePrevious(revision, folder && resolve(folder));
}
