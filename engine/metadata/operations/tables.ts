/** Operations on tracked tables and views. In: their arguments. Out: rows of OPERATIONS.
 *  Not here: performing them (admin/). */

import { isRecord } from '../../json/value.ts';
import { ColumnName, GraphqlName, ObjectName, QualifiedName } from '../schema/common.ts';
import { CustomRootFields, FederationConfig, TableConfiguration } from '../schema/table.ts';
import { Type } from '../schema/type.ts';
import { flag } from './arguments.ts';
import { type OperationDeclaration, sourced } from './row.ts';

const tracked = {
  table: QualifiedName,
  configuration: Type.Optional(TableConfiguration),
  is_enum: flag,
  apollo_federation_config: Type.Optional(FederationConfig),
};

export const TABLE_OPERATIONS = {
  track_table: sourced('edit', 'Exposes a table or view in GraphQL.', tracked, {
    aliases: ['add_existing_table_or_view'],
    versions: [1, 2],
    lenient: wrapTable,
  }),
  untrack_table: sourced(
    'edit',
    'Hides a table or view, with its relationships and permissions.',
    { table: QualifiedName, cascade: flag },
    { lenient: wrapTable },
  ),
  track_tables: sourced('edit', 'Tracks several tables. One that fails is a warning, unless all do.', {
    tables: Type.Array(Type.Object({ source: Type.Optional(ObjectName), ...tracked })),
    allow_warnings: flag,
  }),
  untrack_tables: sourced('edit', 'Untracks several tables. One that fails is a warning, unless all do.', {
    tables: Type.Array(
      Type.Object({ source: Type.Optional(ObjectName), table: QualifiedName, cascade: flag }),
    ),
    allow_warnings: flag,
  }),
  set_table_customization: sourced('edit', 'Replaces the GraphQL names of a table.', {
    table: QualifiedName,
    configuration: Type.Optional(TableConfiguration),
  }),
  set_table_custom_fields: sourced(
    'edit',
    'Replaces the GraphQL names of root fields and columns; older than `set_table_customization`.',
    {
      table: QualifiedName,
      custom_root_fields: Type.Optional(CustomRootFields),
      custom_column_names: Type.Optional(Type.Record(ColumnName, GraphqlName)),
    },
    { versions: [1, 2] },
  ),
  set_apollo_federation_config: sourced(
    'edit',
    'Makes a table an entity of a federated graph, or no longer.',
    {
      table: QualifiedName,
      apollo_federation_config: Type.Optional(Type.Union([FederationConfig, Type.Null()])),
    },
  ),
  set_table_is_enum: sourced('edit', 'Makes the rows of a table values of an enum, or no longer.', {
    table: QualifiedName,
    is_enum: Type.Boolean(),
  }),
} as const satisfies Record<string, OperationDeclaration>;

/** Rewrites a bare table, `"author"` or `{schema, name}`, to the argument `table`. */
function wrapTable(args: unknown): unknown {
  if (typeof args === 'string') return { table: args };
  const isTable = isRecord(args) && 'name' in args && !('table' in args);
  return isTable ? { table: { schema: args['schema'], name: args['name'] } } : args;
}
