/** `pergola test`: runs the PermissionTests of a folder against an engine and a Postgres of its own, without a cluster.
 *  Exit codes: 0 every test passed, 1 a test failed, a wider permission is not noticed or the coverage is too low, 2 the tests could not run.
 *  Not here: each part (permission-tests/). */
import { coverageOf } from '../engine/admin/test-coverage/coverage.ts';
import { nearest } from '../engine/errors/nearest.ts';
import { FlagProblem, runCommand } from '../operator/folder/flag-problem.ts';
import { FolderSource } from '../operator/folder/folder-source.ts';
import { emptyLine } from '../operator/folder/paint.ts';
import { printProblems } from '../operator/folder/print.ts';
import { readApi } from './permission-tests/api.ts';
import { HELP, parseTestFlags, type TestOptions } from './permission-tests/command-line.ts';
import { percentOf } from './permission-tests/coverage.ts';
import { type PermissionTest, testsIn } from './permission-tests/folder-tests.ts';
import { mutate, survivorsIn } from './permission-tests/mutate.ts';
import { FORMATS, isPassed, printNotes, type TestReport } from './permission-tests/report.ts';
import { runTests, type TestBed } from './permission-tests/run-tests.ts';
import { onTestBed, TestRunProblem } from './permission-tests/test-bed.ts';
import { withNotes } from './permission-tests/unfailing.ts';

export function run(argv: readonly string[]): Promise<number> {
  return runCommand('test', () => parseTestFlags(argv), test, { help: HELP, errorCode: 2 });
}

async function test(options: TestOptions): Promise<number> {
  const source = new FolderSource(options.folder);
  const tests = chosen(await testsOf(source, options), options);
  const report = await onTestBed(options, source, (bed) => reportOn(bed, tests, options));
  process.stdout.write(FORMATS[options.format](report));
  process.stderr.write(printNotes(report, options.format));
  return isGood(report, options) ? 0 : 1;
}

/** Wider permissions are tried only when all tests pass: a test that fails anyway notices nothing. */
async function reportOn(
  bed: TestBed,
  tests: readonly PermissionTest[],
  { showsCoverage, mutates }: TestOptions,
): Promise<TestReport> {
  const results = await withNotes(bed, await runTests(bed, tests));
  if (!showsCoverage && !mutates) return { results };
  const api = await readApi(bed.engine, bed.databases.app);
  const coverage = showsCoverage ? { coverage: coverageOf(tests, api) } : {};
  const mutations =
    mutates && results.every(isPassed) ? { mutations: await mutate(bed, tests, api, progressOutput()) } : {};
  return { results, ...coverage, ...mutations };
}

const LEAST_PAUSE_MS = 5000;

/** Returns a receiver of how many wider permissions were tried. On a terminal one line shows it; elsewhere a line is printed now and then. */
function progressOutput(): (done: number, total: number) => void {
  const { stderr } = process;
  let printedAt = Number.NEGATIVE_INFINITY;
  return (done, total) => {
    const text = `Trying wider permissions: ${done} of ${total}`;
    if (stderr.isTTY) stderr.write(`${emptyLine()}${done < total ? text : ''}`);
    else if (done < total && performance.now() - printedAt >= LEAST_PAUSE_MS) {
      printedAt = performance.now();
      stderr.write(`${text}\n`);
    }
  };
}

/** Prints a coverage that is too low. */
function isGood({ results, coverage, mutations = [] }: TestReport, { minCoverage }: TestOptions): boolean {
  const percent = coverage ? percentOf(coverage) : 100;
  if (percent < minCoverage) {
    process.stderr.write(`The coverage is ${percent} %, and --min-coverage is ${minCoverage} %.\n`);
    return false;
  }
  return results.every(isPassed) && survivorsIn(mutations).length === 0;
}

/** Returns the tests of the folder. Prints the problems of its files and raises TestRunProblem when there are any. */
async function testsOf(source: FolderSource, options: TestOptions): Promise<readonly PermissionTest[]> {
  const { tests, problems } = testsIn(await source.snapshot(), source);
  const all = [...source.problems, ...problems];
  process.stderr.write(printProblems(all));
  if (all.length > 0) throw new TestRunProblem('correct the files above; no test was run');
  if (tests.length === 0) {
    throw new TestRunProblem(
      `${options.folder} has no PermissionTest; add one (docs/guides/testing-permissions.md)`,
    );
  }
  return tests;
}

function chosen(tests: readonly PermissionTest[], { only }: TestOptions): readonly PermissionTest[] {
  const names = tests.map(({ name }) => name);
  const unknown = only.find((name) => !names.includes(name));
  if (unknown !== undefined) {
    const near = nearest(unknown, names);
    throw new FlagProblem(`there is no test ${unknown}${near ? `; did you mean ${near}?` : ''}`);
  }
  return only.length === 0 ? tests : tests.filter(({ name }) => only.includes(name));
}
