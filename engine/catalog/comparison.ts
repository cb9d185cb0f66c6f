/** The schema in which Postgres finds the operators of a type. Operators of an extension belong to the extension's schema, which may be
 *  outside the search path: a bare `=` is then unknown, or compares the text of the values. In: one or two types. Out: a schema.
 *  Not here: SQL (sql/operators.ts), reading the operators (introspect.sql).
 *  PostgreSQL manual, "Operator Type Resolution". */
import { qualifiedKey } from '../metadata/schema/common.ts';
import { isOfExtension } from './scalars.ts';
import { baseType, type PgType } from './types.ts';

/** Returns the schema of the operators that compare two values of the types; null when a bare operator is the right one. It finds
 *  those of pg_catalog, which Postgres searches first. */
export function operatorSchema(left: PgType, right: PgType = left): string | null {
  const [one, other] = [baseType(left), baseType(right)];
  const known = one.operators?.[qualifiedKey(other)] ?? other.operators?.[qualifiedKey(one)];
  if (known !== undefined) return known;
  // A type that a cast names is not read from the catalog.
  return isOfExtension(one) && qualifiedKey(one) === qualifiedKey(other) ? one.schema : null;
}
