/** The changes of the schemas of roles, in words for people who review a plan. Pure.
 *  Not here: comparing schemas (engine/schema), access (access-text.ts). */
import type { SchemaEffect, SchemaEffects } from '../ports.ts';

/** The most changes of one role that are listed. */
const MOST_LISTED = 20;

/** Returns one line for each role whose schema changes, each followed by the changes that are not safe, with two spaces in front. */
export function schemaLines({ schemas, isComplete }: SchemaEffects): readonly string[] {
  return [...schemas.flatMap(roleLines), ...(isComplete ? [] : [INCOMPLETE])];
}

export const INCOMPLETE = 'there was not time to compare the schema of every role';

function roleLines({ role, breaking, dangerous, safe, changes }: SchemaEffect): readonly string[] {
  const counts = [
    [breaking, 'breaking'],
    [dangerous, 'dangerous'],
    [safe, 'safe'],
  ] as const;
  const sum = counts.filter(([count]) => count > 0).map(([count, severity]) => `${count} ${severity}`);
  const shown = changes.slice(0, MOST_LISTED).map((change) => `  ${change.severity}: ${change.description}`);
  const rest = breaking + dangerous - shown.length;
  return [`schema of ${role}: ${sum.join(', ')}`, ...shown, ...(rest > 0 ? [`  … and ${rest} more`] : [])];
}
