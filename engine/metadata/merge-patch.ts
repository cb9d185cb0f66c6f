/** JSON Merge Patch: what of a JSON value becomes another, and the rest stays as it is. Pure. RFC 7396. */
import { isRecord, isSameJsonText, type JsonRecord } from '../json/value.ts';

/** Keys of the patch replace those of the value, in it and in records nested in it; null removes one. The value itself where
 *  that changes nothing. */
export function mergePatch(value: unknown, patch: unknown): unknown {
  return merge(value, patch, new WeakSet());
}

/** One after the other; a record of thousands of keys is copied once for all of them. */
export function mergePatches(value: unknown, patches: readonly unknown[]): unknown {
  const copies = new WeakSet();
  return patches.reduce((merged, patch) => merge(merged, patch, copies), value);
}

/** `copies` are nobody else's, and changed in place. */
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

/** Also where the key is `__proto__`. */
function define(record: Record<string, unknown>, key: string, value: unknown): void {
  Object.defineProperty(record, key, { value, enumerable: true, configurable: true, writable: true });
}
