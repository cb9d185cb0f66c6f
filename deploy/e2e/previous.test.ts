/** Tests that the chart of the previous release is that of its sources, from which the image is built. Skipped in a clone without the history. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';

const PREVIOUS = join(import.meta.dirname, 'previous');
const folder = mkdtempSync(join(tmpdir(), 'pergola-previous-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const SCRIPT = readFileSync(join(PREVIOUS, 'source'), 'utf8');
const [, COMMIT = ''] = /^commit=([0-9a-f]{40})$/m.exec(SCRIPT) ?? [];

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

test.skipIf(reason !== '')(`the chart of the previous release is that of its sources${reason}`, () => {
  execFileSync(join(PREVIOUS, 'source'), [join(folder, 'sources')], { stdio: 'pipe' });
  const [chart = ''] = readdirSync(PREVIOUS).filter((name) => name.endsWith('.tgz'));
  execFileSync('tar', ['-xzf', join(PREVIOUS, chart), '-C', folder]);
  const read = (root: string, file: string) => readFileSync(join(folder, root, file), 'utf8');
  const files = readdirSync(join(folder, 'pergola'), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name !== 'Chart.yaml')
    .map(({ parentPath, name }) => join(parentPath, name).slice(join(folder, 'pergola/').length));
  expect(files.length).toBeGreaterThan(30);
  for (const file of files) expect(read('pergola', file)).toBe(read('sources/charts/pergola', file));
});
