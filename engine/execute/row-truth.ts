/** Asks a database about one row: the truth of predicates and the values they compare (sql/row-truth.ts), in a read-only transaction.
 *  A predicate that Postgres fails to evaluate gets its error and does not affect the others.
 *  Raises what the key alone raises, and errors of the connection. Not here: what to ask (admin/explain-access.ts). */
import type { Databases } from '../database/databases.ts';
import { engineErrorOf } from '../database/pg-errors.ts';
import type { Database } from '../database/pool.ts';
import { EngineError } from '../errors/engine-error.ts';
import { parseJson } from '../json/parse-json.ts';
import type { Session } from '../resolve/session.ts';
import { type ProbedRow, type TruthQuestion, truthStatement } from '../sql/row-truth.ts';
import { textOfColumn } from '../wire/statement.ts';
import { bind } from './bind.ts';
import { withFetched } from './fetched.ts';

export type TruthAnswer =
  | { readonly holds: boolean | null; readonly value: string | null }
  | { readonly error: string };

/** The number of rows with the key, 2 for more than one, and an answer for each question. Without exactly one row there are no answers. */
export type RowTruth = { readonly rows: number; readonly answers: readonly TruthAnswer[] };

export type ProbedDatabase = {
  readonly database: Database;
  /** The databases of other sources that permissions read. */
  readonly databases: Databases;
  readonly session: Session;
};

/** The most statements of one question each, when the one for all questions fails. */
const MOST_STATEMENTS = 500;
const NOT_EVALUATED: TruthAnswer = { error: 'not evaluated: the permissions have too many clauses' };

type Rows = readonly (readonly [readonly (boolean | null)[], readonly (string | null)[]])[];

export async function probeRow(
  row: ProbedRow,
  questions: readonly TruthQuestion[],
  on: ProbedDatabase,
): Promise<RowTruth> {
  try {
    return toTruth(await query(row, questions, on));
  } catch (error) {
    if (!isOfValue(error)) throw error;
  }
  const { rows } = toTruth(await query(row, [], on));
  const answers: TruthAnswer[] = [];
  for (const question of rows === 1 ? questions : []) {
    answers.push(answers.length < MOST_STATEMENTS ? await answerOf(row, question, on) : NOT_EVALUATED);
  }
  return { rows, answers };
}

async function answerOf(row: ProbedRow, question: TruthQuestion, on: ProbedDatabase): Promise<TruthAnswer> {
  try {
    const [answer] = toTruth(await query(row, [question], on)).answers;
    return answer ?? { error: 'the row was deleted in the meantime' };
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
  row: ProbedRow,
  questions: readonly TruthQuestion[],
  { database, databases, session }: ProbedDatabase,
): Promise<Rows> {
  const { text, parameters } = truthStatement(row, questions);
  const binding = await withFetched([{ parameters }], { session, variables: {} }, databases);
  const values = bind(parameters, binding);
  try {
    const answer = await database.atomic({ readOnly: true }, (run) => run({ name: '', text }, values));
    return (parseJson(textOfColumn(answer[0] ?? null) ?? '[]') ?? []) as Rows;
  } catch (error) {
    throw engineErrorOf(error, { text, isByAdministrator: true }, []);
  }
}

function toTruth(rows: Rows): RowTruth {
  const [only, ...more] = rows;
  if (!only || more.length > 0) return { rows: rows.length, answers: [] };
  const [truths, values] = only;
  return { rows: 1, answers: truths.map((holds, i) => ({ holds, value: values[i] ?? null })) };
}
