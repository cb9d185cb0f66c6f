/** The difference of two documents, object by object, and its application.
 *  `applyChanges(a, diffMetadata(a, b))` means the same as `b`; the order of objects in lists is not part of the meaning.
 *  Pure. Not here: normal form (normal-form.ts): documents are compared as they are given. */
import { isSameJson, isSameJsonText } from '../json/value.ts';
import { type Edit, editObjects } from './edit.ts';
import {
  bare,
  childKinds,
  type MetadataObject,
  OBJECT_KINDS,
  OBJECTS,
  type ObjectKind,
  objectKey,
  objectsOf,
  siblingName,
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
  const looking = { isSame: isSameJson, isEach: true, left: Number.POSITIVE_INFINITY };
  return editsIn(TOP, before, after, looking).map(({ key }) => key);
}

/** What `editObjects` makes of `before` the same JSON text as `after` with: none where it is the same already, undefined where
 *  edits cannot say it (another order of siblings) or not in short. Parts the documents share are not looked into. */
export function editsBetween(before: Metadata, after: Metadata): readonly Edit[] | undefined {
  if (before === after) return [];
  const looking = { isSame: isSameJsonText, isEach: false, left: MOST_LOOKED_INTO };
  const edits = editsIn(TOP, before, after, looking);
  const isMuch = looking.left < 0;
  if (isMuch) return isSameJsonText(before, after) ? [] : undefined;
  return isSameJsonText(editObjects(before, edits), after) ? edits : undefined;
}

type Owner = { readonly kind: ObjectKind | null; readonly segments: readonly string[] };

const TOP: Owner = { kind: null, segments: [] };

/** Of objects that two documents do not share: to find out about more than these costs as much as writing the document. */
const MOST_LOOKED_INTO = 5000;

type Looking = {
  readonly isSame: (a: unknown, b: unknown) => boolean;
  /** Also of what goes with the object it is nested in. */
  readonly isEach: boolean;
  /** How many objects may still be looked into; below zero, what was found is not all. */
  left: number;
};

function editsIn(owner: Owner, before: Fragment, after: Fragment, looking: Looking): readonly Edit[] {
  return childKinds(owner.kind).flatMap((kind) => {
    const { place, identity } = OBJECTS[kind];
    if (place.keys.every((key) => before[key] === after[key])) return [];
    const named = (items: readonly Fragment[]) =>
      new Map(items.map((item) => [siblingName(kind, item), item]));
    const [from, to] = apart(place.read(before), place.read(after));
    const [gone, come] = [named(from), named(to)];
    return [...new Set([...gone.keys(), ...come.keys()])].flatMap((name) => {
      const [a, b] = [gone.get(name), come.get(name)];
      if (a === b || --looking.left < 0) return [];
      const segments = [...owner.segments, ...identity.of((b ?? a)!)];
      const inner = b || looking.isEach ? editsIn({ kind, segments }, a ?? {}, b ?? {}, looking) : [];
      const definition = b && bare(kind, b);
      const isSame = a && b && looking.isSame(bare(kind, a), definition);
      return isSame ? inner : [{ key: objectKey(kind, ...segments), definition }, ...inner];
    });
  });
}

/** Two lists without what both begin and end with: an edit leaves most of thousands where they are. */
function apart<T>(a: readonly T[], b: readonly T[]): readonly [readonly T[], readonly T[]] {
  const shorter = Math.min(a.length, b.length);
  let [first, last] = [0, 0];
  while (first < shorter && a[first] === b[first]) first++;
  while (last < shorter - first && a[a.length - 1 - last] === b[b.length - 1 - last]) last++;
  return [a.slice(first, a.length - last), b.slice(first, b.length - last)];
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
