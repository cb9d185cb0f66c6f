/** The document after tables and columns of one source were renamed in the database: every reference is replaced by the new name. Pure and
 *  total: references that cannot be interpreted are kept, and resolve reports them.
 *  Not here: finding renames (catalog/changes.ts), where a document names something (metadata/names.ts). */
import { fieldsOf } from '../metadata/dependencies.ts';
import { renameIn } from '../metadata/names.ts';
import type { QualifiedName } from '../metadata/schema/common.ts';
import type { Metadata } from '../metadata/schema/metadata.ts';
import { isSameTable } from './handlers/handler.ts';

/** The new names in one source, by old name. A name that has not changed maps to itself. */
export type Renames = {
  readonly source: string;
  /** The texts of the old names. */
  readonly texts: readonly string[];
  readonly table: (table: QualifiedName) => QualifiedName;
  readonly column: (table: QualifiedName, column: string) => string;
  /** The table at the other end of a relationship; undefined when there is no such relationship. */
  readonly target: (table: QualifiedName, relationship: string) => QualifiedName | undefined;
};

export function followRenames(metadata: Metadata, renames: Renames): Metadata {
  const named = fieldsOf(metadata);
  return renameIn(metadata, {
    texts: renames.texts,
    fieldOf: (source, table, name) => {
      const field = named(source, table, name);
      if (field?.target || source !== renames.source) return field;
      const target = renames.target(table, name);
      return target ? { kind: 'object_relationship', target: { source, table: target } } : field;
    },
    rename: (name) => {
      if (name.source !== renames.source) return undefined;
      if (name.kind === 'column' || name.kind === 'field') return renames.column(name.table, name.name);
      if (name.kind !== 'table') return undefined;
      const table = renames.table(name.name);
      return isSameTable(table, name.name) ? undefined : table;
    },
  });
}
