/** The arguments of `explain_access` → the question: the role's session, its permissions as clauses, the row, and what forbids the
 *  operation before any row is read.
 *  In: unvalidated names and values, the model. Out: AccessQuestion. Raises an ERRORS row for a name or value that is wrong.
 *  Pure. Not here: asking the database (explain-access.ts), the verdict (access-verdict.ts). */
import type { CatalogColumn, CatalogTable } from '../catalog/types.ts';
import { fail, withPath } from '../errors/engine-error.ts';
import type { ArgsOf } from '../metadata/operations.ts';
import { printQualified, qualifiedKey } from '../metadata/schema/common.ts';
import type { Source } from '../metadata/schema/source.ts';
import { accessOf } from '../resolve/access.ts';
import type { BoolExpScope } from '../resolve/bool-exp.ts';
import { type Clause, clauseOf } from '../resolve/clause.ts';
import { grantsOf, type RoleGrant } from '../resolve/grant.ts';
import type { Leaf, Predicate } from '../resolve/predicate.ts';
import { ADMIN_ROLE, SESSION_PREFIX, type Session, sessionVariableOf } from '../resolve/session.ts';
import type { ResolvedColumn, ResolvedTable, TableAccess } from '../resolve/types.ts';
import { leafOf } from '../resolve/value.ts';
import type { ProbedRow } from '../sql/row-truth.ts';
import type { UnitOfWork } from './unit-of-work.ts';

export type Args = ArgsOf<'explain_access'>;

/** A permission and its conditions. */
export type GrantClauses = {
  readonly grant: RoleGrant;
  /** The operation of the permission. With --strict-writes, a write also needs the select permission of its role. */
  readonly operation: Args['operation'] & string;
  readonly filter: Clause | null;
  readonly check: Clause | null;
};

/** Something that refuses the operation for every row. */
export type AccessRefusal = {
  readonly kind: 'no_permission' | 'backend_only' | 'column_not_permitted' | 'preset_column';
  readonly message: string;
};

export type AccessQuestion = {
  readonly table: ResolvedTable;
  readonly operation: NonNullable<Args['operation']>;
  readonly session: Session;
  readonly access: TableAccess[keyof TableAccess];
  readonly grants: readonly GrantClauses[];
  readonly refusals: readonly AccessRefusal[];
  readonly row: ProbedRow;
  /** The pg_class.oid of the table; null when its catalog is missing. */
  readonly oid: number | null;
  /** The conditions that the engine applies, on the row before and after the write. */
  readonly filter: Predicate | null;
  readonly check: Predicate | null;
  readonly presets: ReadonlyMap<string, Leaf>;
  /** The columns whose value only the write itself gives: defaults and generated columns. */
  readonly undecidedColumns: ReadonlySet<string>;
};

/** Raises `sourceNotFound`, `tableNotTracked`, and errors of the arguments. */
export function accessQuestion(work: UnitOfWork, source: Source, args: Args): AccessQuestion {
  const { model } = work.resolution();
  const key = qualifiedKey(args.table);
  const table = model.sources.get(source.name)?.tables.get(key);
  const definition = source.tables.find((each) => qualifiedKey(each.table) === key);
  if (!table || !definition) {
    return withPath('table', () => fail('tableNotTracked', { table: printQualified(args.table) }));
  }
  const operation = args.operation ?? 'select';
  const session = sessionOf(args, work.gateway.headerPrefix);
  const access = accessOf(table, args.role)[operation];
  const granted = { definition, table, inheritedRoles: work.metadata.inherited_roles ?? [] };
  const scope = scopeOf(work, source, table);
  const grants = grantsOf(args.role, operation, granted).flatMap((grant) =>
    clausesOf(grant, operation, { scope, selects: grantsOf(grant.role, 'select', granted) }),
  );
  const write = access && 'presets' in access ? access : null;
  const presets = write?.presets ?? new Map<string, Leaf>();
  const unset = [...presets].filter(([, leaf]) => isUnset(leaf, session)).map(([column]) => column);
  const row = rowOf(
    table,
    operation,
    args,
    new Map([...presets].filter(([column]) => !unset.includes(column))),
  );
  const catalog = catalogOf(work, source, row);
  return {
    table,
    operation,
    session,
    access,
    grants,
    refusals: refusalsOf({ args, operation, table, session, access, grants }),
    row,
    oid: catalog?.oid ?? null,
    filter: access && 'filter' in access ? access.filter : null,
    check: access && 'check' in access ? access.check : null,
    presets,
    undecidedColumns: new Set([...undecidedColumnsOf(row, catalog?.columns ?? []), ...unset]),
  };
}

/** True for a session variable that the session does not have. */
function isUnset(leaf: Leaf, { variables }: Session): boolean {
  return leaf.kind === 'session' && !Object.hasOwn(variables, leaf.variable);
}

/** Returns the session. Raises `parseFailed` for a name that is no session variable. */
function sessionOf({ role, session_variables: given = {} }: Args, prefix: string): Session {
  const entries = Object.entries(given).map(([name, value]) => {
    const own = sessionVariableOf(name, prefix);
    const isSecret = own !== undefined && /-(admin-secret|access-key)$/.test(own);
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

function scopeOf(work: UnitOfWork, source: Source, table: ResolvedTable): BoolExpScope {
  const { sources } = work.resolution().model;
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
    prefix: work.gateway.headerPrefix,
  };
}

type Conditions = { readonly scope: BoolExpScope; readonly selects: readonly RoleGrant<'select'>[] };

/** Returns the conditions of a permission. A filter that is narrower than it is written is one of --strict-writes, and the select
 *  permissions of the role apply too. */
function clausesOf(
  grant: RoleGrant,
  operation: GrantClauses['operation'],
  { scope, selects }: Conditions,
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

type Refused = Pick<AccessQuestion, 'table' | 'operation' | 'session' | 'access' | 'grants'> & {
  readonly args: Args;
};

function refusalsOf(about: Refused): readonly AccessRefusal[] {
  const { args, operation, table, session, access, grants } = about;
  const { role } = args;
  const name = printQualified(table.table);
  if (!access) return [{ kind: 'no_permission', message: withoutPermission(about, name) }];
  const isHidden = 'backendOnly' in access && access.backendOnly && !session.mayUseBackendOnly;
  const text =
    `the ${operation} permission of role "${grants[0]?.grant.role ?? role}" on ${name} is backend_only: ` +
    `the session variable ${SESSION_PREFIX}use-backend-only-permissions must be "true"`;
  const backendOnly: readonly AccessRefusal[] = isHidden ? [{ kind: 'backend_only', message: text }] : [];
  return [...backendOnly, ...namedColumns(args, operation).flatMap((column) => refusalOf(column, about))];
}

/** Says why a role has no access: it has no permission, one that is inconsistent, or parents that disagree. */
function withoutPermission({ args, operation, grants, table }: Refused, name: string): string {
  const { role } = args;
  if (grants.length === 0) return `role "${role}" has no ${operation} permission on ${name}`;
  const [broken] = grants.filter(({ grant }) => grant.access === null);
  if (broken) {
    const reads = { select: true, insert: table.isInsertable, update: table.isUpdatable };
    const isPossible = { ...reads, delete: table.isDeletable }[operation];
    return isPossible
      ? `the ${operation} permission of role "${broken.grant.role}" on ${name} is inconsistent: get_inconsistent_metadata has the reason`
      : `${name} is a view that does not allow ${operation}`;
  }
  const parents = grants.map(({ grant }) => `"${grant.role}"`).join(', ');
  return `role "${role}" inherits no ${operation} permission on ${name}, because those of ${parents} differ`;
}

/** Returns the columns that the operation names: those read, or those written. */
function namedColumns({ columns = [], values = {} }: Args, operation: AccessQuestion['operation']) {
  return operation === 'select' ? columns : Object.keys(values);
}

function refusalOf(column: string, { args, operation, access }: Refused): readonly AccessRefusal[] {
  if (!access || !('columns' in access)) return [];
  const { role } = args;
  if ('presets' in access && access.presets.has(column)) {
    const message = `column "${column}" has a preset, so role "${role}" may not give it`;
    return [{ kind: 'preset_column', message }];
  }
  if (access.columns.has(column)) return [];
  const message = `role "${role}" may not ${operation} column "${column}"`;
  return [{ kind: 'column_not_permitted', message }];
}

function rowOf(
  table: ResolvedTable,
  operation: AccessQuestion['operation'],
  { key, values, columns: named = [] }: Args,
  presets: ReadonlyMap<string, Leaf>,
): ProbedRow {
  const columns = [...table.columnByName.values()];
  for (const [i, name] of named.entries()) {
    withPath('columns', () => withPath(i, () => columnOf(table, name)));
  }
  if (operation === 'insert') {
    if (key) refuse('key', 'an insert has no key; give the columns in values');
    return { table: table.table, columns, key: null, written: writtenBy(table, values, presets) };
  }
  if (!key || Object.keys(key).length === 0) {
    const wanted = table.primaryKey?.map(({ name }) => name).join(', ');
    const hint = wanted === undefined ? '' : `; the primary key of the table is ${wanted}`;
    return refuse('key', `the key of the row is missing${hint}`);
  }
  if (values && operation !== 'update') refuse('values', `a ${operation} takes no values`);
  const found = withPath('key', () => leavesIn(table, key));
  for (const [name, value] of Object.entries(key)) {
    if (value === null) withPath('key', () => refuse(name, 'a key has no null'));
  }
  const written = operation === 'update' ? writtenBy(table, values, presets) : null;
  return { table: table.table, columns, key: found, written };
}

function writtenBy(
  table: ResolvedTable,
  values: Args['values'],
  presets: ReadonlyMap<string, Leaf>,
): ReadonlyMap<string, Leaf> {
  return new Map([...withPath('values', () => leavesIn(table, values ?? {})), ...presets]);
}

function leavesIn(
  table: ResolvedTable,
  values: Readonly<Record<string, unknown>>,
): ReadonlyMap<string, Leaf> {
  const entries = Object.entries(values).map(([name, value]) => {
    const column = columnOf(table, name);
    return [name, withPath(name, () => leafOf(value, column.type, null))] as const;
  });
  return new Map(entries);
}

function columnOf(table: ResolvedTable, name: string): ResolvedColumn {
  return table.columnByName.get(name) ?? fail('columnNotExists', { name });
}

function refuse(argument: string, text: string): never {
  return withPath(argument, () => fail('parseFailed', { text }));
}

function catalogOf(work: UnitOfWork, source: Source, { table }: ProbedRow): CatalogTable | undefined {
  const catalog = work.catalogs.get(source.name);
  return catalog && 'tables' in catalog ? catalog.tables.get(qualifiedKey(table)) : undefined;
}

function undecidedColumnsOf(
  { key, written }: ProbedRow,
  columns: CatalogTable['columns'],
): ReadonlySet<string> {
  const isDefault = (column: CatalogColumn) => column.hasDefault || column.identity !== null;
  const isUndecided = (column: CatalogColumn) =>
    column.isGenerated || (key === null && !written?.has(column.name) && isDefault(column));
  return new Set(written ? columns.filter(isUndecided).map(({ name }) => name) : []);
}
