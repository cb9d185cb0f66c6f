/** Warnings about restrictions that a change declares and the engine does not enforce.
 *  In: two documents. Out: one warning per object that is not enforced now and was not declared so before.
 *  Not here: which restrictions these are (resolve/unenforced.ts). */
import type { Metadata } from '../metadata/schema/metadata.ts';
import type { Ground } from './ground.ts';
import type { Warning } from './managed.ts';

export function unenforcedChanges(
  ground: Ground,
  before: Metadata,
  after: Metadata,
): readonly (Warning & { readonly code: 'not-enforced' })[] {
  if (before === after) return [];
  const known = new Set(ground.unenforced(before).map(({ key }) => key));
  return ground
    .unenforced(after)
    .filter(({ key }) => !known.has(key))
    .map(({ key, type, name, reason }) => ({
      code: 'not-enforced',
      message: `${name}: ${reason}`,
      type,
      name: key,
    }));
}
