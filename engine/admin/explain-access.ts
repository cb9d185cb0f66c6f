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
import { type AccessQuestion, accessQuestion, type GrantClauses } from './access-question.ts';
import { answerOf, type JudgedAccess } from './access-verdict.ts';
import {
  type Given,
  judge,
  questionsOf,
  type ReadClause,
  readClause,
  undecidedIn,
  variablesOf,
} from './clause-truth.ts';
import type { Performer } from './request.ts';

export const explainAccess: Performer<'explain_access'> = async (work, args) => {
  const source = work.requireSource(args.source);
  await work.addedInconsistencies();
  const question = accessQuestion(work, source, args);
  const { gateway } = work;
  const database = wrapped(gateway.database(source), { signal: work.signal });
  const on = { database, databases: gateway.sources, session: question.session };
  const read = readAccess(question);
  const truth = await probeRow(question.row, questionsIn(read), on);
  if (truth.rows > 1) {
    withPath('key', () => fail('parseFailed', { text: 'several rows have this key; give the primary key' }));
  }
  const triggers = await triggersBefore(question, on.database);
  const answer = answerOf(question, { ...judgedBy(read, truth), triggers }, args);
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

/** The questions about an operation: those about the conditions that the engine applies, at most one each, and the clauses. */
type ReadAccess = {
  readonly filter: readonly TruthQuestion[];
  readonly check: readonly TruthQuestion[];
  readonly grants: readonly (Pick<GrantClauses, 'grant' | 'operation'> & {
    readonly filter: ReadClause | null;
    readonly check: ReadClause | null;
  })[];
};

function readAccess(question: AccessQuestion): ReadAccess {
  const [before, after] = [givenTo(question, 'before'), givenTo(question, 'after')];
  return {
    filter: whole(question.filter, before),
    check: whole(question.check, after),
    grants: question.grants.map((one) => ({
      ...one,
      filter: one.filter && readClause(one.filter, before),
      check: one.check && readClause(one.check, after),
    })),
  };
}

/** Returns the question about a condition as a whole; none when the engine would not evaluate it, or only the write could. */
function whole(predicate: Predicate | null, given: Given): readonly TruthQuestion[] {
  if (predicate === null) return [];
  const isSet = variablesOf(predicate).every((name) => Object.hasOwn(given.variables, name));
  const isDecided = isSet && undecidedIn(predicate, given).length === 0;
  return isDecided ? [{ of: given.of, predicate, compared: null }] : [];
}

/** Returns the questions for the database, in the order in which `judgedBy` takes their answers. */
function questionsIn({ filter, check, grants }: ReadAccess): readonly TruthQuestion[] {
  const clauses = grants.flatMap((one) => [one.filter, one.check]);
  return [...filter, ...check, ...clauses.flatMap((clause) => (clause ? questionsOf(clause) : []))];
}

function judgedBy(read: ReadAccess, { rows, answers }: RowTruth): Omit<JudgedAccess, 'triggers'> {
  const each: Iterator<TruthAnswer> = answers[Symbol.iterator]();
  const take = (questions: readonly TruthQuestion[]): TruthAnswer | null =>
    questions.length > 0 ? (each.next().value ?? null) : null;
  const [filter, check] = [take(read.filter), take(read.check)];
  const grants = read.grants.map((one) => ({
    ...one,
    filter: one.filter && judge(one.filter, each),
    check: one.check && judge(one.check, each),
  }));
  return { hasRow: rows === 1, filter, check, grants };
}
