/** `npm run speed`: the CPU of the engine and Postgres for a request, beside a server that is written by hand for exactly that request
 *  (testing/speed/), and what can be counted: statements, socket writes, errors, bytes. Fails when a figure is worse than
 *  speed-baseline.json by more than its limit, in the best of three tries, of which the later ones repeat only what failed.
 *  In: options. Out: a table, what got worse; --out JSON {passed, failed}. Linux only. Not here: limits (testing/speed/verdict.ts). */
import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { type Counts, count, NODE_FLAGS, SETTINGS } from '../testing/speed/counts.ts';
import { checkSameAnswers } from '../testing/speed/same-answers.ts';
import { type Servers, startServers } from '../testing/speed/servers.ts';
import { subjectsOf } from '../testing/speed/subjects.ts';
import { tableOf } from '../testing/speed/table.ts';
import { sample, timingOf, warm } from '../testing/speed/timing.ts';
import {
  bestOf,
  namesToRepeat,
  type Regression,
  type Results,
  regressionsIn,
} from '../testing/speed/verdict.ts';
import { WORKLOADS } from '../testing/speed/workloads.ts';
import { type Recorded, writeRecord } from './record.ts';

const HELP = `npm run speed -- [options]

  --only NAMES   measure only these, such as --only by-key,update
  --write        write the results to speed-baseline.json and docs/SPEED.md instead of comparing them
  --rounds N     rounds of a try (default 12; 30 with --write)
  --tries N      tries until something has failed (default 3)
  --json         print the results as JSON, without the table
  --out FILE     write {"passed": N, "failed": N} to the file
  --help         print this text

Measures ${[...WORKLOADS.map(({ name }) => name), 'event', 'live-query'].join(', ')}.
`;

const { values: options } = parseArgs({
  options: {
    only: { type: 'string' },
    write: { type: 'boolean', default: false },
    rounds: { type: 'string' },
    tries: { type: 'string', default: '3' },
    json: { type: 'boolean', default: false },
    out: { type: 'string' },
    help: { type: 'boolean', default: false },
  },
});

const BASELINE = join(import.meta.dirname, '../speed-baseline.json');
const TRIES = Number(options.tries);
const ROUNDS = Number(options.rounds ?? (options.write ? 30 : 12));
/** A later try has fewer rounds, so that all three end in six minutes. */
const ROUNDS_OF_REPETITION = Math.ceil(ROUNDS * 0.6);
const ROUND_MS = 120;

if (options.help) process.stdout.write(HELP);
else await run();

async function run(): Promise<void> {
  const chosen = options.only?.split(',');
  const isChosen = (name: string) => chosen?.includes(name) ?? true;
  const baseline: Results = existsSync(BASELINE)
    ? (JSON.parse(readFileSync(BASELINE, 'utf8')) as Recorded<Results>).figures
    : {};
  let results = await measure(isChosen, isChosen, ROUNDS);
  const names = Object.keys(results);
  if (names.length === 0) throw new Error(`nothing has the name ${options.only}; --help lists all`);
  if (options.write) return write({ ...baseline, ...results });
  let regressions = regressionsIn(results, baseline);
  for (let attempt = 2; attempt <= TRIES && regressions.length > 0; attempt++) {
    const timed = namesToRepeat(regressions, names, false);
    const counted = namesToRepeat(regressions, names, true);
    if (timed.length + counted.length === 0) break;
    for (const regression of regressions)
      say(`to be measured again: ${nameOf(regression)}: ${regression.message}`);
    say(`try ${attempt} of ${TRIES}: ${[...new Set([...timed, ...counted])].join(', ')}`);
    const again = await measure(
      (name) => timed.includes(name),
      (name) => counted.includes(name),
      ROUNDS_OF_REPETITION,
      results,
    );
    results = bestOf(results, again);
    regressions = regressionsIn(results, baseline);
  }
  console.log(options.json ? JSON.stringify(results, null, 2) : `\n${tableOf(results, baseline)}\n`);
  for (const { of, message } of regressions)
    say(`FAILED ${of === 'all' ? 'geometric mean' : of}: ${message}`);
  if (regressions.length > 0) say('If this is intended, rewrite the baseline: npm run speed -- --write');
  const failed = new Set(regressions.map(({ of }) => of)).size;
  const passed = names.filter((name) => !regressions.some(({ of }) => of === name)).length;
  if (options.out) writeFileSync(options.out, JSON.stringify({ passed, failed }));
  say(`${passed} passed, ${failed} failed`);
  process.exitCode = failed > 0 ? 1 : 0;
}

/** Returns results of what is timed and of what is counted; a figure that is not measured again is that of `before`. */
async function measure(
  isTimed: (name: string) => boolean,
  isCounted: (name: string) => boolean,
  rounds: number,
  before: Results = {},
): Promise<Results> {
  const timed = await timings(isTimed, rounds);
  const workloads = WORKLOADS.filter(({ name }) => isCounted(name));
  const counts = workloads.length > 0 ? await countsOf(workloads) : new Map<string, Counts>();
  const names = new Set([...timed.keys(), ...counts.keys()]);
  return Object.fromEntries(
    [...names].map((name) => {
      const timing = timed.get(name) ?? before[name]!;
      return [name, { ...timing, counts: counts.get(name) ?? before[name]?.counts }];
    }),
  );
}

async function timings(
  isTimed: (name: string) => boolean,
  rounds: number,
): Promise<Map<string, Results[string]>> {
  return withServers([], [], async (servers) => {
    const subjects = subjectsOf(servers, isTimed);
    if (subjects.length === 0) return new Map();
    await checkSameAnswers(
      servers,
      WORKLOADS.filter(({ name }) => isTimed(name)),
    );
    say(`the answers of both servers are the same; warming up`);
    await warm(servers, WORKLOADS);
    let done = 0;
    const progress = () => say(`round ${++done} of ${rounds}`);
    const samples = await sample(servers, subjects, { rounds, ms: ROUND_MS, progress });
    return new Map(subjects.map(({ name, title }) => [name, { title, ...timingOf(samples.get(name)!) }]));
  });
}

async function countsOf(
  workloads: readonly (typeof WORKLOADS)[number][],
): Promise<ReadonlyMap<string, Counts>> {
  say('counting statements, writes, errors and bytes');
  let done = 0;
  const progress = () => say(`counted ${++done} of ${workloads.length}`);
  return withServers(NODE_FLAGS, SETTINGS, (servers) => count(servers, workloads, progress));
}

async function withServers<Answer>(
  nodeFlags: readonly string[],
  settings: readonly string[],
  use: (servers: Servers) => Promise<Answer>,
): Promise<Answer> {
  const folder = mkdtempSync(join(tmpdir(), 'pergola-speed-'));
  // Postgres runs as another user under root, and must be able to enter.
  chmodSync(folder, 0o711);
  try {
    const servers = await startServers({ folder, nodeFlags, settings });
    return await use(servers).finally(servers.stop);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function nameOf({ of }: Regression): string {
  return of === 'all' ? 'geometric mean' : of;
}

/** Writes the baseline, and the document that prints it. */
function write(workloads: Results): void {
  writeRecord(BASELINE, workloads);
  execFileSync(process.execPath, [join(import.meta.dirname, '../docs/generate.ts')]);
  console.log(`\n${tableOf(workloads, {})}\n`);
  say(`wrote ${BASELINE} and docs/SPEED.md`);
}

/** Prints a line for whoever waits; with --json, beside the result. */
function say(line: string): void {
  if (options.json) console.error(line);
  else console.log(line);
}
