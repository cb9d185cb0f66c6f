/** The JSON values that a column takes. A text goes to Postgres as it is, whatever the type of the column, and Postgres parses it; only
 *  paths of ltree and rasters are parsed here. Any other value must be of the JSON kind of the type and within its bounds. In: a JSON
 *  value that is not null, and the scalar of its column. Out: the sentence of the error, or null. Pure. Reference:
 *  docs/reference/behaviour/errors.md, "Values of columns". */
import { isNumber, nearestNumber, scientificText, wholeText } from '../json/number.ts';
import { nameOfJson } from '../json/value.ts';
import { own } from '../metadata/own.ts';
import { geojsonProblem } from './geojson.ts';
import type { Scalar } from './scalars.ts';

type Rule = (value: unknown) => string | null;

export function columnValueProblem(value: unknown, { name, element }: Scalar): string | null {
  if (typeof value === 'string') return own(TEXT_RULES, name)?.(value) ?? null;
  if (element) return arrayProblem(value, element);
  const rule = own(RULES, name);
  return rule ? rule(value) : `A string is expected for type: ${name}`;
}

/** True when no text is a problem. */
export function takesEveryText({ name }: Scalar): boolean {
  return !own(TEXT_RULES, name);
}

/** Elements may be null, and lists themselves: the dimensions of an array are not part of its type. */
function arrayProblem(value: unknown, element: Scalar): string | null {
  if (!Array.isArray(value)) return kind('[]', 'Array')(value);
  for (const item of value) {
    if (item === null) continue;
    const problem = Array.isArray(item) ? arrayProblem(item, element) : columnValueProblem(item, element);
    if (problem) return problem;
  }
  return null;
}

/** Returns the problem of a number as an integer of that many bits. */
export function integerProblem(value: unknown, bits: number): string | null {
  if (bits >= 32 && typeof value === 'number' && (value | 0) === value) return null;
  const whole = wholeText(value);
  if (whole !== undefined && BigInt.asIntN(bits, BigInt(whole)) === BigInt(whole)) return null;
  return `The value ${scientificText(value)} lies outside the bounds or is not an integer. Maybe it is a float, or is there integer overflow?`;
}

const kind =
  (name: string, expected: 'Number' | 'Boolean' | 'String' | 'Array'): Rule =>
  (value) => {
    const found = nameOfJson(value);
    return found === expected
      ? null
      : `parsing ${name} failed, expected ${expected}, but encountered ${found}`;
  };

const integer =
  (name: string, bits: number): Rule =>
  (value) =>
    isNumber(value)
      ? integerProblem(value, bits)
      : kind(`Integer expected for input type: ${name}`, 'Number')(value);

/** `most` is the largest finite value. */
const float =
  (name: string, most: number): Rule =>
  (value) => {
    if (!isNumber(value)) return kind(`Float expected for input type: ${name}`, 'Number')(value);
    if (Math.abs(nearestNumber(value) as number) <= most) return null;
    return `The value ${scientificText(value)} lies outside the bounds. Is it overflowing the float bounds?`;
  };

const MOST_REAL = (2 - 2 ** -23) * 2 ** 127;
const LTREE =
  'Expecting label path: a sequence of zero or more labels separated by dots, for example L1.L2.L3';
const RASTER = 'invalid hexadecimal representation of raster well known binary format';

/** Rules for texts, by the name of the scalar. */
const TEXT_RULES: Readonly<Record<string, (text: string) => string | null>> = {
  ltree: (text) => (text.split('.').includes('') ? LTREE : null),
  raster: (text) => (/^([0-9a-f]{2})*$/i.test(text) ? null : RASTER),
};

/** Rules for other values than texts, by the name of the scalar. Types without a row take texts only. */
const RULES: Readonly<Record<string, Rule>> = {
  smallint: integer('PGSmallInt', 16),
  Int: integer('PGInteger', 32),
  bigint: integer('PGBigInt', 64),
  Float: float('PGFloat', MOST_REAL),
  float8: float('PGDouble', Number.MAX_VALUE),
  numeric: kind('Scientific', 'Number'),
  money: kind('Scientific', 'Number'),
  Boolean: kind('Bool', 'Boolean'),
  String: kind('Text', 'String'),
  citext: kind('Text', 'String'),
  lquery: kind('Text', 'String'),
  ltxtquery: kind('Text', 'String'),
  character: kind('Char', 'String'),
  uuid: kind('UUID', 'String'),
  date: kind('Day', 'String'),
  timestamp: kind('LocalTime', 'String'),
  timestamptz: kind('UTCTime', 'String'),
  timetz: kind('ZonedTimeOfDay', 'String'),
  ltree: () => LTREE,
  raster: () => 'expecting String for raster',
  geometry: geojsonProblem,
  geography: geojsonProblem,
  json: () => null,
  jsonb: () => null,
};
