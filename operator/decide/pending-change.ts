/** The changes that a pass would write, one for each resource, with hashes that confirm them. A hash stands for one change: from the objects
 *  that the engine has to the objects that the resource wants. Another edit of the resource, or of its objects in the engine, has another
 *  hash, so a confirmation never applies to a later change.
 *  In: decisions. Out: changes by resource. Pure. Not here: which changes are held back (settle/hold-back.ts). */
import { hashOfLive, shortHash } from '../objects/normal-form.ts';
import { type Decision, isWrite, ownerOf } from './decide.ts';

/** The annotation with the hashes of confirmed changes, on the resource or on its Engine. */
export const CONFIRM_CHANGE_ANNOTATION = 'pergola.dev/confirm-change';

/** The change of one resource. */
export type PendingChange = {
  /** The resource, as `Kind namespace/name`. It may be deleted. */
  readonly owner: string;
  readonly hash: string;
  readonly decisions: readonly Decision[];
};

/** Returns the changes of resources by owner. What `isRestoration` is not among them. */
export function pendingChanges(decisions: readonly Decision[]): ReadonlyMap<string, PendingChange> {
  const writes = decisions.filter((decision) => isWrite(decision) && !isRestoration(decision));
  return new Map(
    [...Map.groupBy(writes, (decision) => ownerOf(decision) ?? '')].map(([owner, own]) => [
      owner,
      { owner, hash: shortHash(own.map(editText).toSorted().join('\n')), decisions: own },
    ]),
  );
}

/** True for a write that no change of a resource causes: it restores an object that another client changed, or removes one that its
 *  namespace may no longer own. */
export function isRestoration({ action, entry, claim, revocation }: Decision): boolean {
  return revocation !== undefined || (action === 'correct' && entry?.hash === claim?.hash);
}

/** Returns a predicate that is true for confirmed changes. `confirmed` is the annotation of the Engine, `annotationOf` that of a resource. */
export function isConfirmed(
  confirmed: string | undefined,
  annotationOf: (owner: string) => string | undefined,
): (change: PendingChange) => boolean {
  const byEngine = hashesIn(confirmed);
  return ({ owner, hash }) => byEngine.has(hash) || hashesIn(annotationOf(owner)).has(hash);
}

/** Returns the hashes in the value of an annotation, which commas or spaces separate. */
function hashesIn(value: string | undefined): ReadonlySet<string> {
  return new Set((value ?? '').split(/[\s,]+/).filter((hash) => hash !== ''));
}

function editText({ key, action, live, claim }: Decision): string {
  const after = action === 'delete' ? undefined : claim?.hash;
  return JSON.stringify([key, live ? hashOfLive(live) : null, after ?? null]);
}
