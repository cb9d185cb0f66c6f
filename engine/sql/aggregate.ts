/** Aggregate → a query of one row: a JSON object with values over many rows and, where asked, the rows themselves, all in
 *  one pass. Nodes that the role's limit cuts shorter than the aggregate are read by a query of their own, which stops
 *  there. Not here: rows without aggregates (table.ts). PostgreSQL manual, "Aggregate Expressions". */
import { type AggregateFunction, hasExtremes } from '../catalog/aggregates.ts';
import type { PgType } from '../catalog/types.ts';
import type {
  Aggregate,
  AggregateField,
  AggregateMember,
  AggregateValue,
  OrderAggregate,
} from '../plan/types.ts';
import { condition, matches, whereClause } from './bool-exp.ts';
import { comma, type Fragment, id, join, qualified, sql } from './fragment.ts';
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
import { carriedColumns, type OrderTerm, orderClause, orderTerms, outside } from './order-by.ts';
import { type Aliases, columnOf, rowScope } from './scope.ts';
import { isLimited, limitedTable, type Origin, rowJson, rowsOf, tableOf } from './table.ts';

/** A query of one column and one row. `origin` ties the rows to one outside. */
export function aggregateQuery(
  { select, output }: Aggregate,
  aliases: Aliases,
  origin: Origin = {},
): Fragment {
  const place = tableOf(select, aliases, origin);
  const { row } = place;
  const inside = new Joins(aliases);
  const joins = new Joins(aliases);
  const isSame = (field: AggregateField) => field.kind === 'nodes' && field.limit === select.limit;
  const isOrdered = isLimited(select) || output.some(isSame);
  const terms = isOrdered ? orderTerms(select.orderBy, row, inside) : [];
  const order = isLimited(select) ? outside(terms, row) : terms;
  const entries = output.map((field) => {
    if (field.kind !== 'nodes') return { key: field.alias, value: memberPieces(field, row) };
    if (isSame(field)) return { key: field.alias, value: nodesPieces(field, row, joins, order) };
    const rows = rowsOf({ ...select, fields: field.fields, limit: field.limit }, aliases, origin);
    return { key: field.alias, value: jsonArray(sql`(select ${joinedRows(rows.json)} from ${rows.from})`) };
  });
  const json = concatenate(jsonObject(entries));
  if (!output.some((field) => isSame(field) || needsRows(field))) return sql`select ${json}`;
  const from = isLimited(select)
    ? limitedTable(select, place, terms, inside, carriedColumns(terms))
    : sql`${place.table}${inside.clauses()}${joins.clauses()}${place.where}`;
  return sql`select ${json} from ${from}${isLimited(select) ? joins.clauses() : sql``}`;
}
