/** The difference of two documents, object by object, and its application.
 *  `applyChanges(a, diffMetadata(a, b))` means the same as `b`; the order of objects in lists is not part of the meaning.
 *  Pure. Not here: normal form (normal-form.ts): documents are compared as they are given. */
import { isSameJson } from '../json/value.ts';
import { editObjects } from './edit.ts';
import {
  bare,
  childKinds,
  type MetadataObject,
  OBJECT_KINDS,
  OBJECTS,
  type ObjectKind,
  objectKey,
  objectsOf,
} from './objects.ts';
import type { Fragment } from './places.ts';
import type { Metadata } from './schema/metadata.ts';

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

/** Keys of the objects that were made, changed or deleted, in no order. Parts the documents share are not looked into, so
 *  that it costs little after a small edit. */
export function changedKeys(before: Metadata, after: Metadata): readonly string[] {
  return changedIn({ kind: null, segments: [] }, before, after);
}

type Owner = { readonly kind: ObjectKind | null; readonly segments: readonly string[] };

function changedIn(owner: Owner, before: Fragment, after: Fragment): readonly string[] {
  return childKinds(owner.kind).flatMap((kind) => {
    const { place, identity } = OBJECTS[kind];
    const [from, to] = [place.read(before), place.read(after)];
    if (from === to) return [];
    const without = (items: readonly Fragment[], shared: ReadonlySet<Fragment>) =>
      new Map(items.filter((i) => !shared.has(i)).map((item) => [JSON.stringify(identity.of(item)), item]));
    const [gone, come] = [without(from, new Set(to)), without(to, new Set(from))];
    return [...new Set([...gone.keys(), ...come.keys()])].flatMap((name) => {
      const segments = [...owner.segments, ...(JSON.parse(name) as string[])];
      const [a, b] = [gone.get(name), come.get(name)];
      const isSame = a && b && isSameJson(bare(kind, a), bare(kind, b));
      return [
        ...(isSame ? [] : [objectKey(kind, ...segments)]),
        ...changedIn({ kind, segments }, a ?? {}, b ?? {}),
      ];
    });
  });
}

/** Objects that are changed keep their place, new ones follow their siblings. */
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
