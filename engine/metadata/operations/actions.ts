/** Operations on actions, their permissions and custom types. In: their arguments. Out: rows of OPERATIONS.
 *  Not here: performing them (admin/). */

import { ActionDefinition, CustomTypes } from '../schema/action.ts';
import { GraphqlName, RoleName } from '../schema/common.ts';
import { Type } from '../schema/type.ts';
import { comment, flag } from './arguments.ts';
import { type OperationDeclaration, row, shaped } from './row.ts';

const ActionArgs = Type.Object({
  name: GraphqlName,
  definition: ActionDefinition,
  comment,
});

export const ACTION_OPERATIONS = {
  create_action: shaped('edit', 'Makes a webhook a field of the schema.', ActionArgs),
  update_action: shaped(
    'edit',
    'Replaces the definition of an action and keeps its permissions.',
    ActionArgs,
  ),
  drop_action: row(
    'state',
    'Drops an action, its permissions and, unless `clear_data` is false, its stored calls.',
    { name: GraphqlName, clear_data: flag },
  ),
  create_action_permission: row('edit', 'Lets a role call an action.', {
    action: GraphqlName,
    role: RoleName,
    comment,
  }),
  drop_action_permission: row('edit', 'Removes the permission to call an action.', {
    action: GraphqlName,
    role: RoleName,
  }),
  set_custom_types: shaped('edit', 'Replaces the types of arguments and results of actions.', CustomTypes),
} as const satisfies Record<string, OperationDeclaration>;
