/** Runs the black-box conformance cases against `pergola serve` and compares the result with conformance-baseline.json: an area may only
 *  gain, and a case may fail only if the baseline names it with a reason. The code and the path of errors are compared (`--errors suite`
 *  compares statuses only, `--errors strict` texts as well). In: the folder of the cases (--shared). Out: a table, --out JSON, exit 1 on
 *  a regression. `--group G` (repeatable) runs these groups, each with its own server configuration; by default, the groups of the
 *  baseline. `--area A,B` and `--filter RE` run a part, without a comparison of counts. `--update` writes the measured counts to the
 *  baseline. A group that needs PostGIS gets an installed server that has it (--postgres-bin, or found), the
 *  others the embedded one. Not here: the cases and their runner. */
import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import pg from 'pg';
import { type EmbeddedPostgres, startEmbeddedPostgres } from '../bin/embedded-postgres.ts';
import { environmentOf, REFERENCE_DEFAULTS, runnerIn, SECRET } from '../testing/conformance-runner.ts';
import { startEngine } from '../testing/engine-process.ts';
import { binariesWithPostgis } from './postgis.ts';

type Area = { passed: number; failed: number; skipped: number };
type RunnerReport = {
  byArea: Record<string, Area>;
  results: readonly { id: string; area: string; status: string }[];
};
type Group = { areas: Record<string, Area> };
type Baseline = {
  about: string;
  /** Cases that may fail or are skipped, each as `group id`, with the reason. */
  exceptions: { reason: string; cases: string[] }[];
  groups: Record<string, Group>;
};

const { values: options } = parseArgs({
  options: {
    shared: { type: 'string', default: '../shared/conformance' },
    out: { type: 'string' },
    update: { type: 'boolean', default: false },
    group: { type: 'string', multiple: true },
    area: { type: 'string' },
    filter: { type: 'string' },
    errors: { type: 'string', default: 'code' },
    'postgres-bin': { type: 'string' },
    verbose: { type: 'boolean', default: false },
  },
});
const BASELINE = 'conformance-baseline.json';
const shared = resolve(options.shared);
const runner = runnerIn(shared);
const jwtKeys = mkdtempSync(join(tmpdir(), 'pergola-jwt-'));
const baseline = JSON.parse(readFileSync(BASELINE, 'utf8')) as Baseline;
const groups = options.group ?? Object.keys(baseline.groups);

/** True when the counts cannot be compared with the baseline's, which are of whole groups with codes and paths compared. */
const isPart = options.area !== undefined || options.filter !== undefined || options.errors !== 'code';

const folder = mkdtempSync(join(tmpdir(), 'pergola-conformance-'));
// Postgres runs as another user when we are root, and must be able to enter.
chmodSync(folder, 0o711);
const servers = new Map<string, EmbeddedPostgres>();
const needs = needsOfGroups();
const measured: Record<string, Group> = {};
/** The cases that failed, by group, without those that the baseline excepts. */
const unexpected = new Map<string, readonly string[]>();
const excepted = new Set(baseline.exceptions.flatMap(({ cases: names }) => names));
try {
  for (const group of groups) {
    measured[group] = await runGroup(group);
    if (regressionsOf(group) === 0) continue;
    console.log(`${group} lost ${regressionsOf(group)}; once more, to tell a regression from a busy machine`);
    measured[group] = await runGroup(group);
  }
} finally {
  for (const server of servers.values()) await server.stop();
  rmSync(folder, { recursive: true, force: true });
  rmSync(jwtKeys, { recursive: true, force: true });
}
report();

async function runGroup(group: string): Promise<Group> {
  const postgres = await serverFor(group);
  const environment = {
    ...process.env,
    ...REFERENCE_DEFAULTS,
    ...environmentOf(runner, group, jwtKeys),
    ENGINE_GRAPHQL_DATABASE_URL: postgres.url,
    ENGINE_GRAPHQL_PG_SOURCE_URL_1: postgres.url.replace(/postgres$/, 'source_1'),
    ENGINE_GRAPHQL_PG_SOURCE_URL_2: postgres.url.replace(/postgres$/, 'source_2'),
  };
  const { url, stop } = await startEngine(environment);
  const helpers = startHelpers(group, url, environment);
  try {
    const json = join(folder, 'result.json');
    const where = ['--url', url, '--pg', postgres.url, '--admin-secret', SECRET, '--cases', runner.cases];
    const what = (['area', 'filter', 'errors'] as const).flatMap((name) =>
      options[name] === undefined ? [] : [`--${name}`, options[name]],
    );
    const how = ['--jwt-keys', jwtKeys, '--group', group, '--json', json, ...(options.verbose ? [] : ['-q'])];
    spawnSync('node', [runner.program, ...where, ...what, ...how], { stdio: 'inherit', env: environment });
    const { byArea, results } = JSON.parse(readFileSync(json, 'utf8')) as RunnerReport;
    const failed = results.filter(({ status }) => status === 'failed').map(({ id }) => `${group} ${id}`);
    unexpected.set(
      group,
      failed.filter((name) => !excepted.has(name)),
    );
    for (const { id, status } of results) {
      const name = `${group} ${id}`;
      if (status === 'passed' && excepted.has(name)) console.log(`${name} passes; ${BASELINE} excepts it`);
    }
    return { areas: byArea };
  } finally {
    helpers?.kill();
    await stop();
  }
}

/** Starts the webhooks and GraphQL services that some groups call. */
function startHelpers(group: string, url: string, env: NodeJS.ProcessEnv): ChildProcess | undefined {
  const needsThem = needs.get(group)?.some((need) => /^aux:|auth-webhook|tls-webhook/.test(need));
  if (!needsThem) return undefined;
  const args = [join(shared, 'aux.mjs'), '--engine', url, '--admin-secret', SECRET];
  return spawn('node', args, { stdio: 'ignore', env, cwd: folderWithOlderGraphql() });
}

/** Returns a folder with graphql 16: some schemas of the helpers use one type for two roots, which version 17 rejects. */
function folderWithOlderGraphql(): string {
  const modules = join(folder, 'helpers', 'node_modules');
  mkdirSync(modules, { recursive: true });
  const link = join(modules, 'graphql');
  if (!existsSync(link)) symlinkSync(resolve('node_modules/graphql-16'), link);
  return join(folder, 'helpers');
}

/** Returns the server of a kind, started when the first group needs it, with the databases of two more sources. */
async function serverFor(group: string): Promise<EmbeddedPostgres> {
  const kind = needs.get(group)?.includes('pg-ext:postgis') ? 'postgis' : 'plain';
  const running = servers.get(kind);
  if (running) return running;
  const binaries = kind === 'postgis' ? (options['postgres-bin'] ?? binariesWithPostgis()) : undefined;
  const server = await startEmbeddedPostgres({ folder: join(folder, kind), isDurable: false, binaries });
  servers.set(kind, server);
  const client = new pg.Client({ connectionString: server.url });
  await client.connect();
  await client.query('CREATE DATABASE source_1');
  await client.query('CREATE DATABASE source_2');
  await client.end();
  return server;
}

/** Returns what each group needs, from the runner's list: `name  count  {environment} need,need`. */
function needsOfGroups(): Map<string, string[]> {
  const text = execFileSync('node', [runner.program, '--cases', runner.cases, '--list-groups'], {
    encoding: 'utf8',
  });
  const lines = text.split('\n').map((line) => /^(\S+)\s+\d+ \{.*\} ?(.*)$/.exec(line));
  return new Map(lines.flatMap((match) => (match ? [[match[1]!, match[2]!.split(',')]] : [])));
}

/** Returns how many cases of an area pass by the baseline, and how many fewer pass now. */
function comparison(group: string, area: string, { passed }: Area): { before: number; lost: number } {
  const before = baseline.groups[group]?.areas[area]?.passed ?? 0;
  return { before, lost: isPart ? 0 : Math.max(0, before - passed) };
}

/** Returns the larger of two counts: cases that pass no more, and failures without a reason. They are mostly the same cases. */
function regressionsOf(group: string): number {
  const areas = Object.entries(measured[group]?.areas ?? {});
  const lost = areas.reduce((sum, [area, count]) => sum + comparison(group, area, count).lost, 0);
  return Math.max(lost, unexpected.get(group)?.length ?? 0);
}

function report(): void {
  let passed = 0;
  let regressions = 0;
  for (const [group, { areas }] of Object.entries(measured)) {
    console.log(`\n${group}`);
    for (const [area, count] of Object.entries(areas)) {
      const { before, lost } = comparison(group, area, count);
      passed += count.passed;
      console.log(
        `  ${area.padEnd(26)} ${count.passed} passed, ${count.failed} failed${lost ? `  LOST ${lost} of ${before}` : ''}`,
      );
    }
    regressions += regressionsOf(group);
    for (const name of unexpected.get(group) ?? []) console.log(`FAIL ${name}`);
  }
  if (options.update && !isPart) {
    writeFileSync(
      BASELINE,
      `${JSON.stringify({ ...baseline, groups: { ...baseline.groups, ...measured } }, null, 2)}\n`,
    );
  }
  if (options.out) writeFileSync(options.out, JSON.stringify({ passed, regressions, groups: measured }));
  console.log(`\n${passed} passed, ${regressions} regressions against ${BASELINE}`);
  process.exitCode = regressions > 0 ? 1 : 0;
}
