/** `pergola apply`: applies a folder to an engine once. Prints one line per resource with its Ready condition.
 *  Exits with 1 when a file cannot be read, the engine does not answer, or a resource is not Ready. */

import { type FolderCommand, parseFlags, reportFailure } from '../folder/flags.ts';
import { printProblems, printResources, reportAsJson } from '../folder/print.ts';
import { systemClock } from '../pass/clock.ts';
import { reconcile } from '../pass/reconcile.ts';
import { outcomeOfPass } from '../status/engine-status.ts';

export async function run(argv: readonly string[]): Promise<number> {
  try {
    const command = parseFlags('apply', 'apply the folder to the engine once', argv);
    return command ? await apply(command) : 0;
  } catch (error) {
    return reportFailure('apply', error);
  }
}

async function apply({ source, engine, isJson, options }: FolderCommand): Promise<number> {
  // An Engine document in the folder may set options.
  await source.snapshot();
  const report = await reconcile({ engine, source, sink: source, clock: systemClock }, options());
  const pass = outcomeOfPass(report);
  if (isJson) process.stdout.write(`${JSON.stringify(reportAsJson(report, source.problems), null, 2)}\n`);
  else {
    process.stderr.write(printProblems(source.problems));
    if (report.resources.length > 0) process.stdout.write(`${printResources(report)}\n`);
    if (pass.reason !== 'Applied') process.stderr.write(`${pass.reason}: ${pass.message}\n`);
  }
  const isReady = [...report.verdicts.values()].every(({ outcome }) => outcome.reason === 'Applied');
  return isReady && pass.reason === 'Applied' && source.problems.length === 0 ? 0 : 1;
}
