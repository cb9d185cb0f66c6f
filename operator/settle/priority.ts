/** Who gives way when changes do not fit together: the later one in this order. Deletions come first, then what restores an object
 *  to the form it had, then changes by the age of their resource, then by namespace and name. A change never precedes its
 *  parent, so every prefix of the order is a change that can be made alone, nor what it refers to in its own namespace. A newer object of
 *  another namespace never holds it back.
 *  Pure. Not here: which changes give way (settle.ts), the order within the document (edits.ts). */
import { type MetadataObject, referencesOf } from '@pergola/engine/metadata';
import { type Decision, isPut } from '../decide/decide.ts';
import { inOrder } from './edits.ts';

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

/** Each one directly after the last of those it needs. What needs itself, through others, comes last. */
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

const NO_OBJECTS: ReadonlyMap<string, MetadataObject> = new Map();

function needsOf(object: MetadataObject): readonly string[] {
  return [...(object.parent === null ? [] : [object.parent]), ...referencesOf(object, NO_OBJECTS)];
}
