/** Metadata objects in the form in which they are compared: normal form, and its hash for the ledger.
 *  Not here: the rules of normal form (engine/metadata). */

import { hash } from 'node:crypto';
import {
  childKinds,
  type Edit,
  editObjects,
  isRecord,
  isSameJson,
  type Metadata,
  type MetadataObject,
  normaliseObject,
  objectsOf,
  parseKey,
  withChanges,
} from '@pergola/engine/metadata';
import { IdentityCache } from '../identity-cache.ts';

/** Returns the object in normal form. Throws `parseFailed` of the engine for an invalid object. */
export function normalised(object: MetadataObject): MetadataObject {
  return { ...object, definition: normaliseObject(object.kind, asJson(object.definition)) };
}

/** Returns the value as it comes back from JSON: without keys that are undefined. What is JSON already is the same object, so an object
 *  and the spec that declares it share their texts and conditions. */
function asJson(value: unknown): unknown {
  if (typeof value === 'number') return Number.isFinite(value) ? value : null;
  if (Array.isArray(value)) {
    const items = value.map((item) => (item === undefined ? null : asJson(item)));
    return items.every((item, i) => item === value[i]) ? value : items;
  }
  if (!isRecord(value)) return value;
  const entries = Object.entries(value);
  const kept = entries.flatMap(([key, item]) => (item === undefined ? [] : [[key, asJson(item)] as const]));
  const isSame = kept.length === entries.length && kept.every(([key, item]) => item === value[key]);
  return isSame ? value : Object.fromEntries(kept);
}

/** False for an object in normal form that means the same as no object, such as limits without a limit: a document does not keep it, and the
 *  next comparison would find it removed. Only a kind of which a document has one object can be empty. */
export function isKept({ key, kind, definition }: MetadataObject): boolean {
  return key !== kind || Object.keys(definition as object).length > 0;
}

const objects = new IdentityCache<Metadata, ReadonlyMap<string, MetadataObject>>();

/** Returns the objects of a document by key. */
export function objectsIn(metadata: Metadata): ReadonlyMap<string, MetadataObject> {
  return objects.get(metadata, () => objectsOf(metadata));
}

/** Returns the document with these objects put, or removed where they are undefined. The map of its objects is derived from that of the
 *  previous document, so the cost depends on the number of changes. */
export function withObjects(
  metadata: Metadata,
  changes: ReadonlyMap<string, MetadataObject | undefined>,
): Metadata {
  const edits = [...changes].map(([key, object]): Edit => ({ key, definition: object?.definition }));
  const after = editObjects(metadata, edits);
  const before = objects.peek(metadata);
  // A deletion includes nested objects.
  const isFlat = [...changes].every(([key, object]) => object !== undefined || isLeaf(key));
  if (before && isFlat && after !== metadata) objects.set(after, withChanges(before, changes));
  return after;
}

/** True when objects of the key's kind have no nested objects. */
export function isLeaf(key: string): boolean {
  const identity = parseKey(key);
  return identity !== undefined && childKinds(identity.kind).length === 0;
}

/** Hashes by definition. A definition that is written becomes the live one, so its hash is found again. */
const hashes = new IdentityCache<object, string>();

/** Returns the hash of an object as the engine has it, which may not be in normal form. `expected` is an object in normal form that it
 *  probably equals: a comparison takes less time than a hash. */
export function hashOfLive({ definition, ...live }: MetadataObject, expected?: MetadataObject): string {
  return hashes.get(definition as object, () =>
    expected && isSameJson(definition, expected.definition)
      ? hashOf(expected)
      : hashOf(normalised({ definition, ...live })),
  );
}

/** Returns the hash of an object in normal form: equal for equal meaning. */
export function hashOf({ definition }: MetadataObject): string {
  return hashes.get(definition as object, () => shortHash(stableJson(definition)));
}

/** Returns the hash of an object in normal form, and the length of its JSON text. */
export function printOf({ definition }: MetadataObject): { readonly hash: string; readonly length: number } {
  const text = stableJson(definition);
  return { hash: hashes.get(definition as object, () => shortHash(text)), length: text.length };
}

const HASH_BYTES = 12;

/** Returns a digest short enough to copy by hand. */
export function shortHash(text: string): string {
  // A slice of the whole digest as text would keep all of it in memory.
  return hash('sha256', text, 'buffer').toString('hex', 0, HASH_BYTES);
}

/** Returns the JSON of the value with the keys of objects in order: equal for equal values. */
export function stableJson(value: unknown): string {
  return JSON.stringify(inOrder(value));
}

/** Returns the value with sorted keys, and the same value where they are sorted. A replacer function of JSON.stringify takes twice as
 *  long. Keys that are numbers come first, since no object has them in another order. */
function inOrder(value: unknown): unknown {
  if (Array.isArray(value)) {
    const items = value.map(inOrder);
    return items.every((item, i) => item === value[i]) ? value : items;
  }
  if (!isRecord(value)) return value;
  const keys = Object.keys(value);
  const isSorted = keys.every((key, i) => i === 0 || keys[i - 1]! < key);
  const sorted = isSorted ? keys : keys.toSorted((a, b) => (a < b ? -1 : 1));
  let isSame = isSorted;
  const entries = sorted.map((key) => {
    const inner = inOrder(value[key]);
    isSame &&= inner === value[key];
    return [key, inner] as const;
  });
  return isSame ? value : Object.fromEntries(entries);
}

/** Returns a key as readable text: `select permission default/public/author/user`. */
export function printKey(key: string): string {
  const identity = parseKey(key);
  if (!identity) return key;
  return [identity.kind.replaceAll('_', ' '), identity.segments.join('/')].join(' ').trim();
}
