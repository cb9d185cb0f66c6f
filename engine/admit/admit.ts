/** Chooses, of changes in order of priority, those that fit into a document: what does not fit is left out with what needs it, and the rest
 *  is judged again. One wrong object delays no other, and no change breaks an object of somebody else. What only waits for a database or a
 *  remote schema fits.
 *  In: a document, changes, a judge. Out: the document with the admitted changes, and the causes of the others. Pure but for the judge.
 *  Not here: which changes are culprits (culprits.ts), what needs what (feasible.ts), changes that are held back (hold-back.ts). */
import { objectsOf } from '../metadata/objects.ts';
import { type Admission, type Cause, type Change, roleKey } from './change.ts';
import { culpritsIn } from './culprits.ts';
import { type Baseline, Draft, JudgeBudget } from './draft.ts';
import { feasible } from './feasible.ts';
import { cyclesIn } from './role-cycles.ts';

export async function admit<R>(
  baseline: Baseline<R>,
  changes: readonly Change[],
  budget = new JudgeBudget(),
): Promise<Admission<R>> {
  const objects = objectsOf(baseline.document);
  const left = new Map<string, Cause<R>>();
  for (let rest = changes; ; ) {
    rest = feasible(objects, rest, left);
    const cycles = cyclesIn(baseline.document.inherited_roles ?? [], rest);
    if (cycles.size > 0) {
      // A document in which roles inherit from themselves cannot be judged, and something may need what is left out.
      for (const [{ key }, roles] of cycles) left.set(key, { because: 'cycle', roles });
      rest = rest.filter((change) => !cycles.has(change));
      continue;
    }
    const draft = new Draft(baseline, objects, rest, budget);
    const misfits = await draft.judge();
    const culprits = await culpritsIn(draft, misfits);
    if (culprits.size === 0) return { document: draft.document, admitted: rest, left, misfits };
    for (const [key, cause] of culprits) left.set(key, cause);
    rest = rest.filter(({ key }) => !left.has(key));
  }
}

/** Returns the keys of the objects that a change was left out for. */
export function rivalsOf<R>(key: string, cause: Cause<R>): readonly string[] {
  if (cause.because === 'cycle')
    return [...new Set(cause.roles.map(roleKey))].filter((rival) => rival !== key);
  return cause.because === 'breaks' ? [cause.misfit.key] : [];
}
