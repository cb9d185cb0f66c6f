/** Deletions whose cascade would delete objects of somebody else: they wait until those are dropped.
 *  In: the live objects, decisions, whose each object is. Out: the first such object of each deletion. Pure. */
import type { MetadataObject } from '@pergola/engine/metadata';
import type { Decision } from '../decide/decide.ts';
import { kindAndNamespaceOf } from '../kinds.ts';
import { isLeaf } from '../objects/normal-form.ts';

type Objects = ReadonlyMap<string, MetadataObject>;

type Ownership = {
  /** True for objects of this manager. */
  readonly isOwned: (key: string) => boolean;
  /** Returns the namespace of the resource that claims the object. */
  readonly claimedIn: (key: string) => string | undefined;
};

/** Returns, by the key of the deletion, the first object that its cascade must not delete. */
export function foreignDependents(
  decisions: readonly Decision[],
  objects: Objects,
  ownership: Ownership,
): ReadonlyMap<string, string> {
  const deleted = new Map(
    decisions
      .filter(({ action, key }) => action === 'delete' && !isLeaf(key))
      .map((deletion) => [deletion.key, deletion]),
  );
  const dependents = new Map<string, string>();
  if (deleted.size === 0) return dependents;
  for (const { key } of objects.values()) {
    for (const above of ancestorsOf(key, objects)) {
      const deletion = deleted.get(above);
      if (deletion && !dependents.has(above) && isProtected(key, deletion, ownership))
        dependents.set(above, key);
    }
  }
  return dependents;
}

/** True for objects of other managers. In a source, which all namespaces share, also for objects of resources in another namespace than
 *  that of the deleted resource. */
function isProtected(
  key: string,
  { key: above, entry }: Decision,
  { isOwned, claimedIn }: Ownership,
): boolean {
  if (!isOwned(key)) return true;
  const namespace = above.startsWith('source/') ? claimedIn(key) : undefined;
  return (
    namespace !== undefined && entry !== undefined && kindAndNamespaceOf(entry.cr).namespace !== namespace
  );
}

function ancestorsOf(key: string, objects: Objects): readonly string[] {
  const parent = objects.get(key)?.parent ?? null;
  return parent === null ? [] : [parent, ...ancestorsOf(parent, objects)];
}
