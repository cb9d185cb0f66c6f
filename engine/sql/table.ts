/** Select → a query that yields JSON text: an array of rows, or one row. Object relationships are left joins, array
 *  relationships correlated subqueries, so the whole tree is one statement.
 *  Without limit the joins stand beside the table; with one, the rows are limited first and joined after, and their order
 *  is carried out. Aggregating over a sorted subquery keeps its order as long as nothing is joined outside it.
 *  Not here: what to select (plan/table.ts), JSON punctuation (json.ts). */
import type { Field, Select } from '../plan/types.ts';
import { condition, matches, whereClause } from './bool-exp.ts';
import { type Fragment, id, integer, join, qualified, sql } from './fragment.ts';
import { leftJoin } from './join.ts';
import { columnJson, concatenate, expression, jsonArray, jsonObject, type Piece, text } from './json.ts';
import { carried, distinctClause, orderClause, ordering } from './order-by.ts';
import { type Aliases, columnOf, rowScope } from './scope.ts';

/** Rows come from a table, or from the result of a mutation by its name. */
export type From = (select: Select) => Fragment;
export const fromTable: From = (select) => qualified(select.table);

/** `select` of one value: a JSON array of the rows. `correlate` ties them to a row outside. */
export function rowsQuery(
  select: Select,
  aliases: Aliases,
  from: From = fromTable,
  correlate?: (row: string) => Fragment,
): Fragment {
  const row = aliases.next();
  const where = whereClause([
    ...(correlate ? [correlate(row)] : []),
    condition(select.where, rowScope(row, aliases)),
  ]);
  const table = sql`${from(select)} ${id(row)}`;
  const rendered = renderRow(select.fields, row, aliases);
  const isLimited = select.limit !== null || select.offset !== null || select.distinctOn.length > 0;
  if (isLimited) return limitedRows(select, { row, table, where, rendered, aliases });
  const order = ordering(select.orderBy, row, aliases);
  if (order.terms.length === 0) {
    return sql`select ${jsonArray(rendered.json)} from ${table}${concat(rendered.joins)}${where}`;
  }
  const sorted = sql`select ${rendered.json} as "json" from ${table}${concat(rendered.joins)}${concat(order.joins)}${where}${orderClause(order.terms)}`;
  return aggregateOver(sorted, aliases);
}

/** `select` of one value: the row as a JSON object; no row when there is none. */
export function rowQuery(select: Select, aliases: Aliases, from: From = fromTable): Fragment {
  const row = aliases.next();
  const rendered = renderRow(select.fields, row, aliases);
  const where = whereClause([condition(select.where, rowScope(row, aliases))]);
  return sql`select ${rendered.json} from ${from(select)} ${id(row)}${concat(rendered.joins)}${where}`;
}

type Parts = {
  readonly row: string;
  readonly table: Fragment;
  readonly where: Fragment;
  readonly rendered: Rendered;
  readonly aliases: Aliases;
};

function limitedRows(select: Select, { row, table, where, rendered, aliases }: Parts): Fragment {
  const order = ordering(select.orderBy, row, aliases);
  const mustReorder = rendered.joins.length > 0 && order.terms.length > 0;
  const carry = mustReorder ? order.terms.map((term, i) => sql`, ${term.value} as ${carried(i)}`) : [];
  const limit = select.limit === null ? sql`` : sql` limit ${integer(select.limit)}`;
  const offset = select.offset === null ? sql`` : sql` offset ${integer(select.offset)}`;
  const limited = sql`(select ${distinctClause(select.distinctOn, row)}${id(row)}.*${concat(carry)} from ${table}${concat(order.joins)}${where}${orderClause(order.terms)}${limit}${offset}) ${id(row)}`;
  if (!mustReorder) return sql`select ${jsonArray(rendered.json)} from ${limited}${concat(rendered.joins)}`;
  const terms = order.terms.map((term, i) => ({
    value: sql`${id(row)}.${carried(i)}`,
    direction: term.direction,
  }));
  return aggregateOver(
    sql`select ${rendered.json} as "json" from ${limited}${concat(rendered.joins)}${orderClause(terms)}`,
    aliases,
  );
}

function aggregateOver(sorted: Fragment, aliases: Aliases): Fragment {
  const outer = id(aliases.next());
  return sql`select ${jsonArray(sql`${outer}."json"`)} from (${sorted}) ${outer}`;
}

type Rendered = { readonly json: Fragment; readonly joins: readonly Fragment[] };

/** One row's JSON object and the joins its object relationships need. */
function renderRow(fields: readonly Field[], row: string, aliases: Aliases): Rendered {
  const joins: Fragment[] = [];
  return { json: concatenate(rowPieces(fields, row, aliases, joins)), joins };
}

function rowPieces(fields: readonly Field[], row: string, aliases: Aliases, joins: Fragment[]): Piece[] {
  return jsonObject(
    fields.map((field) => ({ key: field.alias, value: fieldPieces(field, row, aliases, joins) })),
  );
}

function fieldPieces(field: Field, row: string, aliases: Aliases, joins: Fragment[]): readonly Piece[] {
  switch (field.kind) {
    case 'column':
      return [expression(columnJson(field, row))];
    case 'constant':
      return [text(field.json)];
    case 'array': {
      const rows = rowsQuery(field.select, aliases, fromTable, (inner) => matches(field.join, row, inner));
      return [expression(sql`(${rows})`)];
    }
    case 'object': {
      const other = aliases.next();
      joins.push(leftJoin(field.join, row, other, condition(field.select.where, rowScope(other, aliases))));
      const object = concatenate(rowPieces(field.select.fields, other, aliases, joins));
      // The join's own column is null exactly when no row was found: equality never matches a null.
      const key = columnOf(other, field.join.mapping[0]![1]);
      return [expression(sql`case when ${key} is null then 'null' else ${object} end`)];
    }
    default:
      return field satisfies never;
  }
}

function concat(fragments: readonly Fragment[]): Fragment {
  return join(fragments, sql``);
}
