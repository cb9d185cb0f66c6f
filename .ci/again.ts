/** Repeats the files of a vitest run in which something failed, one after another: a test that passes then, and failed beside other files,
 *  has a time limit that is too tight, and is named so that the limit is mended. Corrects the numbers of the report in place.
 *  In: the JSON report of the run, and what testing/reporter.ts has written beside it. Out: that report with the tests that passed at the
 *  second try counted as passed; exit 1 if one failed again, if too many files failed to try, or if the second run has no report. */
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { relative } from 'node:path';

type Report = {
  numPassedTests: number;
  numFailedTests: number;
  readonly testResults: readonly { readonly name: string; readonly status: string }[];
};

const MOST_FILES = 12;
const path = process.argv[2]!;
const report = read(path);
const failed = report.testResults.filter((file) => file.status !== 'passed').map((file) => file.name);
const errors = existsSync(`${path}.errors`) ? JSON.parse(readFileSync(`${path}.errors`, 'utf8')) : [];
const files = [...new Set([...failed, ...(errors as readonly (string | null)[])])];
// An error outside of any test may have no file.
if (files.includes(null) || files.length === 0 || files.length > MOST_FILES) {
  console.log(`${files.length} files failed, or nobody knows which: they are not repeated`);
  process.exit(1);
}

const names = files.map((file) => relative(process.cwd(), file!));
console.log(`once more, one file after another: ${names.join(', ')}`);
const second = `${path}.again`;
const env = { ...process.env, VITEST_JSON: second };
const args = ['run', '--no-file-parallelism', ...names];
const { status } = spawnSync('vitest', args, { stdio: 'inherit', env });
const again = read(second);
report.numPassedTests += report.numFailedTests - again.numFailedTests;
report.numFailedTests = again.numFailedTests;
writeFileSync(path, JSON.stringify(report));
process.exit(status ?? 1);

function read(file: string): Report {
  return JSON.parse(readFileSync(file, 'utf8')) as Report;
}
