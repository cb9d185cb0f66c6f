/** Prints plans, resources and changes for a terminal, with colours only on a terminal.
 *  Not here: when to print (commands/, follow.ts). */
import { accessLine } from '../decide/access.ts';
import { type Decision, ownerOf } from '../decide/decide.ts';
import { deletionsText } from '../decide/prune-guard.ts';
import { type CustomResource, crName } from '../kinds.ts';
import { printKey } from '../objects/normal-form.ts';
import type { ValueChange } from '../ports/engine.ts';
import type { SchemaEffects } from '../ports/schema-effects.ts';
import type { Verdict } from '../ports/verdict.ts';
import { heldDeletions } from '../status/engine-status.ts';
import type { RefusedChange } from '../status/fail-on.ts';
import { changeLines, type PlanStyle, plannedChange, valueLine } from '../status/plan-text.ts';
import { type PlannedAccess, plannedAccess } from '../status/planned-access.ts';
import { heldDecisions, type PassPlan, plannedDecisions, type Report } from '../status/report.ts';
import { schemaLines } from '../status/schema-text.ts';
import { verdictsOf } from '../status/verdicts.ts';
import { paint } from './paint.ts';
import type { FileProblem } from './read-folder.ts';

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

/** Prints the objects that would change, grouped by their resources, then the resources that have a problem, then the sum. `broken` is the
 *  number of problems of files. */
export function printPlan(
  made: PassPlan,
  effects: SchemaEffects,
  { positions, broken }: { readonly positions: Positions; readonly broken: number },
): string {
  const groups = Map.groupBy(plannedDecisions(made), (decision) => planHeading(made, decision));
  const access = plannedAccess(made, effects);
  const changed = [...groups].flatMap(([owner, decisions]) => [
    `${paint('bold', owner)}${positionText(owner.replace(HELD_BACK, ''), positions)}`,
    ...decisions.map((decision) => printWrite(decision, access)),
  ]);
  const verdicts = verdictsOf(made, made.settled.inconsistent);
  const failing = made.scope.snapshot.resources.flatMap((cr) => {
    const verdict = verdicts.get(cr.metadata.uid)!;
    const { outcome } = verdict;
    const position = positionText(crName(cr), positions);
    return isFailing(verdict)
      ? [`${paint('red', '!')} ${crName(cr)}${position}  ${outcome.reason}: ${outcome.message}`]
      : [];
  });
  const left = leftLines(made).map((line) => `${paint('yellow', '?')} ${line}`);
  const migrations = migrationLines(made).map((line) => `${paint('yellow', '>')} ${line}`);
  const values = (made.values ?? []).map((change) => {
    const [sign, ...rest] = valueLine(change).split(' ');
    return paint(COLOURS[sign as keyof typeof COLOURS], [sign, ...rest].join(' '));
  });
  const held = heldLines(made).map((line) => `${paint('red', '!')} ${line}`);
  const sum = paint('bold', summaryOf(made, broken));
  const lines = [
    ...migrations,
    ...changed,
    ...values,
    ...access.others.map((change) => accessLine(change)),
    ...schemaLines(effects),
  ];
  return [...lines, ...failing, ...left, ...held, sum].join('\n');
}

export function printWrite(decision: Decision, access: PlannedAccess): string {
  return changeLines(decision, access, STYLE)
    .map((line) => `  ${line}`)
    .join('\n');
}

/** Returns the files of Migrations that would run, and the resources that can be judged only afterwards. */
export function migrationLines(made: PassPlan): readonly string[] {
  if (!made.migrations) return [];
  const verdicts = verdictsOf(made, made.settled.inconsistent);
  return made.scope.snapshot.resources.flatMap((cr) => {
    const { outcome } = verdicts.get(cr.metadata.uid)!;
    return outcome.reason === 'MigrationPending' ? [`${crName(cr)}  ${outcome.message}`] : [];
  });
}

/** Returns the number of files of Migrations that would run. */
export function migrationCount({ migrations }: PassPlan): number {
  return [...(migrations?.pending.values() ?? [])].flat().length;
}

/** Returns what stays as it is although the resources say something else, or may: paused resources, and drift that a policy leaves. */
export function leftLines(made: PassPlan): readonly string[] {
  const verdicts = verdictsOf(made, made.settled.inconsistent);
  return made.scope.snapshot.resources.flatMap((cr) => {
    const { outcome, drift, missingGrant } = verdicts.get(cr.metadata.uid)!;
    return [
      ...(missingGrant === undefined ? [] : [`${crName(cr)}  GrantMissing: ${missingGrant}`]),
      ...(outcome.reason === 'Paused' ? [`${crName(cr)}  Paused: ${outcome.message}`] : []),
      ...(drift === undefined ? [] : [`${crName(cr)}  left by policy: ${drift}`]),
    ];
  });
}

/** Returns the deletions that are held back, and how to confirm them. */
export function heldLines(made: PassPlan): readonly string[] {
  const { pruneHold, settled } = made;
  const kept = [...settled.excluded.values()].filter(({ reason }) => reason === 'PruneHeld');
  const objects = heldKeys(made).map((key) => `held back: - ${printKey(key)}`);
  const confirm = (pruneHold?.namespaces ?? []).map(
    (hold) => `${deletionsText(hold)} would be deleted at once; to confirm: --confirm-prune ${hold.hash}`,
  );
  return [...kept.map(({ message }) => message), ...objects, ...confirm, ...heldDeletions(made)];
}

/** Returns how much would change, and what stands in the way: `2 to create, 1 to delete; 1 resource has a problem.` */
export function summaryOf(made: PassPlan, broken: number): string {
  const verdicts = [...verdictsOf(made, made.settled.inconsistent).values()];
  const failing = verdicts.filter(isFailing).length;
  const paused = verdicts.filter(({ outcome }) => outcome.reason === 'Paused').length;
  const held = heldKeys(made).length + heldDecisions(made).length;
  const obstacles = [
    held > 0 ? `${held} held back` : '',
    failing > 0 ? `${failing} ${failing === 1 ? 'resource has' : 'resources have'} a problem` : '',
    paused > 0 ? `${paused} ${paused === 1 ? 'resource is' : 'resources are'} paused` : '',
    broken > 0 ? `${broken} ${broken === 1 ? 'problem' : 'problems'} in files, whose resources are kept` : '',
  ].filter((text) => text !== '');
  const files = migrationCount(made);
  const counts = [
    files > 0 ? `${files} ${files === 1 ? 'migration' : 'migrations'} to run` : undefined,
    countsOf(made.settled.applied),
    valueCountsOf(made.values ?? []),
  ].filter((text) => text !== undefined);
  const changes = counts.length > 0 ? counts.join(', ') : undefined;
  if (obstacles.length === 0) return `${changes ?? 'No difference'}.`;
  return `${[changes ?? 'Nothing to apply', ...obstacles].join('; ')}.`;
}

function countsOf(writes: readonly Decision[]): string | undefined {
  const count = (...actions: Decision['action'][]) => writes.filter((d) => actions.includes(d.action)).length;
  const parts = [
    [count('create'), 'to create'],
    [count('update', 'correct', 'adopt'), 'to change'],
    [count('delete'), 'to delete'],
  ] as const;
  const counts = parts.filter(([n]) => n > 0).map(([n, what]) => `${n} ${what}`);
  if (counts.length > 0) return counts.join(', ');
  return writes.length > 0 ? `${writes.length} to take over` : undefined;
}

/** Returns `1 named value to send, 2 to remove`. */
function valueCountsOf(values: readonly ValueChange[]): string | undefined {
  const removed = values.filter(({ action }) => action === 'delete').length;
  const sent = values.length - removed;
  const named = (count: number) => `${count} named ${count === 1 ? 'value' : 'values'}`;
  const parts = [
    ...(sent > 0 ? [`${named(sent)} to send`] : []),
    ...(removed > 0 ? [`${named(removed)} to remove`] : []),
  ];
  return parts.length > 0 ? parts.join(', ') : undefined;
}

/** Prints the changes that --fail-on refuses. */
export function printRefused(refused: readonly RefusedChange[], positions: Positions): string {
  return refused
    .map((change) => {
      return `${paint('red', `refused by --fail-on ${change.level}`)}: ${refusalLine(change, positions)}\n`;
    })
    .join('');
}

/** The place of each resource in the files, by `Kind namespace/name`. */
export type Positions = ReadonlyMap<string, string>;

export function refusalLine({ resource, message }: RefusedChange, positions: Positions): string {
  return locatedLine(resource, message, positions);
}

/** Returns the line with the resource that it is about in front, and where the resource is. */
export function locatedLine(resource: string | undefined, line: string, positions: Positions): string {
  if (resource === undefined) return line;
  const position = positions.get(resource);
  return `${resource}${position === undefined ? '' : ` (${position})`}: ${line}`;
}

/** Prints one line per resource: `Table default/author       True   Applied  3 objects applied`. */
export function printResources(report: Report): string {
  const width = Math.max(0, ...report.resources.map((cr) => crName(cr).length));
  return report.resources
    .map((cr) => printResource(cr, report.verdicts.get(cr.metadata.uid)!, { width }))
    .join('\n');
}

/** Prints what was deleted from the engine, and what is left although no resource of the inputs has it, for a terminal. */
export function printDeletions(report: Report): string {
  const { deleted, abandoned } = deletionsOf(report);
  const left = abandoned.map((line) => `${paint('yellow', '?')} ${line}\n`).join('');
  const hint = abandoned.length > 0 ? `${PRUNE_HINT}\n` : '';
  return `${deleted.map((line) => `${paint('red', `- ${line}`)}\n`).join('')}${left}${hint}`;
}

export const PRUNE_HINT =
  'These belong to resources that the inputs no longer contain, and are left as they are. To delete them: --prune';

/** Returns a line for each object that was deleted, and for each that is left although its resource is absent, with its resource. */
export function deletionsOf({ plan, wasWritten }: Report): {
  readonly deleted: readonly string[];
  readonly abandoned: readonly string[];
} {
  const text = (decision: Decision) => `${printKey(decision.key)}  ${ownerHeading(decision)}`;
  const deletions = wasWritten
    ? (plan?.settled.applied.filter(({ action }) => action === 'delete') ?? [])
    : [];
  return {
    deleted: deletions.map(text),
    abandoned: (plan?.decisions.filter(({ isAbandoned }) => isAbandoned) ?? []).map(
      ({ key, entry }) => `${printKey(key)}  ${entry?.cr}`,
    ),
  };
}

export function printResource(
  cr: CustomResource,
  { outcome, drift }: Verdict,
  { width = 0, position }: { readonly width?: number; readonly position?: string | undefined } = {},
): string {
  const status = readiness(outcome.reason);
  const colour = status === 'True' ? 'green' : status === 'Unknown' ? 'yellow' : 'red';
  const left = drift === undefined ? '' : `; drift is left: ${drift}`;
  const state = paint(colour, `${status.padEnd(7)} ${outcome.reason}`);
  const file = position === undefined ? '' : paint('dim', `  ${position}`);
  return `${crName(cr).padEnd(width)}${file}  ${state}  ${outcome.message}${left}`;
}

/** True when something is wrong with the resource. */
export function isFailing({ outcome: { reason } }: Verdict): boolean {
  return reason !== 'Applied' && reason !== 'Paused' && reason !== 'MigrationPending';
}

function readiness(reason: Verdict['outcome']['reason']): 'True' | 'False' | 'Unknown' {
  if (reason === 'Applied') return 'True';
  return reason === 'Paused' || reason === 'Applying' ? 'Unknown' : 'False';
}

export function printProblems(problems: readonly FileProblem[]): string {
  return problems.map(({ position, message }) => `${paint('red', position)}: ${message}\n`).join('');
}

const HELD_BACK = ' (held back)';

/** Returns the heading of the changes of a decision's owner in a plan. */
export function planHeading(made: PassPlan, decision: Decision): string {
  const isHeld =
    made.settled.heldBack.has(ownerOf(decision) ?? '') && made.settled.excluded.has(decision.key);
  return `${ownerHeading(decision)}${isHeld ? HELD_BACK : ''}`;
}

/** Returns the owner of a decision as the heading of its changes. */
export function ownerHeading(decision: Decision): string {
  const owner = ownerOf(decision);
  return decision.claim ? `${owner}` : `${owner} (deleted, or no longer defines it)`;
}

function positionText(owner: string, positions: Positions): string {
  const position = positions.get(owner);
  return position === undefined ? '' : paint('dim', `  ${position}`);
}

/** Returns the plan for `-o json` and `-o yaml`. */
export function planAsJson(
  made: PassPlan,
  effects: SchemaEffects,
  {
    problems,
    refused,
  }: { readonly problems: readonly FileProblem[]; readonly refused: readonly RefusedChange[] },
): unknown {
  const verdicts = verdictsOf(made, made.settled.inconsistent);
  const access = plannedAccess(made, effects);
  return {
    resourceVersion: made.reading.resourceVersion,
    changes: made.settled.applied.map((decision) => plannedChange(decision, access)),
    access: access.others,
    values: made.values ?? [],
    migrations: [...(made.migrations?.pending ?? [])].map(([resource, files]) => ({ resource, files })),
    resources: made.scope.snapshot.resources.map((cr) => {
      const { outcome, missingGrant } = verdicts.get(cr.metadata.uid)!;
      return { ...identityOf(cr), ...outcome, ...(missingGrant === undefined ? {} : { missingGrant }) };
    }),
    ...(made.pruneHold ? { pruneHold: { ...made.pruneHold, keys: heldKeys(made) } } : {}),
    ...heldAsJson(made, access),
    schemas: effects.schemas,
    usage: effects.usage ?? null,
    isComplete: effects.isComplete,
    refused,
    problems: problemsAsJson(problems),
  };
}

/** Returns the changes that wait for a confirmation, by resource; nothing when there are none. */
function heldAsJson(made: PassPlan, access: PlannedAccess): object {
  if (made.settled.heldBack.size === 0) return {};
  const byOwner = Map.groupBy(heldDecisions(made), ownerOf);
  const heldBack = [...made.settled.heldBack].map(([resource, { hash, outcome }]) => {
    const changes = (byOwner.get(resource) ?? []).map((decision) => plannedChange(decision, access));
    return { resource, hash, message: outcome.message, changes };
  });
  return { heldBack };
}

function heldKeys({ decisions }: PassPlan): readonly string[] {
  return decisions.filter(({ isPruneHeld }) => isPruneHeld).map(({ key }) => key);
}

/** Returns the report for `-o json` and `-o yaml`. */
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
    deleted: (report.plan?.settled.applied ?? [])
      .filter(({ action }) => report.wasWritten && action === 'delete')
      .map(ownedKey),
    abandoned: (report.plan?.decisions ?? []).filter(({ isAbandoned }) => isAbandoned).map(ownedKey),
    ...(report.plan?.pruneHold ? { pruneHold: report.plan.pruneHold } : {}),
    ...(report.problem ? { problem: report.problem.message } : {}),
    problems: problemsAsJson(problems),
  };
}

function ownedKey(decision: Decision): object {
  return { key: decision.key, resource: ownerOf(decision) };
}

function identityOf({ kind, metadata }: CustomResource): object {
  return { kind, namespace: metadata.namespace, name: metadata.name };
}

/** Returns the problems under the field names that `-o json` has: `place` is the position in the folder. */
export function problemsAsJson(problems: readonly FileProblem[]): readonly object[] {
  return problems.map(({ position, message }) => ({ place: position, message }));
}
