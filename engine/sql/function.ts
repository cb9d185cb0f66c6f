/** A call of an SQL function: `"public"."f"($1, "search" => $2)`. The row a computed field takes is written out column by
 *  column, because beside a limited subquery the row's alias has no named type.
 *  PostgreSQL manual, "Calling Functions". */
import type { FunctionCall } from '../resolve/predicate.ts';
import { comma, type Fragment, id, join, param, qualified, sql } from './fragment.ts';
import { columnOf } from './scope.ts';

/** `row` is the alias the call stands beside. */
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
