/** One admin request: body in, status and body out; never throws. Only administrators, but for rows; what may change the document waits
 *  for its turn, works on a draft, and is tried again when another replica was faster and the client named no version.
 *  Not here: HTTP and authentication (http/), what each operation does (perform.ts). Spec: "Schema/metadata API". */
import { EngineError, fail, toAdminBody } from '../errors/engine-error.ts';
import { ADMIN_ROLE, SESSION_PREFIX, type Session } from '../resolve/session.ts';
import { isUnreachable } from '../store/connect.ts';
import type { Authorship } from '../store/document.ts';
import { perform } from './perform.ts';
import {
  type AdminCaller,
  type AdminEndpoint,
  type AdminRequest,
  dialectOf,
  parseRequest,
} from './request.ts';
import { mayChangeSchema, type RunSqlArgs } from './run-sql.ts';
import type { Snapshot } from './snapshot.ts';
import type { EngineState } from './state.ts';
import { UnitOfWork } from './unit-of-work.ts';
import { managedChanges } from './warnings.ts';

export type { AdminEndpoint } from './request.ts';

export type AdminContext = {
  readonly endpoint: AdminEndpoint;
  readonly session: Session;
  /** What the program calls itself, for the revisions of the document. */
  readonly client?: string | undefined;
  /** Aborted when the client has gone: what is not being committed by then is rolled back. */
  readonly signal?: AbortSignal | undefined;
  /** May errors carry `internal`; default true (`--admin-internal-errors`). */
  readonly showInternal?: boolean;
};

export type AdminResponse = {
  readonly status: number;
  readonly body: unknown;
  /** What nobody foresaw, for the log; the client is told only that it happened. */
  readonly unexpected?: unknown;
};

/** The session variable that names a person, where there is one. */
const USER_ID = `${SESSION_PREFIX}user-id`;

/** How often a request is tried while other replicas keep writing in between. */
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
    const isAdmin = context.session.role === ADMIN_ROLE;
    const request = isAdmin ? parseRequest(body, caller) : parseRowRequest(body, caller);
    return { status: 200, body: await answer(state, request, context.signal) };
  } catch (error) {
    return refusal(error, context);
  }
}

/** Rows may be asked for by any role. Otherwise a stranger learns nothing of what would have been understood. */
function parseRowRequest(body: unknown, caller: AdminCaller): AdminRequest {
  let request: AdminRequest | undefined;
  try {
    request = parseRequest(body, caller);
  } catch (error) {
    if (!(error instanceof EngineError)) throw error;
  }
  return request && concernsRowsOnly(request) ? request : fail('adminOnly', {}, { path: ['args'] });
}

function concernsRowsOnly(request: AdminRequest | EngineError): boolean {
  if (request instanceof EngineError) return false;
  const { effect } = request.operation;
  return (
    effect === 'rows' ||
    (effect === 'batch' && request.items.length > 0 && request.items.every(concernsRowsOnly))
  );
}

type Signal = AbortSignal | undefined;

function answer(state: EngineState, request: AdminRequest, signal: Signal): Promise<unknown> {
  if (!changesDocument(request)) return read(state, request, signal);
  return state.exclusively(async () => {
    signal?.throwIfAborted();
    return change(state, request, signal);
  });
}

/** Reads, and SQL that leaves the schema alone: any number at a time. */
async function read(state: EngineState, request: AdminRequest, signal: Signal): Promise<unknown> {
  const base = await baseOf(state, request);
  const work = new UnitOfWork(base, state.gateway, { signal });
  try {
    const tell = await perform(work, request);
    await work.commit();
    return tell(base);
  } catch (error) {
    await work.rollback();
    throw error;
  }
}

async function change(state: EngineState, request: AdminRequest, signal: Signal): Promise<unknown> {
  const by = authorshipOf(request);
  const isOperator = operationsIn(request).some(writesLedger);
  for (let attempt = 1; ; attempt++) {
    const work = new UnitOfWork(await baseOf(state, request), state.gateway, { isOperator, signal });
    try {
      const tell = await perform(work, request);
      await work.validate();
      const published = await work.commit(by);
      state.publish(published);
      warnOfManaged(state, work, by);
      return tell(published);
    } catch (error) {
      await work.rollback();
      const isOvertaken = error instanceof EngineError && error.kind === 'conflict';
      const mayRepeat = work.isRepeatable && request.resourceVersion === null && attempt < MOST_ATTEMPTS;
      // Another engine's intent, or our own, may be all that was in the way: the next one finds it settled.
      if (isOvertaken || work.isInDoubt) await state.refresh();
      if (!isOvertaken || !mayRepeat) throw error;
    } finally {
      state.dropUnpublished();
    }
  }
}

function warnOfManaged(state: EngineState, work: UnitOfWork, by: Authorship): void {
  const keys = managedChanges(work.ledger, work.base.metadata, work.metadata).map(({ name }) => name);
  if (keys.length > 0) state.report({ kind: 'managed objects changed', by, keys });
}

function authorshipOf(request: AdminRequest): Authorship {
  const { author, client } = request.caller;
  const names = operationsIn(request).map(({ operation }) => operation.name);
  return { author, client, operations: [...new Set(names)] };
}

/** Without the batches they are in. */
function operationsIn(request: AdminRequest | EngineError): readonly AdminRequest[] {
  if (request instanceof EngineError) return [];
  return request.operation.effect === 'batch' ? request.items.flatMap(operationsIn) : [request];
}

const STATE_WRITES: ReadonlySet<string> = new Set(['set_catalog_state', 'patch_catalog_state']);

/** Only the operator does, and with what it changes. */
function writesLedger({ operation, args }: AdminRequest): boolean {
  const isState = STATE_WRITES.has(operation.name) && typeof args === 'object' && args !== null;
  return isState && 'type' in args && args.type === 'operator';
}

/** The snapshot the request means. A version other than ours may have been written through another replica: look first. */
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
  const { effect, name } = request.operation;
  if (effect === 'batch') return request.items.some(changesDocument);
  if (name === 'run_sql') return !isSqlText(request.args) || mayChangeSchema(request.args);
  return effect !== 'read' && effect !== 'rows';
}

/** Enough of run_sql's arguments to know what they may do; arguments that are wrong wait their turn and fail there. */
function isSqlText(args: unknown): args is RunSqlArgs {
  return typeof args === 'object' && args !== null && 'sql' in args && typeof args.sql === 'string';
}

/** What Postgres has said is for administrators. */
function mayShowInternal({ session, showInternal = true }: AdminContext): boolean {
  return showInternal && session.role === ADMIN_ROLE;
}

function refusal(error: unknown, context: AdminContext): AdminResponse {
  const dialect = dialectOf(context.endpoint);
  if (error instanceof EngineError) {
    return { status: error.status, body: toAdminBody(error, dialect, mayShowInternal(context)) };
  }
  const told = isUnreachable(error)
    ? new EngineError('sourceUnreachable', { source: '', reason: 'the metadata database does not answer' })
    : new EngineError('unexpected', { text: 'internal error' });
  return { status: told.status, body: toAdminBody(told, dialect, false), unexpected: error };
}
