/** What would happen to the objects of a resource that is asked for its plan, as lines people read in its status: made by the same steps
 *  as a pass, with the engine's dry run, and not carried out.
 *  Pure. Not here: who is asked (pause.ts), the steps (reconcile.ts), plans of whole folders (folder/print.ts). */
import { differencesOf, summarise } from './difference.ts';
import { describeKey } from './fragment.ts';
import { type CustomResource, crName } from './kinds.ts';
import { ownerOf } from './ledger.ts';
import { wantsPlan, withoutPause } from './pause.ts';
import type { Outcome } from './ports.ts';
import type { Decision } from './three-way.ts';

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

/** The resources as they would be if nothing held those that are asked; undefined when none is. */
export function released(resources: readonly CustomResource[]): readonly CustomResource[] | undefined {
  if (!resources.some(wantsPlan)) return undefined;
  return resources.map((cr) => (wantsPlan(cr) ? withoutPause(cr) : cr));
}

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
  const head = `${sign} ${describeKey(key)}`;
  if (sign !== '~') return [head];
  return [head, ...differencesOf(live, claim?.object).map((one) => `    ${summarise([one])}`)];
}
