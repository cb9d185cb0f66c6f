/** `pergola apply`: applies resources to an engine once. Prints one line per resource with its Ready condition, and one per object that it
 *  deletes, or leaves although no resource of the inputs has it any more: without `--prune` nothing goes because a file is missing.
 *  Exits with 1 when a file cannot be read, the engine does not answer, or a resource is not Ready. */

import { runCommand } from '../folder/flag-problem.ts';
import { type FolderCommand, parseFlags } from '../folder/flags.ts';
import { reportAsMarkdown } from '../folder/markdown.ts';
import { type Output, printData } from '../folder/output.ts';
import { printDeletions, printProblems, printResources, reportAsJson } from '../folder/print.ts';
import { systemClock } from '../pass/clock.ts';
import { reconcile } from '../pass/reconcile.ts';
import { outcomeOfPass } from '../status/engine-status.ts';

const NOTES = `What a resource of the inputs no longer defines is deleted. What belongs to resources that the inputs no longer contain is listed,
and deleted only with --prune: give all resources of the manager then. See it before: pergola plan. Many deletions at once are held back
with --prune, too; --confirm-prune with the hash that is printed deletes them, and needs no --prune.

Exit codes: 0 every resource is Ready, 1 a file, a resource or the engine has a problem, 2 wrong flags.
`;

const FORM = {
  command: 'apply',
  summary: 'apply the resources to the engine once',
  outputs: ['text', 'json', 'yaml', 'markdown'],
  without: ['fail-on'],
  notes: NOTES,
} as const;

export function run(argv: readonly string[]): Promise<number> {
  return runCommand('apply', () => parseFlags(FORM, argv), apply);
}

async function apply({ source, engine, output, options }: FolderCommand<Output>): Promise<number> {
  // An Engine document may set options.
  await source.snapshot();
  const report = await reconcile({ engine, source, sink: source, clock: systemClock }, options());
  // Every resource would have the same problem.
  if (report.problem && output === 'text') throw report.problem;
  const pass = outcomeOfPass(report);
  if (output === 'text') {
    process.stderr.write(printProblems(source.problems));
    if (report.resources.length > 0) process.stdout.write(`${printResources(report)}\n`);
    process.stdout.write(printDeletions(report));
    if (pass.reason !== 'Applied') process.stderr.write(`${pass.reason}: ${pass.message}\n`);
  } else if (output === 'markdown') process.stdout.write(reportAsMarkdown(report, source.problems));
  else process.stdout.write(printData(reportAsJson(report, source.problems), output));
  const isReady = [...report.verdicts.values()].every(({ outcome }) => outcome.reason === 'Applied');
  return isReady && pass.reason === 'Applied' && source.problems.length === 0 ? 0 : 1;
}
