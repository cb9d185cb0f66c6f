/** Columns of a table as they appear in a role's schema: as fields of an input object and as values of an enum.
 *  Not here: which columns a role may read (builder.ts). */
import { GraphQLEnumType, type GraphQLInputFieldConfigMap, type GraphQLInputType } from 'graphql';
import type { ResolvedColumn } from '../resolve/model/column.ts';
import type { ResolvedTable } from '../resolve/model/table.ts';
import { derivedTypeName } from '../resolve/names.ts';
import type { SchemaBuilder } from './builder.ts';
import { inputExtensions, nullRefused } from './origin.ts';

/** Returns columns as fields of an input object. A column that is not nullable refuses null. `operand` replaces the types of the
 *  columns: a key to delete, a position. */
export function columnInputs(
  builder: SchemaBuilder,
  columns: readonly ResolvedColumn[],
  operand?: { readonly type: GraphQLInputType; readonly takesNull: boolean },
): GraphQLInputFieldConfigMap {
  return Object.fromEntries(
    columns.map((column) => [
      column.graphqlName,
      {
        type: operand?.type ?? builder.valueType(column),
        description: column.description,
        extensions: {
          ...inputExtensions({ kind: 'column', column }),
          ...((operand ? operand.takesNull : column.isNullable) ? {} : nullRefused),
        },
      },
    ]),
  );
}

/** Returns the columns a client may write; `permitted` holds SQL names. */
export function writableColumns(
  table: ResolvedTable,
  permitted: ReadonlySet<string> | undefined,
): readonly ResolvedColumn[] {
  return table.columns.filter((column) => column.isWritable && permitted?.has(column.name));
}

/** Returns `T_select_column`, the columns a role may read; null when it may read none. */
export function selectColumn(builder: SchemaBuilder, table: ResolvedTable): GraphQLEnumType | null {
  const columns = builder.selectableColumns(table);
  if (columns.length === 0) return null;
  const suffix = table.native ? 'enum_name' : 'select_column';
  return builder.named(derivedTypeName(table, suffix), (name) =>
    columnEnum(name, `select columns of table "${table.table.name}"`, columns),
  );
}

/** Returns an enum whose values are columns; internally a value is the column's SQL name. */
export function columnEnum(
  name: string,
  description: string,
  columns: readonly ResolvedColumn[],
): GraphQLEnumType {
  const values = columns.map((column) => {
    return [column.graphqlName, { value: column.name, description: 'column name' }] as const;
  });
  return new GraphQLEnumType({ name, description, values: Object.fromEntries(values) });
}
