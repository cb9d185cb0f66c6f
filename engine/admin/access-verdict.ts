/** The answer of `explain_access`: the verdict on the operation, the reasons, and each clause with its truth.
 *  In: the question, and the judged clauses. Out: JSON. Pure.
 *  Not here: the clauses that decide a condition (clause-truth.ts). Reference: docs/reference/behaviour/permissions.md. */
import { type PathStep, printPath } from '../errors/engine-error.ts';
import type { TruthAnswer } from '../execute/row-truth.ts';
import { printQualified } from '../metadata/schema/common.ts';
import type { Leaf } from '../resolve/predicate.ts';
import { ADMIN_ROLE } from '../resolve/session.ts';
import type { AccessQuestion, Args, GrantClauses } from './access-question.ts';
import { failing, type JudgedClause, variablesOf } from './clause-truth.ts';

export type JudgedGrant = Pick<GrantClauses, 'grant' | 'operation'> & {
  readonly filter: JudgedClause | null;
  readonly check: JudgedClause | null;
};

export type JudgedAccess = {
  /** True when the row with the key exists, and for an insert. */
  readonly hasRow: boolean;
  /** The truth of the conditions that the engine applies; null without one, or when it could not be asked. */
  readonly filter: TruthAnswer | null;
  readonly check: TruthAnswer | null;
  readonly grants: readonly JudgedGrant[];
  /** The names of the triggers that run before the write. */
  readonly triggers: readonly string[];
};

/** `visible`: a select returns the row. `allowed`: the write passes the permission. `hidden`: the operation succeeds without the row.
 *  `refused`: it raises an error. `no_row`: there is no such row. `undecided`: only the write itself could say. */
export type RowVerdict = 'visible' | 'allowed' | 'hidden' | 'refused' | 'no_row' | 'undecided';

type Reason = {
  readonly kind: string;
  readonly message: string;
  /** The clause in the permission of `role`. */
  readonly role?: string;
  readonly path?: string;
};

export type AccessAnswer = {
  readonly verdict: RowVerdict;
  readonly reasons: readonly Reason[];
} & Readonly<Record<string, unknown>>;

export function answerOf(question: AccessQuestion, judged: JudgedAccess, args: Args): AccessAnswer {
  const { table, operation, presets, session } = question;
  const { verdict, reasons, decisive } = verdictOf(question, judged);
  const columns = operation === 'select' && verdict === 'visible' ? columnsOf(question, judged, args) : null;
  return {
    verdict,
    reasons,
    operation,
    role: args.role,
    source: args.source,
    table: table.table,
    permissions: judged.grants.map((each) => printGrant(each, { ...judged, decisive })),
    ...(columns ? { columns } : {}),
    ...(presets.size > 0
      ? { presets: [...presets].map(([column, leaf]) => printPreset(column, leaf, session)) }
      : {}),
    ...notesOf(question, judged),
  };
}

type Decided = {
  readonly verdict: RowVerdict;
  readonly reasons: readonly Reason[];
  /** The clauses that the reasons name. */
  readonly decisive: ReadonlySet<JudgedClause>;
};

const NONE: ReadonlySet<JudgedClause> = new Set();

function verdictOf(question: AccessQuestion, judged: JudgedAccess): Decided {
  const { operation, refusals, table, filter, check } = question;
  const refused = [...refusals, ...unsetVariables(question)];
  if (refused.length > 0) return { verdict: 'refused', reasons: refused, decisive: NONE };
  if (!judged.hasRow) {
    const message = `${printQualified(table.table)} has no row with this key`;
    return { verdict: 'no_row', reasons: [{ kind: 'no_row', message }], decisive: NONE };
  }
  const passed: Decided = {
    verdict: operation === 'select' ? 'visible' : 'allowed',
    reasons: [],
    decisive: NONE,
  };
  if (filter && !isTrue(judged.filter)) return raised(judged.filter) ?? because('hidden', 'filter', judged);
  if (!check || isTrue(judged.check)) return passed;
  // The check of a row that is not known as a whole may be decided by what is known.
  const truths = judged.grants.map((each) => each.check?.holds);
  if (judged.check === null && truths.every((holds) => holds === true)) return passed;
  const isRefused = judged.check !== null || truths.includes(false);
  return raised(judged.check) ?? because(isRefused ? 'refused' : 'undecided', 'check', judged);
}

/** Returns the verdict for a condition that Postgres failed to evaluate. */
function raised(answer: TruthAnswer | null): Decided | null {
  if (!answer || 'holds' in answer) return null;
  return { verdict: 'refused', reasons: [{ kind: 'error', message: answer.error }], decisive: NONE };
}

/** Returns the verdict for a condition that does not hold: one reason for each clause that must change. */
function because(verdict: RowVerdict, kind: 'filter' | 'check', { grants }: JudgedAccess): Decided {
  const all = grants.flatMap(({ grant, operation, [kind]: root }) =>
    (root ? failing(root) : []).map((judged) => ({ grant, operation, judged })),
  );
  const reasons = all.map(({ grant, operation, judged }) => ({
    kind,
    role: grant.role,
    path: pathOf(kind, judged.clause.path),
    message: `${operation} permission of role "${grant.role}": ${describe(judged)}`,
  }));
  return { verdict, reasons, decisive: new Set(all.map(({ judged }) => judged)) };
}

function isTrue(answer: TruthAnswer | null): boolean {
  return answer !== null && 'holds' in answer && answer.holds === true;
}

/** Returns the session variables that the engine needs and the session does not have: the request fails without them. */
function unsetVariables({ presets, session, filter, check }: AccessQuestion): readonly Reason[] {
  const needed = new Set([
    ...[filter, check].flatMap((predicate) => (predicate ? variablesOf(predicate) : [])),
    ...[...presets.values()].flatMap((leaf) => (leaf.kind === 'session' ? [leaf.variable] : [])),
  ]);
  const unset = [...needed].filter((name) => !Object.hasOwn(session.variables, name));
  return unset.map((name) => ({
    kind: 'variable_not_set',
    message: `session variable ${name} is not set, and a permission needs it`,
  }));
}

/** Says what a clause is, its truth, and the values it compares. */
function describe({
  clause,
  holds,
  value,
  variables,
  isReached,
  error,
  undecidedColumns,
}: JudgedClause): string {
  const facts = [
    ...(isReached === false ? ['there is no related row'] : []),
    ...(value === undefined ? [] : [`${clause.compared!.left.column} is ${JSON.stringify(value)}`]),
    ...variables.map(
      (each) => `${each.name} is ${each.value === null ? 'not set' : JSON.stringify(each.value)}`,
    ),
    ...(error === null ? [] : [error]),
  ];
  const open = undecidedColumns.map((column) => `${column} is not known before the write`);
  const truth = holds === 'undecided' ? 'cannot be decided' : `is ${holds}`;
  const shown = open.length > 0 ? open : facts;
  return `${JSON.stringify(clause.written)} ${truth}${shown.length > 0 ? `: ${shown.join(', ')}` : ''}`;
}

function pathOf(kind: string, path: readonly PathStep[]): string {
  return printPath([kind, ...path]).slice('$.'.length);
}

type Printed = Pick<Decided, 'decisive'> & Pick<JudgedAccess, 'hasRow'>;

function printGrant({ grant, operation, filter, check }: JudgedGrant, { decisive, hasRow }: Printed): object {
  const { rule, access } = grant;
  const facts = ['columns', 'limit', 'query_root_fields', 'backend_only'].filter(
    (key) => rule[key] !== undefined,
  );
  return {
    role: grant.role,
    operation,
    is_consistent: access !== null,
    ...(hasRow && filter ? { filter: printClause('filter', filter, decisive) } : {}),
    ...(hasRow && check ? { check: printClause('check', check, decisive) } : {}),
    ...Object.fromEntries(facts.map((key) => [key, rule[key]])),
  };
}

function printClause(kind: string, judged: JudgedClause, decisive: ReadonlySet<JudgedClause>): object {
  const { clause, holds, value, variables, error, undecidedColumns, clauses, isReached } = judged;
  return {
    path: pathOf(kind, clause.path),
    clause: clause.written,
    holds,
    ...(decisive.has(judged) ? { is_decisive: true } : {}),
    ...(value === undefined ? {} : { value }),
    ...(variables.length > 0 && clauses.length === 0 ? { variables } : {}),
    ...(undecidedColumns.length > 0 ? { undecided_columns: undecidedColumns } : {}),
    ...(isReached === null ? {} : { has_related_row: isReached }),
    ...(error === null ? {} : { error }),
    ...(clauses.length > 0 ? { clauses: clauses.map((inner) => printClause(kind, inner, decisive)) } : {}),
  };
}

/** Returns, for each column of a visible row, whether the role sees its value, and the roles whose permission shows it. A column that
 *  only a parent grants whose filter hides the row is null. */
function columnsOf(
  { table, access }: AccessQuestion,
  { grants }: JudgedAccess,
  { columns, role }: Args,
): readonly object[] {
  const names = columns ?? [...table.columnByName.keys()];
  return names.map((name) => {
    const granting = grants.filter(
      ({ grant }) => grant.access && 'columns' in grant.access && grant.access.columns.has(name),
    );
    const showing = granting.filter(({ filter }) => filter?.holds === true);
    const isAdmin = role === ADMIN_ROLE;
    const isGranted = access !== null && 'columns' in access && access.columns.has(name);
    const verdict = !isGranted ? 'not_permitted' : isAdmin || showing.length > 0 ? 'visible' : 'masked';
    return {
      column: name,
      verdict,
      roles: (showing.length > 0 ? showing : granting).map(({ grant }) => grant.role),
    };
  });
}

function printPreset(column: string, leaf: Leaf, { variables }: AccessQuestion['session']): object {
  if (leaf.kind !== 'session') return { column, ...(leaf.kind === 'constant' ? { value: leaf.value } : {}) };
  return {
    column,
    variable: leaf.variable,
    value: Object.hasOwn(variables, leaf.variable) ? variables[leaf.variable] : null,
  };
}

/** Returns what the verdict leaves out. */
function notesOf(
  { access, operation }: AccessQuestion,
  { triggers }: JudgedAccess,
): { readonly notes?: readonly string[] } {
  const limit = access && 'limit' in access ? access.limit : null;
  const roots = access && 'queryRootFields' in access ? access.queryRootFields : null;
  const validation = access && 'validation' in access ? access.validation : undefined;
  const notes = [
    ...(limit === null
      ? []
      : [`the role reads at most ${limit} rows at once: a query without a condition may leave the row out`]),
    ...(roots === null
      ? []
      : [`query_root_fields is [${[...roots].join(', ')}]: other root fields do not return the row`]),
    ...(validation ? [`validate_input was not called: ${validation.url}`] : []),
    ...triggers.map(
      (name) =>
        `trigger "${name}" runs before the write and may change the row: the check is then of the changed row`,
    ),
    ...(operation === 'select'
      ? []
      : [
          'nothing was written: triggers and constraints of the database may still change or refuse the write',
        ]),
  ];
  return notes.length > 0 ? { notes } : {};
}
