/** What every GraphQL operation needs, over HTTP, REST or a WebSocket: the request limits of its role, the context the executor
 *  runs it in, and its entry in the log, the metrics and the traces.
 *  Not here: reading a request (graphql.ts, rest.ts, websocket/operation.ts), running it (execute/answer.ts). */
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { type EngineError, fail } from '../errors/engine-error.ts';
import type { AnswerContext, Progress } from '../execute/answer.ts';
import type { CancelSignal } from '../limits/cancel-signal.ts';
import type { AnswerHolding } from '../limits/memory-budget.ts';
import type { RateLimiter } from '../limits/rate-limiter.ts';
import type { OperationFinished } from '../observe/observation.ts';
import { headerText } from '../outgoing/header-values.ts';
import type { Model } from '../resolve/model/model.ts';
import { requestPolicyOf } from '../resolve/request-policy.ts';
import type { Session } from '../resolve/session.ts';
import type { OutboundContext } from '../webhook/outbound.ts';
import type { HttpContext } from './context.ts';
import { showsInternal } from './error-response.ts';
import type { RequestRecord } from './request-record.ts';

/** The client of an operation, for the limits of its role. */
export type Requester = {
  readonly model: Model;
  readonly session: Session;
  readonly address: string | undefined;
};

/** Counts one operation against the rate limit of the role. Raises `rateLimitExceeded`. */
export function checkRateLimit(limiter: RateLimiter, { model, session, address }: Requester): void {
  const { rate } = requestPolicyOf(model, session.role);
  if (rate) limiter.admit(rate, session, address);
}

/** Raises `consoleRoleMissing` for a request with the console secret that names no role. */
export function checkRole({ isConsole, role }: Session, prefix: string): void {
  if (isConsole && role === '') fail('consoleRoleMissing', { prefix });
}

/** Raises `consoleReadOnly` for a mutation with the console secret. */
export function checkMutation({ isConsole }: Session): void {
  if (isConsole) fail('consoleReadOnly', {});
}

/** Checks how many operations a role may send in one body. Raises `batchLimitExceeded`. */
export function checkBatchSize(
  { length: found }: readonly unknown[],
  { model, session }: Omit<Requester, 'address'>,
): void {
  const most = requestPolicyOf(model, session.role).mostInBatch ?? model.requestBounds.mostOperations;
  if (found > most) fail('batchLimitExceeded', { found, most });
}

/** Returns the address of the client. Each of the `trustedProxies` has appended to X-Forwarded-For the address that called it;
 *  entries before those can be forged. */
export function addressOf({ headers, socket }: IncomingMessage, trustedProxies: number): string | undefined {
  if (trustedProxies === 0) return socket.remoteAddress;
  const forwarded = String(headers['x-forwarded-for'] ?? '').split(',');
  return forwarded.at(-trustedProxies)?.trim() || socket.remoteAddress;
}

/** An operation between `beginOperation` and `endOperation`. The executor fills in `progress`. */
export type RunningOperation = {
  readonly requestId: string;
  readonly transport: OperationFinished['transport'];
  readonly startedAt: number;
  readonly headers: IncomingHttpHeaders;
  readonly progress: Progress;
};

/** Starts the clock of an operation, and its span if it is traced. */
export function beginOperation(
  { tracing }: HttpContext,
  requestId: string,
  transport: RunningOperation['transport'],
  headers: IncomingHttpHeaders,
): RunningOperation {
  const span = tracing.begin('graphql', headers);
  return {
    requestId,
    transport,
    startedAt: performance.now(),
    headers,
    progress: { request: null, plan: null, usage: null, endpoint: null, span },
  };
}

/** Reports a finished operation to the log, the metrics and its trace, and counts what it uses of the schema, whether or not it succeeded.
 *  `error` is what the client receives; null on success. */
export function endOperation(
  { observe, state }: HttpContext,
  { requestId, transport, startedAt, headers, progress }: RunningOperation,
  error: EngineError | null,
): void {
  const { usage, endpoint } = progress;
  if (usage) state.fieldUsage.count(usage, clientNameOf(headers), endpoint);
  const type = progress.plan?.operation ?? 'unknown';
  observe({
    kind: 'operation finished',
    requestId,
    transport,
    type,
    durationMs: performance.now() - startedAt,
    error: error && { name: error.kind, code: error.codeIn('newer') },
    request: progress.request,
    plan: progress.plan,
    usage,
  });
  progress.span?.end(error?.codeIn('newer') ?? null, {
    'graphql.operation.type': type,
    'pergola.transport': transport,
    'pergola.request_id': requestId,
  });
}

/** The name of the client as it calls itself; empty when it does not. The second header is the one that Apollo's clients send. */
function clientNameOf(headers: IncomingHttpHeaders): string {
  const given = headers['graphql-client-name'] ?? headers['apollographql-client-name'] ?? '';
  return typeof given === 'string' ? headerText(given).slice(0, MOST_NAME_CHARACTERS) : '';
}

/** More than are stored. */
const MOST_NAME_CHARACTERS = 200;

/** Builds the context the executor runs an operation in, except for the model, which belongs to the snapshot of the request.
 *  `record` collects cookies and errors for the HTTP response; an operation over a WebSocket has none. */
export function answerContextOf(
  { state, options, observe, asyncActions, remoteCache }: HttpContext,
  session: Session,
  headers: IncomingHttpHeaders,
  { requestId, progress }: RunningOperation,
  record?: RequestRecord,
  signal: CancelSignal | undefined = record?.signal,
  holding: AnswerHolding | undefined = record?.holding,
): Omit<AnswerContext, 'model' | 'outbound'> & { readonly outbound: OutboundContext } {
  const outbound = {
    variables: state.outboundVariables,
    trusts: state.trusts,
    headers,
    headerPrefix: options.headerPrefix,
    requestId,
    observe,
    showsInternal: showsInternal(options, session),
    asyncActions,
    remoteCache,
    configuredHeaderPrecedence: options.configuredHeaderPrecedence,
    record,
    signal,
    holding,
  };
  return { session, databases: state.sources, outbound, progress, modelAfter: state.modelAfter };
}
