/** Opens every page of the console on real databases and on large generated ones, in every window and colour scheme
 *  (console/every-page.test.ts), and compares Access with `explain_access` for 200 random models.
 *  In: the data folder (--shared), a Postgres with PostGIS, a Chromium. Out: the report of vitest, --out JSON {passed, failed}; exit 1 on a
 *  failure. Files that fail are repeated (.ci/again.ts). */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { binariesWithPostgis } from './postgis.ts';
import type { VitestReport } from './stories.ts';

const { values: options } = parseArgs({
  options: { shared: { type: 'string', default: '../shared' }, out: { type: 'string' } },
});
const folder = mkdtempSync(join(tmpdir(), 'pergola-pages-'));
try {
  const report = join(folder, 'report.json');
  const env = {
    ...process.env,
    VITEST_JSON: report,
    PERGOLA_TEST_MODELS: '200',
    PERGOLA_TEST_DATA: join(resolve(options.shared), 'data'),
    PERGOLA_TEST_POSTGRES_BIN: binariesWithPostgis(),
  };
  const run = (command: string, args: readonly string[]) =>
    spawnSync(command, args, { stdio: 'inherit', env }).status;
  let status = run('vitest', ['run', 'console/every-page.test.ts', 'console/access-words.test.ts']);
  if (status !== 0 && existsSync(report)) status = run('node', ['.ci/again.ts', report]);
  const { numPassedTests, numFailedTests } = JSON.parse(readFileSync(report, 'utf8')) as VitestReport;
  const failed = numFailedTests || (status === 0 ? 0 : 1);
  console.log(`pages: ${numPassedTests} passed, ${failed} failed`);
  if (options.out) writeFileSync(options.out, JSON.stringify({ passed: numPassedTests, failed }));
  process.exitCode = failed > 0 ? 1 : 0;
} finally {
  rmSync(folder, { recursive: true, force: true });
}
