/** The clauses of a permission with their truth for one row. In: clauses, and the answers of the database. Out: judged clauses, and the
 *  clauses that decide: those that must change for the condition to hold.
 *  Pure. Not here: asking the database (execute/row-truth.ts), the verdict on the operation (verdict.ts). */
import type { TruthAnswer } from '../execute/row-truth.ts';
import type { Clause } from '../resolve/clause.ts';
import { columnsRead } from '../resolve/columns-read.ts';
import { leavesOf, type TruthQuestion } from '../sql/row-truth.ts';

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
export type ReadClause = Pick<JudgedClause, 'variables' | 'undecidedColumns'> & {
  /** The questions about the clause and those inside. */
  readonly questions: readonly TruthQuestion[];
  /** Judges the clause with the answers to its questions, in their order. Without a row there are none. */
  readonly judge: (answers: Iterator<TruthAnswer>) => JudgedClause;
};

/** Reads a clause and those inside. A group needs what its clauses need. */
export function readClause(clause: Clause, given: Given): ReadClause {
  const { reaches, predicate, compared, kind } = clause;
  const { of } = given;
  const inner = clause.clauses.map((one) => readClause(one, given));
  const isGroup = inner.length > 0;
  const names = isGroup
    ? inner.flatMap((one) => one.variables.map(({ name }) => name))
    : variablesOf(predicate);
  const variables = [...new Set(names)].sort().map((name) => ({ name, value: setValue(name, given) }));
  const around = reaches ? undecidedIn(reaches, given) : [];
  const inside = isGroup ? inner.flatMap((one) => one.undecidedColumns) : undecidedIn(predicate, given);
  const undecidedColumns = [...new Set([...around, ...inside])];
  const isKnown = undecidedColumns.length === 0 && variables.every(({ value }) => value !== null);
  const own = isKnown ? [{ of, predicate, compared }] : [];
  const reached = reaches && around.length === 0 ? [{ of, predicate: reaches, compared: null }] : [];
  const judge = (answers: Iterator<TruthAnswer>): JudgedClause => {
    const [truth, reach] = [own, reached].map((asked) =>
      asked.length > 0 ? answers.next().value : undefined,
    );
    const clauses = inner.map((one) => one.judge(answers));
    const isAnswered = truth !== undefined && 'holds' in truth;
    return {
      clause,
      holds: isAnswered ? truth.holds : derived(kind, clauses),
      variables,
      undecidedColumns,
      ...(isAnswered && compared ? { value: truth.value } : {}),
      error: truth && 'error' in truth ? truth.error : null,
      isReached: reach && 'holds' in reach ? reach.holds === true : null,
      clauses,
    };
  };
  return {
    variables,
    undecidedColumns,
    questions: [...own, ...reached, ...inner.flatMap(({ questions }) => questions)],
    judge,
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
