/** Prints changes of a long-running loop, each once: what a pass wrote, whose readiness changed, invalid files, an engine that does not
 *  answer. Not here: the loop (follow.ts). */

import { crName, GROUP_VERSION } from '../kinds.ts';
import { outcomeOfPass } from '../status/engine-status.ts';
import { plannedAccess } from '../status/planned-access.ts';
import type { PassPlan, Report } from '../status/report.ts';
import type { FolderSource } from './folder-source.ts';
import { ownerHeading, printProblems, printResource, printWrite } from './print.ts';

export function watchOutput(source: FolderSource, write: (text: string) => void): (report: Report) => void {
  const printed = new Map<string, string>();
  let problems = '';
  let pass = '';
  let ready = '';
  const isNew = (id: string, text: string) => printed.get(id) !== text && printed.set(id, text) !== undefined;
  return (report) => {
    const now = printProblems(source.problems);
    if (now !== problems && now !== '') write(now);
    problems = now;
    const outcome = outcomeOfPass(report);
    const trouble = outcome.reason === 'Applied' ? '' : `${outcome.reason}: ${outcome.message}`;
    if (trouble !== pass)
      write(trouble === '' ? `${time()} the engine is in sync again\n` : `${time()} ${trouble}\n`);
    pass = trouble;
    if (report.problem) return;
    if (report.wasWritten && report.plan) write(writtenText(report.plan));
    for (const cr of report.resources) {
      const verdict = report.verdicts.get(cr.metadata.uid)!;
      const text = printResource(cr, verdict);
      if (isNew(crName(cr), text) && verdict.outcome.reason !== 'Applied') write(`${time()} ${text}\n`);
    }
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
  const { unread } = source;
  const count = `${ready} of ${resources.length + unread} resources are Ready`;
  if (resources.length === 0) return `${count}: ${whatIsMissing(source)}`;
  if (unread === 0) return count;
  return `${count}; ${unread === 1 ? '1 is in a file' : `${unread} are in files`} with a problem`;
}

function whatIsMissing({ problems, inputs }: FolderSource): string {
  if (problems.length > 0) return 'no file is left besides those with a problem';
  return `no *.yaml, *.yml or *.json file of ${inputs.join(', ')} has a resource of ${GROUP_VERSION}; pergola init writes them for a database`;
}

function time(): string {
  return new Date().toTimeString().slice(0, 8);
}
