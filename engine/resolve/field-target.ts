/** The table that a field of a table leads to. Not here: finding it in a catalog (relationship.ts, function.ts). */
import type { QualifiedName } from '../metadata/schema/common.ts';
import type { ResolvedTable } from './model/table.ts';

/** Returns the table of a relationship, or of the rows of a computed field; undefined when the field is neither. */
export function targetOfField(table: ResolvedTable | undefined, name: string): QualifiedName | undefined {
  const returns = table?.computedFields.get(name)?.returns;
  return returns?.kind === 'rows' ? returns.table : table?.relationships.get(name)?.join.table;
}
