/** `explain_access`: whether a role may read or write rows, and which clauses of its permissions decide it. For administrators. Rows
 *  are read in read-only transactions; a write is not executed: its check is evaluated on the row that it would write.
 *  In: the arguments. Out: the answer as JSON. Raises errors of the arguments and of the connection.
 *  Not here: the question (why/question.ts), the verdict (why/verdict.ts). Reference: docs/reference/behaviour/permissions.md. */
import type { Database } from '../database/pool.ts';
import { fail, withPath } from '../errors/engine-error.ts';
import { type ProbedDatabase, probeRows, type RowTruth, type TruthAnswer } from '../execute/row-truth.ts';
import { textToWire } from '../metadata/header-prefix.ts';
import type { Source } from '../metadata/schema/source.ts';
import type { Predicate } from '../resolve/predicate.ts';
import type { TruthQuestion } from '../sql/row-truth.ts';
import type { UnitOfWork } from '../state/unit-of-work.ts';
import { type Given, type ReadClause, readClause, undecidedIn, variablesOf } from '../why/clause-truth.ts';
import type { ConflictQuestion, FoundConflict } from '../why/conflict.ts';
import { explainedFields } from '../why/fields.ts';
import { type AccessConditions, type AccessContext, type GrantClauses, subjectOf } from '../why/grants.ts';
import { type AccessQuestion, accessQuestion, isOfFields, refusedField } from '../why/question.ts';
import { answerOf, type JudgedRow, severalOf } from '../why/verdict.ts';
import { withoutValues } from '../why/without-values.ts';
import { type Args, MOST_ROWS } from '../why/write.ts';
import type { Performer } from './request.ts';

export const explainAccess: Performer<'explain_access'> = async (work, args, { caller }) => {
  const { isConsole = false } = caller.session;
  if (isConsole) refuseReading(args);
  const source = work.requireSource(args.source);
  await work.addedInconsistencies();
  const { gateway } = work;
  const wire = (text: string) => textToWire(text, gateway.headerPrefix);
  if (isOfFields(args)) {
    const answer = fieldsAnswer(work, source, args);
    return () => withMessages(answer, wire);
  }
  const question = accessQuestion(contextOf(work), source, args);
  if (work.hasTransaction(source)) fail('notSupported', { text: NOT_INSIDE });
  const database = work.database(source);
  const on = { database, databases: gateway.sources, session: question.session };
  const conflict = question.conflict ? await conflictIn(question, question.conflict, on) : null;
  const conditions = conflict?.exists ? conflict.conditions : question;
  const read = readConditions(conditions, question);
  const truths = await probeRows(conditions.rows, questionsIn(read), on);
  if (conditions.rows.stored?.kind === 'key' && truths.length > 1) {
    withPath('key', () => fail('parseFailed', { text: 'several rows have this key; give the primary key' }));
  }
  const triggers = await triggersBefore(question, conflict?.exists === true, database);
  const about = { question, conditions, conflict, triggers, args };
  const known = truths.map((truth) => judgedBy(read, truth));
  const judged = isConsole ? known.map(withoutValues) : known;
  const answer =
    conditions.rows.stored?.kind === 'where'
      ? severalOf(about, judged.slice(0, MOST_ROWS), judged.length > MOST_ROWS)
      : answerOf(about, judged[0] ?? { ...judgedBy(read, NO_ROW), hasRow: false });
  return () => withMessages(answer, wire);
};

/** Raises `consoleOperationRefused` for arguments that compare a row with given values, by which hidden values could be found out. */
function refuseReading(args: Args): void {
  for (const name of ['where', 'values', 'operators', 'on_conflict'] as const) {
    if (args[name] !== undefined) withPath(name, () => fail('consoleOperationRefused', {}));
  }
}

/** Rows are read outside of the request's transaction, which has changed or locked some of them. */
const NOT_INSIDE =
  'explain_access of rows cannot follow an operation of the same request that runs on the source; send it in a request of its own';

/** Returns what the draft of a request knows; it must be resolved. */
function contextOf({ metadata, resolved, catalogs, gateway }: UnitOfWork): AccessContext {
  return { metadata, model: resolved.model, catalogs, headerPrefix: gateway.headerPrefix };
}

/** Returns the answer to a question about fields alone. */
function fieldsAnswer(work: UnitOfWork, source: Source, args: Args): object {
  const context = contextOf(work);
  const subject = subjectOf(context, source, args);
  const fields = explainedFields(context, subject, args.fields ?? []);
  const reasons = fields.flatMap(refusedField);
  const { role } = args;
  const head = { operation: 'select', role, source: source.name, table: subject.table.table };
  return { verdict: reasons.length > 0 ? 'refused' : 'allowed', reasons, ...head, permissions: [], fields };
}

const NO_ROW: RowTruth = { key: new Map(), answers: [] };

/** Returns an answer with every message and every reason of a field changed. */
function withMessages(answer: object, change: (text: string) => string): object {
  const changed = (value: unknown, name: string): unknown => {
    if (Array.isArray(value)) return value.map((item) => changed(item, name));
    if (typeof value !== 'object' || value === null) return value;
    const entries = Object.entries(value).map(([key, item]) => {
      const isText = typeof item === 'string' && TEXTS[name] === key;
      return [key, isText ? change(item) : LISTS.has(key) ? changed(item, key) : item];
    });
    return Object.fromEntries(entries);
  };
  return changed(answer, '') as object;
}

/** The lists of an answer that hold texts for people, and the members that are such texts. */
const LISTS: ReadonlySet<string> = new Set(['rows', 'reasons', 'fields']);
const TEXTS: Readonly<Record<string, string>> = { reasons: 'message', fields: 'reason' };

/** The statement that returns whether nulls conflict in a unique index. PostgreSQL manual, "pg_index"; the column exists since version 15. */
const NULLS_CONFLICT = `select coalesce((to_jsonb(i) ->> 'indnullsnotdistinct')::boolean, false) as nulls_conflict
  from pg_catalog.pg_index i join pg_catalog.pg_class c on c.oid = i.indexrelid
  where i.indrelid = $1::oid and c.relname = $2`;

async function conflictIn(
  { oid }: AccessQuestion,
  { constraint, updateColumns, undecidedKey, key, conditions }: ConflictQuestion,
  on: ProbedDatabase,
): Promise<FoundConflict> {
  const { rows: found } = await on.database.query(NULLS_CONFLICT, [oid, constraint]);
  const nullsConflict = found[0]?.['nulls_conflict'] === true;
  const stored = { kind: 'conflict', on: { ...key, nullsConflict } } as const;
  const rows = { ...conditions.rows, stored };
  const exists = undecidedKey.length > 0 ? null : (await probeRows(rows, [], on)).length > 0;
  return { constraint, updateColumns, undecidedKey, exists, conditions: { ...conditions, rows } };
}

/** The triggers of a table that run before or instead of a write of one row. PostgreSQL manual, "pg_trigger"; the bits of `tgtype` are
 *  those of its source, `pg_trigger.h`. */
const TRIGGERS_BEFORE = `select tgname from pg_catalog.pg_trigger
  where tgrelid = $1::oid and not tgisinternal and tgenabled in ('O', 'A')
    and tgtype & 1 = 1 and tgtype & 66 > 0 and tgtype & $2::int > 0
  order by tgname`;
const TRIGGER_BITS = { insert: 4, delete: 8, update: 16 } as const;

/** Returns the names of the triggers; an upsert of a row that exists runs those of inserts, then those of updates. */
async function triggersBefore(
  { operation, oid }: AccessQuestion,
  updates: boolean,
  database: Database,
): Promise<readonly string[]> {
  if (operation === 'select' || oid === null) return [];
  const bits = TRIGGER_BITS[operation] | (updates ? TRIGGER_BITS.update : 0);
  const { rows } = await database.query(TRIGGERS_BEFORE, [oid, bits]);
  return rows.map(({ tgname }) => String(tgname));
}

/** The questions about an operation: those about the values that it writes and the conditions that the engine applies, at most one
 *  each, and the clauses. */
type ReadConditions = {
  readonly inserted: readonly TruthQuestion[];
  readonly changed: readonly TruthQuestion[];
  readonly filter: readonly TruthQuestion[];
  readonly where: readonly TruthQuestion[];
  readonly check: readonly TruthQuestion[];
  readonly grants: readonly (Pick<GrantClauses, 'grant' | 'operation'> & {
    readonly filter: ReadClause | null;
    readonly check: ReadClause | null;
  })[];
};

function readConditions(conditions: AccessConditions, { session }: AccessQuestion): ReadConditions {
  const { variables } = session;
  const { filter, where, check, grants, undecidedColumns, rows } = conditions;
  const before: Given = { of: 'before', variables, undecidedColumns: new Set() };
  const after: Given = { of: 'after', variables, undecidedColumns };
  const { write } = rows;
  return {
    inserted: write && write.kind !== 'update' ? [{ of: 'inserted' }] : [],
    changed: write && write.kind !== 'insert' ? [{ of: 'changed' }] : [],
    filter: whole(filter, before),
    where: whole(where, before),
    check: whole(check, after),
    grants: grants.map((one) => ({
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
function questionsIn(read: ReadConditions): readonly TruthQuestion[] {
  const clauses = read.grants.flatMap((one) => [one.filter, one.check]);
  return [
    ...[read.inserted, read.changed, read.filter, read.where, read.check].flat(),
    ...clauses.flatMap((clause) => clause?.questions ?? []),
  ];
}

function judgedBy(read: ReadConditions, { key, answers }: RowTruth): JudgedRow {
  const each: Iterator<TruthAnswer> = answers[Symbol.iterator]();
  const take = (questions: readonly TruthQuestion[]): TruthAnswer | null =>
    questions.length > 0 ? (each.next().value ?? null) : null;
  const [inserted, changed] = [take(read.inserted), take(read.changed)];
  const [filter, where, check] = [take(read.filter), take(read.where), take(read.check)];
  const grants = read.grants.map((one) => ({
    ...one,
    filter: one.filter?.judge(each) ?? null,
    check: one.check?.judge(each) ?? null,
  }));
  return { hasRow: true, key, inserted, changed, filter, where, check, grants };
}
