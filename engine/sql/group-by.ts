/** Groups → a query of one column and one row: a JSON array with an object for each group. The groups are made, chosen,
 *  sorted and limited in a subquery; what is around it only joins their text.
 *  PostgreSQL manual, "The GROUP BY and HAVING Clauses". */
import type { GroupField, GroupOrder, Groups } from '../plan/types.ts';
import { memberPieces, valueOver } from './aggregate.ts';
import { condition, isTrue, whereClause } from './bool-exp.ts';
import { comma, empty, type Fragment, id, integer, join, qualified, sql } from './fragment.ts';
import { Joins } from './join.ts';
import { concatenate, joinedRows, jsonArray, jsonObject, type Piece, text } from './json.ts';
import { directed, orderClause } from './order-by.ts';
import { type Aliases, columnOf, rowScope } from './scope.ts';
import { rowPieces } from './table.ts';

export function groupsQuery(groups: Groups, aliases: Aliases): Fragment {
  const row = aliases.next();
  const scope = rowScope(row, aliases);
  const pieces = groups.output.map((field) => ({
    key: field.alias,
    value: fieldPieces(field, row, aliases),
  }));
  const where = whereClause([condition(groups.where, scope)]);
  const having = condition(groups.having, scope);
  const filtered = isTrue(having) ? empty : sql` having ${having}`;
  const order = orderClause(groups.orderBy.map((item) => orderTerm(item, row)));
  const limit = groups.limit === null ? empty : sql` limit ${integer(groups.limit)}`;
  const offset = groups.offset === null ? empty : sql` offset ${integer(groups.offset)}`;
  const keys = join(
    groups.keys.map((key) => columnOf(row, key)),
    comma,
  );
  const from = sql`from ${qualified(groups.table)} ${id(row)}${where} group by (${keys})`;
  const query = sql`select ${concatenate(jsonObject(pieces))} as "json" ${from}${filtered}${order}${limit}${offset}`;
  const outer = aliases.next();
  const rows = joinedRows(columnOf(outer, 'json'));
  return sql`select ${concatenate(jsonArray(rows))} from (${query}) ${id(outer)}`;
}

function fieldPieces(field: GroupField, row: string, aliases: Aliases): readonly Piece[] {
  switch (field.kind) {
    case 'constant':
      return [text(field.json)];
    case 'keys':
      return rowPieces(field.fields, row, new Joins(aliases));
    case 'values':
      return memberPieces(field, row);
    default:
      return field satisfies never;
  }
}

function orderTerm({ by, direction, nulls }: GroupOrder, row: string) {
  const value = by.kind === 'key' ? columnOf(row, by.column) : valueOver(by.value, row);
  return { value, direction: directed(direction, nulls) };
}
