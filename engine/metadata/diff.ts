/** The difference of two documents: the keys of changed objects, and the edits between them. Documents are compared as they are.
 *  In steps, because documents may be large. Pure. Not here: normal form (normal-form.ts), applying edits (edit.ts). */
import { isSameJson, isSameJsonText, type JsonRecord } from '../json/value.ts';
import { type Edit, editObjects } from './edit.ts';
import { bare, childKinds, OBJECTS, type ObjectKind, objectKey, siblingName } from './objects.ts';
import type { Metadata } from './schema/metadata.ts';
import type { Steps } from './steps.ts';

/** Returns the keys of the objects that were created, changed or deleted, in no order. Parts that the documents share are skipped, so
 *  it is fast after a small edit. */
export function* changedKeys(before: Metadata, after: Metadata): Steps<readonly string[]> {
  const looking = { isSame: isSameJson, isEach: true, left: Number.POSITIVE_INFINITY };
  return (yield* editsIn(TOP, before, after, looking)).map(({ key }) => key);
}

/** Returns the edits with which `editObjects` turns `before` into the JSON text of `after`; undefined when edits cannot express the
 *  difference (another order of siblings) or would be too many. Parts that the documents share are skipped. */
export function* editsBetween(before: Metadata, after: Metadata): Steps<readonly Edit[] | undefined> {
  if (before === after) return [];
  const looking = { isSame: isSameJsonText, isEach: false, left: MOST_LOOKED_INTO };
  const edits = yield* editsIn(TOP, before, after, looking);
  yield;
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

/** Yields after each object. */
function* editsIn(
  owner: Owner,
  before: JsonRecord,
  after: JsonRecord,
  looking: Looking,
): Steps<readonly Edit[]> {
  const edits: Edit[] = [];
  for (const kind of childKinds(owner.kind)) {
    const { location, identity } = OBJECTS[kind];
    if (location.keys.every((key) => before[key] === after[key])) continue;
    const named = (items: readonly JsonRecord[]) =>
      new Map(items.map((item) => [siblingName(kind, item), item]));
    const [from, to] = apart(location.read(before), location.read(after));
    const [gone, come] = [named(from), named(to)];
    for (const name of new Set([...gone.keys(), ...come.keys()])) {
      const [a, b] = [gone.get(name), come.get(name)];
      if (a === b || --looking.left < 0) continue;
      const segments = [...owner.segments, ...identity.of((b ?? a)!)];
      const isInner = b || looking.isEach;
      const inner = isInner ? yield* editsIn({ kind, segments }, a ?? {}, b ?? {}, looking) : [];
      const definition = b && bare(kind, b);
      const isSame = a && b && looking.isSame(bare(kind, a), definition);
      if (!isSame) edits.push({ key: objectKey(kind, ...segments), definition });
      edits.push(...inner);
      yield;
    }
  }
  return edits;
}

/** Returns two lists without their common beginning and end, because an edit leaves most of thousands of items unchanged. */
function apart<T>(a: readonly T[], b: readonly T[]): readonly [readonly T[], readonly T[]] {
  const shorter = Math.min(a.length, b.length);
  let [first, last] = [0, 0];
  while (first < shorter && a[first] === b[first]) first++;
  while (last < shorter - first && a[a.length - 1 - last] === b[b.length - 1 - last]) last++;
  return [a.slice(first, a.length - last), b.slice(first, b.length - last)];
}
