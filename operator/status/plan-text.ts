/** Planned changes as text and as data, for the terminal (folder/print.ts), the status of a resource (`status.plan`) and `-o json`.
 *  Pure. Not here: how a plan is computed (pass/plan.ts), which resources have one in their status (decide/pause.ts). */

import { type AccessChange, variablesOf } from '@pergola/engine/metadata';
import { accessLine } from '../decide/access.ts';
import { type Decision, ownerOf } from '../decide/decide.ts';
import { type CustomResource, crName } from '../kinds.ts';
import {
  type Difference,
  type DifferenceStyle,
  differencesOf,
  printDifference,
} from '../objects/difference.ts';
import { printKey } from '../objects/normal-form.ts';
import type { ValueChange } from '../ports/engine.ts';
import type { ResourceOutcome } from '../ports/verdict.ts';
import type { PlannedAccess } from './planned-access.ts';
import { type PassPlan, plannedDecisions } from './report.ts';

/** The most lines of a plan in a status. */
export const MOST_LINES = 50;
const MOST_LINE_CHARACTERS = 500;

/** The most of them about schemas, which must not be hidden by many changes. */
const MOST_EFFECTS = 20;

/** The sign of each action. `~` is followed by the differences. */
export type Sign = '+' | '~' | '=' | '-';

const SIGNS: Partial<Record<Decision['action'], Sign>> = {
  create: '+',
  update: '~',
  correct: '~',
  adopt: '~',
  own: '=',
  delete: '-',
};

const NOTES: Partial<Record<Decision['action'], string>> = {
  correct: '  (changed by hand)',
  adopt: '  (existed, belonged to nobody)',
};

/** The style of the lines of a change; absent parts are plain text. */
export type PlanStyle = {
  readonly head: (sign: Sign, text: string) => string;
  readonly note: (text: string) => string;
  readonly difference: DifferenceStyle;
};

/** A planned change as `-o json` prints it. */
export type PlannedChange = {
  readonly action: Decision['action'];
  readonly key: string;
  /** The resource that claims the object, or owned it, as `Kind namespace/name`. */
  readonly resource: string | undefined;
  readonly differences: readonly Difference[];
  /** The access that a permission gives or takes; null for other objects and when access stays the same. */
  readonly access: AccessChange | null;
};

export function plannedChange(decision: Decision, access: PlannedAccess): PlannedChange {
  const { action, key, live, claim } = decision;
  const after = action === 'delete' ? undefined : claim?.object;
  return {
    action,
    key,
    resource: ownerOf(decision),
    differences: differencesOf(live, after),
    access: access.of(key),
  };
}

/** Returns the object with its sign, a line for each difference of a changed object, and a line for the access that a permission gives or
 *  takes; nothing for an object left as it is. */
export function changeLines(decision: Decision, access: PlannedAccess, style?: PlanStyle): readonly string[] {
  const { action, key } = decision;
  const sign = SIGNS[action];
  if (sign === undefined) return [];
  const text = `${sign} ${printKey(key)}`;
  const head = style ? style.head(sign, text) + style.note(NOTES[action] ?? '') : text;
  const { differences, access: change } = plannedChange(decision, access);
  const details = sign === '~' ? differences.map((one) => printDifference(one, style?.difference)) : [];
  const effect = change && sign !== '=' ? [accessLine(change)] : [];
  return [head, ...[...details, ...effect].map((line) => `    ${line}`)];
}

/** Returns the named value that would be sent or removed, with its sign: `+ named value default/3f2a…/hook/url`. */
export function valueLine({ action, name }: ValueChange): string {
  return `${VALUE_SIGNS[action]} named value ${name}`;
}

const VALUE_SIGNS: Readonly<Record<ValueChange['action'], Sign>> = { create: '+', update: '~', delete: '-' };

/** Returns the changes of the values that the resource refers to, or referred to. */
function valuesOf(cr: CustomResource, { desired, decisions, values = [] }: PassPlan): readonly ValueChange[] {
  const owned = decisions.filter((decision) => ownerOf(decision) === crName(cr));
  const claims = [...desired.claims.values()].filter((claim) => claim.cr.metadata.uid === cr.metadata.uid);
  const names = new Set([
    ...claims.flatMap((claim) => [...claim.values.keys()].map((name) => `value:${name}`)),
    ...owned.flatMap(({ live }) =>
      live ? variablesOf(live.kind, live.definition).map(({ name }) => name) : [],
    ),
  ]);
  return values.filter(({ name }) => names.has(`value:${name}`));
}

/** The meaning of all planned changes together: for access, and as lines for roles and their schemas. */
export type PlanEffects = { readonly access: PlannedAccess; readonly lines: readonly string[] };

/** Returns the lines of `status.plan` of a resource: its changes, the named values that it refers to, then `effects`, what follows for roles
 *  and their schemas. */
export function planLines(
  cr: CustomResource,
  made: PassPlan,
  outcome: ResourceOutcome,
  { access, lines: effects }: PlanEffects,
): readonly string[] {
  const own = plannedDecisions(made).filter((decision) => ownerOf(decision) === crName(cr));
  const changes = [
    ...own.flatMap((decision) => changeLines(decision, access)),
    ...valuesOf(cr, made).map(valueLine),
  ];
  const isRefused = outcome.reason !== 'Applied';
  const lines = [...(isRefused ? [`! ${outcome.reason}: ${outcome.message}`] : []), ...changes];
  if (lines.length === 0) return ['no change'];
  const ofSchemas = own.length === 0 ? [] : cutLines(effects, MOST_EFFECTS);
  return [...cutLines(lines, MOST_LINES - ofSchemas.length), ...ofSchemas].map((line) =>
    line.length > MOST_LINE_CHARACTERS ? `${line.slice(0, MOST_LINE_CHARACTERS)}…` : line,
  );
}

/** Returns at most `most` lines, of which the last one says how many are left out. */
function cutLines(lines: readonly string[], most: number): readonly string[] {
  if (lines.length <= most) return lines;
  return [...lines.slice(0, most - 1), `… and ${lines.length - most + 1} more`];
}
