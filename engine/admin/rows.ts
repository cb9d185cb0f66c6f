/** `select`, `count`, `insert`, `update`, `delete`: operations on rows of a tracked table, with the permissions of the caller's role.
 *  They run in the request's transaction on the source, so that a bulk that tracks a table and fills it is all or nothing. Allow lists
 *  and API limits are about GraphQL, so roles with any of them must use GraphQL.
 *  Not here: the meaning of the arguments (plan/row-selection.ts, row-writes.ts). Reference: docs/reference/behaviour/endpoints.md. */
import { fail, withPath } from '../errors/engine-error.ts';
import { answerOn } from '../execute/answer-on.ts';
import { printQualified, type QualifiedName, qualifiedKey } from '../metadata/schema/common.ts';
import type { MutationRoot } from '../plan/mutation-types.ts';
import type { QueryRoot } from '../plan/query-types.ts';
import { planRowsCount } from '../plan/row-count.ts';
import { planRootSelect } from '../plan/row-selection.ts';
import { planRowsDelete, planRowsInsert, planRowsUpdate, type Writer } from '../plan/row-writes.ts';
import { SelectionSize } from '../plan/selection-size.ts';
import type { Plan } from '../plan/types.ts';
import type { ResolvedTable } from '../resolve/model/table.ts';
import { requestPolicyOf } from '../resolve/request-policy.ts';
import { ADMIN_ROLE } from '../resolve/session.ts';
import type { UnitOfWork } from '../state/unit-of-work.ts';
import type { AdminRequest, Performer } from './request.ts';

/** The table of an operation, the caller as a writer, and functions that run a plan and return its result as JSON. */
type RowsContext = {
  readonly table: ResolvedTable;
  readonly writer: Writer;
  readonly query: (query: QueryRoot) => Promise<unknown>;
  readonly mutation: (mutation: MutationRoot) => Promise<unknown>;
};

type About = { readonly source: string; readonly table: QualifiedName };

export const selectRows: Performer<'select'> = async (work, args, request) => {
  const { table, writer, query } = await contextOf('select', work, args, request);
  const rows = await query({ kind: 'rows', select: planRootSelect(table, args, writer) });
  return () => rows;
};

export const count: Performer<'count'> = async (work, args, request) => {
  const { table, writer, query } = await contextOf('count', work, args, request);
  const withoutAggregations = work.gateway.countWithoutAggregations;
  const { counted } = (await query(planRowsCount(table, args, { ...writer, withoutAggregations }))) as {
    counted: object;
  };
  return () => counted;
};

export const insertRows: Performer<'insert'> = async (work, args, request) => {
  const { table, writer, mutation } = await contextOf('insert', work, args, request);
  const result = await mutation(planRowsInsert(table, args, writer));
  return () => result;
};

export const updateRows: Performer<'update'> = async (work, args, request) => {
  const { table, writer, mutation } = await contextOf('update', work, args, request);
  const result = await mutation(planRowsUpdate(table, args, writer));
  return () => result;
};

export const deleteRows: Performer<'delete'> = async (work, args, request) => {
  const { table, writer, mutation } = await contextOf('delete', work, args, request);
  const result = await mutation(planRowsDelete(table, args, writer));
  return () => result;
};

type RowOperation = 'select' | 'count' | 'insert' | 'update' | 'delete';

/** Raises `sourceNotFound` and `tableNotTracked` for administrators, the errors of `refuseHidden` for other roles, and `notSupported` for a role
 *  that must use GraphQL. */
async function contextOf(
  type: RowOperation,
  work: UnitOfWork,
  args: About,
  { caller }: AdminRequest,
): Promise<RowsContext> {
  const { session } = caller;
  const source = work.source(args.source);
  const isAdmin = session.role === ADMIN_ROLE;
  if (!source) {
    return isAdmin
      ? fail('sourceNotFound', { source: args.source })
      : refuseHidden(type, args.table, session.role);
  }
  await work.addedInconsistencies();
  const { model } = await work.resolution();
  const policy = requestPolicyOf(model, session.role);
  const { mayIntrospect: _, defaultTimeLimitMs, defaultResponseBytes, ...limits } = policy;
  if (session.role !== ADMIN_ROLE && Object.values(limits).some((limit) => limit !== null)) {
    const text = `role "${session.role}" has an allow list or API limits, which are about GraphQL: ask by GraphQL`;
    fail('notSupported', { text });
  }
  const table = model.sources.get(source.name)?.tables.get(qualifiedKey(args.table));
  if (!table) {
    if (!isAdmin) return refuseHidden(type, args.table, session.role);
    return withPath('table', () => fail('tableNotTracked', { table: printQualified(args.table) }));
  }
  const at = { alias: 'rows', source: source.name } as const;
  const run = async (plan: Plan) =>
    answerOn((await work.transaction(source)).client, plan, {
      sources: model.sources,
      session,
      limitMs: defaultTimeLimitMs,
      mostBytes: defaultResponseBytes,
    });
  return {
    table,
    writer: {
      model,
      role: session.role,
      size: new SelectionSize(),
      level: 0,
      mayUseBackendOnly: session.mayUseBackendOnly,
    },
    query: (query) => run({ operation: 'query', roots: [{ kind: 'database', ...at, query }] }),
    mutation: (mutation) => run({ operation: 'mutation', roots: [{ kind: 'mutation', ...at, mutation }] }),
  };
}

/** Raises for a table that does not exist what the operation raises for a table that the role has no permission for, so that a role does not
 *  learn which tables exist. */
function refuseHidden(type: RowOperation, { name }: QualifiedName, role: string): never {
  if (type === 'select') return fail('selectNotPermitted', { name, role });
  if (type === 'count') return fail('selectNotPermitted', { name, role, needs: type });
  return fail('operationNotPermitted', { type, table: name, role });
}
