/** `pg_test_connection_template`: the connection a request would go to, by the template of its source or by one that is not in
 *  the metadata yet. No database is asked. Not here: templates (transform/connection.ts), where requests meet them
 *  (database/sources.ts). Reference: docs/reference/behaviour/metadata-api.md. */
import { fail } from '../errors/engine-error.ts';
import type { ArgsOf } from '../metadata/operations.ts';
import { ADMIN_ROLE } from '../resolve/session.ts';
import { type RoutedRequest, routerOf } from '../transform/connection.ts';
import { TransformError } from '../transform/render.ts';
import type { Answer } from './answer.ts';
import type { Work } from './work.ts';

/** Raises `sourceNotFound`, `templateResolutionFailed`; `notSupported` where no template would be asked. */
export function testConnectionTemplate(work: Work, args: ArgsOf<'pg_test_connection_template'>): Answer {
  const source = work.source(args.source_name);
  if (!source) return fail('sourceNotFound', { source: args.source_name });
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
