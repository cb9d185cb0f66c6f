/** Operations on REST endpoints. Reference: docs/reference/behaviour/metadata-api.md.
 *  Not here: is the URL sound, is the document there (resolve/rest-endpoint.ts), what an endpoint answers (http/rest.ts). */
import { fail } from '../../errors/engine-error.ts';
import { putObject, removeObject } from '../../metadata/edit.ts';
import { findObject, objectKey } from '../../metadata/objects.ts';
import type { Handler } from './handler.ts';

/** Raises `endpointExists`. */
export const createRestEndpoint: Handler<'create_rest_endpoint'> = (draft, definition) => {
  const key = objectKey('rest_endpoint', definition.name);
  if (findObject(draft, key)) fail('endpointExists', { name: definition.name });
  return putObject(draft, { key, kind: 'rest_endpoint', parent: null, definition });
};

/** Raises `endpointNotExists`. */
export const dropRestEndpoint: Handler<'drop_rest_endpoint'> = (draft, { name }) => {
  const key = objectKey('rest_endpoint', name);
  if (!findObject(draft, key)) fail('endpointNotExists', { name });
  return removeObject(draft, key);
};
