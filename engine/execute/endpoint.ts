/** A REST request → its response: the stored document of the endpoint, run like any GraphQL request (answer.ts) with
 *  variables from the path, the query string and the body. Plans are those of the document: text in a URL becomes a
 *  value first. Raises ERRORS rows. Not here: HTTP (http/rest.ts), routes (resolve/routes.ts). Reference: docs/reference/behaviour/endpoints.md. */

import { valueOfTexts } from '../plan/text-variables.ts';
import type { ResolvedEndpoint } from '../resolve/routes.ts';

import { roleSchema } from '../schema/role-schemas.ts';
import { type AnswerContext, dataOf, planOf } from './answer.ts';
import { declaredVariables } from './plan-cache.ts';
import type { Body } from './splice.ts';

export type EndpointArguments = {
  /** By name, every time it was given. */
  readonly texts: ReadonlyMap<string, readonly string[]>;
  /** The arguments in a JSON body; a text of the same name takes precedence. */
  readonly values: Readonly<Record<string, unknown>>;
  readonly parseJson: (text: string) => unknown;
  /** Called before a mutation runs; raises where this request must not write. */
  readonly mayWrite?: () => void;
};

/** The `data` of the response. */
export async function answerEndpoint(
  { query }: Pick<ResolvedEndpoint, 'query'>,
  given: EndpointArguments,
  context: AnswerContext,
): Promise<Body> {
  const { model, session } = context;
  const declared = declaredVariables(roleSchema(model, session.role, session.mayUseBackendOnly), { query });
  // Without a prototype: `__proto__` is a name like any other.
  const variables: Record<string, unknown> = Object.assign(Object.create(null), given.values);
  for (const [name, texts] of given.texts) {
    const definition = declared.get(name);
    const value = definition ? valueOfTexts(texts, definition, given.parseJson) : texts[0];
    if (value === undefined) delete variables[name];
    else variables[name] = value;
  }
  const planned = planOf({ query, variables }, context);
  if (planned.plan.operation === 'mutation') given.mayWrite?.();
  return dataOf(planned, context);
}
