/** One GraphQL request → its response, as text or bytes. The whole path of a request: schema of the role, plan (kept), values,
 *  statement, text around the text Postgres sent; nothing in between is parsed.
 *  Raises ERRORS rows, which the caller encodes. Not here: HTTP, who asks (auth/). Spec: "GraphQL API". */

import { abandonableBy, type Databases } from '../database/databases.ts';
import { traced } from '../database/traced.ts';
import { fail } from '../errors/engine-error.ts';
import type { Span } from '../observe/span.ts';
import { ADMIN_ROLE, SESSION_PREFIX, type Session } from '../resolve/session.ts';
import type { Model } from '../resolve/types.ts';
import { roleSchema } from '../schema/role-schemas.ts';
import { validateInput } from '../webhook/input-validation.ts';
import { type OutboundContext, outboundVariables, sessionVariablesOf } from '../webhook/outbound.ts';
import type { Row } from '../wire/statement.ts';
import { type Answered, answerWithCalls, dataAlone, responseOf } from './calls.ts';
import { type GraphqlRequest, type PlannedRequest, planned } from './plan-cache.ts';
import { runPlan } from './run-plan.ts';
import { type Body, splice } from './splice.ts';

export type AnswerContext = {
  readonly model: Model;
  readonly session: Session;
  /** Asked of the schema with connections. */
  readonly isRelay?: boolean;
  readonly databases: Databases;
  /** For webhooks; without it they know neither environment nor client. */
  readonly outbound?: OutboundContext;
  /** Is told what becomes known. */
  readonly progress?: Progress;
};

/** What is known of an operation on its way. */
export type Progress = {
  asked: GraphqlRequest | null;
  plan: PlannedRequest['plan'] | null;
  /** Where it is traced. */
  readonly span: Span | null;
};

const ALONE: OutboundContext = {
  variables: outboundVariables({}, () => ({ sources: [] })),
  headers: {},
  headerPrefix: SESSION_PREFIX,
};

/** `{"data":{…}}` of a query or mutation. A subscription has many answers: see subscribe/. */
export async function answer(request: GraphqlRequest, context: AnswerContext): Promise<Body> {
  const asked = understood(request, context);
  if (asked.plan.operation === 'subscription') refuseOverHttp(asked.plan);
  return answerPlanned(asked, context);
}

/** One to a remote schema is told of as the reference does. */
function refuseOverHttp({ calls }: PlannedRequest['plan']): never {
  return calls.some(({ call }) => call.kind === 'remote')
    ? fail('notSupported', { text: 'subscription to remote server is not supported' })
    : fail('subscriptionOverHttp', {});
}

/** What the request means to whoever asks; nothing has run yet. */
export function understood(
  request: GraphqlRequest,
  { model, session, isRelay, progress }: Pick<AnswerContext, 'model' | 'session' | 'isRelay' | 'progress'>,
): PlannedRequest {
  if (progress) progress.asked = request;
  const span = progress?.span?.child('plan', 'internal');
  try {
    return planned(roleSchema(model, session.role, session.mayUseBackendOnly, isRelay), request);
  } finally {
    span?.end();
  }
}

export async function answerPlanned(
  asked: PlannedRequest,
  context: Omit<AnswerContext, 'model'>,
): Promise<Body> {
  const { fixed, template } = asked.plan;
  if (asksOthers(asked.plan)) return responseOf(await answeredByOthers(asked, context));
  const rows = await rowsOf(asked, context);
  return fixed ?? splice(template, rows);
}

/** The same without `{"data":` around it. */
export async function dataOf(asked: PlannedRequest, context: Omit<AnswerContext, 'model'>): Promise<Body> {
  const { fixed, template } = asked.plan;
  if (asksOthers(asked.plan)) return dataAlone(await answeredByOthers(asked, context));
  const rows = await rowsOf(asked, context);
  return fixed?.slice(1, -1) ?? splice(template.slice(1, -1), rows);
}

/** Than the databases of its statements. */
function asksOthers({ calls, joins }: PlannedRequest['plan']): boolean {
  return calls.length + joins.length > 0;
}

/** Where others than databases are asked, too. */
function answeredByOthers(
  asked: PlannedRequest,
  { session, databases, outbound = ALONE, progress }: Omit<AnswerContext, 'model'>,
): Promise<Answered> {
  if (progress) progress.plan = asked.plan;
  const span = progress?.span ?? null;
  return answerWithCalls(asked, {
    session,
    databases: databasesFor(asked, { session, databases, outbound }, span),
    outbound: { ...outbound, span },
  });
}

/** As the request's sources choose them, and with its trace. */
function databasesFor(
  { plan }: PlannedRequest,
  context: Pick<AnswerContext, 'session' | 'databases' | 'outbound'>,
  span: Span | null,
): Databases {
  const chosen = chosenFor(plan, context);
  const signal = context.outbound?.signal;
  const databases = signal ? abandonableBy(chosen, signal) : chosen;
  return span ? traced(databases, span) : databases;
}

/** Connection templates are not for administrators. */
export function chosenFor(
  { operation, operationName }: Pick<PlannedRequest['plan'], 'operation' | 'operationName'>,
  { session, databases, outbound = ALONE }: Pick<AnswerContext, 'session' | 'databases' | 'outbound'>,
): Databases {
  if (!databases.chosenFor || session.role === ADMIN_ROLE) return databases;
  return databases.chosenFor({
    headers: outbound.headers,
    session: sessionVariablesOf(session, outbound.headerPrefix),
    query: { operation_type: operation, ...(operationName !== null && { operation_name: operationName }) },
  });
}

async function rowsOf(
  { plan, variables, text }: PlannedRequest,
  { session, databases, outbound = ALONE, progress }: Omit<AnswerContext, 'model'>,
): Promise<readonly Row[]> {
  if (progress) progress.plan = plan;
  const span = progress?.span ?? null;
  const asker = { session, variables: variables.values, trace: span?.spanContext ?? null };
  for (const validation of plan.validations) await validateInput(validation, asker, { ...outbound, span });
  return runPlan(
    plan,
    asker,
    databasesFor({ plan, variables, text }, { session, databases, outbound }, span),
  );
}
