/** The objects of a document that is not parsed yet, with their keys, and the object that a path of the document is in.
 *  Pure, total on any JSON. Not here: the kinds of objects (engine/metadata/objects.ts). */
import type { PathStep } from '../../engine/errors/engine-error.ts';
import { isRecord, type JsonRecord } from '../../engine/json/value.ts';
import { childKinds, OBJECTS, type ObjectKind, objectKey } from '../../engine/metadata/index.ts';

/** An object as it was written, with the objects that are nested in it. */
export type GivenObject = { readonly key: string; readonly kind: ObjectKind; readonly value: JsonRecord };

/** Returns the objects that have names, parents before children. */
export function givenObjects(document: JsonRecord): readonly GivenObject[] {
  return [...objectsIn(document, null, [])];
}

function* objectsIn(
  owner: JsonRecord,
  parent: ObjectKind | null,
  above: readonly string[],
): Generator<GivenObject> {
  for (const kind of childKinds(parent)) {
    for (const value of OBJECTS[kind].location.read(owner)) {
      const own = segmentsOf(kind, value);
      if (own === undefined) continue;
      const segments = [...above, ...own];
      yield { key: objectKey(kind, ...segments), kind, value };
      yield* objectsIn(value, kind, segments);
    }
  }
}

/** Returns what identifies an item among its siblings; undefined for one without a name. A name without a schema is in `public`. */
function segmentsOf(kind: ObjectKind, item: unknown): readonly string[] | undefined {
  if (!isRecord(item)) return undefined;
  const name = item[kind];
  const qualified = typeof name === 'string' ? { name } : name;
  const isQualified = kind === 'table' || kind === 'function';
  const named =
    isQualified && isRecord(qualified) ? { ...item, [kind]: { schema: 'public', ...qualified } } : item;
  const segments = OBJECTS[kind].identity.of(named);
  return segments.length === 0 || segments.some((segment) => segment !== '') ? segments : undefined;
}

/** Returns a function that finds the object which a path of the document is in; without one, the first key of the path. */
export function ownerFinder(
  document: JsonRecord,
  objects: readonly GivenObject[],
): (path: readonly PathStep[]) => string {
  const owners = new Map<unknown, string>();
  for (const { key, value } of objects) {
    // Objects that the document groups are copies, whose members are those of the document.
    for (const part of [value, ...Object.values(value)]) {
      if (typeof part === 'object' && part !== null && !owners.has(part)) owners.set(part, key);
    }
  }
  for (const { key, value } of objects) owners.set(value, key);
  return (path) => {
    let [value, owner]: [unknown, string | undefined] = [document, undefined];
    for (const step of path) {
      value = isRecord(value) || Array.isArray(value) ? (value as JsonRecord)[step] : undefined;
      owner = owners.get(value) ?? owner;
    }
    return owner ?? String(path[0] ?? '');
  };
}
