/** The rows of a native query: the author's SQL in parentheses, each column that counts cast to what the logical model says it
 *  is, so that nothing after it has to trust the author about types. A writing statement cannot stand there.
 *  Not here: reading the code (resolve/native-query-code.ts). Reference: docs/reference/behaviour/functions.md. */
import type { NativeCall } from '../resolve/predicate.ts';
import { authored, comma, empty, type Fragment, id, join, param, sql, typeName } from './fragment.ts';

/** A subquery without its alias. */
export function nativeRows({ code, columns }: NativeCall): Fragment {
  const casts = columns.map(({ column, type }) => sql`${id(column)}::${typeName(type)} as ${id(column)}`);
  const parts = code.map((part) => (typeof part === 'string' ? authored(part) : sql`(${param(part)})`));
  // A comment may end the code, and must not end what comes after it.
  return sql`(select ${join(casts, comma)} from (${join(parts, empty)}
) "native")`;
}
