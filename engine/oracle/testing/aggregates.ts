/** AGGREGATED: what a condition may compare of many rows. Those of floats that depend on the order of the rows are left out.
 *  Source: docs/reference/behaviour/operators.md. Not here: aggregates that are answered (request.ts). */
import { BOOLEAN, type ColumnType, INT } from './types.ts';

export type Aggregated = {
  readonly name: string;
  /** The columns it takes. */
  readonly suits: (type: ColumnType) => boolean;
  /** What is compared. */
  readonly value: ColumnType;
};

const plain = (...items: readonly unknown[]) => items.map((json) => ({ json, text: String(json) }));

const NUMBER: ColumnType = {
  sql: 'float8',
  graphql: 'float8',
  values: plain(0, 1, 2, 0.5, -2.25, 7),
  isNumber: true,
  hasExtremes: true,
};

const isNumber = (type: ColumnType) => type.isNumber;
/** Those of floats depend on the order of rows. */
export const isExact = (type: ColumnType): boolean => type.isNumber && type.sql !== 'float8';

export const COUNT: Aggregated = {
  name: 'count',
  suits: () => true,
  value: { ...INT, values: plain(0, 1, 2, 3) },
};

export const AGGREGATED: readonly Aggregated[] = [
  COUNT,
  { name: 'sum', suits: isNumber, value: NUMBER },
  { name: 'max', suits: isNumber, value: NUMBER },
  { name: 'min', suits: isNumber, value: NUMBER },
  { name: 'avg', suits: isExact, value: NUMBER },
  { name: 'var_samp', suits: isExact, value: NUMBER },
  { name: 'stddev_samp', suits: isExact, value: NUMBER },
  { name: 'bool_and', suits: (type) => type === BOOLEAN, value: BOOLEAN },
  { name: 'bool_or', suits: (type) => type === BOOLEAN, value: BOOLEAN },
];
