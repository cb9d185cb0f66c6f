/** A plan that asks others than databases: its calls go out beside the statements of a query, and between those of a mutation in
 *  the order of the request; what stands between two of them is one transaction, and what is done stays done.
 *  What they answer is spliced in, errors of remote schemas are told beside it, and what is joined to rows comes last.
 *  Not here: plans without calls (answer.ts), one call (action.ts, remote-call.ts), joins (remote-join.ts).
 *  Reference: docs/reference/behaviour/mutations.md, docs/reference/behaviour/remote-schemas.md. */

import type { Databases } from '../database/databases.ts';
import type { Row } from '../database/pool.ts';
import { fail } from '../errors/engine-error.ts';
import type { Session } from '../resolve/session.ts';
import { validateInput } from '../webhook/input-validation.ts';
import type { OutboundContext } from '../webhook/outbound.ts';
import { answerAction } from './action.ts';
import { answerEntities } from './entities.ts';
import type { PlannedRequest, ReadyCall } from './plan-cache.ts';
import { answerRemote, failedRemote } from './remote-call.ts';
import { withJoins } from './remote-join.ts';
import { runPlan } from './run-plan.ts';
import { type Body, bodyText, type Called, splice } from './splice.ts';

export type CallContext = {
  readonly session: Session;
  readonly databases: Databases;
  readonly outbound: OutboundContext;
};

/** The answer of one call. */
export type Outcome = {
  readonly fields: Called[number];
  /** As clients are told of them. */
  readonly errors: readonly unknown[];
  /** Can `data` be anything but null? */
  readonly isUsable: boolean;
};

export type Answered = {
  /** Null: there is none. */
  readonly data: Body | null;
  readonly errors: readonly unknown[];
};

type Ran = { readonly rows: readonly Row[]; readonly outcomes: readonly Outcome[] };

export async function answerWithCalls(asked: PlannedRequest, context: CallContext): Promise<Answered> {
  const { plan, variables } = asked;
  const asker = { session: context.session, variables: variables.values };
  for (const validation of plan.validations) await validateInput(validation, asker, context.outbound);
  const isMutation = plan.operation === 'mutation';
  const { rows, outcomes } = await (isMutation ? inTurn(asked, context) : together(asked, context));
  // A mutation stops at the first call that fails.
  const isWhole = outcomes.length === plan.calls.length && outcomes.every(({ isUsable }) => isUsable);
  const called = outcomes.map(({ fields }) => fields);
  const response = plan.template.slice(1, -1);
  const joined = isWhole ? await withJoins(response, { rows, called }, asked, context) : null;
  const errors = [...outcomes.flatMap((outcome) => outcome.errors), ...(joined?.errors ?? [])];
  if (errors.length > 0 && context.outbound.record) context.outbound.record.error = errors;
  return { data: joined && splice(joined.template, rows, called), errors };
}

/** `{"data":…,"errors":[…]}` */
export function responseOf({ data, errors }: Answered): Body {
  const told = errors.length === 0 ? '' : `,"errors":${JSON.stringify(errors)}`;
  if (data === null) return `{"data":null${told}}`;
  if (typeof data === 'string') return `{"data":${data}${told}}`;
  return [Buffer.from('{"data":'), ...data, Buffer.from(`${told}}`)];
}

/** The response that an event of a remote schema is. */
export function eventText({ plan }: PlannedRequest, { fields, errors, isUsable }: Outcome): string {
  const data = isUsable ? splice(plan.template.slice(1, -1), [], [fields]) : null;
  return bodyText(responseOf({ data, errors }));
}

/** For answers that have no place for errors: raises them. */
export function dataAlone({ data, errors }: Answered): Body {
  return data === null || errors.length > 0 ? fail('remoteErrors', {}, { internal: errors }) : data;
}

async function together(asked: PlannedRequest, context: CallContext): Promise<Ran> {
  const { plan } = asked;
  const [rows, outcomes] = await Promise.all([
    runStatements(asked, context, 0, plan.statements.length),
    Promise.all(plan.calls.map((call) => queried(call, asked, context))),
  ]);
  return { rows, outcomes };
}

async function inTurn(asked: PlannedRequest, context: CallContext): Promise<Ran> {
  const { plan } = asked;
  const rows: Row[] = [];
  const outcomes: Outcome[] = [];
  for (const call of plan.calls) {
    rows.push(...(await runStatements(asked, context, rows.length, call.after)));
    const outcome = await outcomeOf(call, asked, context);
    outcomes.push(outcome);
    if (!outcome.isUsable) return { rows, outcomes };
  }
  rows.push(...(await runStatements(asked, context, rows.length, plan.statements.length)));
  return { rows, outcomes };
}

async function runStatements(
  { plan, variables }: PlannedRequest,
  { session, databases, outbound }: CallContext,
  from: number,
  to: number,
): Promise<readonly Row[]> {
  if (from === to) return [];
  const statements = plan.statements.slice(from, to);
  const trace = outbound.span?.spanContext ?? null;
  return runPlan({ ...plan, statements }, { session, variables: variables.values, trace }, databases);
}

/** In a query a remote schema that fails takes its own fields along, and no others. */
function queried(ready: ReadyCall, asked: PlannedRequest, context: CallContext): Promise<Outcome> {
  const outcome = outcomeOf(ready, asked, context);
  const { call } = ready;
  return call.kind === 'remote'
    ? outcome.catch((error: unknown) => failedRemote(error, call, context))
    : outcome;
}

async function outcomeOf(ready: ReadyCall, asked: PlannedRequest, context: CallContext): Promise<Outcome> {
  const { call } = ready;
  if (call.kind === 'remote') return answerRemote(call, asked, context);
  if (call.kind === 'entities') return answerEntities({ ...ready, call }, asked, context);
  return { fields: [await answerAction({ ...ready, call }, asked, context)], errors: [], isUsable: true };
}
