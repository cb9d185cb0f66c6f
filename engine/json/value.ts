/** What a JSON value is, as this code holds it: objects, and what messages call the rest. A number that keeps its text is an
 *  object to JavaScript, and none here (number.ts). Pure. */
import { isNumber, isRawNumber, nearestNumber } from './number.ts';

export type JsonRecord = Readonly<Record<string, unknown>>;

export function isRecord(value: unknown): value is JsonRecord {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !isRawNumber(value);
}

/** `Object`, `Array`, `String`, `Number`, `Boolean`, `Null`. */
export function nameOfJson(value: unknown): string {
  if (value === null || value === undefined) return 'Null';
  if (Array.isArray(value)) return 'Array';
  const name = isNumber(value) ? 'number' : typeof value;
  return `${name.charAt(0).toUpperCase()}${name.slice(1)}`;
}

/** The same with the numbers JavaScript has: for who knows no others. What has only such is returned as it is. */
export function withNearestNumbers(value: unknown): unknown {
  if (Array.isArray(value)) {
    const items = value.map(withNearestNumbers);
    return items.every((item, i) => item === value[i]) ? value : items;
  }
  if (!isRecord(value)) return nearestNumber(value);
  const entries = Object.entries(value).map(([key, inner]) => [key, withNearestNumbers(inner)] as const);
  return entries.every(([key, inner]) => inner === value[key]) ? value : Object.fromEntries(entries);
}

/** Equality of JSON values; the order of keys does not count, how a number is written does. */
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

/** Would both be written as the same JSON text? Parts they share are not looked into. */
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

/** Also in their order. What is undefined is not written. */
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
