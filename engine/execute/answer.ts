/** One GraphQL request → its response. This file is the whole path of a request: parse and plan (cached), run, respond.
 *  Raises ERRORS rows, which the caller encodes. Not here: HTTP (http/), authentication (auth/), subscriptions (subscribe/).
 *  Spec: "GraphQL API". */

import { type Databases, databasesOfRequest } from '../database/databases.ts';
import { EngineError, fail } from '../errors/engine-error.ts';
import { inSlices, nextTurn } from '../limits/slices.ts';
import type { Span } from '../observe/span.ts';
import { headerTexts } from '../outgoing/header-values.ts';
import type { OperationUsage } from '../plan/coordinates.ts';
import type { SelectionSize } from '../plan/selection-size.ts';
import type { Model } from '../resolve/model/model.ts';
import { ADMIN_ROLE, SESSION_PREFIX, type Session } from '../resolve/session.ts';
import { hasRoleSchema, type RoleSchema, roleSchema, roleSchemaSteps } from '../schema/role-schemas.ts';
import type { PreparedPlan } from '../sql/plan.ts';
import { type OutboundContext, outboundVariables, sessionVariablesOf } from '../webhook/outbound.ts';
import { cachedPlan, type GraphqlRequest, type PlannedRequest, planInTurns } from './plan-cache.ts';
import { type Body, sizeOfBody, splice } from './splice.ts';
import { COMMITTED } from './statements.ts';
import { type Results, runSteps } from './steps.ts';

export type AnswerContext = {
  readonly model: Model;
  readonly session: Session;
  /** True for the schema with connections. */
  readonly isRelay?: boolean;
  readonly databases: Databases;
  /** The context of requests to webhooks and remote schemas. Without it they get neither environment variables nor client headers. */
  readonly outbound?: OutboundContext;
  /** Filled in while the request runs, for logs and traces. */
  readonly progress?: Progress;
  /** The fields that the requests of one body select together; absent for a body with one request. */
  readonly batch?: SelectionSize | undefined;
  /** Called before a mutation runs; raises where this request must not write. */
  readonly mayWrite?: () => void;
  /** Returns the model under which a request that failed may succeed, because its database has changed; null when there is none. */
  readonly modelAfter?: (failure: unknown, before: Model) => Promise<Model | null>;
};

export type Progress = {
  request: GraphqlRequest | null;
  /** Null until the plan runs. */
  plan: PreparedPlan | null;
  /** The part of the schema that the request uses; null until the plan runs. */
  usage: OperationUsage | null;
  /** The name of the REST endpoint that the client called. */
  endpoint: string | null;
  /** The span of the operation, where it is traced. */
  readonly span: Span | null;
};

/** Returns `{"data":{…}}` of a query or mutation. */
export async function answer(request: GraphqlRequest, context: AnswerContext): Promise<Body> {
  const building = buildingSchema(context);
  if (building) await building;
  const planning = context.batch
    ? plannedInBatch(request, context, context.batch)
    : planOf(request, context, planInTurns);
  const planned = planning instanceof Promise ? await planning : planning;
  if (planned.plan.operation === 'subscription') refuseOverHttp(planned.plan);
  if (planned.plan.operation === 'mutation') context.mayWrite?.();
  try {
    return await answerPlanned(planned, context);
  } catch (failure) {
    return answer(request, await contextAfter(failure, planned, context));
  }
}

/** Plans a request of a batch, unless those before it have used up what they may select together. One that alone is too large uses up all, so that
 *  a batch plans at most one of them. */
function plannedInBatch(
  request: GraphqlRequest,
  context: AnswerContext,
  batch: SelectionSize,
): PlannedRequest {
  batch.count(0);
  try {
    const planned = planOf(request, context);
    batch.count(planned.size);
    return planned;
  } catch (error) {
    if (error instanceof EngineError && TOO_LARGE.has(error.kind)) batch.exhaust();
    throw error;
  }
}

const TOO_LARGE: ReadonlySet<string> = new Set(['tooManyFields', 'tooManyInputs']);

/** Returns the context in which a request that failed runs once more. Raises the failure when that cannot help, or something of the request
 *  may have been written. */
export async function contextAfter<T extends Pick<AnswerContext, 'model' | 'modelAfter'>>(
  failure: unknown,
  { plan }: PlannedRequest,
  context: T,
): Promise<T> {
  const model = leavesNothing(plan) ? await context.modelAfter?.(failure, context.model) : null;
  if (!model) throw failure;
  return { ...context, model, modelAfter: undefined };
}

/** True when nothing is written where the plan fails: its statements only read, or are in one transaction. */
function leavesNothing({ operation, steps, keyedSteps, statements }: PreparedPlan): boolean {
  if (operation === 'query')
    return steps.every((step) => step.kind === 'statement' && step.statement.isRepeatable);
  const isOneTransaction = new Set(statements.map(({ source }) => source)).size === 1;
  return isOneTransaction && steps.every(({ kind }) => kind === 'statement') && keyedSteps.length === 0;
}

/** Builds the schema of the role in slices; null when it is built. */
export function buildingSchema({
  model,
  session: { role, mayUseBackendOnly },
  isRelay,
}: Pick<AnswerContext, 'model' | 'session' | 'isRelay'>): Promise<RoleSchema> | null {
  if (hasRoleSchema(model, role, mayUseBackendOnly, isRelay)) return null;
  return inSlices(roleSchemaSteps(model, role, mayUseBackendOnly, isRelay));
}

/** Parses and plans a request, or finds its plan in the cache. Nothing runs. */
export function planOf(request: GraphqlRequest, context: PlanningContext): PlannedRequest;
/** `find` returns the plan, or a promise of it. */
export function planOf(
  request: GraphqlRequest,
  context: PlanningContext,
  find: typeof planInTurns,
): PlannedRequest | Promise<PlannedRequest>;
export function planOf(
  request: GraphqlRequest,
  { model, session, isRelay, progress }: PlanningContext,
  find: typeof planInTurns = cachedPlan,
): PlannedRequest | Promise<PlannedRequest> {
  if (progress) progress.request = request;
  const span = progress?.span?.child('plan', 'internal');
  let planning: ReturnType<typeof planInTurns> | undefined;
  try {
    planning = find(roleSchema(model, session.role, session.mayUseBackendOnly, isRelay), request);
  } finally {
    if (!(planning instanceof Promise)) span?.end();
  }
  return span && planning instanceof Promise ? planning.finally(() => span.end()) : planning;
}

type PlanningContext = Pick<AnswerContext, 'model' | 'session' | 'isRelay' | 'progress'>;

/** Runs a planned request and builds its response. */
export async function answerPlanned(
  planned: PlannedRequest,
  context: Omit<AnswerContext, 'model'>,
): Promise<Body> {
  return counted(respond(planned.plan, await run(planned, context)), planned.plan, context);
}

/** Counts the response against the limit of the role. Raises `responseTooLarge`. */
function counted(
  body: Body,
  { operation }: PreparedPlan,
  { outbound }: Pick<AnswerContext, 'outbound'>,
): Body {
  outbound?.holding?.answer(sizeOfBody(body), operation === 'mutation' ? COMMITTED : '');
  return body;
}

/** Returns the value of `data` alone. Raises `remoteErrors` where errors would stand beside it. */
export async function dataOf(planned: PlannedRequest, context: Omit<AnswerContext, 'model'>): Promise<Body> {
  const { rows, errors } = await run(planned, context);
  if (!rows || errors.length > 0) return fail('remoteErrors', {}, { internal: errors });
  return counted(splice(planned.plan.template.slice(1, -1), rows), planned.plan, context);
}

/** Notes that a planned request runs, for logs, traces and the counts of usage. */
export function notePlan({ plan, usage }: PlannedRequest, progress: Progress): void {
  progress.plan = plan;
  progress.usage = usage;
}

function run(planned: PlannedRequest, context: Omit<AnswerContext, 'model'>): Promise<Results> {
  const { session, outbound = NO_CLIENT, progress } = context;
  if (progress) notePlan(planned, progress);
  const span = progress?.span ?? null;
  const { signal, holding } = outbound;
  holding?.limitTo(planned.plan.mostResponseBytes);
  const databases = databasesOfRequest(chosenDatabases(planned, context), { signal, holding, span });
  const running = { planned, session, databases, outbound: span ? { ...outbound, span } : outbound };
  return planned.variables.isLong ? nextTurn().then(() => runSteps(running)) : runSteps(running);
}

/** Returns `{"data":…,"errors":[…]}`. */
export function respond({ template }: Pick<PreparedPlan, 'template'>, { rows, errors }: Results): Body {
  if (rows && errors.length === 0) return splice(template, rows);
  const end = errors.length === 0 ? '}' : `,"errors":${JSON.stringify(errors)}}`;
  if (!rows) return `{"data":null${end}`;
  return splice([...template.slice(0, -1), { kind: 'text', text: end }], rows);
}

/** The error for a subscription to a remote schema is a different one. */
function refuseOverHttp({ steps }: PreparedPlan): never {
  return steps.some(({ kind }) => kind === 'remote')
    ? fail('notSupported', { text: 'subscription to remote server is not supported' })
    : fail('subscriptionOverHttp', {});
}

const NO_CLIENT: OutboundContext = {
  variables: outboundVariables({}, () => ({ sources: [] })),
  headers: {},
  headerPrefix: SESSION_PREFIX,
};

/** Returns the databases that connection templates choose for the request. They do not apply to administrators. */
export function chosenDatabases(
  { plan, operationName }: PlannedRequest,
  { session, databases, outbound = NO_CLIENT }: Pick<AnswerContext, 'session' | 'databases' | 'outbound'>,
): Databases {
  if (!databases.chosenFor || session.role === ADMIN_ROLE) return databases;
  return databases.chosenFor(() => ({
    headers: headerTexts(outbound.headers),
    session: sessionVariablesOf(session, outbound.headerPrefix),
    query: {
      operation_type: plan.operation,
      ...(operationName !== null && { operation_name: operationName }),
    },
  }));
}
