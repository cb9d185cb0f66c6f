/** Cuts thousands of changes into slices, one for each pass, so that a change of one resource does not wait for all of the others. The first
 *  slices have what a user waits for: revocations, and the changes of resources that were edited since their last status. Deletions follow
 *  from the leaves up, then other changes from the roots down, so that every slice leaves a document that is complete in itself, and what a
 *  role may do comes last.
 *  What the engine does not accept in a slice comes after all others, which may be what it needs. Why it is refused is found out then.
 *  Pure. Not here: what the engine accepts (settle.ts), when passes follow each other (kubernetes/engine-pass.ts). */
import { referencesOf } from '@pergola/engine/metadata';
import { type Decision, isPut, isWrite, ownerOf } from '../decide/decide.ts';
import { crName } from '../kinds.ts';
import { inOrder } from './order.ts';

/** The changes of a slice take the engine and the operator some 200 ms. */
const LEAST = 400;
/** Each pass compares all resources, so tens of thousands of changes have few slices. */
const MOST_SLICES = 4;
/** The dry runs of a slice that the engine did not take as it is. */
export const DRY_RUNS_OF_SLICE = 4;

/** Returns the decisions that wait for a later pass, by key; empty when one write takes all. Those of `postponed` did not fit in an earlier slice. */
export function laterThan(
  decisions: readonly Decision[],
  postponed: ReadonlySet<string> = new Set(),
  least = LEAST,
): ReadonlySet<string> {
  const writes = decisions.filter(isWrite);
  const most = Math.max(least, Math.ceil(writes.length / MOST_SLICES));
  if (writes.length <= most) return new Set();
  const now = new Set<string>();
  const [fitting, others] = [false, true].map((isPostponed) =>
    writes.filter(({ key }) => postponed.has(key) === isPostponed),
  );
  const postponedOnes = inOrder(others!).map((decision) => [decision]);
  for (const together of [...inUrgentOrder(decisions, fitting!), ...postponedOnes]) {
    if (now.size >= most) break;
    for (const { key } of together) now.add(key);
  }
  return new Set(writes.map(({ key }) => key).filter((key) => !now.has(key)));
}

/** Returns the changes in the order of their slices, those together that one write must contain. */
function inUrgentOrder(
  decisions: readonly Decision[],
  writes: readonly Decision[],
): readonly (readonly Decision[])[] {
  const revoked = writes.filter(({ revocation }) => revocation);
  const edited = new Set(
    decisions.flatMap(({ claim }) => (claim && isEdited(claim.cr) ? crName(claim.cr) : [])),
  );
  const changes = Map.groupBy(
    writes.filter((decision) => edited.has(ownerOf(decision) ?? '')),
    ownerOf,
  );
  const puts = new Map(writes.filter(({ action }) => isPut(action)).map((put) => [put.key, put]));
  const urgent = [revoked, ...[...changes.values()].map((change) => withNeeds(change, puts))];
  const others = inOrder(writes.filter((decision) => !edited.has(ownerOf(decision) ?? '')));
  return [...urgent.filter(({ length }) => length > 0), ...others.map((decision) => [decision])];
}

/** True when the last status of the resource is about an earlier generation. */
function isEdited({ status, metadata }: NonNullable<Decision['claim']>['cr']): boolean {
  const seen = status?.observedGeneration ?? -1;
  return seen >= 0 && seen !== metadata.generation;
}

/** Returns the changes with those of objects that they refer to. */
function withNeeds(changes: readonly Decision[], puts: ReadonlyMap<string, Decision>): readonly Decision[] {
  const all = new Set(changes);
  for (const { claim } of all) {
    if (!claim) continue;
    const { object } = claim;
    for (const need of [...(object.parent === null ? [] : [object.parent]), ...referencesOf(object)]) {
      const put = puts.get(need);
      if (put) all.add(put);
    }
  }
  return [...all];
}
