/** Operations on native queries and logical models. In: their arguments. Out: rows of OPERATIONS.
 *  Not here: performing them (admin/). */

import { Comment, GraphqlName, ObjectName, RoleName } from '../schema/common.ts';
import { LogicalModelField } from '../schema/logical-model.ts';
import { NativeQuery } from '../schema/native-query.ts';
import { SelectRule } from '../schema/permission.ts';
import { Type } from '../schema/type.ts';
import { comment } from './arguments.ts';
import { type OperationDeclaration, sourced } from './row.ts';

export const NATIVE_QUERY_OPERATIONS = {
  track_logical_model: sourced('edit', 'Declares a shape of rows for native queries.', {
    name: GraphqlName,
    description: Type.Optional(Comment),
    fields: Type.Array(LogicalModelField),
  }),
  untrack_logical_model: sourced('edit', 'Removes a logical model that nothing uses.', { name: ObjectName }),
  get_logical_model: sourced('read', 'Returns the logical models of a source.', {}),
  create_logical_model_select_permission: sourced('edit', 'Lets a role read rows of a logical model.', {
    name: ObjectName,
    role: RoleName,
    permission: SelectRule,
    comment,
  }),
  drop_logical_model_select_permission: sourced(
    'edit',
    'Removes the permission to read rows of a logical model.',
    { name: ObjectName, role: RoleName },
  ),
  track_native_query: sourced(
    'edit',
    'Adds SQL with arguments to the GraphQL schema.',
    NativeQuery.properties,
  ),
  untrack_native_query: sourced('edit', 'Removes a native query from the GraphQL schema.', {
    root_field_name: ObjectName,
  }),
  get_native_query: sourced('read', 'Returns the native queries of a source.', {}),
} as const satisfies Record<string, OperationDeclaration>;
