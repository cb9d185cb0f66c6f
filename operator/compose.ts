/** The next document: the live one with only the decided keys put or removed. Everything else is the same value as before, so
 *  that what nobody owns stays as it is, to the byte.
 *  Pure. Not here: which keys (three-way.ts), which of them fit (exclude.ts). */
import {
  type Metadata,
  OBJECT_KINDS,
  type ObjectKind,
  parseKey,
  putObject,
  removeObject,
} from '@pergola/engine/metadata';
import { type Decision, isPut } from './three-way.ts';

const RANK: ReadonlyMap<ObjectKind, number> = new Map(OBJECT_KINDS.map((kind, rank) => [kind, rank]));

/** Deletions from the leaves up, then puts from the roots down: the order in which one may be cut off after any. */
export function inOrder(decisions: readonly Decision[]): readonly Decision[] {
  const byRank = decisions.toSorted((a, b) => rankOf(a) - rankOf(b));
  return [...byRank.filter((d) => d.action === 'delete').reverse(), ...byRank.filter((d) => isPut(d.action))];
}

/** Every put's parent must exist or be put too. */
export function compose(live: Metadata, decisions: readonly Decision[]): Metadata {
  return inOrder(decisions).reduce(
    (document, decision) =>
      decision.action === 'delete'
        ? removeObject(document, decision.key)
        : putObject(document, decision.claim!.object),
    live,
  );
}

function rankOf({ key }: Decision): number {
  const kind = parseKey(key)?.kind;
  return kind === undefined ? -1 : (RANK.get(kind) ?? -1);
}
