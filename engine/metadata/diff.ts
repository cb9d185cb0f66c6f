/** The difference of two documents, object by object, and applying it.
 *  `applyChanges(a, diffMetadata(a, b))` is equivalent to `b`; the order of objects in lists has no meaning.
 *  Pure. Not here: normal form (normal-form.ts). Documents are compared as they are. */
import { isSameJson, isSameJsonText } from '../json/value.ts';
import { type Edit, editObjects } from './edit.ts';
import type { Fragment } from './locations.ts';
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
import type { Metadata } from './schema/metadata.ts';

/** A changed object. `before` and `after` are its fragments without nested objects; undefined when it does not exist. */
export type Change = {
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

/** Returns the keys of the objects that were created, changed or deleted, in no order. Parts that the documents share are skipped, so
 *  it is fast after a small edit. */
export function changedKeys(before: Metadata, after: Metadata): readonly string[] {
  const looking = { isSame: isSameJson, isEach: true, left: Number.POSITIVE_INFINITY };
  return editsIn(TOP, before, after, looking).map(({ key }) => key);
}

/** Returns the edits with which `editObjects` turns `before` into the JSON text of `after`; undefined when edits cannot express the
 *  difference (another order of siblings) or would be too many. Parts that the documents share are skipped. */
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

/** The limit of compared objects. Comparing more costs as much as writing the document. */
const MOST_LOOKED_INTO = 5000;

type Looking = {
  readonly isSame: (a: unknown, b: unknown) => boolean;
  /** True when objects nested in a removed one are listed too. */
  readonly isEach: boolean;
  /** The number of objects that may still be compared. Below zero, the result is incomplete. */
  left: number;
};

function editsIn(owner: Owner, before: Fragment, after: Fragment, looking: Looking): readonly Edit[] {
  return childKinds(owner.kind).flatMap((kind) => {
    const { location, identity } = OBJECTS[kind];
    if (location.keys.every((key) => before[key] === after[key])) return [];
    const named = (items: readonly Fragment[]) =>
      new Map(items.map((item) => [siblingName(kind, item), item]));
    const [from, to] = apart(location.read(before), location.read(after));
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

/** Returns two lists without their common beginning and end, because an edit leaves most of thousands of items unchanged. */
function apart<T>(a: readonly T[], b: readonly T[]): readonly [readonly T[], readonly T[]] {
  const shorter = Math.min(a.length, b.length);
  let [first, last] = [0, 0];
  while (first < shorter && a[first] === b[first]) first++;
  while (last < shorter - first && a[a.length - 1 - last] === b[b.length - 1 - last]) last++;
  return [a.slice(first, a.length - last), b.slice(first, b.length - last)];
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
