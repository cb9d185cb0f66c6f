/** Single values: validation of scalars, and their text form for Postgres. Literals (input.ts), request variables
 *  (variables.ts) and binding (execute/bind.ts) share it, so that all three agree. GraphQL's own scalars are strict. What a
 *  column takes is in catalog/column-value.ts. */
import {
  type GraphQLInputType,
  GraphQLScalarType,
  getNamedType,
  isEnumType,
  isInputObjectType,
  isListType,
  isNonNullType,
  isScalarType,
} from 'graphql';
import { columnValueProblem, integerProblem, takesEveryText } from '../catalog/column-value.ts';
import { geojsonTextProblem } from '../catalog/geojson.ts';
import { scalarOf } from '../catalog/scalars.ts';
import { arrayDelimiter, baseType, type PgType } from '../catalog/types.ts';
import { fail, type PathStep } from '../errors/engine-error.ts';
import { isNumber, nearestNumber, wholeText } from '../json/number.ts';
import { own } from '../metadata/own.ts';
import { ArrayType, isForwarded, scalarOrigin } from '../schema/origin.ts';

type Check = {
  readonly expected: string;
  /** The kinds of values that it takes, as error messages call them. */
  readonly kinds: readonly string[];
  /** The bits of an integer. */
  readonly bits?: 32 | 64;
  readonly takes?: (value: unknown) => boolean;
};

/** A number of JSON; a literal of GraphQL is an integer or a float. */
const NUMBER = 'a number';
const INTEGERS = ['an integer', NUMBER];
const isCount = (value: unknown) => (nearestNumber(value) as number) >= 0;
const isOffset = (value: unknown) =>
  typeof value === 'string' ? /^\d{1,19}$/.test(value) && BigInt(value) < 2n ** 63n : isCount(value);

const isId = (value: unknown) => typeof value === 'string' || wholeText(value) !== undefined;

/** GraphQL's own scalars, by name. */
const CHECKS: Readonly<Record<string, Check>> = {
  Int: { expected: 'a 32-bit integer', kinds: INTEGERS, bits: 32 },
  Float: { expected: 'a float', kinds: [...INTEGERS, 'a float'] },
  String: { expected: 'a string', kinds: ['a string'] },
  Boolean: { expected: 'a boolean', kinds: ['a boolean'] },
  ID: { expected: 'a String or a 32-bit integer', kinds: [...INTEGERS, 'a string'], takes: isId },
};

const COUNT_CHECK: Check = { ...CHECKS['Int']!, expected: 'a non-negative 32-bit integer', takes: isCount };
const OFFSET_CHECK: Check = { ...COUNT_CHECK, kinds: [...INTEGERS, 'a string'], bits: 64, takes: isOffset };

const countScalar = (check: Check) => new GraphQLScalarType({ name: 'Int', extensions: { check } });
/** The type of `limit` and other counts, in place of the `Int` of the schema. */
export const COUNT = countScalar(COUNT_CHECK);
/** The type of `offset`, which may be written as text beyond 32 bits. */
export const OFFSET = countScalar(OFFSET_CHECK);

/** Validates a value that is not null; `found` is its kind. Raises `parseFailed` for a value that a column cannot have or an integer
 *  out of range, `expectedButFound` for a value of the wrong kind where GraphQL's own scalar is expected. */
export function checkScalar(
  type: GraphQLScalarType,
  value: unknown,
  found: string,
  path: readonly PathStep[],
): void {
  if (isForwarded(type)) return;
  const scalar = scalarOrigin(type);
  const check = scalar
    ? undefined
    : ((type.extensions['check'] as Check | undefined) ?? own(CHECKS, type.name));
  if (check && !(check.kinds.includes(found) && (check.takes?.(value) ?? true))) {
    fail('expectedButFound', { expected: check.expected, type: type.name, found }, { path });
  }
  const isBounded = check?.bits !== undefined && isNumber(value);
  const problem = scalar
    ? columnValueProblem(value, scalar)
    : isBounded
      ? integerProblem(value, check.bits)
      : null;
  if (problem) fail('parseFailed', { text: problem }, { path });
}

export type PlainKinds = { readonly texts: boolean; readonly integers: boolean };
const NOT_PLAIN: PlainKinds = { texts: false, integers: false };
const LEAST = -(2 ** 31);

/** Returns whether a type takes every text, and every integer of 32 bits. */
export function plainKinds(type: GraphQLInputType): PlainKinds {
  if (!isScalarType(type) || isForwarded(type)) return NOT_PLAIN;
  const scalar = scalarOrigin(type);
  if (scalar) {
    const integers = [LEAST, -1 - LEAST].every((value) => columnValueProblem(value, scalar) === null);
    return { texts: takesEveryText(scalar), integers };
  }
  const check = type.extensions['check'] ? undefined : own(CHECKS, type.name);
  if (!check) return NOT_PLAIN;
  return { texts: check.kinds.includes('a string'), integers: check.kinds.includes(NUMBER) };
}

/** Returns the phrase for a JSON value in error messages: 'a string', 'a number'. */
export function kindOfValue(value: unknown): string {
  if (value === null || value === undefined) return 'null';
  if (Array.isArray(value)) return 'a list';
  if (isNumber(value)) return NUMBER;
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}

/** Raises the error for null at a position of this type. */
export function failOnNull(type: GraphQLInputType, path: readonly PathStep[] = []): never {
  if (isNonNullType(type)) return failOnNull(type.ofType, path);
  const named = getNamedType(type);
  const isColumn = isScalarType(named) && scalarOrigin(named) !== undefined;
  if (isListType(type) && !(type instanceof ArrayType)) {
    return fail('validationFailed', { text: 'expected a list, but found null' }, { path });
  }
  if (isColumn) return fail('unexpectedNull', { type: named.name }, { path });
  const expected = isInputObjectType(named)
    ? 'an object'
    : isEnumType(named)
      ? 'an enum value'
      : own(CHECKS, named.name)?.expected;
  if (expected === undefined) return fail('unexpectedNull', { type: String(type) }, { path });
  return fail('expectedButFound', { expected, type: named.name, found: 'null' }, { path });
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
    if (Array.isArray(value)) return textsOf(value, element);
    return typeof value === 'string' ? value : [textOf(value, element)];
  }
  const isWhole = isNumber(value) && WHOLE.has(scalarOf(type).input);
  const whole = isWhole ? wholeText(value) : undefined;
  return whole ?? (typeof value === 'object' ? JSON.stringify(value) : String(value));
}

function textsOf(items: readonly unknown[], type: PgType): readonly ValueText[] {
  const isPlain = !isJson(type) && !baseType(type).element;
  return items.map((item) => {
    if (!isPlain) return textOf(item, type);
    return typeof item === 'string' ? item : Number.isSafeInteger(item) ? String(item) : textOf(item, type);
  });
}

/** Returns whether the elements of an array type are arrays themselves, and the delimiter of the innermost; null for other types. */
export function arrayForm(type: PgType): {
  readonly isOfArrays: boolean;
  readonly delimiter: ReturnType<typeof arrayDelimiter>;
} | null {
  const { element } = baseType(type);
  if (!element) return null;
  const inner = baseType(element).element;
  return { isOfArrays: inner !== null, delimiter: arrayDelimiter(inner ?? element) };
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
