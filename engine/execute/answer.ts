/** One GraphQL request → the text of its response. The whole path of a request: schema of the role, plan (kept), values,
 *  statement, text around the text Postgres sent; nothing in between is parsed.
 *  Raises ERRORS rows, which the caller encodes. Not here: HTTP, who asks (auth/). Spec: "GraphQL API". */
import type { Session } from '../resolve/session.ts';
import type { Model } from '../resolve/types.ts';
import { roleSchema } from '../schema/role-schemas.ts';
import { type GraphqlRequest, planned } from './plan-cache.ts';
import { type Databases, runPlan } from './run-plan.ts';
import { splice } from './splice.ts';

export type AnswerContext = {
  readonly model: Model;
  readonly session: Session;
  readonly databases: Databases;
};

/** `{"data":{…}}` */
export async function answer(request: GraphqlRequest, context: AnswerContext): Promise<string> {
  const { model, session, databases } = context;
  const role = roleSchema(model, session.role, session.mayUseBackendOnly);
  const { plan, variables } = planned(role, request);
  const rows = await runPlan(plan, { session, variables: variables.values }, databases);
  return splice(plan.template, rows);
}
