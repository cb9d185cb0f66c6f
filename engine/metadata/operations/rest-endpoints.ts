/** Operations on REST endpoints. In: their arguments. Out: rows of OPERATIONS.
 *  Not here: performing them (admin/). */

import { RestEndpoint } from '../schema/collection.ts';
import { ObjectName } from '../schema/common.ts';
import { type OperationDeclaration, row, shaped } from './row.ts';

export const REST_ENDPOINT_OPERATIONS = {
  create_rest_endpoint: shaped('edit', 'Answers a URL with the result of a stored document.', RestEndpoint),
  drop_rest_endpoint: row('edit', 'Drops a REST endpoint.', { name: ObjectName }),
} as const satisfies Record<string, OperationDeclaration>;
