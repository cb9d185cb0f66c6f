/** The kinds of JSON values, for code and for error messages, and their equality. A number that keeps its text is an object to
 *  JavaScript, but not here (number.ts). Pure. */
import { isNumber, isRawNumber, nearestNumber } from './number.ts';

export type JsonRecord = Readonly<Record<string, unknown>>;

export function isRecord(value: unknown): value is JsonRecord {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !isRawNumber(value);
}

/** Returns `Object`, `Array`, `String`, `Number`, `Boolean` or `Null`. */
export function nameOfJson(value: unknown): string {
  if (value === null || value === undefined) return 'Null';
  if (Array.isArray(value)) return 'Array';
  const name = isNumber(value) ? 'number' : typeof value;
  return `${name.charAt(0).toUpperCase()}${name.slice(1)}`;
}

/** Replaces every number by the nearest JavaScript number. A value that has only such numbers is returned itself. */
export function withNearestNumbers(value: unknown): unknown {
  if (Array.isArray(value)) {
    const items = value.map(withNearestNumbers);
    return items.every((item, i) => item === value[i]) ? value : items;
  }
  if (!isRecord(value)) return nearestNumber(value);
  const entries = Object.entries(value).map(([key, inner]) => [key, withNearestNumbers(inner)] as const);
  return entries.every(([key, inner]) => inner === value[key]) ? value : Object.fromEntries(entries);
}

/** True when two JSON values are equal. The order of keys does not count, the spelling of numbers does. */
export function isSameJson(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (Array.isArray(a) || Array.isArray(b)) {
    return (
      Array.isArray(a) && Array.isArray(b) && a.length === b.length && a.every((v, i) => isSameJson(v, b[i]))
    );
  }
  if (!isRecord(a) || !isRecord(b)) return isSameNumber(a, b);
  const keys = Object.keys(a);
  return (
    keys.length === Object.keys(b).length &&
    keys.every((key) => Object.hasOwn(b, key) && isSameJson(a[key], b[key]))
  );
}

/** True when both values would be written as the same JSON text. Parts with the same identity are not compared. */
export function isSameJsonText(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
  if (Array.isArray(a) || Array.isArray(b)) {
    const areLists = Array.isArray(a) && Array.isArray(b) && a.length === b.length;
    return areLists && a.every((item, i) => isSameJsonText(item, b[i]));
  }
  if (isRawNumber(a) || isRawNumber(b)) return isSameNumber(a, b);
  return hasSameEntries(a as JsonRecord, b as JsonRecord);
}

/** Compares entries including their order. Undefined values are not written. */
function hasSameEntries(a: JsonRecord, b: JsonRecord): boolean {
  const [mine, theirs] = [Object.keys(a), Object.keys(b)];
  let at = 0;
  for (const key of mine) {
    if (a[key] === undefined) continue;
    while (at < theirs.length && b[theirs[at]!] === undefined) at++;
    if (theirs[at++] !== key || !isSameJsonText(a[key], b[key])) return false;
  }
  return theirs.slice(at).every((key) => b[key] === undefined);
}

function isSameNumber(a: unknown, b: unknown): boolean {
  return isRawNumber(a) && isRawNumber(b) && a.rawJSON === b.rawJSON;
}
