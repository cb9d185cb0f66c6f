/** The webhook of a permission that validates input before rows are written. `type` and `definition` of the metadata are flattened here.
 *  Not here: the other fields of permissions (permission.ts), the call (engine/webhook/input-validation.ts). */
import { Seconds, Type } from '@pergola/engine/metadata';
import { closed, withDescription } from './annotate.ts';
import { inForm, optional, within } from './mapping.ts';
import { Headers, urlMember } from './value-source.ts';

const Webhook = closed(
  within('definition', {
    url: urlMember('url', 'The URL of the webhook.'),
    headers: Type.Optional(Headers),
    forwardClientHeaders: optional(
      'True: the headers of the client are sent to the webhook as well. Absent: false.',
      Type.Boolean(),
    ),
    timeoutSeconds: optional(
      'The seconds to wait for the answer of the webhook. Absent: 10.',
      Seconds,
      'timeout',
    ),
  }),
);

export const ValidateInput = withDescription(
  'A webhook that is called with the input before rows are written. It refuses the request by an answer with status 400.',
  inForm(Webhook, { write: (webhook) => ({ type: 'http', ...webhook }), read: (webhook) => webhook }),
);
