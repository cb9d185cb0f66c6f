/** Objects put into the document and removed from it, one or thousands at a time. What no edit is about stays the same value, so
 *  that whoever remembers what was made of it (resolve/memo.ts) has not to make it again.
 *  Pure. Not here: which kinds there are and where they sit (objects.ts), what differs (diff.ts). */
import { fail } from '../errors/engine-error.ts';
import {
  childKinds,
  type MetadataObject,
  nameOf,
  nestedOf,
  OBJECTS,
  type ObjectKind,
  objectKey,
  parentKeyOf,
  parseKey,
  withRequired,
} from './objects.ts';
import type { Fragment } from './places.ts';
import type { Metadata } from './schema/metadata.ts';

/** What becomes of an object: its own fragment, without nested objects; undefined removes it with everything nested in it. */
export type Edit = { readonly key: string; readonly definition: unknown };

/** Objects that exist keep their place and what is nested in them, new ones follow their siblings in the order given. What no
 *  edit is about stays the same value. At most one edit a key; the parent of what is put must exist or be put: raises
 *  `parseFailed`. */
export function editObjects(metadata: Metadata, edits: readonly Edit[]): Metadata {
  const plan = planOf(edits);
  const edited = editWithin(metadata, { kind: null, segments: [], key: null }, plan) as Metadata;
  for (const [parent, left] of plan.below) {
    const stranded = [...left.values()].find(isPut);
    if (stranded) fail('parseFailed', { text: `there is no ${parent} that ${stranded.key} could be in` });
  }
  return edited;
}

/** Inserts the object at the end of its siblings, or replaces it where it is, keeping what is nested in it.
 *  The parent must exist. */
export function putObject(metadata: Metadata, { key, definition }: MetadataObject): Metadata {
  return editObjects(metadata, [{ key, definition }]);
}

/** Removes the object with everything nested in it; the same document when there is none. */
export function removeObject(metadata: Metadata, key: string): Metadata {
  return parseKey(key) ? editObjects(metadata, [{ key, definition: undefined }]) : metadata;
}

type Owner = {
  readonly kind: ObjectKind | null;
  readonly segments: readonly string[];
  readonly key: string | null;
};

/** Edits by the parent of what they are about, and by key; and the keys of all objects something below which is edited. */
type EditPlan = {
  readonly below: Map<string | null, Map<string, Edit>>;
  readonly inner: ReadonlySet<string>;
};

function planOf(edits: readonly Edit[]): EditPlan {
  const below = new Map<string | null, Map<string, Edit>>();
  const inner = new Set<string>();
  for (const edit of edits) {
    const parent = parentKeyOf(edit.key);
    const siblings = below.get(parent);
    if (siblings) siblings.set(edit.key, edit);
    else below.set(parent, new Map([[edit.key, edit]]));
    for (let key = parent; key !== null && !inner.has(key); key = parentKeyOf(key)) inner.add(key);
  }
  return { below, inner };
}

function editWithin(fragment: Fragment, owner: Owner, plan: EditPlan): Fragment {
  const edits = plan.below.get(owner.key) ?? new Map<string, Edit>();
  plan.below.delete(owner.key);
  return childKinds(owner.kind).reduce((made, kind) => {
    const { place: at, identity } = OBJECTS[kind];
    const items = at.read(made);
    const left = new Map([...edits].filter(([key]) => nameOf(key).kind === kind));
    const edited = (item: Fragment, segments: readonly string[], key: string): Fragment =>
      plan.inner.has(key) ? editWithin(item, { kind, segments, key }, plan) : item;
    const kept = items.flatMap((item) => {
      const segments = [...owner.segments, ...identity.of(item)];
      const key = objectKey(kind, ...segments);
      const edit = left.get(key);
      left.delete(key);
      if (edit && !isPut(edit)) return [];
      const own = edit ? { ...nestedOf(kind, item), ...(edit.definition as Fragment) } : item;
      return [edited(own, segments, key)];
    });
    const added = [...left.values()].filter(isPut).map(({ key, definition }) => {
      return edited(withRequired(kind, definition as Fragment), nameOf(key).segments, key);
    });
    const isSame = added.length === 0 && kept.length === items.length && kept.every((x, i) => x === items[i]);
    return isSame ? made : at.write(made, [...kept, ...added]);
  }, fragment);
}

function isPut({ definition }: Edit): boolean {
  return definition !== undefined;
}
