/** Operations on permissions of a tracked table and on inherited roles. Spec: "Permission operations".
 *  Not here: the meaning of a permission over the table's columns, and whether parents agree (resolve/).
 *  Reference: docs/reference/behaviour/permissions.md. */

import { fail } from '../../errors/engine-error.ts';
import { putObject, removeObject } from '../../metadata/edit.ts';
import { refuseCycles } from '../../metadata/inherited-roles.ts';
import { findObject, objectKey } from '../../metadata/objects.ts';
import { printQualified } from '../../metadata/schema/common.ts';
import type { Metadata } from '../../metadata/schema/metadata.ts';
import type { Handler } from './handler.ts';
import { editObject, keyIn, putIn, requireTable, type TableArgs } from './handler.ts';

type PermissionType = 'insert' | 'select' | 'update' | 'delete';

/** Raises `permissionOfAdmin`, `permissionExists`, as do the three that follow. */
export const createInsertPermission: Handler<'create_insert_permission'> = (draft, args) =>
  create(draft, 'insert', args);
export const createSelectPermission: Handler<'create_select_permission'> = (draft, args) =>
  create(draft, 'select', args);
export const createUpdatePermission: Handler<'create_update_permission'> = (draft, args) =>
  create(draft, 'update', args);
export const createDeletePermission: Handler<'create_delete_permission'> = (draft, args) =>
  create(draft, 'delete', args);

/** Raises `permissionNotExists`, as do the three that follow. */
export const dropInsertPermission: Handler<'drop_insert_permission'> = (draft, args) =>
  removeObject(draft, requirePermission(draft, 'insert', args));
export const dropSelectPermission: Handler<'drop_select_permission'> = (draft, args) =>
  removeObject(draft, requirePermission(draft, 'select', args));
export const dropUpdatePermission: Handler<'drop_update_permission'> = (draft, args) =>
  removeObject(draft, requirePermission(draft, 'update', args));
export const dropDeletePermission: Handler<'drop_delete_permission'> = (draft, args) =>
  removeObject(draft, requirePermission(draft, 'delete', args));

/** Raises `permissionNotExists`. */
export const setPermissionComment: Handler<'set_permission_comment'> = (draft, args) =>
  editObject(draft, requirePermission(draft, args.type, args), { comment: args.comment ?? undefined });

type OfRole = TableArgs & { readonly role: string };
type NewPermission = OfRole & { readonly permission: object; readonly comment?: string | null };

function create(draft: Metadata, type: PermissionType, args: NewPermission): Metadata {
  requireTable(draft, args);
  const { role, permission, comment } = args;
  if (role === 'admin') fail('permissionOfAdmin', { type, table: printQualified(args.table) });
  if (findObject(draft, keyOf(type, args))) {
    fail('permissionExists', { type, table: printQualified(args.table), role });
  }
  const definition = { role, permission, ...(typeof comment === 'string' ? { comment } : {}) };
  return putIn(draft, `${type}_permission`, args, { name: role, definition });
}

function requirePermission(draft: Metadata, type: PermissionType, args: OfRole): string {
  requireTable(draft, args);
  const key = keyOf(type, args);
  if (!findObject(draft, key)) {
    fail('permissionNotExists', { type, table: printQualified(args.table), role: args.role });
  }
  return key;
}

function keyOf(type: PermissionType, args: OfRole): string {
  return keyIn(`${type}_permission`, args, args.role);
}

/** Adds an inherited role, or replaces the parents of one. Raises `roleInheritsItself`, `cyclicRoles`. */
export const addInheritedRole: Handler<'add_inherited_role'> = (draft, role) => {
  if (role.role_set.includes(role.role_name)) fail('roleInheritsItself', {});
  const key = objectKey('inherited_role', role.role_name);
  const edited = putObject(draft, { key, kind: 'inherited_role', parent: null, definition: role });
  refuseCycles(edited.inherited_roles ?? []);
  return edited;
};

/** Raises `inheritedRoleNotExists`. */
export const dropInheritedRole: Handler<'drop_inherited_role'> = (draft, { role_name: role }) => {
  const key = objectKey('inherited_role', role);
  if (!findObject(draft, key)) fail('inheritedRoleNotExists', { role });
  return removeObject(draft, key);
};
