/** The fields `<relationship>_aggregate` beside array relationships, and the fields of a table that have their names.
 *  In: a table, its relationships so far. Out: `fieldConflict`. Not here: other names of fields (relationship.ts, function.ts,
 *  remote-relationship.ts), the fields in a schema (schema/aggregate.ts). */
import { fail } from '../errors/engine-error.ts';
import { printQualified } from '../metadata/schema/common.ts';
import type { ResolvedTable } from './model/table.ts';
import { fieldName, type Naming } from './naming.ts';

/** The name of the aggregate of an array relationship. */
export function aggregateFieldName(naming: Pick<Naming, 'convention'>, relationship: string): string {
  return fieldName(naming, { verbatim: relationship }, 'aggregate');
}

/** Raises `fieldConflict` when the aggregate of a relationship of the table has the name. */
export function refuseAggregateName(name: string, table: ResolvedTable): void {
  for (const { kind, name: other } of table.relationships.values()) {
    if (kind === 'array' && aggregateFieldName(table.naming, other) === name) {
      fail('fieldConflict', {
        table: printQualified(table.table),
        with: `aggregate of relationship "${other}"`,
      });
    }
  }
}

/** Raises `fieldConflict` when a column or relationship of the table has the name of the aggregate of an array relationship. */
export function refuseAggregateOf(relationship: string, table: ResolvedTable): void {
  const name = aggregateFieldName(table.naming, relationship);
  const conflict = (other: string): never =>
    fail('fieldConflict', { table: printQualified(table.table), with: other });
  const column = table.columns.find(({ graphqlName }) => graphqlName === name);
  if (column) conflict(`postgres column "${column.name}"`);
  if (table.relationships.has(name)) conflict(`relationship "${name}"`);
}
