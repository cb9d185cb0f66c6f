/** Operations on inherited roles. Reference: docs/reference/behaviour/permissions.md.
 *  Not here: are the parents known, and do they agree (resolve/inherited-roles.ts). */
import { fail } from '../../errors/engine-error.ts';
import { putObject, removeObject } from '../../metadata/edit.ts';
import { refuseCycles } from '../../metadata/inherited-roles.ts';
import { findObject, objectKey } from '../../metadata/objects.ts';
import type { Handler } from './handler.ts';

/** A role that is inherited already gets other parents. Raises `roleInheritsItself`, `cyclicRoles`. */
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
