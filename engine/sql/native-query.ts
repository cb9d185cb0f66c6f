/** The rows of a native query: the administrator's SQL in parentheses, with each column cast to its type in the logical model,
 *  so later stages need not rely on the types of the SQL. A statement that writes is a syntax error there. Not here: parsing
 *  the code (resolve/native-query-code.ts). Reference: docs/reference/behaviour/functions.md. */
import type { NativeCall } from '../resolve/predicate.ts';
import { authored, comma, empty, type Fragment, id, join, param, sql, typeName } from './fragment.ts';

/** Returns a subquery without an alias. */
export function nativeRows({ code, columns }: NativeCall): Fragment {
  const casts = columns.map(({ column, type }) => sql`${id(column)}::${typeName(type)} as ${id(column)}`);
  const parts = code.map((part) => (typeof part === 'string' ? authored(part) : sql`(${param(part)})`));
  // The code may end with a comment, which must not reach the text after it.
  return sql`(select ${join(casts, comma)} from (${join(parts, empty)}
) "native")`;
}
