/** A value over many rows: the functions of AGGREGATES and `count`, for aggregates that are selected and for orders.
 *  Not here: aggregates in conditions (bool-exp.ts), objects of such values (aggregate.ts).
 *  PostgreSQL manual, "Aggregate Functions". */
import { type AggregateFunction, hasExtremes } from '../catalog/aggregates.ts';
import { isOfExtension } from '../catalog/scalars.ts';
import { baseType, type PgType } from '../catalog/types.ts';
import { own } from '../metadata/own.ts';
import type { AggregateValue, OrderAggregate } from '../plan/query-types.ts';
import { condition, joinedSource, matches, visibleOrNull, whereClause } from './bool-exp.ts';
import { comma, type Fragment, id, join, sql } from './fragment.ts';
import { functionCall } from './function.ts';
import { type Aliases, columnOf, rowScope } from './scope.ts';

export function valueOver(value: AggregateValue, row: string, aliases: Aliases): Fragment {
  if (value.kind === 'function') {
    const { fn, call, column, type, visibleIf } = value;
    const own = call ? functionCall(call, row, aliases) : columnOf(row, column);
    return CALLS[fn](visibleOrNull(own, visibleIf, row, aliases), type);
  }
  const [first, ...others] = value.columns.map((column) =>
    visibleOrNull(columnOf(row, column), own(value.visibleIf, column), row, aliases),
  );
  if (!first) return sql`count(*)`;
  const counted = others.length === 0 ? first : sql`(${join([first, ...others], comma)})`;
  return value.isDistinct ? sql`count(distinct ${counted})` : sql`count(${counted})`;
}

/** Returns the name of `max` or `min`. citext has its own: those of pg_catalog would compare it as text. */
function extreme(name: Fragment, type: PgType): Fragment {
  return isOfExtension(type) ? sql`${id(baseType(type).schema)}.${name}` : name;
}

type Call = (value: Fragment, type: PgType) => Fragment;

/** How each function is called. The first value of an order replaces `max` and `min` for types that have none in Postgres. */
const CALLS: Readonly<Record<AggregateFunction, Call>> = {
  sum: (value) => sql`sum(${value})`,
  avg: (value) => sql`avg(${value})`,
  max: (value, type) =>
    hasExtremes(type)
      ? sql`${extreme(sql`max`, type)}(${value})`
      : sql`(array_agg(${value} order by ${value} desc nulls last))[1]`,
  min: (value, type) =>
    hasExtremes(type)
      ? sql`${extreme(sql`min`, type)}(${value})`
      : sql`(array_agg(${value} order by ${value}))[1]`,
  stddev: (value) => sql`stddev(${value})`,
  stddev_pop: (value) => sql`stddev_pop(${value})`,
  stddev_samp: (value) => sql`stddev_samp(${value})`,
  var_pop: (value) => sql`var_pop(${value})`,
  var_samp: (value) => sql`var_samp(${value})`,
  variance: (value) => sql`variance(${value})`,
};

/** Returns an aggregate over the rows that belong to `row`, as a value to order by. */
export function aggregateOver(
  { rows, filter, value }: OrderAggregate,
  row: string,
  aliases: Aliases,
): Fragment {
  const inner = aliases.next();
  const isRelated = rows.kind === 'related';
  const table = isRelated
    ? joinedSource(rows.join, row, inner, aliases, filter)
    : functionCall(rows.call, row, aliases);
  const where = whereClause([
    ...(isRelated ? [matches(rows.join, row, inner)] : []),
    condition(filter, rowScope(inner, aliases)),
  ]);
  return sql`(select ${valueOver(value, inner, aliases)} from ${table} ${id(inner)}${where})`;
}
