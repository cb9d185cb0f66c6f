/** The two orders of a set of decisions. In the order of the document they can be made one after the other: deletions from the leaves
 *  up, then puts from the roots down. In the order of priority the later decision is left out when two do not fit together: deletions
 *  come first, then what restores an object to its previous form, then changes by the age of their resource, then by namespace and name.
 *  A change follows its parent, so every prefix can be made alone, and what it refers to in its own namespace. A newer object of another
 *  namespace never holds it back. Also here: the edits and the next document that decisions make. Unchanged objects of the document stay
 *  the same values, so foreign objects are kept byte for byte.
 *  Pure. Not here: which decisions there are (decide/decide.ts), which of them fit (engine/admit). */
import {
  type Edit,
  type Metadata,
  type MetadataObject,
  OBJECT_KINDS,
  parseKey,
  referencesOf,
} from '@pergola/engine/metadata';
import { type Decision, isPut } from '../decide/decide.ts';
import { withObjects } from '../objects/normal-form.ts';

/** Orders deletions from the leaves up, then puts from the roots down. Every prefix can be applied on its own. */
export function inOrder(decisions: readonly Decision[]): readonly Decision[] {
  const byKind = Map.groupBy(decisions, ({ key }) => parseKey(key)?.kind);
  const ranked = [undefined, ...OBJECT_KINDS].flatMap((kind) => byKind.get(kind) ?? []);
  return [...ranked.filter((d) => d.action === 'delete').reverse(), ...ranked.filter((d) => isPut(d.action))];
}

/** Returns the decisions as edits of the document, in an applicable order. */
export function editsOf(decisions: readonly Decision[]): readonly Edit[] {
  return inOrder(decisions).map(editOf);
}

export function editOf({ key, action, claim }: Decision): Edit {
  return { key, definition: action === 'delete' ? undefined : claim!.object.definition };
}

/** Returns the document after the decisions. The parent of every put must exist or be put too. */
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

/** Returns the decisions by priority, the highest first. */
export function byPriority(decisions: readonly Decision[]): readonly Decision[] {
  const ordered = inOrder(decisions);
  const deletions = ordered.filter(({ action }) => action === 'delete');
  const puts = ordered.filter(({ action }) => isPut(action)).toSorted(compare);
  return [...deletions, ...afterDependencies(puts)];
}

function compare(a: Decision, b: Decision): number {
  const [one, other] = [rankOf(a), rankOf(b)];
  const i = one.findIndex((part, at) => part !== other[at]);
  return i < 0 ? 0 : one[i]! < other[i]! ? -1 : 1;
}

function rankOf({ claim, entry }: Decision): readonly string[] {
  const { cr, hash } = claim!;
  const { creationTimestamp, namespace, name } = cr.metadata;
  return [entry?.hash === hash ? '0' : '1', creationTimestamp, namespace, name, cr.kind];
}

/** Places each item directly after the last one it needs. Items in a cycle come last. */
function afterDependencies(puts: readonly Decision[]): readonly Decision[] {
  const namespaces = new Map(puts.map(({ key, claim }) => [key, claim!.cr.metadata.namespace]));
  const placed = new Set<string>();
  const waiting = new Map<string, Decision[]>();
  const result: Decision[] = [];
  const isMissing = (need: string, { key, claim }: Decision) => {
    const { object, cr } = claim!;
    if (need === key || placed.has(need) || !namespaces.has(need)) return false;
    return need === object.parent || namespaces.get(need) === cr.metadata.namespace;
  };
  const queue = [...puts].reverse();
  while (queue.length > 0) {
    const next = queue.pop()!;
    const missing = needsOf(next.claim!.object).find((need) => isMissing(need, next));
    if (missing !== undefined) {
      waiting.set(missing, [...(waiting.get(missing) ?? []), next]);
      continue;
    }
    placed.add(next.key);
    result.push(next);
    queue.push(...(waiting.get(next.key) ?? []).reverse());
    waiting.delete(next.key);
  }
  return [...result, ...[...waiting.values()].flat()];
}

function needsOf(object: MetadataObject): readonly string[] {
  return [...(object.parent === null ? [] : [object.parent]), ...referencesOf(object)];
}
