/** Finds the changes that let a role reach more rows. A group that widens by itself is the cause, and where only several together do, all of
 *  those that contribute are.
 *  In: the objects before, groups of changes, the other changes. Out: the widened access of each group that widens some. Pure.
 *  Not here: what counts as widening (metadata/access/verdicts.ts), what follows from it (hold-back.ts). */
import type { AccessChange } from '../metadata/access/access-change.ts';
import { accessChanges } from '../metadata/access/access-changes.ts';
import { wideningParts } from '../metadata/access/verdicts.ts';
import { withChanges } from '../metadata/layered-map.ts';
import { type Change, isRemoval, type Objects, objectOf } from './change.ts';

/** Changes that are held back together, such as those of one resource. */
type Group = { readonly changes: readonly Change[] };

/** Returns the access that each group widens. `others` are changes beside them, which are made in any case. */
export function wideningsOf<G extends Group>(
  before: Objects,
  groups: readonly G[],
  others: readonly Change[],
): ReadonlyMap<G, readonly AccessChange[]> {
  const base = objectsAfter(before, others);
  const found = new Map<G, readonly AccessChange[]>();
  for (let rest = groups; ; ) {
    const causes = causesAmong(base, rest);
    if (causes.size === 0) return found;
    for (const [group, widenings] of causes) found.set(group, widenings);
    // Without these, others may widen what was narrowed together with them.
    rest = rest.filter((group) => !found.has(group));
  }
}

function causesAmong<G extends Group>(
  base: Objects,
  groups: readonly G[],
): ReadonlyMap<G, readonly AccessChange[]> {
  const found = new Map<G, readonly AccessChange[]>();
  const groupOf = new Map(groups.flatMap((group) => group.changes.map(({ key }) => [key, group] as const)));
  // One group may widen the permissions of hundreds of roles.
  const widenedBy = new Map<G, ReadonlySet<string>>();
  const widensItself = (group: G, key: string) => {
    const keys =
      widenedBy.get(group) ?? new Set(widened(base, group.changes).map(({ change }) => change.key));
    widenedBy.set(group, keys);
    return keys.has(key);
  };
  const all = groups.flatMap(({ changes }) => changes);
  for (const { change: widening, causes } of widened(base, all)) {
    const contributing = [...new Set(causes.flatMap((key) => groupOf.get(key) ?? []))];
    const single = contributing.filter((group) => widensItself(group, widening.key));
    for (const group of single.length > 0 ? single : contributing)
      found.set(group, [...(found.get(group) ?? []), widening]);
  }
  return found;
}

function widened(base: Objects, changes: readonly Change[]) {
  const keys = changes.map(({ key }) => key);
  const access = accessChanges(keys, base, objectsAfter(base, changes));
  return access.filter(({ change }) => wideningParts(change).length > 0);
}

function objectsAfter(before: Objects, changes: readonly Change[]): Objects {
  return withChanges(
    before,
    changes.map((change) => [change.key, isRemoval(change) ? undefined : objectOf(change)]),
  );
}
