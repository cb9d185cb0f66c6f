/** A REST request → its response: the stored document of the endpoint, run like any GraphQL request (answer.ts) with
 *  variables from the path, the query string and the body. Plans are those of the document: text in a URL becomes a
 *  value first. Raises ERRORS rows. Not here: HTTP (http/rest.ts), routes (resolve/routes.ts). Reference: docs/reference/behaviour/endpoints.md. */

import { fail } from '../errors/engine-error.ts';
import { valueOfTexts } from '../plan/text-variables.ts';
import type { ResolvedEndpoint } from '../resolve/routes.ts';

import { roleSchema } from '../schema/role-schemas.ts';
import { type AnswerContext, buildingSchema, contextAfter, dataOf, planOf } from './answer.ts';
import { declaredVariables } from './plan-cache.ts';
import type { Body } from './splice.ts';

type Texts = ReadonlyMap<string, readonly string[]>;

export type EndpointArguments = {
  /** The variables of the path. They take precedence over all others. */
  readonly path?: Texts;
  /** The query string or a form: by name, every time it was given. */
  readonly texts: Texts;
  /** The arguments in a JSON body, which take precedence over `texts`. */
  readonly values: Readonly<Record<string, unknown>>;
  readonly parseJson: (text: string) => unknown;
  /** Called before a mutation runs; raises where this request must not write. */
  readonly mayWrite?: () => void;
};

const GRAPHQL_NAME = /^[_A-Za-z]\w*$/;

/** The `data` of the response. */
export async function answerEndpoint(
  endpoint: Pick<ResolvedEndpoint, 'query'>,
  given: EndpointArguments,
  context: AnswerContext,
): Promise<Body> {
  const { query } = endpoint;
  const { model, session } = context;
  const building = buildingSchema(context);
  if (building) await building;
  const declared = declaredVariables(roleSchema(model, session.role, session.mayUseBackendOnly), { query });
  // Without a prototype: `__proto__` is a name like any other.
  const variables: Record<string, unknown> = Object.create(null);
  const read = (from: Texts) => {
    for (const [name, texts] of from) {
      // Other names are no variables: what a proxy adds, or JSON that is labelled as a form.
      if (!GRAPHQL_NAME.test(name)) continue;
      const definition = declared.get(name) ?? unexpected(name);
      const value = valueOfTexts(texts, definition, given.parseJson);
      if (value === undefined) delete variables[name];
      else variables[name] = value;
    }
  };
  read(given.texts);
  for (const name in given.values) {
    if (GRAPHQL_NAME.test(name)) variables[name] = declared.has(name) ? given.values[name] : unexpected(name);
  }
  if (given.path) read(given.path);
  const planned = planOf({ query, variables }, context);
  if (planned.plan.operation === 'mutation') given.mayWrite?.();
  try {
    return await dataOf(planned, context);
  } catch (failure) {
    return answerEndpoint(endpoint, given, await contextAfter(failure, planned, context));
  }
}

function unexpected(name: string): never {
  return fail('badRequest', { text: `Unexpected variable ${name}` });
}
