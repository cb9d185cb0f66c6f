/** Operations that evaluate a template for its author and send nothing: `pg_test_connection_template`, `test_webhook_transform`.
 *  Not here: templates (engine/transform), sending (webhook/call.ts). Reference: docs/reference/behaviour/metadata-api.md, docs/reference/behaviour/actions.md. */

import { fail } from '../errors/engine-error.ts';
import type { ArgsOf } from '../metadata/operations.ts';
import { parseReference, templateOf } from '../metadata/references.ts';
import { fillTemplate } from '../metadata/variables.ts';
import { ADMIN_ROLE } from '../resolve/session.ts';
import type { UnitOfWork } from '../state/unit-of-work.ts';
import { checkBodyTransform, type TransformedBody } from '../transform/body.ts';
import { type RoutedRequest, routerOf } from '../transform/connection.ts';
import { TransformError } from '../transform/render.ts';
import { transformRequest } from '../transform/request.ts';
import { type OutboundVariables, outboundVariables, WebhookFailure } from '../webhook/outbound.ts';
import type { AdminAnswer } from './request.ts';

/** Raises `sourceNotFound`, `templateResolutionFailed`, and `notSupported` if no template would be evaluated. */
export function testConnectionTemplate(
  work: UnitOfWork,
  args: ArgsOf<'pg_test_connection_template'>,
): AdminAnswer {
  const source = work.requireSource(args.source_name);
  const { connection_template: own, connection_set: members } = source.configuration;
  const template = args.connection_template ?? own;
  if (!template) {
    return fail('notSupported', { text: `source "${source.name}" has no connection template` });
  }
  const request = requestOf(args.request_context);
  if (Object.entries(request.session).some(([name, value]) => /-role$/.test(name) && value === ADMIN_ROLE)) {
    fail('notSupported', { text: 'connection templates are not asked for administrators' });
  }
  try {
    const names = (members ?? []).map(({ name }) => name);
    const result = routerOf(template.template, names)(request);
    return () => ({ result });
  } catch (error) {
    if (!(error instanceof TransformError)) throw error;
    return fail('templateResolutionFailed', { text: error.message });
  }
}

function requestOf({
  headers = {},
  session = {},
  query = {},
}: ArgsOf<'pg_test_connection_template'>['request_context']): RoutedRequest {
  return { headers: inLowerCase(headers), session: inLowerCase(session), query };
}

function inLowerCase<T>(named: Readonly<Record<string, T>>): Readonly<Record<string, T>> {
  return Object.fromEntries(Object.entries(named).map(([name, value]) => [name.toLowerCase(), value]));
}

export function testWebhookTransform(work: UnitOfWork, args: ArgsOf<'test_webhook_transform'>): AdminAnswer {
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

/** Returns the variables for the test. The client's own values override those of the engine's environment. */
function variablesFor(work: UnitOfWork, given: Readonly<Record<string, string>>): OutboundVariables {
  const { env, references } = work.gateway;
  const ours = outboundVariables(env, () => work.metadata, references);
  return (name) => {
    if (Object.hasOwn(given, name)) return given[name]!;
    const text = ours(name);
    // The answer contains the URL. Named values and files are readable by no API.
    return parseReference(name).from === 'env' ? text : `<${name}>`;
  };
}

function urlOf({ webhook_url: url }: ArgsOf<'test_webhook_transform'>, variables: OutboundVariables): string {
  try {
    return fillTemplate(templateOf(url), variables);
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

function printed(body: TransformedBody): unknown {
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
