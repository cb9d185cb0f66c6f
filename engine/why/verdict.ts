/** The answer of `explain_access`: the verdict on the operation, the reasons, and each clause with its truth.
 *  In: the question, and the judged rows. Out: JSON. Pure.
 *  Not here: the clauses that decide a condition (clause-truth.ts). Reference: docs/reference/behaviour/permissions.md. */
import { type PathStep, printPath } from '../errors/engine-error.ts';
import type { TruthAnswer } from '../execute/row-truth.ts';
import { printQualified } from '../metadata/schema/common.ts';
import type { Leaf } from '../resolve/predicate.ts';
import { ADMIN_ROLE } from '../resolve/session.ts';
import { failing, type JudgedClause } from './clause-truth.ts';
import type { FoundConflict } from './conflict.ts';
import type { AccessConditions, GrantClauses } from './grants.ts';
import type { AccessQuestion } from './question.ts';
import { type Args, MOST_ROWS } from './write.ts';

export type JudgedGrant = Pick<GrantClauses, 'grant' | 'operation'> & {
  readonly filter: JudgedClause | null;
  readonly check: JudgedClause | null;
};

/** A row with the truth of everything that is judged. */
export type JudgedRow = {
  /** False when the row with the key does not exist. */
  readonly hasRow: boolean;
  /** The values that identify a stored row, as texts. */
  readonly key: ReadonlyMap<string, string | null>;
  /** The error of a value that Postgres cannot compute, else true: of the row to insert, and of those that an update assigns. */
  readonly inserted: TruthAnswer | null;
  readonly changed: TruthAnswer | null;
  /** The truth of the conditions that apply; null without one, or when it could not be evaluated. */
  readonly filter: TruthAnswer | null;
  readonly where: TruthAnswer | null;
  readonly check: TruthAnswer | null;
  readonly grants: readonly JudgedGrant[];
};

/** The part that the answers about all rows share. */
export type About = {
  readonly question: AccessQuestion;
  /** The conditions that decide: those of the question, or those of an upsert whose row exists. */
  readonly conditions: AccessConditions;
  /** Null unless the question is about an upsert. */
  readonly conflict: FoundConflict | null;
  /** The names of the triggers that run before the write. */
  readonly triggers: readonly string[];
  readonly args: Args;
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

/** Returns the answer about one row. */
export function answerOf(about: About, row: JudgedRow): AccessAnswer {
  const { verdict, reasons, ...parts } = rowAnswer(about, row);
  return { verdict, reasons, ...headOf(about), ...parts, ...conflictOf(about, row), ...remarks(about) };
}

/** Returns the answer about several rows, and how many have each verdict. */
export function severalOf(about: About, rows: readonly JudgedRow[], hasMore: boolean): object {
  const answers = rows.map((row) => ({ key: printKey(row), ...rowAnswer(about, row) }));
  const verdicts: Record<string, number> = {};
  for (const { verdict } of answers) verdicts[verdict] = (verdicts[verdict] ?? 0) + 1;
  const more = hasMore
    ? [`more than ${MOST_ROWS} rows satisfy where: the answer has the first ${MOST_ROWS}`]
    : [];
  return { ...headOf(about), verdicts, rows: answers, has_more: hasMore, ...remarks(about, more) };
}

function headOf({ question, args }: About) {
  const { operation, table } = question;
  return { operation, role: args.role, source: args.source, table: table.table };
}

function rowAnswer(about: About, row: JudgedRow) {
  const { verdict, reasons, decisive } = verdictOf(about, row);
  const columns =
    about.question.operation === 'select' && verdict === 'visible' ? columnsOf(about, row) : null;
  return {
    verdict,
    reasons,
    permissions: row.grants.map((each) => printGrant(each, { ...row, decisive })),
    ...(columns ? { columns } : {}),
  };
}

/** The most characters of a value of a key in the answer. */
const MOST_CHARACTERS = 200;

function printKey({ key }: JudgedRow): object {
  return Object.fromEntries(
    [...key].map(([name, value]) => [name, value?.slice(0, MOST_CHARACTERS) ?? null]),
  );
}

function conflictOf({ conflict }: About, row: JudgedRow): object {
  if (!conflict) return {};
  const { constraint, exists, updateColumns } = conflict;
  const found = exists ? { key: printKey(row) } : {};
  return { conflict: { constraint, exists: exists ?? 'undecided', ...found, update_columns: updateColumns } };
}

/** Returns the presets, and what the verdicts leave out. */
function remarks(about: About, more: readonly string[] = []): object {
  const { question, conditions } = about;
  const presets = [...conditions.presets].map(([column, leaf]) =>
    printPreset(column, leaf, question.session),
  );
  const notes = [...more, ...notesOf(about)];
  const { fields } = question;
  return {
    ...(fields.length > 0 ? { fields } : {}),
    ...(presets.length > 0 ? { presets } : {}),
    ...(notes.length > 0 ? { notes } : {}),
  };
}

type Decided = {
  readonly verdict: RowVerdict;
  readonly reasons: readonly Reason[];
  /** The clauses that the reasons name. */
  readonly decisive: ReadonlySet<JudgedClause>;
};

const NONE: ReadonlySet<JudgedClause> = new Set();

function verdictOf({ question, conditions, conflict }: About, row: JudgedRow): Decided {
  const { operation, refusals, table } = question;
  const refused = [...refusals, ...unsetVariables(question)];
  if (refused.length > 0) return { verdict: 'refused', reasons: refused, decisive: NONE };
  if (!row.hasRow)
    return single('no_row', 'no_row', `${printQualified(table.table)} has no row with this key`);
  const passed: Decided = {
    verdict: operation === 'select' ? 'visible' : 'allowed',
    reasons: [],
    decisive: NONE,
  };
  return (
    raised(row.inserted) ??
    (conflict ? leftByConflict(conflict) : null) ??
    (conditions.filter && !isTrue(row.filter)
      ? (raised(row.filter) ?? because('hidden', 'filter', row))
      : null) ??
    (conditions.where && !isTrue(row.where) ? (raised(row.where) ?? NOT_CHOSEN) : null) ??
    raised(row.changed) ??
    (conditions.check ? failedCheck(row) : null) ??
    passed
  );
}

/** Returns the verdict of a check that does not hold. The check of a row that is not known as a whole may be decided by what is known. */
function failedCheck(row: JudgedRow): Decided | null {
  if (isTrue(row.check)) return null;
  const truths = row.grants.flatMap(({ check }) => (check ? [check.holds] : []));
  if (row.check === null && truths.every((holds) => holds === true)) return null;
  const isRefused = row.check !== null || truths.includes(false);
  return raised(row.check) ?? because(isRefused ? 'refused' : 'undecided', 'check', row);
}

function single(verdict: RowVerdict, kind: string, message: string): Decided {
  return { verdict, reasons: [{ kind, message }], decisive: NONE };
}

const NOT_CHOSEN = single('hidden', 'where', 'where of on_conflict does not hold for the row that conflicts');

/** Returns the verdict on an upsert that neither inserts nor updates, or of which only the insert itself could say which it does. */
function leftByConflict({ exists, constraint, updateColumns, undecidedKey }: FoundConflict): Decided | null {
  if (exists === null) {
    const known = undecidedKey.map((column) => `${column} is not known before the write`).join(', ');
    return single(
      'undecided',
      'conflict',
      `whether a row conflicts on ${constraint} cannot be decided: ${known}`,
    );
  }
  if (!exists || updateColumns.length > 0) return null;
  return single('hidden', 'conflict', `a row conflicts on ${constraint}, and update_columns is empty`);
}

/** Returns the verdict for a condition that Postgres failed to evaluate. */
function raised(answer: TruthAnswer | null): Decided | null {
  if (!answer || 'holds' in answer) return null;
  return { verdict: 'refused', reasons: [{ kind: 'error', message: answer.error }], decisive: NONE };
}

/** Returns the verdict for a condition that does not hold: one reason for each clause that must change. */
function because(verdict: RowVerdict, kind: 'filter' | 'check', { grants }: JudgedRow): Decided {
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
function unsetVariables({ neededVariables, session }: AccessQuestion): readonly Reason[] {
  const unset = neededVariables.filter((name) => !Object.hasOwn(session.variables, name));
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

type Printed = Pick<Decided, 'decisive'> & Pick<JudgedRow, 'hasRow'>;

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
function columnsOf({ question, args }: About, { grants }: JudgedRow): readonly object[] {
  const { table, access } = question;
  const { columns, role } = args;
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
function notesOf({ question, triggers }: About): readonly string[] {
  const { access, operation } = question;
  const limit = access && 'limit' in access ? access.limit : null;
  const roots = access && 'queryRootFields' in access ? access.queryRootFields : null;
  const validation = access && 'validation' in access ? access.validation : undefined;
  return [
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
}
