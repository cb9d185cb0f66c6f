/** Finds the objects that a resource replaces: when a field that identifies its object changes, such as the name of a table, the old object
 *  is deleted and another one of the same kind is created in the same write. While the new object cannot be created, the old one is kept,
 *  as the last good version of any other resource is.
 *  In: decisions. Out: for the key of each replaced object, the key of its replacement. Pure.
 *  Not here: what the engine accepts (settle/settle.ts), the message (status/verdicts.ts). */
import { parseKey } from '@pergola/engine/metadata';
import { crName } from '../kinds.ts';
import type { Decision } from './decide.ts';

/** The replaced objects: maps the key of a deleted object to the key of the object that replaces it. */
export type Replacements = ReadonlyMap<string, string>;

const NO_REPLACEMENTS: Replacements = new Map();

/** Returns the replaced objects. Only objects at the root of a resource are replaced: a permission inside a Table that gets another role is
 *  an edit of the Table. A resource with several new or deleted objects of a kind replaces none of them, because no object follows another. */
export function replacementsIn(decisions: readonly Decision[]): Replacements {
  const deleted = decisions.filter(({ action, entry }) => action === 'delete' && entry);
  if (deleted.length === 0) return NO_REPLACEMENTS;
  const owners = new Set(deleted.map(({ entry }) => entry!.cr));
  const claimed = decisions.filter(({ claim }) => claim && owners.has(crName(claim.cr)));
  const isClaimed = new Set(claimed.map(({ key, claim }) => `${crName(claim!.cr)} ${key}`));
  const roots = claimed.filter(
    ({ claim }) =>
      claim!.object.parent === null || !isClaimed.has(`${crName(claim!.cr)} ${claim!.object.parent}`),
  );
  const rootsOf = Map.groupBy(roots, ({ claim, key }) => groupOf(crName(claim!.cr), key));
  const found = new Map<string, string>();
  for (const [group, gone] of Map.groupBy(deleted, ({ entry, key }) => groupOf(entry!.cr, key))) {
    const [root, another] = rootsOf.get(group) ?? [];
    if (root && !another && gone.length === 1 && !root.entry) found.set(gone[0]!.key, root.key);
  }
  return found;
}

function groupOf(cr: string, key: string): string {
  return `${cr} ${parseKey(key)?.kind}`;
}

/** Returns the deletions to leave out because the replacement is not created, with those of the nested objects of the same resource.
 *  `isMissing` is true for the keys of objects that are not created. */
export function heldDeletions(
  decisions: readonly Decision[],
  replacements: Replacements,
  isMissing: (key: string) => boolean,
): readonly Decision[] {
  if (replacements.size === 0) return [];
  const held = decisions.filter(({ key, action }) => {
    const replacement = action === 'delete' ? replacements.get(key) : undefined;
    return replacement !== undefined && isMissing(replacement);
  });
  if (held.length === 0) return held;
  return decisions.filter(
    ({ key, action, entry, live }) =>
      action === 'delete' &&
      held.some(
        (other) => other.key === key || (live?.parent === other.key && entry?.cr === other.entry?.cr),
      ),
  );
}
