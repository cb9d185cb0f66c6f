/** `test_webhook_transform`: what a webhook would be sent, for people who write templates. Nothing is sent.
 *  Raises `requestTransformInvalid` and `responseTransformInvalid`, whose `internal` says where in the template.
 *  Not here: templates (engine/transform), sending (webhook/call.ts). Reference: docs/reference/behaviour/actions.md. */
import { fail } from '../errors/engine-error.ts';
import type { ArgsOf } from '../metadata/operations.ts';
import { fillTemplate } from '../metadata/variables.ts';
import { type Body, checkBodyTransform } from '../transform/body.ts';
import { TransformError } from '../transform/render.ts';
import { transformRequest } from '../transform/request.ts';
import { type OutboundVariables, outboundVariables, WebhookFailure } from '../webhook/outbound.ts';
import type { Answer } from './answer.ts';
import type { Work } from './work.ts';

export function testWebhookTransform(work: Work, args: ArgsOf<'test_webhook_transform'>): Answer {
  const plain = {
    method: 'GET',
    url: urlOf(args, variablesFor(work, args.env ?? {})),
    headers: new Map(
      (args.request_headers ?? []).map(([name = '', value = '']) => [name.toLowerCase(), value]),
    ),
    body: args.body,
  };
  const sent = checked('requestTransformInvalid', () =>
    transformRequest(args.request_transform, plain, args.session_variables ?? {}),
  );
  checked('responseTransformInvalid', () => checkBodyTransform(args.response_transform?.body));
  const { method, url, headers, body } = sent;
  const sorted = [...headers].sort(([a], [b]) => (a < b ? -1 : 1));
  return () => ({ webhook_url: url, method, headers: sorted, body: printed(body) });
}

/** The client's own values come before those of the engine's environment. */
function variablesFor(work: Work, given: Readonly<Record<string, string>>): OutboundVariables {
  const ours = outboundVariables(work.ground.env, () => work.metadata);
  return (name) => (Object.hasOwn(given, name) ? given[name]! : ours(name));
}

function urlOf({ webhook_url: url }: ArgsOf<'test_webhook_transform'>, variables: OutboundVariables): string {
  try {
    return fillTemplate(typeof url === 'string' ? url : `{{${url.from_env}}}`, variables);
  } catch (error) {
    if (!(error instanceof WebhookFailure)) throw error;
    return fail('validationFailed', { text: error.message }, { path: ['webhook_url'] });
  }
}

function checked<T>(name: 'requestTransformInvalid' | 'responseTransformInvalid', body: () => T): T {
  try {
    return body();
  } catch (error) {
    if (!(error instanceof TransformError)) throw error;
    return fail(name, {}, { internal: [error.problem] });
  }
}

function printed(body: Body): unknown {
  switch (body.kind) {
    case 'json':
      return body.value;
    case 'form':
      return body.text;
    case 'none':
      return '';
    default:
      return body satisfies never;
  }
}
