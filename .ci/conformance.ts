/** Runs the black-box conformance cases against `pergola serve` and compares the counts with conformance-baseline.json:
 *  an area may only gain. In: the cases' folder (--shared). Out: a table, --out JSON, exit 1 on a regression.
 *  `--update` writes the baseline from what was measured. Not here: the cases and their runner. */
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { startEmbeddedPostgres } from '../bin/embedded-postgres.ts';
import { startEngine } from './engine.ts';

type Area = { passed: number; failed: number; skipped: number };
type Group = { areas: Record<string, Area> };
type Baseline = {
  about: string;
  /** Cases not counted against us, with why: they contradict the specification or belong to later work. */
  exceptions: { case: string; reason: string }[];
  groups: Record<string, Group>;
};

const { values: options } = parseArgs({
  options: {
    shared: { type: 'string', default: '../shared/conformance' },
    out: { type: 'string' },
    update: { type: 'boolean', default: false },
    group: { type: 'string', multiple: true },
    verbose: { type: 'boolean', default: false },
  },
});
const BASELINE = 'conformance-baseline.json';
const SECRET = 'conformance';
const shared = resolve(options.shared);
const runner = join(shared, 'run.mjs');
const cases = join(shared, 'cases');
const baseline = JSON.parse(readFileSync(BASELINE, 'utf8')) as Baseline;
const groups = options.group ?? Object.keys(baseline.groups);

const folder = mkdtempSync(join(tmpdir(), 'pergola-conformance-'));
const postgres = await startEmbeddedPostgres({ folder, isDurable: false });
const measured: Record<string, Group> = {};
try {
  for (const group of groups) measured[group] = await runGroup(group);
} finally {
  await postgres.stop();
  rmSync(folder, { recursive: true, force: true });
}
report();

async function runGroup(group: string): Promise<Group> {
  const environment = { ...process.env, ...environmentOf(group), ENGINE_GRAPHQL_DATABASE_URL: postgres.url };
  const { url, stop } = await startEngine(environment);
  try {
    const json = join(folder, 'result.json');
    const args = [
      runner,
      '--url',
      url,
      '--admin-secret',
      SECRET,
      '--cases',
      cases,
      '--group',
      group,
      '--json',
      json,
      '--pg',
      postgres.url,
    ];
    spawnSync('node', [...args, ...(options.verbose ? [] : ['-q'])], { stdio: 'inherit', env: environment });
    return { areas: (JSON.parse(readFileSync(json, 'utf8')) as { byArea: Record<string, Area> }).byArea };
  } finally {
    await stop();
  }
}

/** The runner prints the environment a group's server needs as `export NAME='value'` lines. */
function environmentOf(group: string): Record<string, string> {
  const text = execFileSync(
    'node',
    [runner, '--cases', cases, '--admin-secret', SECRET, '--print-env', group],
    { encoding: 'utf8' },
  );
  return Object.fromEntries(
    [...text.matchAll(/^export (\w+)='(.*)'$/gm)].map((match) => [match[1]!, match[2]!]),
  );
}

function report(): void {
  let passed = 0;
  let regressions = 0;
  for (const [group, { areas }] of Object.entries(measured)) {
    console.log(`\n${group}`);
    for (const [area, count] of Object.entries(areas)) {
      const before = baseline.groups[group]?.areas[area]?.passed ?? 0;
      const lost = Math.max(0, before - count.passed);
      passed += count.passed;
      regressions += lost;
      console.log(
        `  ${area.padEnd(26)} ${count.passed} passed, ${count.failed} failed${lost ? `  LOST ${lost} of ${before}` : ''}`,
      );
    }
  }
  if (options.update) {
    writeFileSync(
      BASELINE,
      `${JSON.stringify({ ...baseline, groups: { ...baseline.groups, ...measured } }, null, 2)}\n`,
    );
  }
  if (options.out) writeFileSync(options.out, JSON.stringify({ passed, regressions, groups: measured }));
  console.log(`\n${passed} passed, ${regressions} regressions against ${BASELINE}`);
  process.exitCode = regressions > 0 ? 1 : 0;
}
