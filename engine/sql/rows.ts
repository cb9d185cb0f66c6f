/** Rows of a select: where they come from, which of them, in what order. Without a limit the joins stand beside the table. With
 *  one, a subquery limits the rows, joins follow outside it, and the order values are carried out of it. Aggregating over
 *  a sorted subquery keeps its order as long as nothing is joined outside it.
 *  Not here: the JSON of a row (table.ts), order values (order-by.ts). */
import type { Field, Keys, Select } from '../plan/query-types.ts';
import type { Join } from '../resolve/predicate.ts';
import { filtered, joined, whereClause } from './bool-exp.ts';
import { comma, empty, type Fragment, id, integer, join, sql, unnestParam } from './fragment.ts';
import { functionCall } from './function.ts';
import { Joins } from './join.ts';
import { concatenate, joinedRows, jsonArray, type Piece } from './json.ts';
import { nativeRows } from './native-query.ts';
import {
  allCarried,
  carriedColumns,
  distinctClause,
  type OrderTerm,
  orderClause,
  orderTerms,
  outside,
} from './order-by.ts';
import { type Aliases, columnOf, rowScope } from './scope.ts';

/** Returns the JSON object of a row; joins for its object relationships are added to `joins`. It is an argument of the
 *  queries below it because a row may hold aggregates and connections, which hold rows. */
export type RowPieces = (fields: readonly Field[], row: string, joins: Joins) => readonly Piece[];

/** Rows of JSON text in order: `string_agg(<json>, ',') from <from>` joins all of them. */
type Rows = {
  readonly json: Fragment;
  readonly from: Fragment;
  /** The order, where the rows are not in order: the shards of a cluster return theirs one after the other. */
  readonly order?: Fragment;
};

/** The tie between rows and a row outside, whose alias is `outer`: the condition of a join, or a call that takes the outer
 *  row. */
export type Correlation = {
  readonly correlate?: (row: string) => Fragment;
  readonly outer?: string;
  /** The columns of the join. */
  readonly mapping?: Join['mapping'];
};

/** The table of a select under an alias of its own, with conditions on its rows. */
type FilteredTable = {
  readonly row: string;
  /** The table, and joins to the rows that its conditions are about. */
  readonly table: Fragment;
  readonly conditions: readonly Fragment[];
  /** The conditions as a WHERE clause. */
  readonly where: Fragment;
};

/** Returns the table of a select under a new alias, with the conditions on its rows. Joins may change the order of rows. Where none is requested,
 *  Postgres returns them as it reads the table, which clients have come to rely on, so that conditions are no joins there. */
export function filteredTable(
  select: Select,
  aliases: Aliases,
  origin: Correlation,
  mayReorder = select.orderBy.length > 0,
): FilteredTable {
  const { correlate, mapping, outer } = origin;
  const row = aliases.next(mapping && outer !== undefined ? { mapping, outer } : undefined);
  const scope = rowScope(row, aliases);
  const found = mayReorder
    ? joined(select.where, scope)
    : { joins: [], conditions: [filtered(select.where, scope)] };
  const mayBeNull = select.from !== undefined && 'mayBeNull' in select.from;
  const conditions = [
    ...(correlate ? [correlate(row)] : aliases.anchored(row)),
    ...(mayBeNull ? [isThere(row)] : []),
    ...found.conditions,
  ];
  return {
    row,
    conditions,
    where: whereClause(conditions),
    table: sql`${rowSource(select, row, aliases, origin)} ${id(row)}${join(found.joins, empty)}`,
  };
}

/** Returns the rows a select describes, each as JSON text. */
export function rowsOf(
  select: Select,
  aliases: Aliases,
  rowPieces: RowPieces,
  origin: Correlation = {},
): Rows {
  const place = filteredTable(select, aliases, origin);
  const { row, table, where } = place;
  // Citus 13.2 crashes in an ordered aggregate over nothing but a function that it calls on a worker, whose rows come in their order.
  const isCall = aliases.form === 'local' && select.from !== undefined;
  if (aliases.mayBeOnShards && !isCall && (isLimited(select) || select.orderBy.length > 0)) {
    return orderedRows(select, place, aliases, rowPieces);
  }
  if (isLimited(select)) return limitedRows(select, place, aliases, rowPieces);
  const joins = new Joins(aliases);
  const json = concatenate(rowPieces(select.fields, row, joins));
  if (select.orderBy.length === 0) return { json, from: sql`${table}${joins.clauses()}${where}` };
  const order = orderClause(orderTerms(select.orderBy, row, joins));
  return sorted(sql`select ${json} as "json" from ${table}${joins.clauses()}${where}${order}`, aliases);
}

/** True when the select reads only a part of the rows that match. */
export function isLimited(select: Select): boolean {
  return select.limit !== null || select.offset !== null || select.distinctOn.length > 0;
}

function limitedRows(select: Select, place: FilteredTable, aliases: Aliases, rowPieces: RowPieces): Rows {
  const { row } = place;
  const before = new Joins(aliases);
  const terms = orderTerms(select.orderBy, row, before);
  if (terms.some(({ isJoined }) => isJoined)) aliases.widen(row);
  const after = new Joins(aliases);
  const json = concatenate(rowPieces(select.fields, row, after));
  // A join may return rows in any order; without a join, the order of the subquery is kept.
  const mustReorder = !after.isEmpty && terms.length > 0;
  const carried = mustReorder ? carriedColumns(terms) : empty;
  const from = sql`${limitedTable(select, place, { terms, joins: before, carried })}${after.clauses()}`;
  if (!mustReorder) return { json, from };
  return sorted(sql`select ${json} as "json" from ${from}${orderClause(outside(terms, row))}`, aliases);
}

/** Returns rows with the values of their order beside them. A subquery makes the text of each row before it limits the rows: nothing is
 *  joined to a limited table, which a cluster would have to bring together first. */
function orderedRows(select: Select, place: FilteredTable, aliases: Aliases, rowPieces: RowPieces): Rows {
  const { row, table, where } = place;
  const joins = new Joins(aliases);
  const terms = orderTerms(select.orderBy, row, joins);
  const json = concatenate(rowPieces(select.fields, row, joins));
  const carried = allCarried(terms);
  const columns = sql`${distinctClause(select, row, { terms, joins })}${json} as "json"${carriedColumns(carried)}`;
  const limit = isLimited(select)
    ? sql`${orderClause(terms)}${limitClause(select)}${offsetClause(select)}`
    : empty;
  const outer = aliases.next();
  return {
    json: columnOf(outer, 'json'),
    from: sql`(select ${columns} from ${table}${joins.clauses()}${where}${limit}) ${id(outer)}`,
    order: orderClause(outside(carried, outer)),
  };
}

type Order = {
  readonly terms: readonly OrderTerm[];
  /** The joins that the terms need. */
  readonly joins: Joins;
  /** Columns carried out of the subquery for an order outside it. */
  readonly carried: Fragment;
};

/** Returns the rows that a limit, an offset or `distinct on` leaves, under the alias of the table. What reads them is composed before. */
export function limitedTable(select: Select, { row, table, where }: FilteredTable, order: Order): Fragment {
  order.joins.aliases.cut();
  const whole = order.joins.aliases.wholeRow(row, select.table);
  const columns = sql`${distinctClause(select, row, order)}${id(row)}.*${order.carried}${whole}`;
  const rows = sql`from ${table}${order.joins.clauses()}${where}${orderClause(order.terms)}${limitClause(select)}${offsetClause(select)}`;
  return sql`(select ${columns} ${rows}) ${id(row)}`;
}

function limitClause({ limit, withTies }: Select): Fragment {
  if (limit === null) return empty;
  const rows = integer(limit);
  return withTies ? sql` fetch first ${rows} rows with ties` : sql` limit ${rows}`;
}

function offsetClause({ offset }: Select): Fragment {
  return offset === null ? empty : sql` offset ${integer(offset)}`;
}

/** Returns the rows as a JSON list. */
export function listOf({ json, from, order }: Rows): Piece[] {
  return jsonArray(sql`(select ${joinedRows(json, order)} from ${from})`);
}

function sorted(query: Fragment, aliases: Aliases): Rows {
  const outer = aliases.next();
  return { json: columnOf(outer, 'json'), from: sql`(${query}) ${id(outer)}` };
}

/** Returns the source of the rows in a FROM clause: the table, a call that returns rows of it, a native query, or the request. */
export function rowSource(
  select: Select,
  row: string,
  aliases: Aliases,
  { outer, mapping }: Correlation = {},
): Fragment {
  const { table, from, where } = select;
  const source = from && fromSource(from, outer ?? row, aliases);
  const place =
    outer === undefined ? { select } : mapping ? { join: { mapping, outer } } : { isDependent: true };
  return aliases.source({
    table,
    row,
    where,
    ...(source ? { source, isNative: 'code' in from, isCall: 'function' in from } : {}),
    ...place,
  });
}

function fromSource(from: NonNullable<Select['from']>, outer: string, aliases: Aliases): Fragment {
  if ('keys' in from) return keyRows(from);
  return 'code' in from ? nativeRows(from) : functionCall(from, outer, aliases);
}

/** Returns one row per index of the lists, which have equal length. */
function keyRows({ keys, ordinal }: Keys): Fragment {
  const columns = keys.map(({ column }) => id(column));
  const lists = keys.map(({ values }, i) => unnestParam(values, columns[i]!));
  const given = join(
    lists.map(({ list }) => list),
    comma,
  );
  const items = join([...lists.map((list) => list.items), id(ordinal)], comma);
  const names = join([...columns, id(ordinal)], comma);
  return sql`(select ${items} from unnest(${given}) with ordinality ${id('given')}(${names}))`;
}

/** Excludes the row of nulls that a function of one row returns for null. */
export function isThere(row: string): Fragment {
  return sql`not (${id(row)} is null)`;
}
