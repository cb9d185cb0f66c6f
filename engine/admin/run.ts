/** The life of an admin request: body in, status and body out; never throws.
 *  1. Parse the envelope (request.ts). Only administrators get further, except for operations on rows, and for those that the console
 *     secret may perform.
 *  2. Operations that may change the document run one after the other; all others run at any time.
 *  3. Perform the operations on a unit of work (perform.ts, state/unit-of-work.ts): a draft that no other request sees.
 *  4. Validate the draft, commit it (store/) and publish the new snapshot (state/state.ts); or roll back and answer with the error.
 *  5. If another replica committed first, repeat from 3 on its document, unless the client named a version.
 *  Not here: HTTP and authentication (http/), the operations themselves. Spec: "Schema/metadata API". */
import { EngineError, fail, toAdminBody } from '../errors/engine-error.ts';
import { nextTurn } from '../limits/slices.ts';
import { EFFECTS } from '../metadata/operations/row.ts';
import { ADMIN_ROLE, SESSION_PREFIX, type Session } from '../resolve/session.ts';
import { warningOfExtension } from '../state/extensions.ts';
import type { Snapshot } from '../state/snapshot.ts';
import type { EngineState } from '../state/state.ts';
import { TargetWaits } from '../state/target-waits.ts';
import { UnitOfWork } from '../state/unit-of-work.ts';
import { isUnreachable } from '../store/connect.ts';
import type { Authorship } from '../store/document.ts';
import { hasLostTables, LOST_TABLES } from '../store/lost-tables.ts';
import { checkWarnings } from './check-warnings.ts';
import { perform } from './perform.ts';
import {
  type AdminCaller,
  type AdminEndpoint,
  type AdminRequest,
  dialectOf,
  parseRequest,
} from './request.ts';
import { mayChangeSchema, type RunSqlArgs } from './run-sql.ts';
import { managedChanges, withWarnings } from './warnings.ts';

type AdminContext = {
  readonly endpoint: AdminEndpoint;
  readonly session: Session;
  /** The name of the client program, for the revisions of the document. */
  readonly client?: string | undefined;
  /** Aborted when the client disconnects. A request that is not committing by then is rolled back. */
  readonly signal?: AbortSignal | undefined;
  /** How long databases and remote schemas that the request connects are waited for: those that have not answered by then are inconsistent
   *  until they do. By default as long as an introspection may take. */
  readonly targetWaitMs?: number | undefined;
  /** True if errors may have `internal`, which is the default (`--admin-internal-errors`). */
  readonly showInternal?: boolean;
  /** Returns the option that lifts a refusal, for the message. */
  readonly adviceOn?: (error: EngineError) => string | undefined;
};

export type AdminResponse = {
  readonly status: number;
  readonly body: unknown;
  /** An unexpected error, for the log. The client only learns that there was one. */
  readonly unexpected?: unknown;
};

/** The session variable that identifies the user, if there is one. */
const USER_ID = `${SESSION_PREFIX}user-id`;

/** The number of attempts while other replicas keep committing first. */
const MOST_ATTEMPTS = 10;

export async function runAdmin(
  state: EngineState,
  body: unknown,
  context: AdminContext,
): Promise<AdminResponse> {
  const caller = {
    endpoint: context.endpoint,
    showInternal: mayShowInternal(context),
    author: context.session.variables[USER_ID] ?? context.session.role,
    client: context.client ?? null,
    session: context.session,
  };
  try {
    const request = parseAllowed(body, caller);
    return { status: 200, body: await answer(state, request, context) };
  } catch (error) {
    return refusal(error, context);
  }
}

/** Runs an operation that the engine itself performs when it starts. `client` is its part, for the revisions of the document. */
export function runAsEngine(state: EngineState, body: unknown, client: string): Promise<AdminResponse> {
  const session = { role: ADMIN_ROLE, variables: {}, mayUseBackendOnly: false };
  return runAdmin(state, body, { endpoint: '/v1/metadata', session, client });
}

/** Parses a request, all of whose operations the session may perform. Others, valid or not, get the same error unless the session is an
 *  administrator's, so that a role learns nothing about the admin API. Raises `adminOnly`, `consoleOperationRefused`. */
function parseAllowed(body: unknown, caller: AdminCaller): AdminRequest {
  const { role, isConsole } = caller.session;
  if (role === ADMIN_ROLE) return parseRequest(body, caller);
  let request: AdminRequest | undefined;
  try {
    request = parseRequest(body, caller);
  } catch (error) {
    if (!(error instanceof EngineError)) throw error;
  }
  const isAllowed: IsAllowed = isConsole
    ? (row) => row.isForConsole === true
    : (row) => row.effect === 'rows';
  if (request && areAll(request, isAllowed)) return request;
  return fail(isConsole ? 'consoleOperationRefused' : 'adminOnly', {}, { path: ['args'] });
}

type IsAllowed = (operation: AdminRequest['operation']) => boolean;

/** True when the operation is allowed, or is a batch of operations that are. */
function areAll(request: AdminRequest | EngineError, isAllowed: IsAllowed): boolean {
  if (request instanceof EngineError) return false;
  const { operation, items } = request;
  if (operation.effect !== 'batch') return isAllowed(operation);
  return items.length > 0 && items.every((item) => areAll(item, isAllowed));
}

type Signal = AbortSignal | undefined;

function answer(
  state: EngineState,
  request: AdminRequest,
  { signal, targetWaitMs }: AdminContext,
): Promise<unknown> {
  const isRefused = changesDocument(request) ? isMaintenance : isMigration;
  if (state.isReadOnly && operationsIn(request).some(isRefused)) fail('maintenanceMode', {});
  if (!changesDocument(request)) return read(state, request, signal);
  const waits = new TargetWaits(targetWaitMs);
  return state.inTurns(waits, async () => {
    signal?.throwIfAborted();
    return change(state, request, { signal, waits });
  });
}

/** Performs requests that cannot change the document: reads, rows, and SQL that does not change the schema. Any number run at a time. */
async function read(state: EngineState, request: AdminRequest, signal: Signal): Promise<unknown> {
  const base = await baseOf(state, request);
  const work = new UnitOfWork(base, state.gateway, { signal });
  try {
    const complete = await perform(work, request);
    await work.commit();
    return complete(base);
  } catch (error) {
    await work.rollback();
    throw error;
  }
}

type Change = { readonly signal: Signal; readonly waits: TargetWaits };

async function change(state: EngineState, request: AdminRequest, options: Change): Promise<unknown> {
  const by = authorshipOf(request);
  const isOperator = operationsIn(request).some(writesLedger);
  // The body, which may be a large document, has been parsed in this turn.
  await nextTurn();
  for (let attempt = 1; ; attempt++) {
    const work = new UnitOfWork(await baseOf(state, request), state.gateway, { isOperator, ...options });
    try {
      const complete = await perform(work, request);
      await work.validate();
      const published = await work.commit(by);
      state.publish(published);
      await warnOfManaged(state, work, by);
      const missing = await state.createExtensions();
      const warnings = [...checkWarnings(work.base, published), ...missing.map(warningOfExtension)];
      return withWarnings(complete(published), warnings);
    } catch (error) {
      await work.rollback();
      const isOvertaken = error instanceof EngineError && error.kind === 'conflict';
      const mayRepeat = work.isRepeatable && request.resourceVersion === null && attempt < MOST_ATTEMPTS;
      // An open intent of this or another engine may have caused the conflict. Refreshing completes it.
      if (isOvertaken || work.isInDoubt) await state.refresh();
      if (!isOvertaken || !mayRepeat) throw error;
    } finally {
      state.dropUnpublished();
    }
  }
}

async function warnOfManaged(state: EngineState, work: UnitOfWork, by: Authorship): Promise<void> {
  const changes = await managedChanges(work.ledger, work.base.metadata, work.metadata);
  const keys = changes.map(({ name }) => name);
  if (keys.length > 0) state.report({ kind: 'managed objects changed', by, keys });
}

function authorshipOf(request: AdminRequest): Authorship {
  const { author, client } = request.caller;
  const names = operationsIn(request).map(({ operation }) => operation.name);
  return { author, client, operations: [...new Set(names)] };
}

/** Returns the operations of a request, without the batches that contain them. */
function operationsIn(request: AdminRequest | EngineError): readonly AdminRequest[] {
  if (request instanceof EngineError) return [];
  return request.operation.effect === 'batch' ? request.items.flatMap(operationsIn) : [request];
}

/** True when the operation writes the operator's ledger, which only the operator does, together with its changes. */
function writesLedger({ operation, args }: AdminRequest): boolean {
  const isState = operation.effect === 'client-state' && typeof args === 'object' && args !== null;
  return isState && 'type' in args && args.type === 'operator';
}

/** Returns the snapshot that the request is based on. A version that differs from the current one may come from another replica, so
 *  the state is refreshed before the request is refused. Raises `conflict`. */
async function baseOf(state: EngineState, request: AdminRequest): Promise<Snapshot> {
  const wanted = request.resourceVersion;
  if (wanted === null || state.snapshot().resourceVersion === wanted) return state.snapshot();
  await state.refresh();
  const base = state.snapshot();
  if (base.resourceVersion !== wanted) fail('conflict', { version: String(wanted) });
  return base;
}

function changesDocument(request: AdminRequest | EngineError): boolean {
  if (request instanceof EngineError) return false;
  const { effect } = request.operation;
  if (effect === 'batch') return request.items.some(changesDocument);
  if (effect === 'sql') return !isSqlText(request.args) || mayChangeSchema(request.args);
  return EFFECTS[effect].mayEdit;
}

function isMigration({ operation }: AdminRequest): boolean {
  return operation.effect === 'migration';
}

/** True when the operation is refused in maintenance mode. */
function isMaintenance({ operation }: AdminRequest): boolean {
  return EFFECTS[operation.effect].isMaintenance;
}

/** True when the arguments of run_sql suffice to know what the SQL may change. Invalid arguments count as changes and fail later. */
function isSqlText(args: unknown): args is RunSqlArgs {
  return typeof args === 'object' && args !== null && 'sql' in args && typeof args.sql === 'string';
}

/** True when errors may have `internal`. Messages of Postgres are for administrators only. */
function mayShowInternal({ session, showInternal = true }: AdminContext): boolean {
  return showInternal && session.role === ADMIN_ROLE;
}

function refusal(error: unknown, context: AdminContext): AdminResponse {
  const dialect = dialectOf(context.endpoint);
  if (error instanceof EngineError) {
    const advised = error.advised(context.adviceOn?.(error));
    return { status: error.status, body: toAdminBody(advised, dialect, mayShowInternal(context)) };
  }
  const reported = isUnreachable(error)
    ? new EngineError('sourceUnreachable', { reason: 'the metadata database does not answer' })
    : new EngineError('unexpected', { text: hasLostTables(error) ? LOST_TABLES : 'internal error' });
  return { status: reported.status, body: toAdminBody(reported, dialect, false), unexpected: error };
}
