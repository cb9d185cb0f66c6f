/** Operations on inherited roles. In: their arguments. Out: rows of OPERATIONS.
 *  Not here: performing them (admin/). */

import { RoleName } from '../schema/common.ts';
import { InheritedRole } from '../schema/policy.ts';
import { type OperationDeclaration, row, shaped } from './row.ts';

export const ROLE_OPERATIONS = {
  add_inherited_role: shaped(
    'edit',
    'Creates an inherited role, or replaces its parent roles.',
    InheritedRole,
  ),
  drop_inherited_role: row('edit', 'Drops an inherited role.', { role_name: RoleName }),
} as const satisfies Record<string, OperationDeclaration>;
