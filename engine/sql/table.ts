/** Select → a query that yields JSON text: an array of rows, or one row. Object relationships are left joins, array
 *  relationships correlated subqueries, so the whole tree is one statement.
 *  Without limit the joins stand beside the table; with one, the rows are limited first and joined after, and their order
 *  is carried out. Aggregating over a sorted subquery keeps its order as long as nothing is joined outside it.
 *  Not here: what to select (plan/table.ts), JSON punctuation (json.ts). */
import type { Field, Keys, Select } from '../plan/query-types.ts';
import type { Join, Predicate } from '../resolve/predicate.ts';
import { aggregateQuery } from './aggregate.ts';
import { condition, matches, shown, whereClause } from './bool-exp.ts';
import { connectionQuery } from './connection.ts';
import { comma, empty, type Fragment, id, integer, join, param, qualified, sql } from './fragment.ts';
import { functionCall } from './function.ts';
import { Joins } from './join.ts';
import {
  columnJson,
  computedJson,
  concatenate,
  expression,
  joinedRows,
  jsonArray,
  jsonList,
  jsonObject,
  type Piece,
  text,
} from './json.ts';
import { nativeRows } from './native-query.ts';
import { nodeId } from './opaque.ts';
import {
  carriedColumns,
  distinctClause,
  type OrderTerm,
  orderClause,
  orderTerms,
  outside,
} from './order-by.ts';
import { type Aliases, columnOf, rowScope } from './scope.ts';

/** A query of one column and one row. */
export function rowsQuery(select: Select, aliases: Aliases): Fragment {
  const { json, from } = rowsOf(select, aliases);
  return sql`select ${concatenate(jsonArray(joinedRows(json)))} from ${from}`;
}

/** A query of one column: the row as a JSON object; no row when there is none. */
export function rowQuery(select: Select, aliases: Aliases): Fragment {
  const row = aliases.next();
  const joins = new Joins(aliases);
  const json = rowJson(select.fields, row, joins);
  const where = whereClause([
    ...(select.from ? [isThere(row)] : []),
    condition(select.where, rowScope(row, aliases)),
  ]);
  return sql`select ${json} from ${sourceOf(select, row)} ${id(row)}${joins.clauses()}${where}`;
}

/** One row's JSON object; joins for its object relationships are added to `joins`. */
export function rowJson(fields: readonly Field[], row: string, joins: Joins): Fragment {
  return concatenate(rowPieces(fields, row, joins));
}

/** Rows of JSON text in the wanted order: `string_agg(<json>, ',') from <from>` is all of them. */
type Rows = { readonly json: Fragment; readonly from: Fragment };

/** What ties rows to one outside, whose alias is `outer`: a join's condition, or a call that takes it. */
export type Origin = { readonly correlate?: (row: string) => Fragment; readonly outer?: string };

/** A select's table under an alias of its own, and which of its rows. */
export type Place = {
  readonly row: string;
  readonly table: Fragment;
  readonly conditions: readonly Fragment[];
  /** All of them. */
  readonly where: Fragment;
};

export function placeOf(select: Select, aliases: Aliases, { correlate, outer }: Origin): Place {
  const row = aliases.next();
  const conditions = [
    ...(correlate ? [correlate(row)] : []),
    condition(select.where, rowScope(row, aliases)),
  ];
  return {
    row,
    conditions,
    where: whereClause(conditions),
    table: sql`${sourceOf(select, outer ?? row)} ${id(row)}`,
  };
}

export function rowsOf(select: Select, aliases: Aliases, origin: Origin = {}): Rows {
  const place = placeOf(select, aliases, origin);
  const { row, table, where } = place;
  if (isLimited(select)) return limitedRows(select, place, aliases);
  const joins = new Joins(aliases);
  const json = rowJson(select.fields, row, joins);
  if (select.orderBy.length === 0) return { json, from: sql`${table}${joins.clauses()}${where}` };
  const order = orderClause(orderTerms(select.orderBy, row, joins));
  return sorted(sql`select ${json} as "json" from ${table}${joins.clauses()}${where}${order}`, aliases);
}

export function isLimited(select: Select): boolean {
  return select.limit !== null || select.offset !== null || select.distinctOn.length > 0;
}

function limitedRows(select: Select, place: Place, aliases: Aliases): Rows {
  const { row } = place;
  const before = new Joins(aliases);
  const terms = orderTerms(select.orderBy, row, before);
  const after = new Joins(aliases);
  const json = rowJson(select.fields, row, after);
  // A join is free to return rows in another order; without one the subquery's stays.
  const mustReorder = !after.isEmpty && terms.length > 0;
  const carried = mustReorder ? carriedColumns(terms) : empty;
  const from = sql`${limitedTable(select, place, { terms, joins: before, carried })}${after.clauses()}`;
  if (!mustReorder) return { json, from };
  return sorted(sql`select ${json} as "json" from ${from}${orderClause(outside(terms, row))}`, aliases);
}

type Order = {
  readonly terms: readonly OrderTerm[];
  /** What the terms need beside the table. */
  readonly joins: Joins;
  /** Columns for those who order again outside. */
  readonly carried: Fragment;
};

/** The rows a limit, an offset or `distinct on` leaves of the table, under the table's alias. */
export function limitedTable(select: Select, { row, table, where }: Place, order: Order): Fragment {
  const columns = sql`${distinctClause(select, row, order)}${id(row)}.*${order.carried}`;
  const offset = select.offset === null ? empty : sql` offset ${integer(select.offset)}`;
  const rows = sql`from ${table}${order.joins.clauses()}${where}${orderClause(order.terms)}${limitClause(select)}${offset}`;
  return sql`(select ${columns} ${rows}) ${id(row)}`;
}

function limitClause({ limit, withTies }: Select): Fragment {
  if (limit === null) return empty;
  const rows = integer(limit);
  return withTies ? sql` fetch first ${rows} rows with ties` : sql` limit ${rows}`;
}

function sorted(query: Fragment, aliases: Aliases): Rows {
  const outer = aliases.next();
  return { json: columnOf(outer, 'json'), from: sql`(${query}) ${id(outer)}` };
}

export function rowPieces(fields: readonly Field[], row: string, joins: Joins): Piece[] {
  return jsonObject(fields.map((field) => ({ key: field.alias, value: fieldPieces(field, row, joins) })));
}

function fieldPieces(field: Field, row: string, joins: Joins): readonly Piece[] {
  switch (field.kind) {
    case 'column':
      return shownPieces(columnJson(field, row), field, row, joins.aliases);
    case 'constant':
      return [text(field.json)];
    case 'joined':
      return jsonList(field.keys.map((key) => fieldPieces(key, row, joins)));
    case 'computed':
      return shownPieces(computedJson(field, functionCall(field.call, row)), field, row, joins.aliases);
    case 'called':
      return calledPieces(field, row, joins);
    case 'array': {
      const rows = rowsOf(field.select, joins.aliases, joinedTo(field.join, row));
      return jsonArray(sql`(select ${joinedRows(rows.json)} from ${rows.from})`);
    }
    case 'aggregate':
      return [expression(sql`(${aggregateQuery(field, joins.aliases, joinedTo(field.join, row))})`)];
    case 'connection': {
      const page = connectionQuery(field, joins.aliases, joinedTo(field.join, row));
      return [expression(sql`(${page})`)];
    }
    case 'node-id':
      return [text('"'), expression(nodeId(field, row)), text('"')];
    case 'object': {
      const other = joins.to(field.join, row, field.select.where);
      const object = concatenate(rowPieces(field.select.fields, other, joins));
      // The join's own column is null exactly when no row was found: equality never matches a null.
      const key = columnOf(other, field.join.mapping[0]![1]);
      return [expression(sql`case when ${key} is null then 'null' else ${object} end`)];
    }
    default:
      return field satisfies never;
  }
}

/** The value as it is, or null where the role does not see it. */
function shownPieces(
  pieces: readonly Piece[],
  { visibleIf }: { readonly visibleIf?: Predicate },
  row: string,
  aliases: Aliases,
): readonly Piece[] {
  if (!visibleIf) return pieces;
  return [expression(sql`coalesce(${shown(concatenate(pieces), visibleIf, row, aliases)}, 'null')`)];
}

function joinedTo(on: Join, row: string): Origin {
  return { correlate: (inner) => matches(on, row, inner) };
}

/** Where rows come from: the table, a call that returns rows of it, a native query, or the request. */
function sourceOf(select: Select, outer: string): Fragment {
  if (!select.from) return qualified(select.table);
  if ('keys' in select.from) return keyRows(select.from);
  return 'code' in select.from ? nativeRows(select.from) : functionCall(select.from, outer);
}

/** One row for each place in the lists, which are equally long. */
function keyRows({ keys, ordinal }: Keys): Fragment {
  const values = join(
    keys.map((key) => param(key.values)),
    comma,
  );
  const columns = join([...keys.map(({ column }) => id(column)), id(ordinal)], comma);
  return sql`(select * from unnest(${values}) with ordinality ${id('given')}(${columns}))`;
}

/** A function of one row that returns null returns a row of nulls, too. */
function isThere(row: string): Fragment {
  return sql`not (${id(row)} is null)`;
}

type CalledField = Extract<Field, { kind: 'called' }>;

function calledPieces({ isList, select }: CalledField, row: string, joins: Joins): readonly Piece[] {
  const origin = { outer: row, ...(isList ? {} : { correlate: isThere }) };
  const rows = rowsOf(select, joins.aliases, origin);
  if (isList) return jsonArray(sql`(select ${joinedRows(rows.json)} from ${rows.from})`);
  return [expression(sql`coalesce((select ${rows.json} from ${rows.from}), 'null')`)];
}
