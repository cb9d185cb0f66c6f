/** What would happen to the objects of a resource that is asked for its plan, as lines people read in its status: made by the same steps
 *  as a pass, with the engine's dry run, and not carried out.
 *  Pure. Not here: who is asked (decide/pause.ts), the steps (pass/reconcile.ts), plans of whole folders (folder/print.ts). */

import { type Decision, ownerOf } from '../decide/decide.ts';
import { type CustomResource, crName } from '../kinds.ts';
import { differencesOf, summarise } from '../objects/difference.ts';
import { printKey } from '../objects/normal-form.ts';
import type { Outcome } from '../ports.ts';

/** A status is no place for more. */
export const MOST_LINES = 50;
const MOST_LINE_CHARACTERS = 500;

const SIGNS: Partial<Record<Decision['action'], string>> = {
  create: '+',
  update: '~',
  correct: '~',
  adopt: '~',
  own: '=',
  delete: '-',
};

/** `decisions`: all that would be carried out. */
export function planLines(
  cr: CustomResource,
  decisions: readonly Decision[],
  outcome: Outcome,
): readonly string[] {
  const own = decisions.filter((decision) => ownerOf(decision) === crName(cr));
  const changes = own.flatMap(linesOf);
  const isRefused = outcome.reason !== 'Applied';
  const lines = [...(isRefused ? [`! ${outcome.reason}: ${outcome.message}`] : []), ...changes];
  const shown = lines.length > MOST_LINES ? lines.slice(0, MOST_LINES - 1) : lines;
  const rest = lines.length - shown.length;
  const all = lines.length === 0 ? ['no change'] : [...shown, ...(rest > 0 ? [`… and ${rest} more`] : [])];
  return all.map((line) =>
    line.length > MOST_LINE_CHARACTERS ? `${line.slice(0, MOST_LINE_CHARACTERS)}…` : line,
  );
}

function linesOf({ action, key, live, claim }: Decision): readonly string[] {
  const sign = SIGNS[action];
  if (sign === undefined) return [];
  const head = `${sign} ${printKey(key)}`;
  if (sign !== '~') return [head];
  return [head, ...differencesOf(live, claim?.object).map((one) => `    ${summarise([one])}`)];
}
