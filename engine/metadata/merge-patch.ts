/** JSON Merge Patch: what of a JSON value becomes another, and the rest stays as it is. Pure. RFC 7396. */
import { isRecord, type JsonRecord } from '../json/value.ts';

/** Keys of the patch replace those of the value, in it and in records nested in it; null removes one. */
export function mergePatch(value: unknown, patch: unknown): unknown {
  if (!isRecord(patch)) return patch;
  const merged: Record<string, unknown> = { ...(isRecord(value) ? value : NOTHING) };
  for (const [key, part] of Object.entries(patch)) {
    if (part === null) delete merged[key];
    else define(merged, key, mergePatch(Object.hasOwn(merged, key) ? merged[key] : undefined, part));
  }
  return merged;
}

const NOTHING: JsonRecord = {};

/** Also where the key is `__proto__`. */
function define(record: Record<string, unknown>, key: string, value: unknown): void {
  Object.defineProperty(record, key, { value, enumerable: true, configurable: true, writable: true });
}
