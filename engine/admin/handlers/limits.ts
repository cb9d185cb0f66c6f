/** Operations on API limits and introspection. Each replaces all that was said before.
 *  Not here: what they mean to a role (resolve/guard.ts). Reference: features.md rows 150, 151. */
import { objectKey, putObject, removeObject } from '../../metadata/objects.ts';
import type { Handler } from './handler.ts';

export const setApiLimits: Handler<'set_api_limits'> = (draft, definition) =>
  putObject(draft, { key: objectKey('api_limits'), kind: 'api_limits', parent: null, definition });

export const removeApiLimits: Handler<'remove_api_limits'> = (draft) =>
  removeObject(draft, objectKey('api_limits'));

export const setIntrospection: Handler<'set_graphql_schema_introspection_options'> = (draft, definition) =>
  putObject(draft, { key: objectKey('introspection'), kind: 'introspection', parent: null, definition });
