/** `explain_access`: whether a role may read or write one row, and which clauses of its permissions decide it. For administrators. The
 *  row is read in a read-only transaction; a write is not executed: its check is evaluated on the row that it would write.
 *  In: the arguments. Out: the answer as JSON. Raises errors of the arguments and of the connection.
 *  Not here: the question (access-question.ts), the verdict (access-verdict.ts). Reference: docs/reference/behaviour/permissions.md. */
import { type Database, wrapped } from '../database/pool.ts';
import { fail, withPath } from '../errors/engine-error.ts';
import { probeRow, type RowTruth, type TruthAnswer } from '../execute/row-truth.ts';
import { textToWire } from '../metadata/header-prefix.ts';
import type { Predicate } from '../resolve/predicate.ts';
import type { TruthQuestion } from '../sql/row-truth.ts';
import { type AccessQuestion, accessQuestion } from './access-question.ts';
import { answerOf, type JudgedAccess } from './access-verdict.ts';
import { type Given, judge, questionsOf, undecidedIn, variablesOf } from './clause-truth.ts';
import type { Performer } from './request.ts';

export const explainAccess: Performer<'explain_access'> = async (work, args) => {
  const source = work.requireSource(args.source);
  await work.addedInconsistencies();
  const question = accessQuestion(work, source, args);
  const { gateway } = work;
  const database = wrapped(gateway.database(source), { signal: work.signal });
  const on = { database, databases: gateway.sources, session: question.session };
  const truth = await probeRow(question.row, questionsIn(question), on);
  if (truth.rows > 1) {
    withPath('key', () => fail('parseFailed', { text: 'several rows have this key; give the primary key' }));
  }
  const triggers = await triggersBefore(question, on.database);
  const answer = answerOf(question, { ...judgedBy(question, truth), triggers }, args);
  const wire = (text: string) => textToWire(text, gateway.headerPrefix);
  return () => ({
    ...answer,
    reasons: answer.reasons.map((each) => ({ ...each, message: wire(each.message) })),
  });
};

/** The triggers of a table that run before or instead of a write of one row. PostgreSQL manual, "pg_trigger"; the bits of `tgtype` are
 *  those of its source, `pg_trigger.h`. */
const TRIGGERS_BEFORE = `select tgname from pg_catalog.pg_trigger
  where tgrelid = $1::oid and not tgisinternal and tgenabled in ('O', 'A')
    and tgtype & 1 = 1 and tgtype & 66 > 0 and tgtype & $2::int > 0
  order by tgname`;
const TRIGGER_BITS = { insert: 4, delete: 8, update: 16 } as const;

async function triggersBefore(
  { operation, oid }: AccessQuestion,
  database: Database,
): Promise<readonly string[]> {
  if (operation === 'select' || oid === null) return [];
  const { rows } = await database.query(TRIGGERS_BEFORE, [oid, TRIGGER_BITS[operation]]);
  return rows.map(({ tgname }) => String(tgname));
}

/** Returns what a condition of a question may use. */
function givenTo({ session, undecidedColumns }: AccessQuestion, of: Given['of']): Given {
  const none = new Set<string>();
  return { of, variables: session.variables, undecidedColumns: of === 'after' ? undecidedColumns : none };
}

/** Returns the questions for the database: the conditions that the engine applies, then every clause. */
function questionsIn(question: AccessQuestion): readonly TruthQuestion[] {
  return [
    ...whole(question, 'before', question.filter),
    ...whole(question, 'after', question.check),
    ...question.grants.flatMap(({ filter, check }) => [
      ...(filter ? questionsOf(filter, givenTo(question, 'before')) : []),
      ...(check ? questionsOf(check, givenTo(question, 'after')) : []),
    ]),
  ];
}

function whole(
  question: AccessQuestion,
  of: Given['of'],
  predicate: Predicate | null,
): readonly TruthQuestion[] {
  return predicate && isDecided(question, of, predicate) ? [{ of, predicate, compared: null }] : [];
}

function isDecided(question: AccessQuestion, of: Given['of'], predicate: Predicate): boolean {
  const given = givenTo(question, of);
  const isSet = variablesOf(predicate).every((name) => Object.hasOwn(given.variables, name));
  return isSet && undecidedIn(predicate, given).length === 0;
}

/** Gives the answers of the database to their questions, in the same order. */
function judgedBy(question: AccessQuestion, { rows, answers }: RowTruth): Omit<JudgedAccess, 'triggers'> {
  const each: Iterator<TruthAnswer> = answers[Symbol.iterator]();
  const take = (of: Given['of'], predicate: Predicate | null): TruthAnswer | null =>
    whole(question, of, predicate).length > 0 ? (each.next().value ?? null) : null;
  const filter = take('before', question.filter);
  const check = take('after', question.check);
  const grants = question.grants.map((one) => ({
    ...one,
    filter: one.filter && judge(one.filter, givenTo(question, 'before'), each),
    check: one.check && judge(one.check, givenTo(question, 'after'), each),
  }));
  return { hasRow: rows === 1, filter, check, grants };
}
