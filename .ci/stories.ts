/** Which stories of the end-to-end tests a second run repeats. In: vitest's JSON report of the first run, and the names of all stories.
 *  Not here: running them (stages.ts). */
import { basename } from 'node:path';

export type VitestReport = {
  readonly numPassedTests: number;
  readonly numFailedTests: number;
  readonly testResults: readonly {
    readonly name: string;
    readonly status: string;
    readonly assertionResults: readonly { readonly status: string }[];
  }[];
};

/** Returns the stories that did not pass: those with a failed test or hook, and those that were not reached, because vitest starts no
 *  further file after the second failure. Without a report, all of them. Empty when every story passed, so that the failure is elsewhere. */
export function storiesToRepeat(
  stories: readonly string[],
  report: VitestReport | undefined,
): readonly string[] {
  const done = report === undefined ? [] : passedFiles(report);
  return stories.filter((story) => !done.includes(story));
}

/** Returns the number of tests that passed in files that are not among `repeated`. */
export function passedBefore(report: VitestReport | undefined, repeated: readonly string[]): number {
  const kept = (report?.testResults ?? []).filter(({ name }) => !repeated.includes(basename(name)));
  return kept.flatMap((file) => file.assertionResults).filter(({ status }) => status === 'passed').length;
}

/** Returns the names of the files in which a test passed and nothing failed. A failed hook fails the file, not its tests. */
function passedFiles({ testResults }: VitestReport): readonly string[] {
  return testResults
    .filter(({ status, assertionResults }) => {
      const statuses = assertionResults.map((test) => test.status);
      return status === 'passed' && statuses.includes('passed') && !statuses.includes('failed');
    })
    .map(({ name }) => basename(name));
}
