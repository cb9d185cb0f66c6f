/** Judges what failed in a run of vitest once more, alone: a test that holds on a quiet machine and fails beside 80 other files has a
 *  limit that is too tight, not a regression, and is named so that the limit gets mended. Corrects the numbers of the report in place.
 *  In: the JSON report of the run. Out: that report with the tests that passed at the second try counted as passed; exit 1 if
 *  one failed again, or if the run ended without a report. More than a handful of failed files are not tried again. */
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { relative } from 'node:path';

type Assertion = { readonly fullName: string; readonly status: string; readonly failureMessages?: string[] };
type Report = {
  numPassedTests: number;
  numFailedTests: number;
  readonly testResults: readonly {
    readonly name: string;
    readonly status: string;
    readonly assertionResults: readonly Assertion[];
  }[];
};

const HANDFUL = 5;
const path = process.argv[2]!;
const report = JSON.parse(readFileSync(path, 'utf8')) as Report;
const files = report.testResults.filter((file) => file.status !== 'passed').map((file) => file.name);
for (const { file, test } of failedIn(report)) {
  console.log(`FAILED ${file}: ${test.fullName}\n  ${test.failureMessages?.[0]?.slice(0, 600) ?? ''}`);
}
if (files.length > HANDFUL) process.exit(1);

const second = `${path}.again`;
// A run that failed with every test well had an error outside of one: all of it is tried again.
console.log(
  files.length === 0 ? 'once more, all of it' : `once more, alone: ${files.map(fromHere).join(', ')}`,
);
const alone = files.length === 0 ? [] : ['--no-file-parallelism', ...files.map(fromHere)];
const env = { ...process.env, VITEST_JSON: second };
const { status } = spawnSync('vitest', ['run', ...alone], {
  stdio: 'inherit',
  env,
});
const again = JSON.parse(readFileSync(second, 'utf8')) as Report;
report.numPassedTests += report.numFailedTests - again.numFailedTests;
report.numFailedTests = again.numFailedTests;
writeFileSync(path, JSON.stringify(report));
process.exit(status ?? 1);

function failedIn({ testResults }: Report): { file: string; test: Assertion }[] {
  return testResults.flatMap((file) =>
    file.assertionResults
      .filter((test) => test.status === 'failed')
      .map((test) => ({ file: fromHere(file.name), test })),
  );
}

function fromHere(file: string): string {
  return relative(process.cwd(), file);
}
