/** Compares values of a response with expected ones. Numbers are equal when they have the same value, 12.5 and 12.50, as long as they have few
 *  enough digits for JavaScript; longer ones when they have the same text. Pure. */
import { isRecord, isSameJson } from '@pergola/engine/metadata';

/** Numbers with at most this many characters have at most fifteen digits, which JavaScript keeps. */
const MOST_CHARACTERS = 15;

export function isSameValue(expected: unknown, received: unknown): boolean {
  if (Array.isArray(expected) && Array.isArray(received)) {
    return expected.length === received.length && expected.every((item, i) => isSameValue(item, received[i]));
  }
  if (isRecord(expected) && isRecord(received)) {
    return Object.keys(expected).length === Object.keys(received).length && fits(expected, received);
  }
  return isSameJson(expected, received) || isSameNumber(expected, received);
}

/** True when the received row has all fields of the expected one with the same values. Objects in it may have more fields as well. */
export function fits(expected: unknown, received: unknown): boolean {
  if (!isRecord(expected) || !isRecord(received)) return isSameValue(expected, received);
  return Object.entries(expected).every(
    ([key, value]) => Object.hasOwn(received, key) && fits(value, received[key]),
  );
}

function isSameNumber(a: unknown, b: unknown): boolean {
  const [one, other] = [numberText(a), numberText(b)];
  if (one === undefined || other === undefined) return false;
  return one.length <= MOST_CHARACTERS && other.length <= MOST_CHARACTERS && Number(one) === Number(other);
}

/** Returns a number as JSON writes it, also one that keeps its text; undefined for other values. */
function numberText(value: unknown): string | undefined {
  if (typeof value === 'string' || value === null || value === undefined) return undefined;
  const text = JSON.stringify(value);
  return /^-?\d/.test(text) ? text : undefined;
}
