/** The subject of an access question: a table, a role and its session; and the permissions that decide an operation: their clauses, and
 *  what forbids the operation before any row is read.
 *  In: the arguments, the model. Out: AccessSubject, GrantClauses, AccessRefusal. Raises an ERRORS row for a name that is wrong. Pure.
 *  Not here: the rows and values of the request (write.ts), the question as a whole (question.ts). */
import type { CatalogTable } from '../catalog/types.ts';
import { fail, withPath } from '../errors/engine-error.ts';
import { printQualified, qualifiedKey } from '../metadata/schema/common.ts';
import type { Source } from '../metadata/schema/source.ts';
import { accessOf } from '../resolve/access.ts';
import type { BoolExpScope } from '../resolve/bool-exp.ts';
import { type Clause, clauseOf } from '../resolve/clause.ts';
import { type GrantScope, grantsOf, type RoleGrant } from '../resolve/grant.ts';
import type { TableAccess } from '../resolve/model/access.ts';
import type { ResolvedTable } from '../resolve/model/table.ts';
import type { Leaf, Predicate } from '../resolve/predicate.ts';
import { ADMIN_ROLE, SESSION_PREFIX, type Session, sessionVariableOf } from '../resolve/session.ts';
import type { ProbedRows } from '../sql/row-truth.ts';
import type { Snapshot } from '../state/snapshot.ts';
import type { Args, RowOperation } from './write.ts';

/** The table, the role and the session that a question is about. */
export type AccessSubject = {
  readonly args: Args;
  readonly operation: RowOperation;
  readonly table: ResolvedTable;
  readonly session: Session;
  readonly granted: GrantScope;
  /** The scope of the conditions of permissions. */
  readonly scope: BoolExpScope;
  /** Undefined when the catalog is missing. */
  readonly catalog: CatalogTable | undefined;
};

/** A permission and its conditions. */
export type GrantClauses = {
  readonly grant: RoleGrant;
  /** The operation of the permission. With --strict-writes, a write also needs the select permission of its role. */
  readonly operation: RowOperation;
  readonly filter: Clause | null;
  readonly check: Clause | null;
};

/** Something that refuses the operation for every row. */
export type AccessRefusal = {
  readonly kind:
    | 'no_permission'
    | 'backend_only'
    | 'column_not_permitted'
    | 'preset_column'
    | 'field_not_permitted';
  readonly message: string;
};

/** The conditions that decide an operation on rows, and the values that it writes. */
export type AccessConditions = {
  readonly rows: ProbedRows;
  readonly grants: readonly GrantClauses[];
  /** The conditions that the engine applies, on the row before and after the write. */
  readonly filter: Predicate | null;
  readonly check: Predicate | null;
  /** The condition of the request itself on the row before the write. */
  readonly where: Predicate | null;
  readonly presets: ReadonlyMap<string, Leaf>;
  /** The columns whose value only the write itself gives: defaults and generated columns. */
  readonly undecidedColumns: ReadonlySet<string>;
};

/** The document, the model and the catalogs that answer questions about access. */
export type AccessContext = Pick<Snapshot, 'metadata' | 'model' | 'catalogs'> & {
  /** The prefix of session variables on the wire. */
  readonly headerPrefix: string;
};

/** Raises `tableNotTracked`, and `parseFailed` for a name that is no session variable. */
export function subjectOf(context: AccessContext, source: Source, args: Args): AccessSubject {
  const { metadata, model, catalogs, headerPrefix } = context;
  const key = qualifiedKey(args.table);
  const table = model.sources.get(source.name)?.tables.get(key);
  const definition = source.tables.find((each) => qualifiedKey(each.table) === key);
  if (!table || !definition) {
    return withPath('table', () => fail('tableNotTracked', { table: printQualified(args.table) }));
  }
  const catalog = catalogs.get(source.name);
  return {
    args,
    operation: args.operation ?? 'select',
    table,
    session: sessionOf(args, headerPrefix),
    granted: { definition, table, inheritedRoles: metadata.inherited_roles ?? [] },
    scope: scopeOf(context, source, table),
    catalog: catalog && 'tables' in catalog ? catalog.tables.get(key) : undefined,
  };
}

/** Returns the permissions of the role for an operation, with their clauses. */
export function grantsFor(
  { args, granted, scope }: AccessSubject,
  operation: RowOperation,
): readonly GrantClauses[] {
  return grantsOf(args.role, operation, granted).flatMap((grant) =>
    clausesOf(grant, operation, { scope, selects: grantsOf(grant.role, 'select', granted) }),
  );
}

/** True for a session variable that the session does not have. */
export function isUnset(leaf: Leaf, { variables }: Session): boolean {
  return leaf.kind === 'session' && !Object.hasOwn(variables, leaf.variable);
}

/** Returns the session. Raises `parseFailed` for a name that is no session variable. */
function sessionOf({ role, session_variables: given = {} }: Args, prefix: string): Session {
  const entries = Object.entries(given).map(([name, value]) => {
    const own = sessionVariableOf(name, prefix);
    const isSecret = own !== undefined && /-(admin-secret|access-key|console-secret)$/.test(own);
    if (own === undefined || isSecret) {
      const text = isSecret
        ? `"${name}" is no session variable`
        : `"${name}" is no session variable; their names begin with "${prefix}"`;
      return withPath('session_variables', () => fail('parseFailed', { text }, { path: [name] }));
    }
    return [own, typeof value === 'string' ? value : JSON.stringify(value)] as const;
  });
  const variables: Session['variables'] = { ...Object.fromEntries(entries), [`${SESSION_PREFIX}role`]: role };
  const requested = variables[`${SESSION_PREFIX}use-backend-only-permissions`]?.toLowerCase();
  return { role, variables, mayUseBackendOnly: role === ADMIN_ROLE || requested === 'true' };
}

function scopeOf({ model, headerPrefix }: AccessContext, source: Source, table: ResolvedTable): BoolExpScope {
  const { sources } = model;
  const definitions = new Map(source.tables.map((each) => [qualifiedKey(each.table), each]));
  return {
    table,
    root: table,
    tables: sources.get(source.name)!.tables,
    remote: { get: (key) => definitions.get(key)?.remote_relationships },
    everywhere: {
      get: (key) => {
        const [name, tableKey] = JSON.parse(key) as [string, string];
        return sources.get(name)?.tables.get(tableKey);
      },
    },
    prefix: headerPrefix,
  };
}

type GrantContext = { readonly scope: BoolExpScope; readonly selects: readonly RoleGrant<'select'>[] };

/** Returns the conditions of a permission. A filter that is narrower than it is written is one of --strict-writes, and the select
 *  permissions of the role apply too. */
function clausesOf(
  grant: RoleGrant,
  operation: GrantClauses['operation'],
  { scope, selects }: GrantContext,
): readonly GrantClauses[] {
  const { rule, access } = grant;
  if (!access) return [{ grant, operation, filter: null, check: null }];
  const filter = 'filter' in rule ? clauseOf(rule['filter'], scope) : null;
  const check = 'check' in rule && rule['check'] !== null ? clauseOf(rule['check'], scope) : null;
  const isStrict =
    operation !== 'select' &&
    filter !== null &&
    'filter' in access &&
    JSON.stringify(access.filter) !== JSON.stringify(filter.predicate);
  const own = { grant, operation, filter, check };
  if (!isStrict) return [own];
  return [own, ...selects.flatMap((select) => clausesOf(select, 'select', { scope, selects: [] }))];
}

/** Returns what refuses an operation that names columns. */
export function refusalsOf(
  subject: AccessSubject,
  operation: RowOperation,
  columns: readonly string[],
): readonly AccessRefusal[] {
  const { table, args, session } = subject;
  const access = accessOf(table, args.role)[operation];
  if (!access) return [{ kind: 'no_permission', message: withoutPermission(subject, operation) }];
  const isHidden = 'backendOnly' in access && access.backendOnly && !session.mayUseBackendOnly;
  const [grant] = grantsOf(args.role, operation, subject.granted);
  const text =
    `the ${operation} permission of role "${grant?.role ?? args.role}" on ${printQualified(table.table)} is backend_only: ` +
    `the session variable ${SESSION_PREFIX}use-backend-only-permissions must be "true"`;
  const backendOnly: readonly AccessRefusal[] = isHidden ? [{ kind: 'backend_only', message: text }] : [];
  const refused = columns.flatMap((column) => refusedColumn(column, { role: args.role, operation, access }));
  return [...backendOnly, ...refused];
}

/** Says why a role has no access: it has no permission, one that is inconsistent, or parents that disagree. */
export function withoutPermission(
  { args, table, granted }: Pick<AccessSubject, 'table' | 'granted'> & { readonly args: Pick<Args, 'role'> },
  operation: RowOperation,
): string {
  const { role } = args;
  const name = printQualified(table.table);
  const grants = grantsOf(role, operation, granted);
  if (grants.length === 0) return `role "${role}" has no ${operation} permission on ${name}`;
  const [broken] = grants.filter(({ access }) => access === null);
  if (broken) {
    const reads = { select: true, insert: table.isInsertable, update: table.isUpdatable };
    const isPossible = { ...reads, delete: table.isDeletable }[operation];
    return isPossible
      ? `the ${operation} permission of role "${broken.role}" on ${name} is inconsistent: get_inconsistent_metadata, or Model in the console, has the reason`
      : `${name} is a view that does not allow ${operation}`;
  }
  const parents = grants.map((grant) => `"${grant.role}"`).join(', ');
  return `role "${role}" inherits no ${operation} permission on ${name}, because those of ${parents} differ`;
}

type Refusing = {
  readonly role: string;
  readonly operation: RowOperation;
  readonly access: NonNullable<TableAccess[RowOperation]>;
};

function refusedColumn(column: string, { role, operation, access }: Refusing): readonly AccessRefusal[] {
  if (!('columns' in access)) return [];
  if ('presets' in access && access.presets.has(column)) {
    const message = `column "${column}" has a preset, so role "${role}" may not give it`;
    return [{ kind: 'preset_column', message }];
  }
  if (access.columns.has(column)) return [];
  const message = `role "${role}" may not ${operation} column "${column}"`;
  return [{ kind: 'column_not_permitted', message }];
}
