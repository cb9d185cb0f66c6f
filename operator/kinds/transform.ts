/** Request and response transforms of webhooks for Action, EventTrigger and CronTrigger. Unions of the metadata have one form: a body
 *  without `action` is the template of version 1, and query parameters from a single template are `queryParamsTemplate`.
 *  Not here: the meaning of templates (engine/transform). */
import { type RequestTransform, type ResponseTransform, type Static, Type } from '@pergola/engine/metadata';
import { closed, plainList, textRecord, withDescription } from './annotate.ts';

const Template = Type.String({ maxLength: 65_536 });
const Version = Type.Optional(Type.Union([Type.Literal(1), Type.Literal(2)]));
const TemplateEngine = Type.Optional(Type.Literal('Kriti'));

const Body = withDescription(
  'The body: from a template, removed, or a form. Without an action the template is that of version 1.',
  closed({
    action: Type.Optional(
      Type.Union([Type.Literal('transform'), Type.Literal('remove'), Type.Literal('x_www_form_urlencoded')]),
    ),
    template: Type.Optional(Template),
    formTemplate: Type.Optional(textRecord()),
  }),
);
type Body = Static<typeof Body>;

export const RequestTransformSpec = closed({
  version: Version,
  method: Type.Optional(Type.String({ maxLength: 16 })),
  url: Type.Optional(Template),
  body: Type.Optional(Body),
  queryParams: Type.Optional(textRecord()),
  queryParamsTemplate: Type.Optional(Template),
  requestHeaders: Type.Optional(
    closed({
      addHeaders: Type.Optional(textRecord()),
      removeHeaders: Type.Optional(plainList(Type.String({ maxLength: 255 }), 100)),
    }),
  ),
  templateEngine: TemplateEngine,
});

export const ResponseTransformSpec = closed({
  version: Version,
  body: Type.Optional(Body),
  templateEngine: TemplateEngine,
});

export const TRANSFORMS = {
  requestTransform: Type.Optional(
    withDescription('Changes of the request to the webhook.', RequestTransformSpec),
  ),
  responseTransform: Type.Optional(
    withDescription('Changes of the response of the webhook.', ResponseTransformSpec),
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
      version: request.version,
      method: request.method,
      url: request.url,
      body: bodyOf(request.body),
      query_params: request.queryParamsTemplate ?? request.queryParams,
      request_headers: request.requestHeaders && {
        add_headers: request.requestHeaders.addHeaders,
        remove_headers: request.requestHeaders.removeHeaders,
      },
      template_engine: request.templateEngine,
    },
    response_transform: response && {
      version: response.version,
      body: bodyOf(response.body),
      template_engine: response.templateEngine,
    },
  };
}

function bodyOf(body: Body | undefined): unknown {
  if (body === undefined || body.action === undefined) return body?.template;
  return { action: body.action, template: body.template, form_template: body.formTemplate };
}

/** Returns the transforms of a spec, the inverse of `transformsOf`. */
export function describeTransforms(given: MetadataTransforms): object {
  const { request_transform: request, response_transform: response } = given;
  const params = request?.query_params;
  return {
    requestTransform: request && {
      version: request.version,
      method: request.method,
      url: request.url,
      body: describeBody(request.body),
      ...(typeof params === 'string' ? { queryParamsTemplate: params } : { queryParams: params }),
      requestHeaders: request.request_headers && {
        addHeaders: request.request_headers.add_headers,
        removeHeaders: request.request_headers.remove_headers,
      },
      templateEngine: request.template_engine,
    },
    responseTransform: response && {
      version: response.version,
      body: describeBody(response.body),
      templateEngine: response.template_engine,
    },
  };
}

function describeBody(body: RequestTransform['body']): Body | undefined {
  if (typeof body === 'string') return { template: body };
  return body && ({ action: body.action, template: body.template, formTemplate: body.form_template } as Body);
}
