/** The next rows of a stream → a query of one row and three columns: the rows as a JSON array; the new position of the cursor as
 *  text, null when there were no rows; and the current position as Postgres reads it: the time for `now`. The batch includes all rows with the last value of the cursor's column: the
 *  next batch begins after that value, so it would skip them. PostgreSQL manual, "LIMIT and OFFSET", WITH TIES. */
import { scalarOf } from '../catalog/scalars.ts';
import type { QueryRoot } from '../plan/query-types.ts';
import type { Leaf } from '../resolve/predicate.ts';
import { type Fragment, param, sql } from './fragment.ts';
import { Joins } from './join.ts';
import { concatenate, joinedRows, jsonArray } from './json.ts';
import { carriedColumns, directed, orderClause, orderTerms, outside } from './order-by.ts';
import { filteredTable, limitedTable } from './rows.ts';
import type { Aliases } from './scope.ts';
import { rowJson } from './table.ts';

type Stream = Extract<QueryRoot, { kind: 'stream' }>;

export function streamQuery({ select, cursor }: Stream, aliases: Aliases): Fragment {
  const place = filteredTable(select, aliases, {});
  const joins = new Joins(aliases);
  const terms = orderTerms(select.orderBy, place.row, joins);
  if (terms.some(({ isJoined }) => isJoined)) aliases.widen(place.row);
  const after = new Joins(aliases);
  const json = rowJson(select.fields, place.row, after);
  const rows = limitedTable(select, place, { terms, joins, carried: carriedColumns(terms) });
  const order = outside(terms, place.row);
  const [{ value }] = order as [(typeof order)[number]];
  const isAscending = select.orderBy[0]!.direction === 'asc';
  const backwards = isAscending ? directed('desc', 'first') : directed('asc', 'last');
  // As text, because arrays would be aggregated to an array of more dimensions.
  const last = sql`(array_agg(${value}::text order by ${value}${backwards}))[1]`;
  const batch = concatenate(jsonArray(joinedRows(json, orderClause(order))));
  return sql`select ${batch}, ${last}, ${positionOf(cursor)} from ${rows}${after.clauses()}`;
}

/** PostGIS prints a value in another form than the engine reads; it has no text that means the present. */
function positionOf(cursor: Leaf): Fragment {
  return scalarOf(cursor.type).input === 'geojson' ? sql`null::text` : sql`(${param(cursor)})::text`;
}
