/** Tests which release the next one is tested against: one folder says it, its chart is that of its sources, from which image and package are built, and
 *  the command of the guide moves it. Skipped in a clone without the history. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { describeHelm } from '../../testing/helm.ts';
import { mayBePrevious, PREVIOUS, previousRelease } from '../release/previous.ts';
import { version } from '../release/version.ts';
import { commandsOf } from './guide.ts';

const folder = mkdtempSync(join(tmpdir(), 'pergola-previous-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const { version: PREVIOUS_VERSION, commit: COMMIT } = previousRelease();

/** Returns whether this clone has the commit. */
function hasCommit(): boolean {
  try {
    execFileSync('git', ['cat-file', '-e', `${COMMIT}^{commit}`], { cwd: PREVIOUS, stdio: 'pipe' });
    return true;
  } catch {
    return false;
  }
}

const reason = hasCommit() ? '' : ` (skipped: the clone is shallow, without ${COMMIT})`;

test('the folder says which release it is, and has its chart', () => {
  expect(readdirSync(PREVIOUS).toSorted()).toEqual([
    `pergola-${PREVIOUS_VERSION}.tgz`,
    'release.json',
    'source',
  ]);
});

test('the previous release is the one before this in the changelog', () => {
  const changelog =
    '## Unreleased\n\n## 1.2.0 (2026-03-01)\n\n## 1.1.0 (2026-02-01)\n\n## 1.0.0 (2026-01-01)\n';
  expect(mayBePrevious(changelog, '1.2.0')).toEqual(['1.2.0', '1.1.0']);
  expect(mayBePrevious(changelog, '1.0.0')).toEqual([]);
  const allowed = mayBePrevious(readFileSync('CHANGELOG.md', 'utf8'), version());
  // The changelog begins with 0.4.0.
  if (version() !== '0.4.0') expect(allowed).toContain(PREVIOUS_VERSION);
});

test.skipIf(reason !== '')(`the chart of the previous release is that of its sources${reason}`, () => {
  execFileSync(join(PREVIOUS, 'source'), [join(folder, 'sources')], { stdio: 'pipe' });
  execFileSync('tar', ['-xzf', join(PREVIOUS, `pergola-${PREVIOUS_VERSION}.tgz`), '-C', folder]);
  const read = (root: string, file: string) => readFileSync(join(folder, root, file), 'utf8');
  const files = readdirSync(join(folder, 'pergola'), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name !== 'Chart.yaml')
    .map(({ parentPath, name }) => join(parentPath, name).slice(join(folder, 'pergola/').length));
  expect(files.length).toBeGreaterThan(30);
  for (const file of files) expect(read('pergola', file)).toBe(read('sources/charts/pergola', file));
});

describeHelm('after a release', (helm) => {
  test('the command of the guide makes it the previous one', () => {
    const moved = mkdtempSync(join(folder, 'moved-'));
    execFileSync('cp', [join(PREVIOUS, `pergola-${PREVIOUS_VERSION}.tgz`), moved]);
    const [command = ''] = commandsOf('releasing.md', 'After a release');
    expect(command).toContain(` v${version()}`);
    const path = `${dirname(process.execPath)}:${dirname(helm.program)}:${process.env['PATH']}`;
    const here = `${command.replace(/ v\S+$/, ' HEAD')} ${moved}`;
    execFileSync('bash', ['-ec', here], { env: { ...process.env, PATH: path } });
    const head = execFileSync('git', ['rev-parse', 'HEAD'], { encoding: 'utf8' }).trim();
    expect(previousRelease(moved)).toEqual({ version: version(), commit: head });
    expect(readdirSync(moved).toSorted()).toEqual([`pergola-${version()}.tgz`, 'release.json']);
  });
});
