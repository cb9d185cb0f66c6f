/** AGGREGATES: the functions that compute one value of the values of a column, one row each. `count` is not among them, because it
 *  needs no column. Functions have the same name in GraphQL and in Postgres. Rows are in the order of the documents.
 *  Reference: docs/reference/behaviour/queries.md, docs/reference/behaviour/aggregates.md; PostgreSQL manual, "Aggregate Functions". */
import { ARITHMETIC, type Arithmetic, type Scalar } from './scalars.ts';
import type { PgType } from './types.ts';

type AggregateRow = {
  /** The columns it accepts: those with this arithmetic, or those with an order. */
  readonly over: Exclude<Arithmetic, 'none'> | 'ordered';
  /** The type of the result in GraphQL: the type of the column, or Float. */
  readonly gives: 'own' | 'float';
};

const statistic = { over: 'all', gives: 'float' } as const;
const extreme = { over: 'ordered', gives: 'own' } as const;

export const AGGREGATES = {
  sum: { over: 'sum', gives: 'own' },
  avg: { over: 'mean', gives: 'float' },
  max: extreme,
  min: extreme,
  stddev: statistic,
  stddev_pop: statistic,
  stddev_samp: statistic,
  var_pop: statistic,
  var_samp: statistic,
  variance: statistic,
} as const satisfies Readonly<Record<string, AggregateRow>>;

export type AggregateFunction = keyof typeof AGGREGATES;
export const AGGREGATE_FUNCTIONS = Object.keys(AGGREGATES) as AggregateFunction[];

/** True when the function can be computed of such values. Types without a row in SCALARS have no minimum or maximum, because Postgres
 *  may not order them or their arrays. */
export function isAggregated(fn: AggregateFunction, scalar: Scalar, type: PgType): boolean {
  const { over } = AGGREGATES[fn];
  if (over !== 'ordered') return ARITHMETIC.indexOf(scalar.arithmetic) >= ARITHMETIC.indexOf(over);
  return scalar.isOrderable && isKnown(scalar, type.base ?? type);
}

function isKnown({ input, name, element }: Scalar, type: PgType): boolean {
  if (element && type.element) return isKnown(element, type.element.base ?? type.element);
  return type.kind === 'enum' || input !== 'any' || name === 'money' || name === 'oid';
}

/** AGGREGATE_PREDICATES: the aggregates over related rows that a condition may compare. Numbers are compared as double precision,
 *  whatever the type of the column. Reference: docs/reference/behaviour/operators.md. */
export type PredicateRow = {
  readonly arguments: 'any' | 'one' | 'two';
  /** The columns it accepts. */
  readonly over: 'all' | 'booleans' | 'numbers';
  readonly gives: 'int4' | 'bool' | 'float8';
};

const ofNumber = { arguments: 'one', over: 'numbers', gives: 'float8' } as const;
const ofNumbers = { ...ofNumber, arguments: 'two' } as const;
const ofBoolean = { arguments: 'one', over: 'booleans', gives: 'bool' } as const;

export const AGGREGATE_PREDICATES = {
  avg: ofNumber,
  bool_and: ofBoolean,
  bool_or: ofBoolean,
  corr: ofNumbers,
  count: { arguments: 'any', over: 'all', gives: 'int4' },
  covar_samp: ofNumbers,
  max: ofNumber,
  min: ofNumber,
  stddev_samp: ofNumber,
  sum: ofNumber,
  var_samp: ofNumber,
} as const satisfies Readonly<Record<string, PredicateRow>>;

export type PredicateFunction = keyof typeof AGGREGATE_PREDICATES;
export const PREDICATE_FUNCTIONS = Object.keys(AGGREGATE_PREDICATES) as PredicateFunction[];

/** Types of pg_catalog that `max` and `min` accept, directly or through an implicit cast. */
const WITH_EXTREMES: ReadonlySet<string> = new Set([
  ...['int2', 'int4', 'int8', 'float4', 'float8', 'numeric', 'money', 'oid'],
  ...['text', 'varchar', 'bpchar', 'char', 'name', 'citext'],
  ...['date', 'time', 'timetz', 'timestamp', 'timestamptz', 'interval', 'inet', 'cidr'],
]);

/** True when Postgres has `max` and `min` of the type. It orders uuid and ltree but has no such aggregates of them. */
export function hasExtremes(type: PgType): boolean {
  if (type.base) return hasExtremes(type.base);
  return type.kind === 'enum' || type.element !== null || WITH_EXTREMES.has(type.name);
}
