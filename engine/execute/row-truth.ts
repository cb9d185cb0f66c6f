/** Asks a database about rows: the truth of predicates and the values they compare (sql/row-truth.ts), in a read-only transaction.
 *  A predicate that Postgres fails to evaluate for a row gets its error and does not affect the others.
 *  Raises what finding the rows raises, and errors of the connection. Not here: what to ask (admin/explain-access). */
import type { Databases } from '../database/databases.ts';
import { engineErrorOf } from '../database/pg-errors.ts';
import type { Database } from '../database/pool.ts';
import { EngineError } from '../errors/engine-error.ts';
import { parseJson } from '../json/parse-json.ts';
import type { Session } from '../resolve/session.ts';
import { onlyRow, type ProbedRows, type TruthQuestion, truthStatement } from '../sql/row-truth.ts';
import { textOfColumn } from '../wire/statement.ts';
import { bind } from './bind.ts';
import { withFetched } from './fetched.ts';

export type TruthAnswer =
  | { readonly holds: boolean | null; readonly value: string | null }
  | { readonly error: string };

/** A row, and an answer for each question. */
export type RowTruth = {
  /** The values that identify a stored row, as texts by column; empty for a row to insert. */
  readonly key: ReadonlyMap<string, string | null>;
  readonly answers: readonly TruthAnswer[];
};

export type ProbedDatabase = {
  readonly database: Database;
  /** The databases of other sources that permissions read. */
  readonly databases: Databases;
  readonly session: Session;
};

/** The most statements of one question or one row each, when the one for all questions fails. */
const MOST_STATEMENTS = 500;
const NOT_EVALUATED: TruthAnswer = { error: 'not evaluated: the permissions have too many clauses' };

type Printed = readonly (readonly [
  truths: readonly (boolean | null)[],
  values: readonly (string | null)[],
  key: readonly (string | null)[],
])[];

/** Returns the rows that exist, in their order, with the answers. */
export async function probeRows(
  rows: ProbedRows,
  questions: readonly TruthQuestion[],
  on: ProbedDatabase,
): Promise<readonly RowTruth[]> {
  const whole = await attempt(() => query(rows, questions, on));
  if ('done' in whole) return whole.done;
  const found = await query(rows, [], on);
  const budget = { left: MOST_STATEMENTS };
  const answered: RowTruth[] = [];
  for (const { key } of found) {
    const isSeveral = rows.stored?.kind === 'where';
    const one = isSeveral ? { ...rows, stored: onlyRow(rows, key) } : rows;
    const together = isSeveral && budget.left-- > 0 ? await attempt(() => query(one, questions, on)) : null;
    const [row] = together && 'done' in together ? together.done : [];
    answered.push({ key, answers: row?.answers ?? (await answersOf(one, questions, on, budget)) });
  }
  return answered;
}

async function answersOf(
  row: ProbedRows,
  questions: readonly TruthQuestion[],
  on: ProbedDatabase,
  budget: { left: number },
): Promise<readonly TruthAnswer[]> {
  const answers: TruthAnswer[] = [];
  for (const question of questions) {
    answers.push(budget.left-- > 0 ? await answerOf(row, question, on) : NOT_EVALUATED);
  }
  return answers;
}

async function answerOf(row: ProbedRows, question: TruthQuestion, on: ProbedDatabase): Promise<TruthAnswer> {
  const one = await attempt(() => query(row, [question], on));
  if ('error' in one) return one;
  return one.done[0]?.answers[0] ?? { error: 'the row was deleted in the meantime' };
}

/** Returns what `body` returns, or the message of an error that one value or one condition causes. */
async function attempt<T>(
  body: () => Promise<T>,
): Promise<{ readonly done: T } | { readonly error: string }> {
  try {
    return { done: await body() };
  } catch (error) {
    if (!isOfValue(error)) throw error;
    return { error: error.message };
  }
}

/** True for an error that one value or one condition causes. */
function isOfValue(error: unknown): error is EngineError {
  return error instanceof EngineError && error.status < 500;
}

async function query(
  rows: ProbedRows,
  questions: readonly TruthQuestion[],
  { database, databases, session }: ProbedDatabase,
): Promise<readonly RowTruth[]> {
  const { text, parameters } = truthStatement(rows, questions);
  const binding = await withFetched([{ parameters }], { session, variables: {} }, databases);
  const values = bind(parameters, binding);
  try {
    const answer = await database.atomic({ readOnly: true }, (run) => run({ name: '', text }, values));
    const printed = (parseJson(textOfColumn(answer[0] ?? null) ?? '[]') ?? []) as Printed;
    return printed.map(([truths, compared, key]) => ({
      key: new Map(key.map((value, i) => [rows.identity[i]!.name, value])),
      answers: truths.map((holds, i) => ({ holds, value: compared[i] ?? null })),
    }));
  } catch (error) {
    throw engineErrorOf(error, { text, isByAdministrator: true }, []);
  }
}
