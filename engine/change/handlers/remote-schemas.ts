/** Operations on remote schemas that do not need the service.
 *  Not here: those that do (admin/remote-schemas.ts), whether permissions still fit (resolve/remote-schema.ts). Spec: "Remote schema
 *  operations"; docs/reference/behaviour/remote-schemas.md, docs/reference/behaviour/metadata-api.md. */
import { fail } from '../../errors/engine-error.ts';
import { foreignDependentsOf } from '../../metadata/dependencies.ts';
import { removeObject } from '../../metadata/edit.ts';
import { findObject, objectKey } from '../../metadata/objects.ts';
import type { Metadata } from '../../metadata/schema/metadata.ts';
import { printDependents } from '../dependents.ts';
import type { Handler } from './handler.ts';
import { editObject } from './handler.ts';

/** Replaces the definition and keeps the permissions. Raises `remoteSchemaNotExists`. */
export const updateRemoteSchema: Handler<'update_remote_schema'> = (draft, { name, definition, comment }) =>
  editObject(draft, requireRemoteSchema(draft, name), { definition, comment });

/** Removes a remote schema and its permissions. Raises `remoteSchemaNotExists`, `cannotDropDependents`. */
export const removeRemoteSchema: Handler<'remove_remote_schema'> = (draft, { name }, links) => {
  const key = requireRemoteSchema(draft, name);
  const users = foreignDependentsOf(draft, key, links);
  if (users.length > 0) fail('cannotDropDependents', { dependents: printDependents(users) });
  return removeObject(draft, key);
};

/** Raises `remoteSchemaNotExists`, `remoteSchemaPermissionNotExists`. */
export const dropRemoteSchemaPermission: Handler<'drop_remote_schema_permissions'> = (draft, args) => {
  const { remote_schema: name, role } = args;
  requireRemoteSchema(draft, name);
  const key = objectKey('remote_schema_permission', name, role);
  if (!findObject(draft, key)) fail('remoteSchemaPermissionNotExists', { name, role });
  return removeObject(draft, key);
};

/** Returns the key of a remote schema. Raises `remoteSchemaNotExists`. */
export function requireRemoteSchema(draft: Metadata, name: string): string {
  const key = objectKey('remote_schema', name);
  return findObject(draft, key) ? key : fail('remoteSchemaNotExists', { name });
}
