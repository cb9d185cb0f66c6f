/** Puts objects into a document and removes them, one or thousands at a time. Everything that no edit concerns stays identical, so
 *  that results computed from it remain valid (resolve/memo.ts), and is not read: an edit among thousands of tables compares one
 *  name of each. Pure. Not here: the kinds of objects and where they are (objects.ts), differences (diff.ts). */

import { fail } from '../errors/engine-error.ts';
import type { JsonRecord } from '../json/value.ts';
import { withNewKeys } from './key-order.ts';
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
import { Metadata } from './schema/metadata.ts';
import { asJsonSchema } from './walk-schema.ts';

/** The new fragment of an object, without nested objects; undefined removes it with everything nested in it. */
export type Edit = { readonly key: string; readonly definition: unknown };

/** Applies edits, at most one for each key. Objects that exist keep their position and the objects nested in them; new ones follow
 *  their siblings in the order given. Everything else stays identical. Raises `parseFailed` when the parent of an object neither
 *  exists nor is put. */
export function editObjects(metadata: Metadata, edits: readonly Edit[]): Metadata {
  return editWithin(metadata, null, treeOf(edits)) as Metadata;
}

/** Inserts an object after its siblings, or replaces it and keeps the objects nested in it. The parent must exist. */
export function putObject(metadata: Metadata, { key, definition }: MetadataObject): Metadata {
  return editObjects(metadata, [{ key, definition }]);
}

/** Removes an object with everything nested in it. Returns the same document when there is no such object. */
export function removeObject(metadata: Metadata, key: string): Metadata {
  return parseKey(key) ? editObjects(metadata, [{ key, definition: undefined }]) : metadata;
}

/** The edits of an object and of objects nested in it, by kind and by siblingName. */
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

function editWithin(fragment: JsonRecord, kind: ObjectKind | null, { below }: Branch): JsonRecord {
  return childKinds(kind).reduce((made, child) => {
    const branches = below.get(child);
    if (!branches) return made;
    const { location } = OBJECTS[child];
    const before = location.read(made);
    const after = editSiblings(before, child, branches);
    if (after === before) return made;
    return withNewKeys(schemaOf(kind).properties, made, location.write(made, after));
  }, fragment);
}

function schemaOf(kind: ObjectKind | null): { readonly properties?: unknown } {
  return asJsonSchema(kind === null ? Metadata : OBJECTS[kind].schema);
}

function editSiblings(
  items: readonly JsonRecord[],
  kind: ObjectKind,
  branches: ReadonlyMap<string, Branch>,
): readonly JsonRecord[] {
  const left = new Map(branches);
  let isSame = true;
  const kept: JsonRecord[] = [];
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
    else kept.push(editWithin(withRequired(kind, branch.edit.definition as JsonRecord), kind, branch));
  }
  return isSame && kept.length === items.length ? items : kept;
}

/** Returns the edited item; undefined when it is removed. */
function editItem(item: JsonRecord, kind: ObjectKind, branch: Branch): JsonRecord | undefined {
  if (branch.edit && !isPut(branch)) return refuseStranded(branch);
  return editWithin(
    isPut(branch) ? withOwn(kind, item, branch.edit.definition as JsonRecord) : item,
    kind,
    branch,
  );
}

/** Returns the item with another fragment. Keys that both have keep their position. */
function withOwn(kind: ObjectKind, item: JsonRecord, own: JsonRecord): JsonRecord {
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

/** Raises `parseFailed` for an object whose parent does not exist. */
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
