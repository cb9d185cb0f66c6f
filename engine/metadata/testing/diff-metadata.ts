/** The difference of two documents by comparing all objects: a simple model that diff.ts is tested against.
 *  `applyChanges(a, diffMetadata(a, b))` is equivalent to `b`; the order of objects in lists has no meaning. */
import { isSameJson } from '../../json/value.ts';
import { editObjects } from '../edit.ts';
import { type MetadataObject, OBJECT_KINDS, type ObjectKind, objectsOf } from '../objects.ts';
import type { Metadata } from '../schema/metadata.ts';

/** A changed object. `before` and `after` are its fragments without nested objects; undefined when it does not exist. */
type Change = {
  readonly key: string;
  readonly kind: ObjectKind;
  readonly action: 'create' | 'update' | 'delete';
  readonly before: unknown;
  readonly after: unknown;
};

/** Returns the changes: deletions first, nested objects before their owner, then the others in the order in which objects can be
 *  created. Objects nested in a deleted one are listed too. */
export function diffMetadata(from: Metadata, to: Metadata): readonly Change[] {
  const before = objectsOf(from);
  const after = objectsOf(to);
  const deleted = [...before.values()].filter((object) => !after.has(object.key)).map(deletion);
  const made = [...after.values()].flatMap((object) => changeTo(object, before.get(object.key)));
  return [...deleted.toSorted(byKind).reverse(), ...made.toSorted(byKind)];
}

/** Applies changes. Changed objects keep their position, new ones follow their siblings. */
export function applyChanges(metadata: Metadata, changes: readonly Change[]): Metadata {
  return editObjects(
    metadata,
    changes.map(({ key, after }) => ({ key, definition: after })),
  );
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
