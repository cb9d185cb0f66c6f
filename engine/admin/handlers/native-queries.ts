/** Operations on native queries. Reference: docs/reference/behaviour/functions.md, docs/reference/behaviour/metadata-api.md.
 *  Not here: is the code valid, does it return what it should (resolve/native-query.ts, database/native-query.ts). */
import { fail } from '../../errors/engine-error.ts';
import { dependentsOf } from '../../metadata/dependencies.ts';
import { putObject, removeObject } from '../../metadata/edit.ts';
import { findObject, objectKey } from '../../metadata/objects.ts';
import { printDependents } from '../dependents.ts';
import type { Handler } from './handler.ts';
import { requireSource } from './locate.ts';

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
