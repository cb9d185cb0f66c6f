/** Prints changes of a long-running loop, each once: what a pass wrote, whose readiness changed, invalid files, an engine that does not
 *  answer. Not here: the loop (follow.ts). */

import { type CustomResource, crName, GROUP_VERSION } from '../kinds.ts';
import { absenceAdvice } from '../status/absence-advice.ts';
import { outcomeOfPass } from '../status/engine-status.ts';
import { plannedAccess } from '../status/planned-access.ts';
import type { PassPlan, Report } from '../status/report.ts';
import type { FolderSource } from './folder-source.ts';
import { runnable } from './invocation.ts';
import { ownerHeading, printProblems, printResource, printWrite } from './print.ts';

export function watchOutput(
  source: FolderSource,
  writeText: (text: string) => void,
): (report: Report) => void {
  const write = (text: string) => writeText(runnable(text));
  const printed = new Map<string, string>();
  let problems = '';
  let pass = '';
  let ready = '';
  const isNew = (id: string, text: string) => printed.get(id) !== text && printed.set(id, text) !== undefined;
  return (report) => {
    const now = printProblems(source.problems);
    if (now !== problems && now !== '') write(`${now}${keptText(source.unread)}`);
    problems = now;
    const outcome = outcomeOfPass(report);
    const trouble = outcome.reason === 'Applied' ? '' : `${outcome.reason}: ${outcome.message}`;
    if (trouble !== pass)
      write(trouble === '' ? `${time()} the engine is in sync again\n` : `${time()} ${trouble}\n`);
    pass = trouble;
    if (report.problem) return;
    if (report.wasWritten && report.plan) write(writtenText(report.plan));
    const failing = report.resources.filter((cr) => {
      const verdict = report.verdicts.get(cr.metadata.uid)!;
      const text = printResource(cr, verdict, { position: source.positions.get(crName(cr)) });
      const isPrinted = isNew(crName(cr), text) && verdict.outcome.reason !== 'Applied';
      if (isPrinted) write(`${time()} ${text}\n`);
      return isPrinted;
    });
    write(adviceText(failing, report));
    const count = readyCount(report, source);
    if (count !== ready) write(`${time()} ${count}\n`);
    ready = count;
  };
}

function writtenText(made: PassPlan): string {
  const access = plannedAccess(made);
  const groups = Map.groupBy(made.settled.applied, ownerHeading);
  return [...groups]
    .map(([owner, decisions]) => {
      const lines = decisions.map((decision) => printWrite(decision, access));
      return [`${time()} ${owner}`, ...lines, ''].join('\n');
    })
    .join('');
}

function readyCount({ resources, verdicts }: Report, source: FolderSource): string {
  const ready = [...verdicts.values()].filter(({ outcome }) => outcome.reason === 'Applied').length;
  const unread = [...source.unread.values()].reduce((sum, count) => sum + count, 0);
  const count = `${ready} of ${resources.length + unread} resources are Ready`;
  if (resources.length === 0) return `${count}: ${whatIsMissing(source)}`;
  if (unread === 0) return count;
  return `${count}; ${unread === 1 ? '1 is in a file' : `${unread} are in files`} with a problem`;
}

/** Says for each file with a problem how many resources it has, and what becomes of them. */
function keptText(unread: FolderSource['unread']): string {
  return [...unread]
    .map(([file, count]) => {
      const resources = count === 1 ? '1 resource' : `${count} resources`;
      return `${file}: its ${resources} ${count === 1 ? 'is' : 'are'} not applied; the engine keeps serving what it has of the file.\n`;
    })
    .join('');
}

/** Says what to do about columns and tables that do not exist any more, each once. */
function adviceText(failing: readonly CustomResource[], { verdicts }: Report): string {
  const advice = failing.flatMap((cr) => absenceAdvice(verdicts.get(cr.metadata.uid)!.outcome.message));
  return [...new Set(advice)].map((text) => `  → ${text}\n`).join('');
}

function whatIsMissing({ problems, inputs }: FolderSource): string {
  if (problems.length > 0) return 'no file is left besides those with a problem';
  return `no *.yaml, *.yml or *.json file of ${inputs.join(', ')} has a resource of ${GROUP_VERSION}; pergola init writes them for a database`;
}

function time(): string {
  return new Date().toTimeString().slice(0, 8);
}
