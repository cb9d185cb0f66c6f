/** The boolean variables of a request, which may skip selections. A document whose skipped selections are not valid is prepared for their
 *  values. Not here: evaluating directives (selection.ts). */

/** The values of boolean variables, by name. */
export type Conditions = ReadonlyMap<string, boolean>;

export const NO_CONDITIONS: Conditions = new Map();

/** Returns the boolean values among the variables of a request, in the order of their names. */
export function conditionsAmong(variables: Readonly<Record<string, unknown>> | null | undefined): Conditions {
  const entries = Object.entries(variables ?? {}).filter(
    (entry): entry is [string, boolean] => typeof entry[1] === 'boolean',
  );
  return new Map(entries.sort(([one], [other]) => (one < other ? -1 : 1)));
}
