/** Objects put into the document and removed from it, one or thousands at a time. What no edit is about stays the same value, so
 *  that whoever remembers what was made of it (resolve/memo.ts) has not to make it again, and is not looked into: an edit beside
 *  thousands of tables costs a glance at each. Pure. Not here: which kinds there are and where they sit (objects.ts), what
 *  differs (diff.ts). */
import { fail } from '../errors/engine-error.ts';
import {
  ancestry,
  childKinds,
  type MetadataObject,
  nameOf,
  nestedKeys,
  OBJECTS,
  type ObjectKind,
  ownNames,
  parentKeyOf,
  parseKey,
  siblingName,
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
  return editWithin(metadata, null, treeOf(edits)) as Metadata;
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

/** The edits of an object and below it: by kind, and by the name siblings tell it by. */
type Branch = { edit?: Edit; readonly below: Map<ObjectKind, Map<string, Branch>> };

function treeOf(edits: readonly Edit[]): Branch {
  const root: Branch = { below: new Map() };
  for (const edit of edits) {
    const kinds = ancestry(nameOf(edit.key).kind);
    const names = ownNames(edit.key);
    const branch = kinds.reduce((owner, kind, i) => branchOf(owner, kind, names[i]!), root);
    branch.edit = edit;
  }
  return root;
}

function branchOf(owner: Branch, kind: ObjectKind, name: string): Branch {
  const siblings = owner.below.get(kind) ?? new Map<string, Branch>();
  const branch = siblings.get(name) ?? { below: new Map() };
  owner.below.set(kind, siblings.set(name, branch));
  return branch;
}

function editWithin(fragment: Fragment, kind: ObjectKind | null, { below }: Branch): Fragment {
  return childKinds(kind).reduce((made, child) => {
    const branches = below.get(child);
    if (!branches) return made;
    const { place } = OBJECTS[child];
    const before = place.read(made);
    const after = editSiblings(before, child, branches);
    return after === before ? made : place.write(made, after);
  }, fragment);
}

function editSiblings(
  items: readonly Fragment[],
  kind: ObjectKind,
  branches: ReadonlyMap<string, Branch>,
): readonly Fragment[] {
  const left = new Map(branches);
  let isSame = true;
  const kept: Fragment[] = [];
  for (const item of items) {
    const name = siblingName(kind, item);
    const branch = left.get(name);
    left.delete(name);
    const edited = branch ? editItem(item, kind, branch) : item;
    if (edited !== item) isSame = false;
    if (edited) kept.push(edited);
  }
  for (const branch of left.values()) {
    if (!isPut(branch)) refuseStranded(branch);
    else kept.push(editWithin(withRequired(kind, branch.edit.definition as Fragment), kind, branch));
  }
  return isSame && kept.length === items.length ? items : kept;
}

/** Undefined where it is removed. */
function editItem(item: Fragment, kind: ObjectKind, branch: Branch): Fragment | undefined {
  if (branch.edit && !isPut(branch)) return refuseStranded(branch);
  return editWithin(
    isPut(branch) ? withOwn(kind, item, branch.edit.definition as Fragment) : item,
    kind,
    branch,
  );
}

/** The item with another fragment of its own: what it says in both keeps its place. */
function withOwn(kind: ObjectKind, item: Fragment, own: Fragment): Fragment {
  const nested = nestedKeys(kind);
  const kept = Object.entries(item).flatMap(([key, value]) => {
    if (Object.hasOwn(own, key)) return [[key, own[key]] as const];
    return nested.has(key) ? [[key, value] as const] : [];
  });
  return { ...Object.fromEntries(kept), ...own };
}

function isPut(branch: Branch): branch is Branch & { readonly edit: Edit } {
  return branch.edit?.definition !== undefined;
}

/** Nothing may be put into what is not there. */
function refuseStranded({ below }: Branch): undefined {
  for (const siblings of below.values()) {
    for (const branch of siblings.values()) {
      if (isPut(branch)) {
        const { key } = branch.edit;
        fail('parseFailed', { text: `there is no ${parentKeyOf(key)} that ${key} could be in` });
      }
      refuseStranded(branch);
    }
  }
  return undefined;
}
