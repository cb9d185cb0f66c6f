/** Metadata objects in the form in which they are compared: normal form, and a hash of it for the ledger.
 *  Not here: what normal form is (engine/metadata). */

import { createHash } from 'node:crypto';
import {
  childKinds,
  type Edit,
  editObjects,
  isRecord,
  type Metadata,
  type MetadataObject,
  normaliseObject,
  objectsOf,
  parseJson,
  parseKey,
  withChanges,
} from '@pergola/engine/metadata';

/** Raises the engine's `parseFailed` when the object is none. */
export function normalised(object: MetadataObject): MetadataObject {
  // Keys without a value are absent keys; only JSON knows no difference.
  const json = parseJson(JSON.stringify(object.definition));
  return { ...object, definition: normaliseObject(object.kind, json) };
}

const objects = new WeakMap<Metadata, ReadonlyMap<string, MetadataObject>>();

/** The objects of a document: it is immutable, and a pass asks several times. */
export function objectsIn(metadata: Metadata): ReadonlyMap<string, MetadataObject> {
  const known = objects.get(metadata) ?? objectsOf(metadata);
  objects.set(metadata, known);
  return known;
}

/** The document with these objects put, or removed where they are undefined. What is known of its objects is made of what was, so that
 *  it costs what the changes do. */
export function withObjects(
  metadata: Metadata,
  changes: ReadonlyMap<string, MetadataObject | undefined>,
): Metadata {
  const edits = [...changes].map(([key, object]): Edit => ({ key, definition: object?.definition }));
  const after = editObjects(metadata, edits);
  const before = objects.get(metadata);
  // What goes takes along what is nested in it.
  const isFlat = [...changes].every(([key, object]) => object !== undefined || isLeaf(key));
  if (before && isFlat && after !== metadata) objects.set(after, withChanges(before, changes));
  return after;
}

/** Nothing can be nested in it. */
export function isLeaf(key: string): boolean {
  const identity = parseKey(key);
  return identity !== undefined && childKinds(identity.kind).length === 0;
}

const hashes = new WeakMap<object, string>();

/** Of an object as the engine has it. Remembered with its definition, which is the same value from one pass to the next where
 *  nothing changed (engine/cached-engine.ts). */
export function hashOfLive(object: MetadataObject): string {
  const definition = object.definition as object;
  const known = hashes.get(definition) ?? hashOf(normalised(object));
  hashes.set(definition, known);
  return known;
}

/** Equal for equal meaning; `object` is in normal form. What is written as it is here is the same value when it is live. */
export function hashOf({ definition }: MetadataObject): string {
  const known = hashes.get(definition as object) ?? shortHash(stableJson(definition));
  hashes.set(definition as object, known);
  return known;
}

/** Enough of a digest to tell things apart, short enough to read out. */
export function shortHash(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 24);
}

export function stableJson(value: unknown): string {
  return JSON.stringify(value, (_, inner: unknown) =>
    isRecord(inner) ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1))) : inner,
  );
}

/** `select permission default/public/author/user`: a key as people read it. */
export function printKey(key: string): string {
  const identity = parseKey(key);
  if (!identity) return key;
  return [identity.kind.replaceAll('_', ' '), identity.segments.join('/')].join(' ').trim();
}
