/** Operations on remote schemas, their permissions and relationships. In: their arguments. Out: rows of OPERATIONS.
 *  Not here: performing them (admin/). */

import { GraphqlName, ObjectName, RoleName } from '../schema/common.ts';
import { RemoteRelationshipDefinition } from '../schema/relationship.ts';
import { RemoteSchemaDefinition, RemoteSchemaPermission } from '../schema/remote-schema.ts';
import { Type } from '../schema/type.ts';
import { comment } from './arguments.ts';
import { type OperationDeclaration, row, shaped } from './row.ts';

const remoteSchemaName = Type.Object({ name: ObjectName });

const remoteTypeRelationship = Type.Object({
  remote_schema: ObjectName,
  type_name: GraphqlName,
  name: GraphqlName,
  definition: RemoteRelationshipDefinition,
});

export const REMOTE_SCHEMA_OPERATIONS = {
  add_remote_schema: row('state', 'Adds the schema of a GraphQL service to the GraphQL schema.', {
    name: ObjectName,
    definition: RemoteSchemaDefinition,
    comment,
    permissions: Type.Optional(Type.Array(RemoteSchemaPermission)),
  }),
  update_remote_schema: row('edit', 'Replaces the definition of a remote schema.', {
    name: ObjectName,
    definition: RemoteSchemaDefinition,
    comment,
  }),
  remove_remote_schema: shaped('edit', 'Removes a remote schema.', remoteSchemaName),
  reload_remote_schema: shaped('state', 'Introspects a remote schema again.', remoteSchemaName),
  introspect_remote_schema: shaped('read', 'Returns the introspection of a remote schema.', remoteSchemaName),
  add_remote_schema_permissions: row('state', 'Grants a role a part of a remote schema.', {
    remote_schema: ObjectName,
    role: RoleName,
    definition: RemoteSchemaPermission.properties.definition,
    comment,
  }),
  drop_remote_schema_permissions: row('edit', 'Removes the permission of a role on a remote schema.', {
    remote_schema: ObjectName,
    role: RoleName,
  }),
  create_remote_schema_remote_relationship: shaped(
    'edit',
    'Creates a relationship from objects of a remote schema to rows, or into a remote schema.',
    remoteTypeRelationship,
  ),
  update_remote_schema_remote_relationship: shaped(
    'edit',
    'Replaces the definition of a relationship of a remote schema.',
    remoteTypeRelationship,
  ),
  delete_remote_schema_remote_relationship: row('edit', 'Drops a relationship of a remote schema.', {
    remote_schema: ObjectName,
    type_name: GraphqlName,
    name: GraphqlName,
  }),
} as const satisfies Record<string, OperationDeclaration>;
