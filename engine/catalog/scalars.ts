/** SCALARS: how each Postgres type looks in GraphQL and JSON, one row a type. A type without a row is an implicit scalar
 *  of its own name with text in and out. Row order is docs order.
 *  `family` decides which OPERATORS apply. Source: features.md row 13; PostgreSQL manual, "Data Types". */
import type { PgType } from './types.ts';

export type ScalarFamily =
  | 'number'
  | 'text'
  | 'boolean'
  | 'json'
  | 'jsonb'
  | 'ltree'
  | 'geometry'
  | 'geography'
  | 'raster'
  | 'other';

export type Scalar = {
  /** GraphQL name. */
  readonly name: string;
  readonly family: ScalarFamily;
  /** What a client may send: checked when variables and literals are coerced (plan/input.ts). */
  readonly input: 'int' | 'big-int' | 'float' | 'string' | 'boolean' | 'json' | 'any';
  /** How a value becomes JSON text (plan/types.ts JsonForm), before --stringify-numeric-types. */
  readonly json: 'bare' | 'quoted';
  /** Emitted as a string under --stringify-numeric-types. */
  readonly isStringifiable: boolean;
  /** min, max and ordering comparisons exist in Postgres. */
  readonly isOrderable: boolean;
  /** sum, avg and friends exist in Postgres. */
  readonly isSummable: boolean;
};

type Options = Partial<Omit<Scalar, 'name' | 'family' | 'input'>>;

const scalar = (
  name: string,
  family: ScalarFamily,
  input: Scalar['input'],
  options: Options = {},
): Scalar => ({
  name,
  family,
  input,
  json: 'quoted',
  isStringifiable: false,
  isOrderable: true,
  isSummable: false,
  ...options,
});

const number = { json: 'bare', isSummable: true } as const;
const bigNumber = { ...number, isStringifiable: true } as const;
/** Floats go through to_json, which quotes NaN and Infinity. */
const floatNumber = { json: 'quoted', isSummable: true, isStringifiable: true } as const;
const unordered = { isOrderable: false } as const;

/** By pg_type.typname. */
export const SCALARS: Readonly<Record<string, Scalar>> = {
  int2: scalar('smallint', 'number', 'int', number),
  int4: scalar('Int', 'number', 'int', number),
  int8: scalar('bigint', 'number', 'big-int', bigNumber),
  float4: scalar('Float', 'number', 'float', { json: 'quoted', isSummable: true }),
  float8: scalar('float8', 'number', 'float', floatNumber),
  numeric: scalar('numeric', 'number', 'float', { ...floatNumber }),
  money: scalar('money', 'other', 'any', { isSummable: false }),
  bool: scalar('Boolean', 'boolean', 'boolean', { json: 'bare', isOrderable: false }),
  text: scalar('String', 'text', 'string'),
  varchar: scalar('String', 'text', 'string'),
  bpchar: scalar('bpchar', 'text', 'string'),
  char: scalar('character', 'text', 'string'),
  name: scalar('name', 'text', 'string'),
  citext: scalar('citext', 'text', 'string'),
  uuid: scalar('uuid', 'other', 'string'),
  date: scalar('date', 'other', 'string'),
  time: scalar('time', 'other', 'string'),
  timetz: scalar('timetz', 'other', 'string'),
  timestamp: scalar('timestamp', 'other', 'string'),
  timestamptz: scalar('timestamptz', 'other', 'string'),
  interval: scalar('interval', 'other', 'string'),
  json: scalar('json', 'json', 'json', { json: 'bare', ...unordered }),
  jsonb: scalar('jsonb', 'jsonb', 'json', { json: 'bare', ...unordered }),
  ltree: scalar('ltree', 'ltree', 'string'),
  lquery: scalar('lquery', 'other', 'string', unordered),
  ltxtquery: scalar('ltxtquery', 'other', 'string', unordered),
  geometry: scalar('geometry', 'geometry', 'any', unordered),
  geography: scalar('geography', 'geography', 'any', unordered),
  raster: scalar('raster', 'raster', 'any', unordered),
};

/** The scalar of a type; domains are read as what they stand for, arrays and unknown types as scalars of their own name. */
export function scalarOf(type: PgType): Scalar {
  if (type.element) return scalar(`_${type.element.name}`, 'other', 'any', {});
  if (type.base) return scalarOf(type.base);
  if (type.kind === 'composite') return scalar(type.name, 'other', 'any', unordered);
  return (
    (type.schema === 'pg_catalog' || SCALARS[type.name]?.family !== undefined
      ? SCALARS[type.name]
      : undefined) ?? scalar(type.name, 'other', 'any')
  );
}
