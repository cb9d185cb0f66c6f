/** Who is to blame for inconsistencies a request would add: finds the operation that brought them in and refuses in its
 *  place of the body. Not here: what counts as added (work.ts), the words (inconsistencies.ts). */
import type { PathStep } from '../errors/engine-error.ts';
import type { Inconsistency } from '../resolve/types.ts';
import { refuseInconsistencies } from './inconsistencies.ts';
import type { Work } from './work.ts';

/** Raises unless there are none. */
export function refuseAdded(work: Work, added: readonly Inconsistency[]): void {
  const [first] = added;
  if (first) refuseInconsistencies(added, guiltyPath(work, first));
}

/** The first edit after which the object is inconsistent, found by halving: log2(edits) resolves, on the way to an error. */
function guiltyPath(work: Work, guilt: Inconsistency): readonly PathStep[] {
  const { edits } = work;
  let [low, high] = [0, edits.length - 1];
  while (low < high) {
    const middle = (low + high) >> 1;
    const { inconsistencies } = work.ground.resolve(edits[middle]!.metadata, work.catalogs);
    if (inconsistencies.some(({ key, reason }) => key === guilt.key && reason === guilt.reason))
      high = middle;
    else low = middle + 1;
  }
  return edits[low]?.path ?? ['args'];
}
