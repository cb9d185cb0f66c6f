/** Aggregate → a query of one row: a JSON object with values over many rows and, where asked, the rows themselves, all in
 *  one pass. Nodes that the role's limit cuts shorter than the aggregate are read by a query of their own, which stops
 *  there. Also the values other rows are ordered by. Not here: rows alone (table.ts).
 *  PostgreSQL manual, "Aggregate Functions". */
import { type AggregateFunction, hasExtremes } from '../catalog/aggregates.ts';
import type { PgType } from '../catalog/types.ts';
import { own } from '../metadata/own.ts';
import type {
  Aggregate,
  AggregateField,
  AggregateMember,
  AggregateValue,
  OrderAggregate,
} from '../plan/query-types.ts';
import { condition, matches, shown, whereClause } from './bool-exp.ts';
import { comma, empty, type Fragment, id, join, qualified, sql } from './fragment.ts';
import { functionCall } from './function.ts';
import { Joins } from './join.ts';
import {
  concatenate,
  expression,
  joinedRows,
  jsonArray,
  jsonObject,
  nullableJson,
  type Piece,
  text,
} from './json.ts';
import { carriedColumns, orderClause, orderTerms, outside } from './order-by.ts';
import { type Aliases, columnOf, rowScope } from './scope.ts';
import { isLimited, limitedTable, type Origin, placeOf, rowJson, rowsOf } from './table.ts';

/** A query of one column and one row, which is never null. */
export function aggregateQuery(
  { select, output }: Aggregate,
  aliases: Aliases,
  origin: Origin = {},
): Fragment {
  const place = placeOf(select, aliases, origin);
  const { row } = place;
  const isWhole = (field: AggregateField) => field.kind === 'nodes' && field.limit === select.limit;
  const hasNodes = output.some(isWhole);
  const isCut = isLimited(select);
  // The nodes' own joins are made after a limit. Inside an aggregate their order is always said: others may sort the rows.
  const joins = new Joins(aliases);
  const before = isCut ? new Joins(aliases) : joins;
  const terms = isCut || hasNodes ? orderTerms(select.orderBy, row, before) : [];
  const order = orderClause(isCut ? outside(terms, row) : terms);
  const json = outputJson(output, (field) => {
    if (field.kind !== 'nodes') return memberPieces(field, row, aliases);
    if (isWhole(field)) return jsonArray(joinedRows(rowJson(field.fields, row, joins), order));
    const { json: node, from } = rowsOf({ ...select, ...field }, aliases, origin);
    return jsonArray(sql`(select ${joinedRows(node)} from ${from})`);
  });
  if (!hasNodes && !output.some(needsRows)) return sql`select ${json}`;
  if (!isCut) return sql`select ${json} from ${place.table}${joins.clauses()}${place.where}`;
  const carried = hasNodes ? carriedColumns(terms) : empty;
  const rows = limitedTable(select, place, { terms, joins: before, carried });
  return sql`select ${json} from ${rows}${joins.clauses()}`;
}

function outputJson(
  output: readonly AggregateField[],
  piecesOf: (field: AggregateField) => readonly Piece[],
): Fragment {
  return concatenate(jsonObject(output.map((field) => ({ key: field.alias, value: piecesOf(field) }))));
}

/** Constants alone say nothing about rows, and would be said once for each. */
function needsRows(field: AggregateField | AggregateMember): boolean {
  return field.kind === 'value' || (field.kind === 'values' && field.members.some(needsRows));
}

export function memberPieces(member: AggregateMember, row: string, aliases: Aliases): readonly Piece[] {
  switch (member.kind) {
    case 'constant':
      return [text(member.json)];
    case 'values':
      return jsonObject(
        member.members.map((each) => ({ key: each.alias, value: memberPieces(each, row, aliases) })),
      );
    case 'value': {
      const value = valueOver(member.value, row, aliases);
      return member.value.kind === 'count'
        ? [expression(sql`${value}::text`)]
        : nullableJson(value, member.value);
    }
    default:
      return member satisfies never;
  }
}

export function valueOver(value: AggregateValue, row: string, aliases: Aliases): Fragment {
  if (value.kind === 'function') {
    const { fn, call, column, type, visibleIf } = value;
    const own = call ? functionCall(call, row) : columnOf(row, column);
    return CALLS[fn](shown(own, visibleIf, row, aliases), type);
  }
  const [first, ...others] = value.columns.map((column) =>
    shown(columnOf(row, column), own(value.visibleIf, column), row, aliases),
  );
  if (!first) return sql`count(*)`;
  const counted = others.length === 0 ? first : sql`(${join([first, ...others], comma)})`;
  return value.isDistinct ? sql`count(distinct ${counted})` : sql`count(${counted})`;
}

type Call = (value: Fragment, type: PgType) => Fragment;

/** The first in an order, where Postgres has no `max` or `min` of the type. */
const CALLS: Readonly<Record<AggregateFunction, Call>> = {
  sum: (value) => sql`sum(${value})`,
  avg: (value) => sql`avg(${value})`,
  max: (value, type) =>
    hasExtremes(type) ? sql`max(${value})` : sql`(array_agg(${value} order by ${value} desc nulls last))[1]`,
  min: (value, type) =>
    hasExtremes(type) ? sql`min(${value})` : sql`(array_agg(${value} order by ${value}))[1]`,
  stddev: (value) => sql`stddev(${value})`,
  stddev_pop: (value) => sql`stddev_pop(${value})`,
  stddev_samp: (value) => sql`stddev_samp(${value})`,
  var_pop: (value) => sql`var_pop(${value})`,
  var_samp: (value) => sql`var_samp(${value})`,
  variance: (value) => sql`variance(${value})`,
};

/** A value over the rows that belong to `row`, for the order of rows like it. */
export function aggregateOver(
  { rows, filter, value }: OrderAggregate,
  row: string,
  aliases: Aliases,
): Fragment {
  const inner = aliases.next();
  const isRelated = rows.kind === 'related';
  const table = isRelated ? qualified(rows.join.table) : functionCall(rows.call, row);
  const where = whereClause([
    ...(isRelated ? [matches(rows.join, row, inner)] : []),
    condition(filter, rowScope(inner, aliases)),
  ]);
  return sql`(select ${valueOver(value, inner, aliases)} from ${table} ${id(inner)}${where})`;
}
