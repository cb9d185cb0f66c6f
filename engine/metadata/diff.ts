/** The difference of two documents, object by object, and its application.
 *  `applyChanges(a, diffMetadata(a, b))` means the same as `b`; the order of objects in lists is not part of the meaning.
 *  Pure. Not here: normal form (normal-form.ts): documents are compared as they are given. */
import {
  type MetadataObject,
  metadataOf,
  OBJECT_KINDS,
  type ObjectKind,
  objectsOf,
  parentKeyOf,
} from './objects.ts';
import type { Metadata } from './schema/metadata.ts';
import { isSameJson } from './walk-schema.ts';

/** `before` and `after` are own fragments, without nested objects; undefined where there is none. */
export type Change = {
  readonly key: string;
  readonly kind: ObjectKind;
  readonly action: 'create' | 'update' | 'delete';
  readonly before: unknown;
  readonly after: unknown;
};

/** Deletions first, nested objects before what they are nested in; then the rest, in the order in which objects can be made.
 *  An object nested in a deleted one is listed too. */
export function diffMetadata(from: Metadata, to: Metadata): readonly Change[] {
  const before = objectsOf(from);
  const after = objectsOf(to);
  const deleted = [...before.values()].filter((object) => !after.has(object.key)).map(deletion);
  const made = [...after.values()].flatMap((object) => changeTo(object, before.get(object.key)));
  return [...deleted.toSorted(byKind).reverse(), ...made.toSorted(byKind)];
}

/** Objects that are changed keep their place, new ones follow their siblings. */
export function applyChanges(metadata: Metadata, changes: readonly Change[]): Metadata {
  if (changes.length === 0) return metadata;
  const objects = new Map(objectsOf(metadata));
  for (const { key, kind, action, after } of changes) {
    if (action === 'delete') objects.delete(key);
    else objects.set(key, { key, kind, parent: parentKeyOf(key), definition: after });
  }
  return metadataOf(objects.values());
}

function deletion({ key, kind, definition }: MetadataObject): Change {
  return { key, kind, action: 'delete', before: definition, after: undefined };
}

function changeTo(object: MetadataObject, before: MetadataObject | undefined): readonly Change[] {
  const { key, kind, definition: after } = object;
  if (!before) return [{ key, kind, action: 'create', before: undefined, after }];
  if (isSameJson(before.definition, after)) return [];
  return [{ key, kind, action: 'update', before: before.definition, after }];
}

const RANK: ReadonlyMap<ObjectKind, number> = new Map(OBJECT_KINDS.map((kind, rank) => [kind, rank]));

function byKind(a: Change, b: Change): number {
  return (RANK.get(a.kind) ?? 0) - (RANK.get(b.kind) ?? 0);
}
