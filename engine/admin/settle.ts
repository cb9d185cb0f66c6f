/** Who is to blame for inconsistencies a request would add: finds the operation that brought them in and refuses in its
 *  place of the body. Not here: what counts as added (work.ts), the words (inconsistencies.ts). */
import type { PathStep } from '../errors/engine-error.ts';
import { dependentsOf } from '../metadata/dependencies.ts';
import type { Inconsistency } from '../resolve/types.ts';
import { refuseInconsistencies } from './inconsistencies.ts';
import { linksOf } from './links.ts';
import type { Work } from './work.ts';

/** Raises unless there are none. */
export function refuseAdded(work: Work, added: readonly Inconsistency[]): void {
  const [first] = added;
  if (first) refuseInconsistencies(added, { path: guiltyPath(work, first), root: rootOf(work, added) });
}

/** The one the others follow from, when there is one: they hang on it or refer to it. Tables come first in the list, so
 *  it can only be the first. */
function rootOf(work: Work, added: readonly Inconsistency[]): Inconsistency | undefined {
  const [first, ...others] = added;
  if (!first || others.length === 0) return first;
  const dependents = new Set(dependentsOf(work.metadata, first.key, linksOf(work.base.model)));
  return others.every(({ key }) => dependents.has(key)) ? first : undefined;
}

/** The first edit after which the object is inconsistent, found by halving: log2(edits) resolves, on the way to an error. */
function guiltyPath(work: Work, guilt: Inconsistency): readonly PathStep[] {
  const { edits } = work;
  let [low, high] = [0, edits.length - 1];
  while (low < high) {
    const middle = (low + high) >> 1;
    const { inconsistencies } = work.ground.resolve(edits[middle]!.metadata, work.catalogs, work.upstreams);
    if (inconsistencies.some(({ key, reason }) => key === guilt.key && reason === guilt.reason))
      high = middle;
    else low = middle + 1;
  }
  return edits[low]?.path ?? ['args'];
}
