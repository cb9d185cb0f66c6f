/** Request and response transforms of webhooks for Action, EventTrigger, CronTrigger and ScheduledEvent. Unions of the metadata have one
 *  form: a template of version 1 is `body.template`, and query parameters from a single template are `queryParamsTemplate`.
 *  Not here: the meaning of templates (engine/transform). */
import { secret, type TSchema, Type } from '@pergola/engine/metadata';
import { closed, plainList, textRecord } from './annotate.ts';
import { pascalCase } from './enumeration.ts';
import { inForm, optional } from './mapping.ts';

const template = (description: string, to?: string) =>
  optional(`${description} It is a template.`, textOnly(secret(Type.String({ maxLength: 65_536 }))), to);

/** Returns the schema of a text in a member that may have another type. */
function textOnly<T extends TSchema>(schema: T): T {
  return inForm(schema, {
    write: (text) => text,
    read: (value) => (typeof value === 'string' ? value : undefined),
  });
}

const VERSION = optional(
  'The version of the template of the body: 1 or 2. Absent: 2.',
  inForm(Type.Union([Type.Literal(1), Type.Literal(2)]), {
    write: (version) => version,
    read: (version) => (version === 2 ? undefined : 1),
    absent: () => 2,
  }),
);

const ACTIONS = { Transform: 'transform', Remove: 'remove', Form: 'x_www_form_urlencoded' } as const;
const Action = inForm(Type.Union([Type.Literal('Transform'), Type.Literal('Remove'), Type.Literal('Form')]), {
  write: (action: keyof typeof ACTIONS) => ACTIONS[action],
  read: pascalCase,
});

const Body = closed({
  action: optional(
    'What happens to the body: Transform creates JSON from `template`, Form creates an URL-encoded form from `formTemplate`, Remove ' +
      'sends none. Absent: Transform.',
    Action,
  ),
  template: template('The new JSON body, for example { "name": {{$body.input.name}} }.'),
  formTemplate: optional(
    'The fields of the form: from name to the template of the value.',
    secret(textRecord()),
  ),
});

/** The form of a transform. In version 1 of the metadata a body without an action is its template, and no version is version 1. */
function withBody<T extends TSchema>(schema: T): T {
  return inForm(schema, {
    write: ({ version, body, ...rest }) => {
      if (!body) return { version, ...rest };
      const isText = version === 1 && body.action === undefined;
      return { version, body: isText ? body.template : { action: 'transform', ...body }, ...rest };
    },
    read: ({ version = 1, body, ...rest }) => ({
      version,
      body: typeof body === 'string' ? { template: body } : body,
      ...rest,
    }),
  });
}

const RequestTransform = closed({
  version: VERSION,
  method: optional('The HTTP method, for example GET. Absent: POST.', Type.String({ maxLength: 16 })),
  url: template('The URL, for example {{$base_url}}/users. Absent: the URL of the webhook.'),
  body: optional('The body. Absent: the body that the engine sends without a transform.', Body),
  queryParams: optional(
    'Query parameters: from name to the template of the value.',
    inForm(secret(textRecord()), {
      write: (params) => params,
      read: (value) => (typeof value === 'string' ? undefined : value),
    }),
  ),
  queryParamsTemplate: template('The whole query string, instead of queryParams.', 'query_params'),
  requestHeaders: optional(
    'Changes of the headers.',
    closed({
      add: optional(
        'Headers to add: from name to the template of the value.',
        secret(textRecord()),
        'add_headers',
      ),
      remove: optional(
        'Names of headers that are not sent.',
        plainList(Type.String({ maxLength: 255 }), 100),
        'remove_headers',
      ),
    }),
  ),
});

const ResponseTransform = closed({
  version: VERSION,
  body: optional('The body. Absent: the body of the webhook.', Body),
});

/** The fields `requestTransform` and `responseTransform` of a spec. */
export const TRANSFORMS = {
  requestTransform: optional(
    'Changes of the request before it is sent to the webhook.',
    withBody(RequestTransform),
  ),
  responseTransform: optional(
    'Changes of the response of the webhook before the engine reads it.',
    withBody(ResponseTransform),
  ),
};
