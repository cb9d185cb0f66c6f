/** JSON Merge Patch: what of a JSON value becomes another, and the rest stays as it is. Pure. RFC 7396. */
import { isRecord, isSameJsonText, type JsonRecord } from '../json/value.ts';

/** Keys of the patch replace those of the value, in it and in records nested in it; null removes one. The value itself where
 *  that changes nothing. */
export function mergePatch(value: unknown, patch: unknown): unknown {
  if (!isRecord(patch)) return isSameJsonText(value, patch) ? value : patch;
  const before = isRecord(value) ? value : NOTHING;
  let merged: Record<string, unknown> | undefined;
  for (const [key, part] of Object.entries(patch)) {
    const known = Object.hasOwn(before, key) ? before[key] : undefined;
    const next = part === null ? undefined : mergePatch(known, part);
    if (next === known) continue;
    merged ??= { ...before };
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
