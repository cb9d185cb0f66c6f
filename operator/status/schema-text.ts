/** The changes of the schemas of roles, in words for people who review a plan. Pure.
 *  Not here: comparing schemas (engine/schema), access (access-text.ts). */
import { listText } from '@pergola/engine/list-text';
import type { AffectedOperation, SchemaEffect, SchemaEffects } from '../ports/schema-effects.ts';

/** The most changes of one role that are listed. */
const MOST_LISTED = 20;
/** The most operations that are listed with a change. */
const MOST_OPERATIONS = 3;

/** Returns one line for each role whose schema changes, each followed by the changes that are not safe, with two spaces in front, and the
 *  operations that they break; then the days of the counts which say that. */
export function schemaLines(effects: SchemaEffects): readonly string[] {
  return markedSchemaLines(effects, countsText).map(({ text }) => text);
}

/** A line, and whether it says that clients break. */
export type SchemaLine = { readonly text: string; readonly isBreaking: boolean };

/** Returns the same lines. `headOf` returns the line of a role. */
export function markedSchemaLines(
  { schemas, isComplete, usage }: SchemaEffects,
  headOf: (effect: SchemaEffect) => string,
): readonly SchemaLine[] {
  const isBreaking = schemas.some(({ breaking }) => breaking > 0);
  const counts = usage && isBreaking ? [periodText(usage)] : [];
  return [
    ...schemas.flatMap((effect) => roleLines(effect, headOf(effect))),
    ...[...counts, ...(isComplete ? [] : [INCOMPLETE])].map(unmarked),
  ];
}

/** Returns the days of the counts as text. */
export function periodText({ days, since }: NonNullable<SchemaEffects['usage']>): string {
  return since === null
    ? `in use: not known, the engine has counted no request in the last ${days} days`
    : `in use: by the requests of the last ${days} days, counted since ${since}`;
}

export const INCOMPLETE = 'there was not time to compare the schema of every role';

/** Returns the numbers of changes by severity: `schema of reader: 1 breaking, 2 safe`. */
function countsText({ role, breaking, dangerous, safe, breakingInUse = 0 }: SchemaEffect): string {
  const counts = [
    [breaking, breakingInUse > 0 ? `breaking (${breakingInUse} in use)` : 'breaking'],
    [dangerous, 'dangerous'],
    [safe, 'safe'],
  ] as const;
  const sum = counts.filter(([count]) => count > 0).map(([count, severity]) => `${count} ${severity}`);
  return `schema of ${role}: ${sum.join(', ')}`;
}

function roleLines(effect: SchemaEffect, head: string): readonly SchemaLine[] {
  const { breaking, dangerous, changes } = effect;
  const shown = changes
    .slice(0, MOST_LISTED)
    .map((change) => ({ text: changeLine(change), isBreaking: change.severity === 'breaking' }));
  const rest = breaking + dangerous - shown.length;
  return [
    { text: head, isBreaking: breaking > 0 },
    ...shown,
    ...[...(rest > 0 ? [`  … and ${rest} more`] : []), ...(breaking > 0 ? uncountedLines(effect) : [])].map(
      unmarked,
    ),
  ];
}

function unmarked(text: string): SchemaLine {
  return { text, isBreaking: false };
}

function changeLine(change: SchemaEffect['changes'][number]): string {
  const { severity, description } = change;
  const users = usersText(change);
  return users === undefined
    ? `  ${severity}: ${description}`
    : `  ${severity}: ${description} Used by ${users}.`;
}

/** Returns the operations that a change breaks as text; undefined when none is known. */
export function usersText({
  usedBy = [],
  usedByCount = 0,
}: SchemaEffect['changes'][number]): string | undefined {
  if (usedByCount === 0) return undefined;
  return listText(usedBy.map(operationText), { most: MOST_OPERATIONS, total: usedByCount });
}

function operationText({ operation, client, requests, lastDay }: AffectedOperation): string {
  const name = operation ?? 'an operation without a name';
  const times = `${requests} ${requests === 1 ? 'request' : 'requests'}, last on ${lastDay}`;
  return `${name}${client === null ? '' : ` of ${client}`} (${times})`;
}

function uncountedLines(effect: SchemaEffect): readonly string[] {
  const text = uncountedText(effect);
  return text === undefined ? [] : [`  ${text}`];
}

/** Returns how many requests may be affected without being counted by operation; undefined when there are none. */
export function uncountedText({ uncounted = 0 }: SchemaEffect): string | undefined {
  if (uncounted === 0) return undefined;
  return uncounted === 1
    ? '1 request is not counted by operation, and may be affected'
    : `${uncounted} requests are not counted by operation, and any of them may be affected`;
}
