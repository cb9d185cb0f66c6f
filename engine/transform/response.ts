/** Applies a response transform to a webhook's answer. Pure. Raises TransformError.
 *  Reference: docs/reference/behaviour/actions.md. */
import type { ResponseTransform } from '../metadata/schema/common.ts';
import { transformedBody } from './body.ts';
import { type SessionVariables, scopeOf } from './render.ts';
import { type PlainRequest, requestBindings } from './request.ts';

type WebhookResponse = { readonly status: number; readonly body: unknown };

export function transformResponse(
  transform: ResponseTransform,
  { status, body }: WebhookResponse,
  plain: PlainRequest,
  session: SessionVariables,
): unknown {
  const about = requestBindings(plain, session);
  const request = Object.fromEntries([...about].map(([name, value]) => [name.slice(1), value]));
  const bindings = new Map([...about, ['$body', body], ['$response', { status }], ['$request', request]]);
  const made = transformedBody(transform.body, body, scopeOf(bindings, session));
  switch (made.kind) {
    case 'json':
      return made.value;
    case 'form':
      return made.text;
    case 'none':
      return null;
    default:
      return made satisfies never;
  }
}
