/** Groups → a query of one column and one row: a JSON array with an object for each group. A subquery builds, filters, sorts
 *  and limits the groups; the outer query joins their text. PostgreSQL manual, "The GROUP BY and HAVING Clauses". */

import { own } from '../metadata/own.ts';
import type { GroupField, GroupOrder, Groups } from '../plan/query-types.ts';
import { memberPieces } from './aggregate.ts';
import { valueOver } from './aggregate-value.ts';
import { condition, isTrue, visibleOrNull, whereClause } from './bool-exp.ts';
import { comma, empty, type Fragment, id, integer, join, sql } from './fragment.ts';
import { Joins } from './join.ts';
import { concatenate, joinedRows, jsonArray, jsonObject, type Piece, text } from './json.ts';
import { allCarried, carriedColumns, directed, type OrderTerm, orderClause, outside } from './order-by.ts';
import { type Aliases, columnOf, rowScope } from './scope.ts';
import { rowPieces } from './table.ts';

export function groupsQuery(groups: Groups, aliases: Aliases): Fragment {
  const row = aliases.next();
  const scope = rowScope(row, aliases);
  const shown = shownKeys(groups, row, aliases);
  if (shown.length > 0) aliases.widen(row);
  const pieces = groups.output.map((field) => ({
    key: field.alias,
    value: fieldPieces(field, groups, row, aliases),
  }));
  const where = whereClause([...aliases.anchored(row), condition(groups.where, scope)]);
  // A condition on groups has no columns of a row outside aggregates.
  const having = groups.having.kind === 'false' ? sql`false` : condition(groups.having, scope);
  if (!isTrue(having)) aliases.cut();
  // Citus cannot plan a subquery in HAVING that depends on a row outside it.
  const isOutside = aliases.form === 'gathered' && !isTrue(having);
  const filtered = isTrue(having) ? empty : sql` having ${having}`;
  const terms = groups.orderBy.map((item) => orderTerm(item, groups, row, aliases));
  const order = orderClause(terms);
  const limit = groups.limit === null ? empty : sql` limit ${integer(groups.limit)}`;
  const offset = groups.offset === null ? empty : sql` offset ${integer(groups.offset)}`;
  const keys = join(
    groups.keys.map((key) => columnOf(row, keyName(key, groups))),
    comma,
  );
  const from = sql`from ${tableOf(groups, shown, row, aliases)} ${id(row)}${where} group by (${keys})`;
  // The shards of a cluster return their groups one after the other.
  const carried = allCarried(aliases.mayBeOnShards || isOutside ? terms : []);
  const passes = isOutside ? sql`, ${having} as ${PASSES}` : empty;
  const all = sql`select ${concatenate(jsonObject(pieces))} as "json"${carriedColumns(carried)}${passes} ${from}`;
  const query = isOutside ? groupsThatPass(all, carried, aliases) : sql`${all}${filtered}${order}`;
  const outer = aliases.next();
  const rows = joinedRows(columnOf(outer, 'json'), orderClause(outside(carried, outer)));
  return sql`select ${concatenate(jsonArray(rows))} from (${query}${limit}${offset}) ${id(outer)}`;
}

/** The column of a group that is true when the group passes the condition on groups. */
const PASSES = id('passes');

/** Returns the groups that pass, in order. */
function groupsThatPass(all: Fragment, carried: readonly OrderTerm[], aliases: Aliases): Fragment {
  const group = aliases.next();
  const order = orderClause(outside(carried, group));
  return sql`select ${id(group)}.* from (${all}) ${id(group)} where ${id(group)}.${PASSES}${order}`;
}

/** Returns the visible values of the keys that are masked in some rows, as additional columns of a subquery. */
function shownKeys({ visibleIf = {} }: Groups, row: string, aliases: Aliases): readonly Fragment[] {
  return Object.entries(visibleIf).map(
    ([key, condition]) =>
      sql`, ${visibleOrNull(columnOf(row, key), condition, row, aliases)} as ${id(`shown ${key}`)}`,
  );
}

/** Returns the table, or a subquery that adds columns to it. What reads its rows is composed before. */
function tableOf(
  { table, where }: Groups,
  shown: readonly Fragment[],
  row: string,
  aliases: Aliases,
): Fragment {
  const source = aliases.source({ table, row, where });
  if (shown.length === 0) return source;
  aliases.cut();
  const columns = sql`${id(row)}.*${join(shown, empty)}${aliases.wholeRow(row, table)}`;
  return sql`(select ${columns} from ${source} ${id(row)})`;
}

function keyName(key: string, { visibleIf }: Groups): string {
  return own(visibleIf, key) ? `shown ${key}` : key;
}

function fieldPieces(field: GroupField, groups: Groups, row: string, aliases: Aliases): readonly Piece[] {
  switch (field.kind) {
    case 'constant':
      return [text(field.json)];
    case 'keys':
      return rowPieces(
        field.fields.map((key) =>
          key.kind === 'column' ? { ...key, column: keyName(key.column, groups) } : key,
        ),
        row,
        new Joins(aliases),
      );
    case 'values':
      return memberPieces(field, row, aliases);
    default:
      return field satisfies never;
  }
}

function orderTerm({ by, direction, nulls }: GroupOrder, groups: Groups, row: string, aliases: Aliases) {
  const value =
    by.kind === 'key' ? columnOf(row, keyName(by.column, groups)) : valueOver(by.value, row, aliases);
  return { value, direction: directed(direction, nulls) };
}
