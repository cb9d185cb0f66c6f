/** Leaves out the changes that cannot be made without others that are left out: an object needs the one it is nested in, and what the change
 *  names in `needs`. In: the objects before, the changes. Out: those that can be made, and the causes of the others. Pure. */
import { referencesOf } from '../metadata/dependencies.ts';
import { type Cause, type Change, isRemoval, type Objects, objectOf } from './change.ts';

/** Returns the changes that can be made together, and adds the causes of the others. */
export function feasible<R>(
  objects: Objects,
  changes: readonly Change[],
  left: Map<string, Cause<R>>,
): readonly Change[] {
  for (let rest = changes; ; ) {
    const isThere = presenceAfter(objects, rest);
    const kept = rest.filter((change) => {
      const missing = needsOf(change).find((key) => !isThere(key));
      if (missing !== undefined) left.set(change.key, { because: 'missing', missing });
      return missing === undefined;
    });
    if (kept.length === rest.length) return kept;
    rest = kept;
  }
}

/** Returns a predicate that is true for the keys of the objects that exist after the changes. */
function presenceAfter(objects: Objects, changes: readonly Change[]): (key: string) => boolean {
  const put = new Set<string>();
  const removed = new Set<string>();
  for (const change of changes) (isRemoval(change) ? removed : put).add(change.key);
  const isRemoved = (key: string): boolean => {
    if (removed.has(key)) return true;
    const parent = objects.get(key)?.parent ?? null;
    return parent !== null && isRemoved(parent);
  };
  return (key) => put.has(key) || (objects.has(key) && (removed.size === 0 || !isRemoved(key)));
}

/** Returns the keys that must exist. An entry of the allow list needs its collection, without which it allows nothing. */
function needsOf(change: Change): readonly string[] {
  const { needs = [] } = change;
  if (isRemoval(change)) return needs;
  const object = objectOf(change);
  const own = object.kind === 'allowlist' ? referencesOf(object) : [];
  return [...(object.parent === null ? [] : [object.parent]), ...own, ...needs];
}
