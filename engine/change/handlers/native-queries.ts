/** Operations on native queries, on logical models and on permissions of the latter.
 *  Not here: does the SQL run and return what it declares, do the types exist (resolve/native-query.ts, resolve/logical-model.ts).
 *  Reference: docs/reference/behaviour/functions.md, docs/reference/behaviour/metadata-api.md. */

import { fail } from '../../errors/engine-error.ts';
import { dependentsOf } from '../../metadata/dependencies.ts';
import { putObject, removeObject } from '../../metadata/edit.ts';
import { findObject, objectKey, parseKey } from '../../metadata/objects.ts';
import type { Metadata } from '../../metadata/schema/metadata.ts';
import { printDependents } from '../dependents.ts';
import type { Handler } from './handler.ts';
import { requireSource } from './handler.ts';

type ModelArgs = { readonly source: string; readonly name: string };

/** Raises `logicalModelAlreadyTracked`. */
export const trackLogicalModel: Handler<'track_logical_model'> = (draft, { source, ...definition }) => {
  requireSource(draft, source);
  const key = objectKey('logical_model', source, definition.name);
  if (findObject(draft, key)) fail('logicalModelAlreadyTracked', { name: definition.name });
  return putObject(draft, { key, kind: 'logical_model', parent: objectKey('source', source), definition });
};

/** Raises `logicalModelNotFound`, `logicalModelInUse`, `cannotDropDependents`. */
export const untrackLogicalModel: Handler<'untrack_logical_model'> = (draft, args) => {
  const key = requireModel(draft, args);
  const users = dependentsOf(draft, key).filter((user) => !user.startsWith('logical_model_permission/'));
  const query = users.map(parseKey).find((user) => user?.kind === 'native_query');
  if (query) fail('logicalModelInUse', { name: args.name, query: query.segments.at(-1)! });
  if (users.length > 0) fail('cannotDropDependents', { dependents: printDependents(users) });
  return removeObject(draft, key);
};

/** Raises `logicalModelNotFound`, `logicalModelPermissionExists`; the admin role may read everything already. */
export const createSelectPermission: Handler<'create_logical_model_select_permission'> = (draft, args) => {
  const { source, name, ...given } = args;
  const parent = requireModel(draft, args);
  const key = objectKey('logical_model_permission', source, name, given.role);
  if (given.role === 'admin' || findObject(draft, key)) {
    fail('logicalModelPermissionExists', { name, role: given.role });
  }
  const { comment, ...definition } = given;
  return putObject(draft, {
    key,
    kind: 'logical_model_permission',
    parent,
    definition: { ...definition, ...(typeof comment === 'string' ? { comment } : {}) },
  });
};

/** Raises `logicalModelNotFound`, `logicalModelPermissionMissing`. */
export const dropSelectPermission: Handler<'drop_logical_model_select_permission'> = (draft, args) => {
  requireModel(draft, args);
  const key = objectKey('logical_model_permission', args.source, args.name, args.role);
  if (!findObject(draft, key)) fail('logicalModelPermissionMissing', { name: args.name, role: args.role });
  return removeObject(draft, key);
};

/** Returns the key of a logical model. */
function requireModel(draft: Metadata, { source, name }: ModelArgs): string {
  requireSource(draft, source);
  const key = objectKey('logical_model', source, name);
  if (!findObject(draft, key)) fail('logicalModelNotFound', { name, source });
  return key;
}

/** Raises `nativeQueryAlreadyTracked`. */
export const trackNativeQuery: Handler<'track_native_query'> = (draft, { source, ...definition }) => {
  requireSource(draft, source);
  const key = objectKey('native_query', source, definition.root_field_name);
  if (findObject(draft, key)) fail('nativeQueryAlreadyTracked', { name: definition.root_field_name });
  return putObject(draft, { key, kind: 'native_query', parent: objectKey('source', source), definition });
};

/** Raises `nativeQueryNotFound`, `cannotDropDependents`. */
export const untrackNativeQuery: Handler<'untrack_native_query'> = (draft, args, links) => {
  requireSource(draft, args.source);
  const name = args.root_field_name;
  const key = objectKey('native_query', args.source, name);
  if (!findObject(draft, key)) fail('nativeQueryNotFound', { name, source: args.source });
  const users = dependentsOf(draft, key, links);
  if (users.length > 0) fail('cannotDropDependents', { dependents: printDependents(users) });
  return removeObject(draft, key);
};
