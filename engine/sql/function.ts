/** A call of an SQL function: `"public"."f"($1, "search" => $2)`. The row argument of a computed field is written column by
 *  column, because the alias of a limited subquery has no named row type. PostgreSQL manual, "Calling Functions". */
import type { FunctionCall } from '../resolve/predicate.ts';
import { comma, type Fragment, id, join, param, qualified, sql } from './fragment.ts';
import { columnOf } from './scope.ts';

/** Returns the call; `row` is the alias of the row it is about. */
export function functionCall(call: FunctionCall, row: string): Fragment {
  const values = call.arguments.map(({ name, value }) => {
    const printed = value.kind === 'row' ? rowOf(value, row) : param(value);
    return name === null ? printed : sql`${id(name)} => ${printed}`;
  });
  return sql`${qualified(call.function)}(${join(values, comma)})`;
}

type RowValue = Extract<FunctionCall['arguments'][number]['value'], { kind: 'row' }>;

function rowOf({ table, columns }: RowValue, row: string): Fragment {
  const values = columns.map((column) => columnOf(row, column));
  return sql`row(${join(values, comma)})::${qualified(table)}`;
}
