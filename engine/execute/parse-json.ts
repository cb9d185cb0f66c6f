/** JSON text → value, without losing digits: a number JavaScript cannot hold exactly (9007199254740993) becomes
 *  `JSON.rawJSON`, which is written out again as it came in. Raises `invalidJson`, for what is nested too deeply, too: whoever
 *  walks a value does so on a stack. Pure. Read by plan/scalar-value.ts. RFC 8259, 9; ECMAScript proposal "JSON.parse source text access". */
import { fail } from '../errors/engine-error.ts';

/** Numbers of fifteen digits or fewer are always exact. Also matches inside strings, which only costs time. */
const MAY_BE_INEXACT = /\d{16}|\d\.\d{8}|\d[eE][+-]?\d/;

type Reviver = (key: string, value: unknown, context: { readonly source?: string }) => unknown;
const { parse, rawJSON, isRawJSON } = JSON as unknown as {
  readonly parse: (text: string, reviver?: Reviver) => unknown;
  readonly rawJSON: (text: string) => unknown;
  isRawJSON(value: unknown): value is { readonly rawJSON: string };
};

/** As in json-scanner.ts. */
const MOST_LEVELS = 1000;

export function parseJson(text: string): unknown {
  if (text.length > 2 * MOST_LEVELS && levelsOf(text) > MOST_LEVELS) fail('invalidJson', {});
  try {
    return MAY_BE_INEXACT.test(text) ? parse(text, keepDigits) : parse(text);
  } catch {
    return fail('invalidJson', {});
  }
}

/** The same with numbers as JavaScript holds them: for metadata, which is compared and rewritten part by part. */
export function withoutDigits(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (isRawJSON(value)) return Number(value.rawJSON);
  if (Array.isArray(value)) return value.map(withoutDigits);
  const entries = Object.entries(value).map(([key, inner]) => [key, withoutDigits(inner)]);
  return Object.fromEntries(entries);
}

/** How deep objects and arrays are in each other, strings left out. */
function levelsOf(text: string): number {
  let [level, deepest, isString] = [0, 0, false];
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (isString) {
      if (code === BACKSLASH) at++;
      else if (code === QUOTE) isString = false;
    } else if (code === QUOTE) isString = true;
    else if (code === OPEN_BRACE || code === OPEN_BRACKET) deepest = Math.max(deepest, ++level);
    else if (code === CLOSE_BRACE || code === CLOSE_BRACKET) level--;
  }
  return deepest;
}

const [QUOTE, BACKSLASH, OPEN_BRACE, CLOSE_BRACE, OPEN_BRACKET, CLOSE_BRACKET] = [34, 92, 123, 125, 91, 93];

function keepDigits(_key: string, value: unknown, { source }: { readonly source?: string }): unknown {
  return typeof value === 'number' && source !== undefined && !isExact(source) ? rawJSON(source) : value;
}

function isExact(source: string): boolean {
  return !/[eE]/.test(source) && source.replace(/\D/g, '').length <= 15;
}
