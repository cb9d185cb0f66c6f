/** One golden request, through the rooms in order: schema, plan, sql, and the statements run on the world's connection.
 *  Out: the plan and statements (null when the request was refused) and the response text.
 *  Not here: caches and pools, which execute/ adds around the same steps. */
import { EngineError, toGraphqlError } from '../../errors/engine-error.ts';
import { bind } from '../../execute/bind.ts';
import { engineErrorOf } from '../../execute/pg-errors.ts';
import { runOn } from '../../execute/pool.ts';
import { bodyText, splice } from '../../execute/splice.ts';
import { prepareDocument } from '../../plan/document.ts';
import { planRequest } from '../../plan/plan.ts';
import type { Plan } from '../../plan/types.ts';
import { coerceVariables, type RequestVariables } from '../../plan/variables.ts';
import type { Session } from '../../resolve/session.ts';
import { roleSchema } from '../../schema/role-schemas.ts';
import { type CompiledPlan, renderPlan } from '../../sql/plan.ts';
import type { World } from './world.ts';

export type GoldenRequest = {
  readonly text: string;
  readonly operationName: string | null;
  readonly variables: Readonly<Record<string, unknown>> | null;
  readonly session: Session;
};

export type GoldenOutcome = {
  readonly plan: Plan | null;
  readonly compiled: CompiledPlan | null;
  readonly response: string;
};

export async function respond(world: World, request: GoldenRequest): Promise<GoldenOutcome> {
  let plan: Plan | null = null;
  let compiled: CompiledPlan | null = null;
  try {
    const role = roleSchema(world.model, request.session.role, request.session.mayUseBackendOnly);
    const document = prepareDocument(role, request.text, request.operationName);
    const variables = coerceVariables(document, request.variables);
    plan = planRequest(document, variables);
    compiled = renderPlan(plan);
    return { plan, compiled, response: await run(world, compiled, request, variables) };
  } catch (error) {
    if (!(error instanceof EngineError)) throw error;
    return { plan, compiled, response: JSON.stringify({ errors: [toGraphqlError(error, true)] }) };
  }
}

async function run(
  { client }: World,
  compiled: CompiledPlan,
  { session }: GoldenRequest,
  variables: RequestVariables,
): Promise<string> {
  const rows = [];
  for (const { text, parameters } of compiled.statements) {
    const values = bind(parameters, { session, variables: variables.values });
    const statement = { name: '', text };
    rows.push(
      await runOn(client, statement, values).catch((thrown) => {
        throw engineErrorOf(thrown, text, []);
      }),
    );
  }
  return `{"data":${bodyText(splice(compiled.template, rows))}}`;
}
