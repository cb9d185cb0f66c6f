/** One golden request, through the rooms in order: schema, plan, sql; and asked of execute/, which takes the same way.
 *  Out: the plan and statements (null when the request was refused) and the response text. */
import { EngineError, toGraphqlError } from '../../errors/engine-error.ts';
import { answerPlanned, planOf } from '../../execute/answer.ts';
import { bodyText } from '../../execute/splice.ts';
import { prepareDocument } from '../../plan/document.ts';
import { planRequest } from '../../plan/plan.ts';
import type { Plan } from '../../plan/types.ts';
import { coerceVariables } from '../../plan/variables.ts';
import type { Session } from '../../resolve/session.ts';
import { roleSchema } from '../../schema/role-schemas.ts';
import { type PreparedPlan, preparePlan } from '../../sql/plan.ts';
import type { World } from './world.ts';

export type GoldenRequest = {
  readonly text: string;
  readonly operationName: string | null;
  readonly variables: Readonly<Record<string, unknown>> | null;
  readonly session: Session;
  readonly isRelay: boolean;
};

export type GoldenOutcome = {
  readonly plan: Plan | null;
  readonly prepared: PreparedPlan | null;
  readonly response: string;
};

export async function respond(world: World, request: GoldenRequest): Promise<GoldenOutcome> {
  let plan: Plan | null = null;
  let prepared: PreparedPlan | null = null;
  try {
    const { session, isRelay } = request;
    const role = roleSchema(world.model, session.role, session.mayUseBackendOnly, isRelay);
    const document = prepareDocument(role, request.text, request.operationName);
    const variables = coerceVariables(document, request.variables);
    plan = planRequest(document, variables).plan;
    prepared = preparePlan(plan);
    return { plan, prepared, response: bodyText(await ask(world, request)) };
  } catch (error) {
    if (!(error instanceof EngineError)) throw error;
    return { plan, prepared, response: JSON.stringify({ errors: [toGraphqlError(error, true)] }) };
  }
}

function ask({ model, databases }: World, { text, operationName, variables, ...asker }: GoldenRequest) {
  const { session, isRelay } = asker;
  const planned = planOf({ query: text, operationName, variables }, { model, session, isRelay });
  return answerPlanned(planned, { databases, session });
}
