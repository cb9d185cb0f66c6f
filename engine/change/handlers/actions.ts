/** Operations on actions, their permissions and custom types. Reference: docs/reference/behaviour/metadata-api.md.
 *  Not here: do the types fit (resolve/custom-type.ts, resolve/action.ts), calling webhooks (webhook/). */
import { fail } from '../../errors/engine-error.ts';
import { putObject, removeObject } from '../../metadata/edit.ts';
import { findObject, objectKey } from '../../metadata/objects.ts';
import type { Metadata } from '../../metadata/schema/metadata.ts';
import type { Handler } from './handler.ts';
import { editObject } from './handler.ts';

/** Raises `actionExists`. */
export const createAction: Handler<'create_action'> = (draft, { name, definition, comment }) => {
  const key = objectKey('action', name);
  if (findObject(draft, key)) fail('actionExists', { name });
  const action = { name, definition, ...(typeof comment === 'string' ? { comment } : {}) };
  return putObject(draft, { key, kind: 'action', parent: null, definition: action });
};

/** Raises `actionNotExists`. */
export const updateAction: Handler<'update_action'> = (draft, { name, definition, comment }) => {
  const key = requireAction(draft, name);
  return editObject(draft, key, { definition, comment: comment ?? undefined });
};

/** Raises `actionNotExists`. */
export function dropAction(draft: Metadata, name: string): Metadata {
  return removeObject(draft, requireAction(draft, name));
}

/** Raises `actionNotExists`, `actionPermissionExists`. */
export const createActionPermission: Handler<'create_action_permission'> = (draft, args) => {
  const { action: name, role, comment } = args;
  const parent = requireAction(draft, name);
  const key = objectKey('action_permission', name, role);
  if (findObject(draft, key)) fail('actionPermissionExists', { name, role });
  const definition = { role, ...(typeof comment === 'string' ? { comment } : {}) };
  return putObject(draft, { key, kind: 'action_permission', parent, definition });
};

/** Raises `actionNotExists`, `actionPermissionNotExists`. */
export const dropActionPermission: Handler<'drop_action_permission'> = (draft, { action: name, role }) => {
  requireAction(draft, name);
  const key = objectKey('action_permission', name, role);
  if (!findObject(draft, key)) fail('actionPermissionNotExists', { name, role });
  return removeObject(draft, key);
};

export const setCustomTypes: Handler<'set_custom_types'> = ({ custom_types: _, ...draft }, types) => {
  const isEmpty = Object.values(types).every((list) => list.length === 0);
  return isEmpty ? draft : { ...draft, custom_types: types };
};

/** Returns the key of an action. Raises `actionNotExists`. */
function requireAction(draft: Metadata, name: string): string {
  const key = objectKey('action', name);
  if (!findObject(draft, key)) fail('actionNotExists', { name });
  return key;
}
