/** Columns a client may write, as fields of an input object. What mutations share; not here: their arguments. */
import type { GraphQLInputFieldConfigMap, GraphQLInputType } from 'graphql';
import type { ResolvedColumn, ResolvedTable } from '../resolve/types.ts';
import type { SchemaBuilder } from './builder.ts';
import { inputExtensions } from './origin.ts';

/** `type` instead of the columns' own: a key to delete, a position. */
export function columnInputs(
  builder: SchemaBuilder,
  columns: readonly ResolvedColumn[],
  type?: GraphQLInputType,
): GraphQLInputFieldConfigMap {
  return Object.fromEntries(
    columns.map((column) => [
      column.graphqlName,
      {
        type: type ?? builder.valueType(column),
        description: column.description,
        extensions: inputExtensions({ kind: 'column', column }),
      },
    ]),
  );
}

/** `permitted` is by SQL name; undefined: none. */
export function writableColumns(
  table: ResolvedTable,
  permitted: ReadonlySet<string> | undefined,
): readonly ResolvedColumn[] {
  return table.columns.filter((column) => column.isWritable && permitted?.has(column.name));
}
