/** The webhook of a permission that validates input before rows are written. `type` and `definition` of the metadata are flattened here.
 *  Not here: the other fields of permissions (permission.ts), the call (engine/webhook/input-validation.ts). */
import {
  type ValidateInput as MetadataValidateInput,
  Seconds,
  type Static,
  Type,
} from '@pergola/engine/metadata';
import { closed, withDescription } from './annotate.ts';
import type { FieldPath } from './field-path.ts';
import type { TranslateContext } from './kind.ts';
import {
  describeField,
  describeHeaders,
  fieldOf,
  Headers,
  headersOf,
  readValue,
  urlSource,
} from './value-source.ts';

export const ValidateInput = withDescription(
  'A webhook that is called with the input before rows are written. It refuses the request by an answer with status 400.',
  closed({
    url: urlSource('The URL of the webhook.'),
    headers: Type.Optional(Headers),
    forwardClientHeaders: Type.Optional(
      Type.Boolean({
        description: 'True: the headers of the client are sent to the webhook as well. Absent: false.',
      }),
    ),
    timeoutSeconds: Type.Optional(
      withDescription('The seconds to wait for the answer of the webhook. Absent: 10.', Seconds),
    ),
  }),
);
type ValidateInput = Static<typeof ValidateInput>;

/** Returns the validation as the metadata has it. `at` is the path of the validation in the spec. */
export function validationOf(
  given: ValidateInput | undefined,
  at: string,
  context: TranslateContext,
): object | undefined {
  if (!given) return undefined;
  return {
    type: 'http',
    definition: {
      ...fieldOf('url', readValue(given.url, `${at}.url`, context)),
      headers: headersOf(given.headers, context, `${at}.headers`),
      forward_client_headers: given.forwardClientHeaders,
      timeout: given.timeoutSeconds,
    },
  };
}

/** Returns the validation of a spec, the inverse of `validationOf`. */
export function describeValidation(given: MetadataValidateInput | undefined): object | undefined {
  if (!given) return undefined;
  const { headers, forward_client_headers, timeout } = given.definition;
  return {
    url: describeField('url', given.definition),
    headers: describeHeaders(headers),
    forwardClientHeaders: forward_client_headers,
    timeoutSeconds: timeout,
  };
}

/** Returns the fields of a validation for paths in the definition of a permission. `at` is the path of the validation in the spec. */
export function validationPaths(at: string): readonly FieldPath[] {
  const of = ['permission', 'validate_input', 'definition'];
  return [
    { at: `${at}.url`, of: [...of, 'url'] },
    { at: `${at}.headers`, of: [...of, 'headers'] },
    { at: `${at}.timeoutSeconds`, of: [...of, 'timeout'] },
    { at, of: ['permission', 'validate_input'] },
  ];
}
