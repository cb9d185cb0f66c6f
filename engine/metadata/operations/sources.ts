/** Operations on sources, and on what their databases have. In: their arguments. Out: rows of OPERATIONS.
 *  Not here: performing them (admin/). */

import { ColumnName, nullable, ObjectName, QualifiedName, RoleName } from '../schema/common.ts';
import {
  ConnectionTemplate,
  HealthCheck,
  QueryTags,
  SourceConfiguration,
  SourceCustomization,
  SourceKind,
} from '../schema/source.ts';
import { oneOf, Type } from '../schema/type.ts';
import { flag, values } from './arguments.ts';
import { type OperationDeclaration, row, sourced } from './row.ts';

const sourceSettings = {
  customization: Type.Optional(SourceCustomization),
  query_tags: Type.Optional(nullable(QueryTags)),
  health_check: Type.Optional(HealthCheck),
};

export const SOURCE_OPERATIONS = {
  pg_add_source: row('edit', 'Adds a database.', {
    name: ObjectName,
    kind: Type.Optional(SourceKind),
    configuration: SourceConfiguration,
    replace_configuration: flag,
    ...sourceSettings,
  }),
  pg_update_source: row(
    'edit',
    'Changes the settings of a source that are given. An empty object removes one.',
    { name: ObjectName, configuration: Type.Optional(SourceConfiguration), ...sourceSettings },
    { keepsEmpty: true },
  ),
  pg_drop_source: row('edit', 'Removes a source with everything tracked in it.', {
    name: ObjectName,
    cascade: flag,
  }),
  rename_source: row('edit', 'Renames a source.', { name: ObjectName, new_name: ObjectName }),
  set_query_tags: row('edit', 'Configures the comments that name the operation in statements of a source.', {
    source_name: ObjectName,
    ...QueryTags.properties,
  }),
  pg_test_connection_template: row(
    'read',
    'Returns the connection that a connection template chooses for a request.',
    {
      source_name: ObjectName,
      request_context: Type.Object({
        headers: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
        session: Type.Optional(Type.Record(Type.String(), Type.String())),
        query: Type.Optional(
          Type.Object({
            operation_type: Type.Optional(oneOf('query', 'mutation', 'subscription')),
            operation_name: Type.Optional(Type.String()),
          }),
        ),
      }),
      connection_template: Type.Optional(ConnectionTemplate),
    },
  ),
  list_source_kinds: row('read', 'Returns the kinds of databases a source may be.', {}),
  get_source_kind_capabilities: row(
    'read',
    'Always refused: only kinds that are not built in have capabilities.',
    { name: ObjectName },
  ),
  get_source_tables: sourced('read', 'Returns the tables and views of a database, tracked or not.', {}),
  get_source_functions: sourced('read', 'Returns the functions of a database, tracked or not.', {}),
  get_table_info: sourced('read', 'Returns the columns and keys of a table or view, tracked or not.', {
    table: QualifiedName,
  }),
  get_viewdef_info: sourced('read', 'Returns the query of a view.', { view: QualifiedName }),
  explain_access: sourced(
    'read',
    'Returns whether a role may read or write rows, and which clauses of its permissions decide it. Writes nothing.',
    {
      table: QualifiedName,
      role: RoleName,
      session_variables: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
      operation: Type.Optional(oneOf('select', 'insert', 'update', 'delete')),
      key: values,
      where: Type.Optional(Type.Unknown()),
      columns: Type.Optional(Type.Array(ColumnName)),
      fields: Type.Optional(Type.Array(Type.String())),
      values,
      operators: Type.Optional(Type.Record(Type.String(), Type.Record(Type.String(), Type.Unknown()))),
      on_conflict: Type.Optional(
        Type.Object(
          {
            constraint: Type.String(),
            update_columns: Type.Optional(Type.Array(ColumnName)),
            where: Type.Optional(Type.Unknown()),
          },
          { additionalProperties: false },
        ),
      ),
    },
    { isForConsole: true },
  ),
} as const satisfies Record<string, OperationDeclaration>;
