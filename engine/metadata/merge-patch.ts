/** JSON Merge Patch. In: a JSON value and a patch. Out: the patched value, which shares its unchanged parts. Pure. RFC 7396.
 *  Not here: edits of metadata objects (edit.ts). */
import { isRecord, isSameJsonText, type JsonRecord } from '../json/value.ts';

/** Replaces keys of a value, and of records nested in it, by those of the patch; null removes a key. Returns the value itself when
 *  nothing changes. */
export function mergePatch(value: unknown, patch: unknown): unknown {
  return merge(value, patch, new WeakSet());
}

/** Applies patches one after the other. A record of thousands of keys is copied once for all of them. */
export function mergePatches(value: unknown, patches: readonly unknown[]): unknown {
  const copies = new WeakSet();
  return patches.reduce((merged, patch) => merge(merged, patch, copies), value);
}

/** Merges a patch. Records in `copies` were created here and are changed in place. */
function merge(value: unknown, patch: unknown, copies: WeakSet<object>): unknown {
  if (!isRecord(patch)) return isSameJsonText(value, patch) ? value : patch;
  const before = isRecord(value) ? value : NOTHING;
  let merged: Record<string, unknown> | undefined = copies.has(before) ? before : undefined;
  for (const [key, part] of Object.entries(patch)) {
    const known = Object.hasOwn(before, key) ? before[key] : undefined;
    const next = part === null ? undefined : merge(known, part, copies);
    if (next === known) continue;
    if (!merged) {
      merged = { ...before };
      copies.add(merged);
    }
    if (next === undefined) delete merged[key];
    else define(merged, key, next);
  }
  return merged ?? before;
}

const NOTHING: JsonRecord = {};

/** Sets a key, which may be `__proto__`. */
function define(record: Record<string, unknown>, key: string, value: unknown): void {
  Object.defineProperty(record, key, { value, enumerable: true, configurable: true, writable: true });
}
