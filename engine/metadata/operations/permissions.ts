/** Operations on permissions on tables, and on inherited roles. In: their arguments. Out: rows of OPERATIONS.
 *  Not here: performing them (admin/). */

import { QualifiedName, RoleName } from '../schema/common.ts';
import { DeleteRule, InsertRule, SelectRule, UpdateRule } from '../schema/permission.ts';
import { InheritedRole } from '../schema/policy.ts';
import { oneOf, type TSchema } from '../schema/type.ts';
import { comment } from './arguments.ts';
import { type OperationDeclaration, row, shaped, sourced } from './row.ts';

const permission = <S extends TSchema>(rule: S) => ({
  table: QualifiedName,
  role: RoleName,
  permission: rule,
  comment,
});

const ofRole = { table: QualifiedName, role: RoleName };

const PermissionType = oneOf('insert', 'select', 'update', 'delete');

export const PERMISSION_OPERATIONS = {
  create_insert_permission: sourced('edit', 'Lets a role insert rows.', permission(InsertRule)),
  create_select_permission: sourced('edit', 'Lets a role read rows.', permission(SelectRule)),
  create_update_permission: sourced('edit', 'Lets a role update rows.', permission(UpdateRule)),
  create_delete_permission: sourced('edit', 'Lets a role delete rows.', permission(DeleteRule)),
  drop_insert_permission: sourced('edit', 'Removes the permission to insert.', ofRole),
  drop_select_permission: sourced('edit', 'Removes the permission to read.', ofRole),
  drop_update_permission: sourced('edit', 'Removes the permission to update.', ofRole),
  drop_delete_permission: sourced('edit', 'Removes the permission to delete.', ofRole),
  set_permission_comment: sourced('edit', 'Sets or removes the comment of a permission.', {
    ...ofRole,
    type: PermissionType,
    comment,
  }),
} as const satisfies Record<string, OperationDeclaration>;

export const ROLE_OPERATIONS = {
  add_inherited_role: shaped(
    'edit',
    'Creates an inherited role, or replaces its parent roles.',
    InheritedRole,
  ),
  drop_inherited_role: row('edit', 'Drops an inherited role.', { role_name: RoleName }),
} as const satisfies Record<string, OperationDeclaration>;
