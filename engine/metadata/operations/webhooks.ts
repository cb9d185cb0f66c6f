/** Operations that test requests to webhooks. In: their arguments. Out: rows of OPERATIONS.
 *  Not here: performing them (admin/). */

import { EnvValue, RequestTransform, ResponseTransform } from '../schema/common.ts';
import { Type } from '../schema/type.ts';
import { type OperationDeclaration, row } from './row.ts';

export const WEBHOOK_OPERATIONS = {
  test_webhook_transform: row('read', 'Returns the request that a transform creates, without sending it.', {
    webhook_url: EnvValue,
    body: Type.Unknown(),
    env: Type.Optional(Type.Record(Type.String(), Type.String())),
    request_headers: Type.Optional(Type.Array(Type.Array(Type.String(), { minItems: 2, maxItems: 2 }))),
    session_variables: Type.Optional(Type.Record(Type.String(), Type.String())),
    request_transform: RequestTransform,
    response_transform: Type.Optional(ResponseTransform),
  }),
} as const satisfies Record<string, OperationDeclaration>;
