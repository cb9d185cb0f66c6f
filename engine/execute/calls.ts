/** A plan that asks others than databases: its calls go out beside the statements of a query, and between those of a mutation in
 *  the order of the request; what stands between two of them is one transaction, and what is done stays done.
 *  Not here: plans without calls (answer.ts), one call (action.ts). Reference: features.md row 58. */
import type { Session } from '../resolve/session.ts';
import { answerAction } from './action.ts';
import type { PlannedRequest, ReadyCall } from './plan-cache.ts';
import type { Row } from './pool.ts';
import { type Databases, runPlan } from './run-plan.ts';
import type { Called } from './splice.ts';
import { validateInputs } from './validate-input.ts';
import type { Outward } from './webhook.ts';

export type CallContext = {
  readonly session: Session;
  readonly databases: Databases;
  readonly outward: Outward;
};

export type Answered = { readonly rows: readonly Row[]; readonly called: Called };

export async function answerWithCalls(asked: PlannedRequest, context: CallContext): Promise<Answered> {
  const { plan, variables } = asked;
  const asker = { session: context.session, variables: variables.values };
  if (plan.validations.length > 0) await validateInputs(plan.validations, asker, context.outward);
  return plan.operation === 'mutation' ? inTurn(asked, context) : together(asked, context);
}

async function together(asked: PlannedRequest, context: CallContext): Promise<Answered> {
  const { plan } = asked;
  const [rows, called] = await Promise.all([
    runStatements(asked, context, 0, plan.statements.length),
    Promise.all(plan.calls.map((call) => fieldsOf(call, asked, context))),
  ]);
  return { rows, called };
}

async function inTurn(asked: PlannedRequest, context: CallContext): Promise<Answered> {
  const { plan } = asked;
  const rows: Row[] = [];
  const called: Called[number][] = [];
  for (const call of plan.calls) {
    rows.push(...(await runStatements(asked, context, rows.length, call.after)));
    called.push(await fieldsOf(call, asked, context));
  }
  rows.push(...(await runStatements(asked, context, rows.length, plan.statements.length)));
  return { rows, called };
}

async function runStatements(
  { plan, variables }: PlannedRequest,
  { session, databases }: CallContext,
  from: number,
  to: number,
): Promise<readonly Row[]> {
  if (from === to) return [];
  const statements = plan.statements.slice(from, to);
  return runPlan({ ...plan, statements }, { session, variables: variables.values }, databases);
}

async function fieldsOf(
  ready: ReadyCall,
  asked: PlannedRequest,
  context: CallContext,
): Promise<Called[number]> {
  return [await answerAction(ready, asked, context)];
}
