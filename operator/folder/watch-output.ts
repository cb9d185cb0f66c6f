/** Prints changes of a long-running loop, each once: what a pass wrote, whose readiness changed, invalid files, an engine that does not
 *  answer. Not here: the loop (follow.ts). */

import { crName, GROUP_VERSION } from '../kinds.ts';
import { outcomeOfPass } from '../status/engine-status.ts';
import type { Report } from '../status/report.ts';
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
    for (const [owner, decisions] of Map.groupBy(
      report.wasWritten ? report.plan!.settled.applied : [],
      ownerHeading,
    )) {
      write([`${time()} ${owner}`, ...decisions.map(printWrite), ''].join('\n'));
    }
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

function readyCount({ resources, verdicts }: Report, source: FolderSource): string {
  const ready = [...verdicts.values()].filter(({ outcome }) => outcome.reason === 'Applied').length;
  const count = `${ready} of ${resources.length} resources are Ready`;
  return resources.length === 0 ? `${count}: ${whatIsMissing(source)}` : count;
}

function whatIsMissing({ problems, inputs }: FolderSource): string {
  if (problems.length > 0) return 'no file is left besides those with a problem';
  return `no *.yaml, *.yml or *.json file of ${inputs.join(', ')} has a resource of ${GROUP_VERSION}; pergola init writes them for a database`;
}

function time(): string {
  return new Date().toTimeString().slice(0, 8);
}
