/** The clauses of a permission with their truth for one row. In: clauses, and the answers of the database. Out: judged clauses, and the
 *  clauses that decide: those that must change for the condition to hold.
 *  Pure. Not here: asking the database (execute/row-truth.ts), the verdict on the operation (verdict.ts). */
import type { TruthAnswer } from '../../execute/row-truth.ts';
import type { Clause } from '../../resolve/clause.ts';
import { columnsRead } from '../../resolve/columns-read.ts';
import { leavesOf, type TruthQuestion } from '../../sql/row-truth.ts';

/** The values that a clause may use. */
export type Given = {
  readonly of: 'before' | 'after';
  /** The session variables by internal name. */
  readonly variables: Readonly<Record<string, string>>;
  /** The columns whose value only the write itself would give. */
  readonly undecidedColumns: ReadonlySet<string>;
};

export type Variable = { readonly name: string; readonly value: string | null };

export type JudgedClause = {
  readonly clause: Clause;
  /** `undecided` when a variable is not set, a column is not given, or Postgres raised an error. */
  readonly holds: boolean | null | 'undecided';
  /** The session variables that the clause reads; null for one that is not set. */
  readonly variables: readonly Variable[];
  readonly undecidedColumns: readonly string[];
  /** The compared value as text; absent when the clause compares none, or was not evaluated. */
  readonly value?: string | null;
  readonly error: string | null;
  /** False when the related row does not exist; null for other clauses. */
  readonly isReached: boolean | null;
  readonly clauses: readonly JudgedClause[];
};

/** Returns the names of the session variables that a clause reads. */
export function variablesOf(predicate: Clause['predicate']): readonly string[] {
  const names = leavesOf(predicate).flatMap((leaf) => (leaf.kind === 'session' ? [leaf.variable] : []));
  return [...new Set(names)].sort();
}

/** A clause and what it needs: session variables, and columns that are not known. */
export type ReadClause = {
  readonly clause: Clause;
  readonly of: Given['of'];
  readonly variables: readonly Variable[];
  readonly undecidedColumns: readonly string[];
  readonly isKnown: boolean;
  /** True when the existence of the related row is a question. */
  readonly readsReached: boolean;
  readonly clauses: readonly ReadClause[];
};

/** Reads a clause and those inside. A group needs what its clauses need. */
export function readClause(clause: Clause, given: Given): ReadClause {
  const clauses = clause.clauses.map((inner) => readClause(inner, given));
  const { reaches, predicate } = clause;
  const names =
    clauses.length > 0
      ? clauses.flatMap(({ variables }) => variables.map(({ name }) => name))
      : variablesOf(predicate);
  const around = reaches ? undecidedIn(reaches, given) : [];
  const inside =
    clauses.length > 0 ? clauses.flatMap((inner) => inner.undecidedColumns) : undecidedIn(predicate, given);
  const variables = [...new Set(names)].sort().map((name) => ({ name, value: setValue(name, given) }));
  const undecidedColumns = [...new Set([...around, ...inside])];
  return {
    clause,
    of: given.of,
    variables,
    undecidedColumns,
    isKnown: undecidedColumns.length === 0 && variables.every(({ value }) => value !== null),
    readsReached: reaches !== null && around.length === 0,
    clauses,
  };
}

/** Returns the questions about a clause and those inside, in the order in which `judge` takes their answers. */
export function questionsOf(read: ReadClause): readonly TruthQuestion[] {
  const { clause, of, isKnown, readsReached, clauses } = read;
  const { predicate, compared, reaches } = clause;
  const own = isKnown ? [{ of, predicate, compared }] : [];
  const reached = readsReached ? [{ of, predicate: reaches!, compared: null }] : [];
  return [...own, ...reached, ...clauses.flatMap(questionsOf)];
}

/** Judges a clause with the answers to its questions. */
export function judge(read: ReadClause, answers: Iterator<TruthAnswer>): JudgedClause {
  const { clause, variables, undecidedColumns, isKnown, readsReached } = read;
  // Without a row there are no answers.
  const next = (): TruthAnswer | null => answers.next().value ?? null;
  const own = isKnown ? next() : null;
  const reached = readsReached ? next() : null;
  const clauses = read.clauses.map((inner) => judge(inner, answers));
  const isAnswered = own !== null && 'holds' in own;
  return {
    clause,
    holds: isAnswered ? own.holds : derived(clause.kind, clauses),
    variables,
    undecidedColumns,
    ...(isAnswered && clause.compared ? { value: own.value } : {}),
    error: own && 'error' in own ? own.error : null,
    isReached: reached && 'holds' in reached ? reached.holds === true : null,
    clauses,
  };
}

function setValue(name: string, { variables }: Given): string | null {
  return Object.hasOwn(variables, name) ? variables[name]! : null;
}

/** Returns the columns that a predicate reads and whose value is not given. */
export function undecidedIn(predicate: Clause['predicate'], given: Given): readonly string[] {
  if (given.undecidedColumns.size === 0) return [];
  const read = columnsRead(predicate);
  return [...given.undecidedColumns].filter((column) => read === null || read.has(column));
}

/** Returns what the clauses inside say about a clause that cannot be evaluated itself. */
function derived(kind: Clause['kind'], clauses: readonly JudgedClause[]): JudgedClause['holds'] {
  const some = (value: boolean) => clauses.some(({ holds }) => holds === value);
  if (kind === 'all' && some(false)) return false;
  if (kind === 'any' && some(true)) return true;
  if (kind === 'not' && some(true)) return false;
  if (kind === 'not' && some(false)) return true;
  return 'undecided';
}

/** Returns the innermost clauses because of which a clause does not hold. */
export function failing(judged: JudgedClause): readonly JudgedClause[] {
  const { clause, holds, clauses, isReached } = judged;
  if (holds === true) return [];
  const wrong = clauses.filter((inner) => inner.holds !== true);
  if (clause.kind === 'condition' || isReached === false) return [judged];
  const inner = clause.kind === 'not' ? clauses.flatMap(holding) : wrong.flatMap(failing);
  return inner.length > 0 ? inner : [judged];
}

/** Returns the innermost clauses because of which a clause holds, or is not given to be false. */
function holding(judged: JudgedClause): readonly JudgedClause[] {
  const { clause, clauses } = judged;
  if (clause.kind === 'condition') return [judged];
  if (clause.kind === 'not') return clauses.flatMap(failing);
  // An alternative that is null leaves the whole null when the others become false.
  const isAllUnclear = clause.kind === 'all' && judged.holds !== true;
  const relevant = clauses.filter(({ holds }) => holds !== false && !(isAllUnclear && holds === true));
  const inner = relevant.flatMap(holding);
  return inner.length > 0 ? inner : [judged];
}
