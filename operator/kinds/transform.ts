/** Request and response transforms of webhooks for Action, EventTrigger, CronTrigger and ScheduledEvent. Unions of the metadata have one
 *  form: a template of version 1 is `body.template`, and query parameters from a single template are `queryParamsTemplate`.
 *  Not here: the meaning of templates (engine/transform). */
import { type RequestTransform, type ResponseTransform, type Static, Type } from '@pergola/engine/metadata';
import { closed, plainList, textRecord, withDescription } from './annotate.ts';
import { pascalCase } from './enumeration.ts';

const template = (description: string) =>
  Type.Optional(Type.String({ maxLength: 65_536, description: `${description} It is a template.` }));

const VERSION = Type.Optional(
  withDescription(
    'The version of the template of the body: 1 or 2. Absent: 2.',
    Type.Union([Type.Literal(1), Type.Literal(2)]),
  ),
);

const ACTIONS = {
  Transform: 'transform',
  Remove: 'remove',
  Form: 'x_www_form_urlencoded',
} as const;

const Body = closed({
  action: Type.Optional(
    withDescription(
      'What happens to the body: Transform creates JSON from `template`, Form creates an URL-encoded form from `formTemplate`, Remove ' +
        'sends none. Absent: Transform.',
      Type.Union([Type.Literal('Transform'), Type.Literal('Remove'), Type.Literal('Form')]),
    ),
  ),
  template: template('The new JSON body, for example { "name": {{$body.input.name}} }.'),
  formTemplate: Type.Optional(
    withDescription('The fields of the form: from name to the template of the value.', textRecord()),
  ),
});
type Body = Static<typeof Body>;

const RequestTransformSpec = closed({
  version: VERSION,
  method: Type.Optional(
    Type.String({ maxLength: 16, description: 'The HTTP method, for example GET. Absent: POST.' }),
  ),
  url: template('The URL, for example {{$base_url}}/users. Absent: the URL of the webhook.'),
  body: Type.Optional(
    withDescription('The body. Absent: the body that the engine sends without a transform.', Body),
  ),
  queryParams: Type.Optional(
    withDescription('Query parameters: from name to the template of the value.', textRecord()),
  ),
  queryParamsTemplate: template('The whole query string, instead of queryParams.'),
  requestHeaders: Type.Optional(
    withDescription(
      'Changes of the headers.',
      closed({
        add: Type.Optional(
          withDescription('Headers to add: from name to the template of the value.', textRecord()),
        ),
        remove: Type.Optional(
          withDescription(
            'Names of headers that are not sent.',
            plainList(Type.String({ maxLength: 255 }), 100),
          ),
        ),
      }),
    ),
  ),
});

const ResponseTransformSpec = closed({
  version: VERSION,
  body: Type.Optional(withDescription('The body. Absent: the body of the webhook.', Body)),
});

/** The fields `requestTransform` and `responseTransform` of a spec. */
export const TRANSFORMS = {
  requestTransform: Type.Optional(
    withDescription('Changes of the request before it is sent to the webhook.', RequestTransformSpec),
  ),
  responseTransform: Type.Optional(
    withDescription(
      'Changes of the response of the webhook before the engine reads it.',
      ResponseTransformSpec,
    ),
  ),
};

type Transforms = {
  readonly requestTransform?: Static<typeof RequestTransformSpec>;
  readonly responseTransform?: Static<typeof ResponseTransformSpec>;
};
type MetadataTransforms = {
  readonly request_transform?: RequestTransform;
  readonly response_transform?: ResponseTransform;
};

export function transformsOf({ requestTransform: request, responseTransform: response }: Transforms): object {
  return {
    request_transform: request && {
      ...bodyOf(request),
      method: request.method,
      url: request.url,
      query_params: request.queryParamsTemplate ?? request.queryParams,
      request_headers: request.requestHeaders && {
        add_headers: request.requestHeaders.add,
        remove_headers: request.requestHeaders.remove,
      },
    },
    response_transform: response && bodyOf(response),
  };
}

/** Returns the version and the body. In version 1 of the metadata a body without an action is its template. */
function bodyOf({ version = 2, body }: { readonly version?: 1 | 2; readonly body?: Body }): object {
  if (!body) return { version };
  if (version === 1 && body.action === undefined) return { version, body: body.template };
  const { action = 'Transform', template, formTemplate } = body;
  return { version, body: { action: ACTIONS[action], template, form_template: formTemplate } };
}

/** Returns the transforms of a spec, the inverse of `transformsOf`. */
export function describeTransforms(given: MetadataTransforms): object {
  const { request_transform: request, response_transform: response } = given;
  const params = request?.query_params;
  return {
    requestTransform: request && {
      ...describeBody(request),
      method: request.method,
      url: request.url,
      ...(typeof params === 'string' ? { queryParamsTemplate: params } : { queryParams: params }),
      requestHeaders: request.request_headers && {
        add: request.request_headers.add_headers,
        remove: request.request_headers.remove_headers,
      },
    },
    responseTransform: response && describeBody(response),
  };
}

function describeBody({ version, body }: Pick<RequestTransform, 'version' | 'body'>): object {
  const said = version === 2 ? {} : { version: 1 };
  if (body === undefined) return said;
  if (typeof body === 'string') return { ...said, body: { template: body } };
  const { action, template, form_template: formTemplate } = body;
  return { ...said, body: { action: pascalCase(action), template, formTemplate } };
}
