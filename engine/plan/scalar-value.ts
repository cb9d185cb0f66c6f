/** Single values: validation of scalars, and their text form for Postgres. Literals (input.ts), request variables
 *  (variables.ts) and binding (execute/bind.ts) share it, so that all three agree. GraphQL's own scalars are strict. Postgres
 *  scalars also accept text, which Postgres validates. */
import type { GraphQLScalarType } from 'graphql';
import { geojsonProblem, geojsonTextProblem } from '../catalog/geojson.ts';
import { scalarOf } from '../catalog/scalars.ts';
import type { PgType } from '../catalog/types.ts';
import { fail, type PathStep } from '../errors/engine-error.ts';
import { isNumber, nearestNumber, wholeText } from '../json/number.ts';
import { isRecord } from '../json/value.ts';
import { own } from '../metadata/own.ts';
import { scalarOrigin } from '../schema/origin.ts';

type Check = { readonly expected: string; readonly takes: (value: unknown) => boolean };

const isInteger = (value: unknown) => wholeText(value) !== undefined;
const isInt32 = (value: unknown) => isInteger(value) && Math.abs(Number(wholeText(value))) <= 2 ** 31;
const isText = (value: unknown) => typeof value === 'string';

const BUILT_IN_CHECKS: Readonly<Record<string, Check>> = {
  Int: { expected: 'a 32-bit integer', takes: (v) => isInt32(v) && nearestNumber(v) !== 2 ** 31 },
  Float: { expected: 'a float', takes: isNumber },
  String: { expected: 'a string', takes: isText },
  Boolean: { expected: 'a boolean', takes: (v) => typeof v === 'boolean' },
  ID: { expected: 'an id', takes: (v) => isText(v) || isInteger(v) },
};

const CHECKS = {
  int: { expected: 'an integer', takes: (v: unknown) => isInteger(v) || isText(v) },
  'big-int': { expected: 'an integer', takes: (v: unknown) => isInteger(v) || isText(v) },
  float: { expected: 'a float', takes: (v: unknown) => isNumber(v) || isText(v) },
  string: { expected: 'a string', takes: isText },
  boolean: { expected: 'a boolean', takes: (v: unknown) => typeof v === 'boolean' },
  json: { expected: 'a JSON value', takes: () => true },
  geojson: { expected: 'an object', takes: isRecord },
  any: { expected: 'a value', takes: () => true },
} as const satisfies Record<string, Check>;

/** Validates a value that is not null. Raises `expectedButFound`, and `parseFailed` for invalid GeoJSON. */
export function checkScalar(type: GraphQLScalarType, value: unknown, path: readonly PathStep[]): void {
  const scalar = scalarOrigin(type);
  const check: Check | undefined = scalar ? CHECKS[scalar.input] : own(BUILT_IN_CHECKS, type.name);
  if (check && !check.takes(value)) {
    fail(
      'expectedButFound',
      { expected: check.expected, type: type.name, found: kindOfValue(value) },
      { path },
    );
  }
  const problem = scalar?.input === 'geojson' ? geojsonProblem(value) : null;
  if (problem) fail('parseFailed', { text: problem }, { path });
}

/** Returns the phrase for a value in error messages: 'a string', 'an object'. */
export function kindOfValue(value: unknown): string {
  if (value === null || value === undefined) return 'null';
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'symbol') return value.description ?? 'a symbol';
  if (isNumber(value)) return isInteger(value) ? 'an integer' : 'a float';
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}

/** A value in the form the driver sends: text, or an array of texts for array types. */
type ValueText = string | null | readonly ValueText[];

/** Returns a JSON value in Postgres's text format. */
export function textOf(value: unknown, type: PgType): ValueText {
  if (value === null || value === undefined) return null;
  if (isJson(type)) return JSON.stringify(value);
  const { element } = type.base ?? type;
  if (element) {
    // A text is a whole array literal: `{1,2}`.
    if (Array.isArray(value)) return value.map((item) => textOf(item, element));
    return typeof value === 'string' ? value : [textOf(value, element)];
  }
  const isWhole = isNumber(value) && WHOLE.has(scalarOf(type).input);
  const whole = isWhole ? wholeText(value) : undefined;
  return whole ?? (typeof value === 'object' ? JSON.stringify(value) : String(value));
}

/** Integer types, which Postgres does not read from `1.0`. */
const WHOLE: ReadonlySet<string> = new Set(['int', 'big-int']);

function isJson(type: PgType): boolean {
  const real = type.base ?? type;
  return !real.element && real.schema === 'pg_catalog' && (real.name === 'json' || real.name === 'jsonb');
}

/** Returns a problem of a text that Postgres would not report; mostly null. */
export function textProblem(text: string, type: PgType): string | null {
  if (type.schema === 'pg_catalog' || scalarOf(type).input !== 'geojson') return null;
  return geojsonTextProblem(text);
}
