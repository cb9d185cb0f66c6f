/** Metadata objects in the form in which they are compared: normal form, and a hash of it for the ledger.
 *  Not here: what normal form is (engine/metadata). */
import { createHash } from 'node:crypto';
import {
  isRecord,
  type MetadataObject,
  normaliseObject,
  parseJson,
  parseKey,
} from '@pergola/engine/metadata';

/** Raises the engine's `parseFailed` when the object is none. */
export function normalised(object: MetadataObject): MetadataObject {
  // Keys without a value are absent keys; only JSON knows no difference.
  const json = parseJson(JSON.stringify(object.definition));
  return { ...object, definition: normaliseObject(object.kind, json) };
}

/** Equal for equal meaning; `object` is in normal form. */
export function hashOf(object: MetadataObject): string {
  return shortHash(stableJson(object.definition));
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
export function describeKey(key: string): string {
  const identity = parseKey(key);
  if (!identity) return key;
  return [identity.kind.replaceAll('_', ' '), identity.segments.join('/')].join(' ').trim();
}
