/** Select → a query that yields JSON text: an array of rows, or one row. Object relationships are left joins, array
 *  relationships correlated subqueries, so the whole tree is one statement.
 *  Not here: what to select (plan/table.ts), where rows come from (rows.ts), JSON punctuation (json.ts). */
import type { Field, Select } from '../plan/query-types.ts';
import type { Join, Predicate } from '../resolve/predicate.ts';
import { aggregateQuery } from './aggregate.ts';
import { joined, matches, noteValues, visibleOrNull, whereClause } from './bool-exp.ts';
import { connectionQuery } from './connection.ts';
import { empty, type Fragment, id, join, sql } from './fragment.ts';
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
  nullIf,
  type Piece,
  text,
} from './json.ts';
import { nodeId } from './opaque.ts';
import { type Correlation, isThere, listOf, rowSource, rowsOf } from './rows.ts';
import { type Aliases, columnOf, rowScope } from './scope.ts';

/** Returns a query of one column and one row: all rows as a JSON array. */
export function rowsQuery(select: Select, aliases: Aliases): Fragment {
  const { json, from, order } = rowsOf(select, aliases, rowPieces);
  return sql`select ${concatenate(jsonArray(joinedRows(json, order)))} from ${from}`;
}

/** Returns the same query without the brackets around the rows. Each bracket that Postgres adds copies the whole text, which is a tenth
 *  of its work for half a megabyte of rows. */
export function bareRowsQuery(select: Select, aliases: Aliases): Fragment {
  const { json, from, order } = rowsOf(select, aliases, rowPieces);
  return sql`select coalesce(${joinedRows(json, order)}, '') from ${from}`;
}

/** Returns a query of one column: the row as a JSON object. It returns no row when there is none. */
export function rowQuery(select: Select, aliases: Aliases): Fragment {
  const row = aliases.next();
  const joins = new Joins(aliases);
  const scope = rowScope(row, aliases);
  // The fields are composed before the condition, and look up its values.
  if (aliases.form !== 'plain') noteValues(select.where, scope);
  const json = rowJson(select.fields, row, joins);
  const found = joined(select.where, scope);
  const where = whereClause([
    ...aliases.anchored(row),
    ...(select.from ? [isThere(row)] : []),
    ...found.conditions,
  ]);
  const table = sql`${rowSource(select, row, aliases)} ${id(row)}${join(found.joins, empty)}`;
  return sql`select ${json} from ${table}${joins.clauses()}${where}`;
}

/** Returns the JSON object of a row; joins for its object relationships are added to `joins`. */
export function rowJson(fields: readonly Field[], row: string, joins: Joins): Fragment {
  return concatenate(rowPieces(fields, row, joins));
}

export function rowPieces(fields: readonly Field[], row: string, joins: Joins): Piece[] {
  return jsonObject(fields.map((field) => ({ key: field.alias, value: fieldPieces(field, row, joins) })));
}

function fieldPieces(field: Field, row: string, joins: Joins): readonly Piece[] {
  switch (field.kind) {
    case 'column':
      return visiblePieces(columnJson(field, row), field, row, joins.aliases);
    case 'constant':
      return [text(field.json)];
    case 'joined':
      return jsonList(field.keys.map((key) => fieldPieces(key, row, joins)));
    case 'computed':
      return visiblePieces(
        computedJson(field, functionCall(field.call, row, joins.aliases)),
        field,
        row,
        joins.aliases,
      );
    case 'called':
      return calledPieces(field, row, joins);
    case 'array':
      return listOf(rowsOf(field.select, joins.aliases, rowPieces, joinedTo(field.join, row)));
    case 'aggregate':
      return [
        expression(sql`(${aggregateQuery(field, joins.aliases, rowPieces, joinedTo(field.join, row))})`),
      ];
    case 'connection': {
      const page = connectionQuery(field, joins.aliases, rowPieces, joinedTo(field.join, row));
      return [expression(sql`(${page})`)];
    }
    case 'node-id':
      return [text('"'), expression(nodeId(field, row)), text('"')];
    case 'object': {
      const other = joins.to(field.join, row, field.select.where);
      // The join column is null exactly when no row was found, because equality never matches a null.
      const key = columnOf(other, field.join.mapping[0]![1]);
      return [nullIf(sql`${key} is null`, rowPieces(field.select.fields, other, joins))];
    }
    default:
      return field satisfies never;
  }
}

/** Returns the value, or null where the role does not see it. */
function visiblePieces(
  pieces: readonly Piece[],
  { visibleIf }: { readonly visibleIf?: Predicate },
  row: string,
  aliases: Aliases,
): readonly Piece[] {
  if (!visibleIf) return pieces;
  return [expression(sql`coalesce(${visibleOrNull(concatenate(pieces), visibleIf, row, aliases)}, 'null')`)];
}

function joinedTo(on: Join, row: string): Correlation {
  return { correlate: (inner) => matches(on, row, inner), mapping: on.mapping, outer: row };
}

type CalledField = Extract<Field, { kind: 'called' }>;

function calledPieces({ isList, select }: CalledField, row: string, joins: Joins): readonly Piece[] {
  const origin = { outer: row, ...(isList ? {} : { correlate: isThere }) };
  const rows = rowsOf(select, joins.aliases, rowPieces, origin);
  if (isList) return listOf(rows);
  return [expression(sql`coalesce((select ${rows.json} from ${rows.from}), 'null')`)];
}
