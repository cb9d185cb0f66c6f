/** The next document: the live one with only the decided keys put or removed. Everything else is the same value as before, so
 *  that what nobody owns stays as it is, to the byte.
 *  Pure. Not here: which keys (decide/decide.ts), which of them fit (settle.ts). */
import { type Edit, type Metadata, OBJECT_KINDS, parseKey } from '@pergola/engine/metadata';
import { type Decision, isPut } from '../decide/decide.ts';
import { withObjects } from '../objects/normal-form.ts';

/** Deletions from the leaves up, then puts from the roots down: the order in which one may be cut off after any. */
export function inOrder(decisions: readonly Decision[]): readonly Decision[] {
  const byKind = Map.groupBy(decisions, ({ key }) => parseKey(key)?.kind);
  const ranked = [undefined, ...OBJECT_KINDS].flatMap((kind) => byKind.get(kind) ?? []);
  return [...ranked.filter((d) => d.action === 'delete').reverse(), ...ranked.filter((d) => isPut(d.action))];
}

/** The decisions as edits of the document, in the order in which they can be made. */
export function editsOf(decisions: readonly Decision[]): readonly Edit[] {
  return inOrder(decisions).map(({ key, action, claim }) => ({
    key,
    definition: action === 'delete' ? undefined : claim!.object.definition,
  }));
}

/** Every put's parent must exist or be put too. */
export function compose(live: Metadata, decisions: readonly Decision[]): Metadata {
  return withObjects(
    live,
    new Map(
      inOrder(decisions).map(({ key, action, claim }) => [
        key,
        action === 'delete' ? undefined : claim!.object,
      ]),
    ),
  );
}
