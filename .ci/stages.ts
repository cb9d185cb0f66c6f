/** The stages of continuous integration, in the order they start in. In: the environment that .ci/run prepares. Out: a line when a stage
 *  starts and when it ends, a line a minute, a summary, `N passed, N failed`; logs and reports in a folder; exit 1 on any failure.
 *  Not here: what runs at the same time and what is left out (schedule.ts), what each stage does (the scripts beside this file).
 *  `node .ci/stages.ts fuzz attack` runs only these two. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import {
  appendFileSync,
  closeSync,
  existsSync,
  globSync,
  mkdirSync,
  openSync,
  readFileSync,
  rmSync,
} from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { keepTemporaryFilesInMemory } from '../testing/memory-folder.ts';
import { type Outcome, runStages, type Stage } from './schedule.ts';
import { passedBefore, storiesToRepeat, type VitestReport } from './stories.ts';

type Command = { readonly name: string; readonly command: readonly string[]; readonly nice?: number };
type Finished = { readonly status: number | null; readonly log: string };

const SHARED = resolve('../shared');
const TEMPORARY = tmpdir();
const REPORTS = join(TEMPORARY, 'pergola-ci');
/** Stages wait for databases, clusters and timers, so that somewhat more of them fit than there are cores. */
const CORES = availableParallelism() * 1.5;
/** The stories on the cluster have the tightest time limits, so that all other stages have a lower priority. */
const NICE = 5;
const PROGRESS_MS = 60_000;
/** A command that takes longer hangs. The longest are those of every test and of the cluster, which is compiled first. */
const MOST_MINUTES = 25;
const MOST_MINUTES_OF: Readonly<Record<string, number>> = {
  unit: 70,
  e2e: 40,
  'e2e-again': 30,
  'e2e-scale': 30,
};
/** The time in which a command ends in order. */
const GRACE_MS = 10_000;
const MOST_FAILURES_SHOWN = 8;

/** The settings that several stages share: the light ones beside the cluster, samples, and samples that measure time. */
const FIRST = { phase: 1, cores: 0.5 } as const;
const SAMPLE = { phase: 3, cores: 1, isSample: true } as const;
const ALONE = { ...SAMPLE, isAlone: true } as const;

const running = new Map<string, { readonly child: ChildProcess; readonly since: number }>();
const startedAt = Date.now();
let isStopping = false;

process.on('exit', keepTemporaryFilesInMemory());
/** Images and machines of the cluster stay on the disk. */
const ON_DISK = { TMPDIR: TEMPORARY };

/** The minutes after which no further sample starts; a run that takes longer is ended from outside. 0: there is no limit. */
const MINUTES = Number(process.env['PERGOLA_CI_MINUTES'] ?? 75);

/** The stories on a cluster that take longest: thousands of resources. */
const LONG_STORIES = ['mass-deletion.e2e.ts', 'scale.e2e.ts'];
const STORIES = globSync(['deploy/e2e/*.e2e.ts', 'deploy/argocd/health.test.ts'])
  .map((file) => basename(file))
  .filter((file) => !LONG_STORIES.includes(file));

/** First the stories on the cluster, which wait a lot, with black-box tests beside them; then every test, by itself, since both have time
 *  limits; then samples, as far as there is time. `npm run crash` and its like are longer, and take another seed each time. */
const ALL: readonly Stage[] = [
  { name: 'e2e', phase: 1, cores: 1, usualMinutes: 14, run: () => endToEnd('e2e', STORIES) },
  script('conformance', {
    phase: 1,
    cores: 1,
    usualMinutes: 5,
    needs: 'conformance',
    failures: 'regressions',
    args: ['--shared', join(SHARED, 'conformance')],
  }),
  script('chinook', { ...FIRST, usualMinutes: 1, needs: 'data', args: ['--shared', SHARED] }),
  script('round-trip', { ...FIRST, usualMinutes: 1, needs: 'data', args: ['--shared', SHARED] }),
  { ...FIRST, name: 'helm-lint', usualMinutes: 1, run: helmLint },
  script('faults', { ...FIRST, usualMinutes: 6, args: ['--seed', '1', '--runs', '200'] }),
  { name: 'unit', phase: 2, cores: 2, usualMinutes: 25, run: unit },
  ...inTurn([
    { ...ALONE, name: 'e2e-scale', usualMinutes: 8, run: () => endToEnd('e2e-scale', LONG_STORIES) },
    script('pages', { ...SAMPLE, usualMinutes: 4, needs: 'data', args: ['--shared', SHARED] }),
    script('citus', { ...SAMPLE, usualMinutes: 3, needs: 'citus', args: ['--shared', SHARED] }),
    script('crash', { ...SAMPLE, usualMinutes: 2, args: ['--seed', '1', '--kills', '60'] }),
    script('migrations', { ...SAMPLE, usualMinutes: 2, args: ['--kills', '60'] }),
    script('fuzz', { ...SAMPLE, usualMinutes: 2, args: ['--seed', '1', '--requests', '5000'] }),
    script('noninterference', {
      ...SAMPLE,
      usualMinutes: 2,
      args: ['--seed', '1', '--queries', '5000'],
    }),
    script('postgres-versions', { ...SAMPLE, usualMinutes: 12, args: ['--one-between'] }),
  ]),
  ...inTurn([
    script('init', { ...ALONE, usualMinutes: 1, needs: 'data', args: ['--shared', SHARED] }),
    script('speed', { ...ALONE, usualMinutes: 6 }),
    script('attack', { ...ALONE, usualMinutes: 10 }),
  ]),
];

rmSync(REPORTS, { recursive: true, force: true });
mkdirSync(REPORTS, { recursive: true });
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => stop(signal));
const chosen = process.argv.slice(2);
const stages = ALL.filter(({ name }) => chosen.length === 0 || chosen.includes(name)).map(reported);
const progress = setInterval(sayProgress, PROGRESS_MS);
// Stages that somebody chose run in any case.
const limit = MINUTES > 0 && chosen.length === 0 ? { minutes: MINUTES, nowMs: Date.now } : undefined;
const outcomes = await runStages(stages, CORES, limit);
clearInterval(progress);

const sum = (of: 'passed' | 'failed') => outcomes.reduce((total, outcome) => total + outcome[of], 0);
console.log(`\nlogs and reports are in ${REPORTS}`);
for (const [i, { name }] of stages.entries()) {
  console.log(summaryOf(name, outcomes[i]!));
  for (const note of outcomes[i]!.notes) console.log(`  ${note}`);
}
console.log(`${minutes(Date.now() - startedAt)} in all`);
const leftOut = outcomes.filter(({ skipped }) => skipped).length;
console.log(`${sum('passed')} passed, ${sum('failed')} failed${leftOut > 0 ? `, ${leftOut} skipped` : ''}`);
process.exitCode = sum('failed') > 0 ? 1 : 0;

/** Runs `make test`. Files that fail are repeated one after another (.ci/again.ts), and the summary names them. */
async function unit(): Promise<Outcome> {
  const report = join(REPORTS, 'unit.json');
  const env = { VITEST_JSON: report };
  const first = await run({ name: 'unit', command: ['make', 'test'], nice: NICE }, env);
  if (first.status === 0 || !existsSync(report)) return vitestOutcome(report, first);
  const again = await run({ name: 'unit-again', command: ['node', '.ci/again.ts', report], nice: NICE });
  const outcome = vitestOutcome(report, again);
  return {
    ...outcome,
    notes: [...failuresIn(first.log).map((line) => `at first: ${line}`), ...outcome.notes],
  };
}

async function helmLint(): Promise<Outcome> {
  const { status, log } = await run({ name: 'helm-lint', command: ['helm', 'lint', 'charts/pergola'] });
  return status === 0 ? { passed: 1, failed: 0, notes: [] } : failed(log);
}

/** Runs the stories on a cluster. Those that failed or were not reached are repeated on another cluster, because a story that failed may
 *  leave things behind. If all of them passed, the failure is outside of the stories (the removal of the cluster, an error without a test)
 *  and none is repeated. */
async function endToEnd(name: string, stories: readonly string[]): Promise<Outcome> {
  if (!existsSync(join(SHARED, 'cluster/cluster'))) return missing('cluster');
  const report = join(REPORTS, `${name}.json`);
  const first = await run({ name, command: ['.ci/e2e', report, ...stories] }, ON_DISK);
  if (first.status === 0) return vitestOutcome(report, first);
  const read = existsSync(report) ? (JSON.parse(readFileSync(report, 'utf8')) as VitestReport) : undefined;
  const rest = storiesToRepeat(stories, read);
  if (rest.length === 0) {
    const { notes, ...outcome } = vitestOutcome(report, first);
    return { ...outcome, notes: ['every story passed, and e2e failed outside of them', ...notes] };
  }
  const second = join(REPORTS, `${name}-again.json`);
  console.log(`${clock()}  ${name} failed; once more on another cluster: ${rest.join(', ')}`);
  const again = await run({ name: `${name}-again`, command: ['.ci/e2e', second, ...rest] }, ON_DISK);
  const outcome = vitestOutcome(second, again);
  const before = passedBefore(read, rest);
  const notes = failuresIn(first.log).map((line) => `on the first cluster: ${line}`);
  return { ...outcome, passed: outcome.passed + before, notes: [...notes, ...outcome.notes] };
}

/** Returns stages in an order that changes with the commit, so that a slow machine does not always leave out the same ones. */
function inTurn(stages: readonly Stage[]): readonly Stage[] {
  const commit = execFileSync('git', ['rev-parse', '--short=6', 'HEAD'], { encoding: 'utf8' });
  const first = Number.parseInt(commit, 16) % stages.length;
  return [...stages.slice(first), ...stages.slice(0, first)];
}

type Script = Omit<Stage, 'name' | 'run'> & {
  /** The folder of ../shared that it reads. */
  readonly needs?: string;
  /** The member of its report with the number of failures. */
  readonly failures?: string;
  readonly args?: readonly string[];
};

/** Declares a stage that runs a script beside this file and reads the numbers of its report. */
function script(name: string, { needs, failures = 'failed', args = [], ...stage }: Script): Stage {
  const execute = async (): Promise<Outcome> => {
    if (needs && !existsSync(join(SHARED, needs))) return missing(needs);
    const report = join(REPORTS, `${name}.json`);
    const command = ['node', `.ci/${name}.ts`, ...args, '--out', report];
    const { status, log } = await run({ name, command, nice: NICE });
    if (!existsSync(report)) return failed(log, `ended with status ${status} and no result`);
    const numbers = JSON.parse(readFileSync(report, 'utf8')) as Record<string, number>;
    const count = numbers[failures] ?? 1;
    const notes = count > 0 ? failuresIn(log) : namedFailures(log).map((line) => `at first: ${line}`);
    return { passed: numbers['passed'] ?? 0, failed: count, notes };
  };
  return { ...stage, name, run: execute };
}

/** Returns the numbers of a vitest report. A run that failed without a report, or with all tests passed, counts as one failure. */
function vitestOutcome(report: string, { status, log }: Finished): Outcome {
  if (!existsSync(report)) return failed(log, `ended with status ${status} and no result`);
  const { numPassedTests, numFailedTests } = JSON.parse(readFileSync(report, 'utf8')) as VitestReport;
  const count = numFailedTests || (status === 0 ? 0 : 1);
  return { passed: numPassedTests, failed: count, notes: count > 0 ? failuresIn(log) : [] };
}

function missing(folder: string): Outcome {
  return { passed: 0, failed: 1, notes: [`there is no ../shared/${folder}`] };
}

function failed(log: string, reason?: string): Outcome {
  return { passed: 0, failed: 1, notes: [...(reason ? [reason] : []), ...failuresIn(log)] };
}

/** Returns the lines of a log that name a failure, or if none does, those that name an error, or else its last lines. */
function failuresIn(log: string): readonly string[] {
  const failures = namedFailures(log);
  if (failures.length > 0) return failures;
  const lines = linesOf(log);
  const errors = lines.filter(isError).slice(0, MOST_FAILURES_SHOWN);
  return (errors.length > 0 ? errors : lines.slice(-5)).map(shortened);
}

/** Returns the lines of a log that name a failed test, each with the first line of its error. */
function namedFailures(log: string): readonly string[] {
  const lines = linesOf(log);
  const isFailure = (line: string | undefined) => /^(FAIL|FAILED) /.test(line ?? '');
  const named = lines.filter((line, i) => isFailure(line) || (isFailure(lines[i - 1]) && isError(line)));
  return [...new Set(named)].slice(0, MOST_FAILURES_SHOWN).map(shortened);
}

function linesOf(log: string): readonly string[] {
  return readFileSync(log, 'utf8').split('\n').map(plain).filter(Boolean);
}

function isError(line: string): boolean {
  return /^\w*Error\b/.test(line);
}

function shortened(line: string): string {
  return line.slice(0, 300);
}

/** Runs a command with its output in a log. The last line of the log is the time that the command took. */
async function run(
  { name, command, nice = 0 }: Command,
  env: Record<string, string> = {},
): Promise<Finished> {
  if (isStopping) throw new Error('stopped by a signal');
  const log = logOf(name);
  const output = openSync(log, 'a');
  const timed = [
    '-c',
    'TIMEFORMAT="%0R s, %0U s of CPU and %0S s in the kernel"; time "$@"',
    '--',
    ...command,
  ];
  // A process group of its own, so that a signal reaches the programs a script has started.
  const child = spawn('nice', ['-n', String(nice), 'bash', ...timed], {
    env: { ...process.env, ...env },
    stdio: ['ignore', output, output],
    detached: true,
  });
  running.set(name, { child, since: Date.now() });
  const mostMinutes = MOST_MINUTES_OF[name] ?? MOST_MINUTES;
  const limit = setTimeout(() => {
    // A line that every summary finds, whatever kind of stage it is.
    appendFileSync(log, `\nFAILED stopped after ${mostMinutes} minutes\n`);
    signalTo(child, 'SIGTERM');
    setTimeout(() => signalTo(child, 'SIGKILL'), GRACE_MS).unref();
  }, mostMinutes * 60_000);
  const status = await new Promise<number | null>((done) => {
    child.once('error', () => done(null));
    child.once('exit', done);
  });
  clearTimeout(limit);
  closeSync(output);
  running.delete(name);
  return { status, log };
}

/** Wraps a stage so that it prints a line when it starts and one when it ends. */
function reported(stage: Stage): Stage {
  const execute = async (): Promise<Outcome> => {
    console.log(`${clock()}  started ${stage.name}`);
    const outcome = await stage.run();
    console.log(`${clock()}  ended   ${summaryOf(stage.name, outcome)}`);
    for (const note of outcome.notes) console.log(`            ${note}`);
    return outcome;
  };
  return { ...stage, run: execute };
}

function summaryOf(name: string, outcome: Outcome): string {
  const time = existsSync(logOf(name)) ? `; ${lastLine(logOf(name))}` : '';
  return `${name}: ${outcome.passed} passed, ${outcome.failed} failed${time}`;
}

function sayProgress(): void {
  const states = [...running].map(
    ([name, { since }]) => `${name} ${minutes(Date.now() - since)} (${lastLine(logOf(name)).slice(0, 60)})`,
  );
  console.log(`${clock()}  running ${states.join(', ')}`);
}

function logOf(name: string): string {
  return join(REPORTS, `${name}.log`);
}

function lastLine(log: string): string {
  return readFileSync(log, 'utf8').split('\n').map(plain).findLast(Boolean) ?? '';
}

function plain(line: string): string {
  return stripVTControlCharacters(line).trim();
}

function clock(): string {
  return new Date().toTimeString().slice(0, 8);
}

function minutes(milliseconds: number): string {
  const seconds = Math.round(milliseconds / 1000);
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')} min`;
}

/** Sends the signal to all running scripts; nothing is started afterwards. A second signal ends this process at once. */
function stop(signal: NodeJS.Signals): void {
  isStopping = true;
  for (const { child } of running.values()) signalTo(child, signal);
  process.removeAllListeners(signal);
}

/** Sends the signal to a command and everything that it has started. */
function signalTo({ pid }: ChildProcess, signal: NodeJS.Signals): void {
  try {
    if (pid) process.kill(-pid, signal);
  } catch {
    // The group has ended.
  }
}
