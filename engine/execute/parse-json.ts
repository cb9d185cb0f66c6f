/** JSON text → value, without losing digits: a number JavaScript cannot hold exactly (9007199254740993) becomes
 *  `JSON.rawJSON`, which is written out again as it came in. Raises `invalidJson`. Pure.
 *  Read by plan/scalar-value.ts. ECMAScript proposal "JSON.parse source text access". */
import { fail } from '../errors/engine-error.ts';

/** Numbers of fifteen digits or fewer are always exact. Also matches inside strings, which only costs time. */
const MAY_BE_INEXACT = /\d{16}|\d\.\d{8}|\d[eE][+-]?\d/;

type Reviver = (key: string, value: unknown, context: { readonly source?: string }) => unknown;
const { parse, rawJSON } = JSON as unknown as {
  readonly parse: (text: string, reviver?: Reviver) => unknown;
  readonly rawJSON: (text: string) => unknown;
};

export function parseJson(text: string): unknown {
  try {
    return MAY_BE_INEXACT.test(text) ? parse(text, keepDigits) : parse(text);
  } catch {
    return fail('invalidJson', {});
  }
}

function keepDigits(_key: string, value: unknown, { source }: { readonly source?: string }): unknown {
  return typeof value === 'number' && source !== undefined && !isExact(source) ? rawJSON(source) : value;
}

function isExact(source: string): boolean {
  return !/[eE]/.test(source) && source.replace(/\D/g, '').length <= 15;
}
