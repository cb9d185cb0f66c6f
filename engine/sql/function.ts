/** A call of an SQL function: `"public"."f"($1, "search" => $2)`. PostgreSQL manual, "Calling Functions". */
import type { FunctionCall } from '../resolve/predicate.ts';
import { comma, type Fragment, id, join, param, qualified, sql } from './fragment.ts';
import type { Aliases } from './scope.ts';

/** Returns the call; `row` is the alias of the row it is about. */
export function functionCall(call: FunctionCall, row: string, aliases: Aliases): Fragment {
  const values = call.arguments.map(({ name, value }) => {
    const printed = value.kind === 'row' ? aliases.rowOf(row, value.table) : param(value);
    return name === null ? printed : sql`${id(name)} => ${printed}`;
  });
  return sql`${qualified(call.function)}(${join(values, comma)})`;
}
