/** Aggregate → a query of one row: a JSON object with aggregates and, when they are selected, the rows themselves, all in one
 *  pass. When the role's limit allows fewer nodes than the aggregate covers, a separate query reads the nodes and stops at the
 *  limit. Not here: rows without aggregates (table.ts), aggregates to order by (aggregate-value.ts). PostgreSQL manual,
 *  "Aggregate Functions". */
import type { Aggregate, AggregateField, AggregateMember } from '../plan/query-types.ts';
import { valueOver } from './aggregate-value.ts';
import { empty, type Fragment, sql } from './fragment.ts';
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
import {
  type Correlation,
  filteredTable,
  isLimited,
  limitedTable,
  listOf,
  type RowPieces,
  rowsOf,
} from './rows.ts';
import type { Aliases } from './scope.ts';

/** Returns a query of one column and one row, which is never null. */
export function aggregateQuery(
  { select, output }: Aggregate,
  aliases: Aliases,
  rowPieces: RowPieces,
  origin: Correlation = {},
): Fragment {
  const isWhole = (field: AggregateField) => field.kind === 'nodes' && field.limit === select.limit;
  const hasNodes = output.some(isWhole);
  const isCut = isLimited(select);
  const isOrderless = !hasNodes && !isCut;
  const place = filteredTable(select, aliases, origin, isOrderless || select.orderBy.length > 0);
  const { row } = place;
  // Joins of the nodes come after a limit. The order inside an aggregate is always explicit, because other joins may reorder
  // the rows.
  const joins = new Joins(aliases);
  const before = isCut ? new Joins(aliases) : joins;
  const terms = isCut || hasNodes ? orderTerms(select.orderBy, row, before) : [];
  const order = orderClause(isCut ? outside(terms, row) : terms);
  if (isCut && hasNodes && terms.some(({ isJoined }) => isJoined)) aliases.widen(row);
  const json = outputJson(output, (field) => {
    if (field.kind !== 'nodes') return memberPieces(field, row, aliases);
    if (isWhole(field)) return jsonArray(joinedRows(concatenate(rowPieces(field.fields, row, joins)), order));
    return listOf(rowsOf({ ...select, ...field }, aliases, rowPieces, origin));
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

/** True when the field reads rows. A query of constants only would return them once per row. */
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
