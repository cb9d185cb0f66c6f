/** Prints plans, resources and changes for a terminal, with colours only on a terminal.
 *  Not here: when to print (commands/, follow.ts). */
import { styleText } from 'node:util';
import { type Decision, ownerOf } from '../decide/decide.ts';
import { type CustomResource, crName } from '../kinds.ts';
import type { Verdict } from '../ports.ts';
import { changeLines, type PlanStyle, plannedChange } from '../status/plan-text.ts';
import type { PassPlan, Report } from '../status/report.ts';
import { verdictsOf } from '../status/verdicts.ts';
import type { FileProblem } from './read-folder.ts';

type Paint = Parameters<typeof styleText>[0];

function paint(format: Paint, text: string): string {
  return styleText(format, text, { stream: process.stdout });
}

const COLOURS = { '+': 'green', '~': 'yellow', '=': 'dim', '-': 'red' } as const;

const STYLE: PlanStyle = {
  head: (sign, text) => paint(COLOURS[sign], text),
  note: (text) => paint('dim', text),
  difference: {
    added: (text) => paint('green', text),
    removed: (text) => paint('red', text),
    value: JSON.stringify,
  },
};

/** Prints the objects that would change, grouped by their resources, then the resources that have a problem. */
export function printPlan(made: PassPlan, positions: ReadonlyMap<string, string>): string {
  const writes = made.settled.applied;
  const groups = Map.groupBy(writes, ownerHeading);
  const changed = [...groups].flatMap(([owner, decisions]) => [
    `${paint('bold', owner)}${positionText(owner, positions)}`,
    ...decisions.map(printWrite),
  ]);
  const verdicts = verdictsOf(made, made.settled.inconsistent);
  const failing = made.scope.snapshot.resources.flatMap((cr) => {
    const { outcome } = verdicts.get(cr.metadata.uid)!;
    const isFine = outcome.reason === 'Applied' || outcome.reason === 'Paused';
    const position = positionText(crName(cr), positions);
    return isFine
      ? []
      : [`${paint('red', '!')} ${crName(cr)}${position}  ${outcome.reason}: ${outcome.message}`];
  });
  const drifted = made.scope.snapshot.resources.flatMap((cr) => {
    const { drift } = verdicts.get(cr.metadata.uid)!;
    return drift === undefined ? [] : [`${paint('yellow', '?')} ${crName(cr)}  left by policy: ${drift}`];
  });
  return [...changed, ...failing, ...drifted, ...printHeld(made), countsOf(writes)].join('\n');
}

export function printWrite(decision: Decision): string {
  return changeLines(decision, STYLE)
    .map((line) => `  ${line}`)
    .join('\n');
}

function printHeld({ pruneHold, settled }: PassPlan): readonly string[] {
  const kept = [...settled.excluded.values()].filter(({ reason }) => reason === 'PruneHeld');
  const lines = kept.map(({ message }) => `${paint('red', '!')} ${message}`);
  if (!pruneHold) return lines;
  const held = pruneHold.namespaces.map(
    ({ namespace, count, owned, hash }) =>
      `${count} of ${owned} objects of ${namespace} would be deleted at once; to confirm: --confirm-prune ${hash}`,
  );
  return [...lines, ...held.map((line) => `${paint('red', '!')} ${line}`)];
}

function countsOf(writes: readonly Decision[]): string {
  if (writes.length === 0) return paint('dim', 'No difference.');
  const count = (...actions: Decision['action'][]) => writes.filter((d) => actions.includes(d.action)).length;
  const parts = [
    [count('create'), 'to create'],
    [count('update', 'correct', 'adopt'), 'to change'],
    [count('delete'), 'to delete'],
  ] as const;
  const counts = parts.filter(([n]) => n > 0).map(([n, what]) => `${n} ${what}`);
  return paint('bold', `${counts.join(', ')}.`);
}

/** Prints one line per resource: `Table default/author       True   Applied  3 objects applied`. */
export function printResources(report: Report): string {
  const width = Math.max(0, ...report.resources.map((cr) => crName(cr).length));
  return report.resources
    .map((cr) => printResource(cr, report.verdicts.get(cr.metadata.uid)!, width))
    .join('\n');
}

export function printResource(cr: CustomResource, { outcome, drift }: Verdict, width = 0): string {
  const status = readiness(outcome.reason);
  const colour = status === 'True' ? 'green' : status === 'Unknown' ? 'yellow' : 'red';
  const left = drift === undefined ? '' : `; drift is left: ${drift}`;
  const state = paint(colour, `${status.padEnd(7)} ${outcome.reason}`);
  return `${crName(cr).padEnd(width)}  ${state}  ${outcome.message}${left}`;
}

function readiness(reason: Verdict['outcome']['reason']): 'True' | 'False' | 'Unknown' {
  if (reason === 'Applied') return 'True';
  return reason === 'Paused' || reason === 'Applying' ? 'Unknown' : 'False';
}

export function printProblems(problems: readonly FileProblem[]): string {
  return problems.map(({ position, message }) => `${paint('red', position)}: ${message}\n`).join('');
}

/** Returns the owner of a decision as the heading of its changes. */
export function ownerHeading(decision: Decision): string {
  const owner = ownerOf(decision);
  return decision.claim ? `${owner}` : `${owner} (deleted, or no longer defines it)`;
}

function positionText(owner: string, positions: ReadonlyMap<string, string>): string {
  const position = positions.get(owner);
  return position === undefined ? '' : paint('dim', `  ${position}`);
}

/** Returns the plan for `-o json`. */
export function planAsJson(made: PassPlan, problems: readonly FileProblem[]): unknown {
  const verdicts = verdictsOf(made, made.settled.inconsistent);
  return {
    resourceVersion: made.reading.resourceVersion,
    changes: made.settled.applied.map(plannedChange),
    resources: made.scope.snapshot.resources.map((cr) => ({
      ...identityOf(cr),
      ...verdicts.get(cr.metadata.uid)!.outcome,
    })),
    ...(made.pruneHold ? { pruneHold: made.pruneHold } : {}),
    problems: problemsAsJson(problems),
  };
}

/** Returns the report for `-o json`. */
export function reportAsJson(report: Report, problems: readonly FileProblem[]): unknown {
  return {
    resourceVersion: report.resourceVersion ?? null,
    wasWritten: report.wasWritten,
    resources: report.resources.map((cr) => {
      const { outcome } = report.verdicts.get(cr.metadata.uid)!;
      return {
        ...identityOf(cr),
        ready: readiness(outcome.reason),
        ...outcome,
        status: report.statuses.get(cr.metadata.uid),
      };
    }),
    ...(report.plan?.pruneHold ? { pruneHold: report.plan.pruneHold } : {}),
    ...(report.problem ? { problem: report.problem.message } : {}),
    problems: problemsAsJson(problems),
  };
}

function identityOf({ kind, metadata }: CustomResource): object {
  return { kind, namespace: metadata.namespace, name: metadata.name };
}

/** Returns the problems under the field names that `-o json` has: `place` is the position in the folder. */
export function problemsAsJson(problems: readonly FileProblem[]): readonly object[] {
  return problems.map(({ position, message }) => ({ place: position, message }));
}
