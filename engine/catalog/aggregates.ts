/** AGGREGATES: the functions that make one value of a column's many, one row a function; `count` is none of them, since it
 *  needs no column. A function is called in GraphQL what Postgres calls it. Row order is docs order.
 *  Source: docs/reference/behaviour/queries.md, docs/reference/behaviour/aggregates.md; PostgreSQL manual, "Aggregate Functions". */
import { ARITHMETIC, type Arithmetic, type Scalar } from './scalars.ts';
import type { PgType } from './types.ts';

export type AggregateRow = {
  /** The columns it takes: those that have that arithmetic, or those that have an order. */
  readonly over: Exclude<Arithmetic, 'none'> | 'ordered';
  /** What it gives in GraphQL: a value of the column's own type, or, of numbers, a Float. */
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

/** May it be computed of such values? Types nothing is known about have no first or last: Postgres may have no order for
 *  them, nor for arrays of them. */
export function isAggregated(fn: AggregateFunction, scalar: Scalar, type: PgType): boolean {
  const { over } = AGGREGATES[fn];
  if (over !== 'ordered') return ARITHMETIC.indexOf(scalar.arithmetic) >= ARITHMETIC.indexOf(over);
  return scalar.isOrderable && isKnown(scalar, type.base ?? type);
}

function isKnown({ input, name, element }: Scalar, type: PgType): boolean {
  if (element && type.element) return isKnown(element, type.element.base ?? type.element);
  return type.kind === 'enum' || input !== 'any' || name === 'money' || name === 'oid';
}

/** AGGREGATE_PREDICATES: what rows can be chosen by, of what belongs to them. Numbers are compared as double precision,
 *  whatever type the column has. Source: docs/reference/behaviour/operators.md. */
export type PredicateRow = {
  readonly arguments: 'any' | 'one' | 'two';
  /** The columns it takes. */
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

/** Types of pg_catalog that `max` and `min` take, directly or as what they become without being asked. */
const WITH_EXTREMES: ReadonlySet<string> = new Set([
  ...['int2', 'int4', 'int8', 'float4', 'float8', 'numeric', 'money', 'oid'],
  ...['text', 'varchar', 'bpchar', 'char', 'name', 'citext'],
  ...['date', 'time', 'timetz', 'timestamp', 'timestamptz', 'interval', 'inet', 'cidr'],
]);

/** Does Postgres have `max` and `min` of it? Of a uuid or an ltree it has an order only. */
export function hasExtremes(type: PgType): boolean {
  if (type.base) return hasExtremes(type.base);
  return type.kind === 'enum' || type.element !== null || WITH_EXTREMES.has(type.name);
}
