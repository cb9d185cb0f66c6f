/** Runs statements and returns the first row of each. A query's statement runs outside any transaction. The statements of a mutation
 *  run in order, in one transaction per source unless there is only one statement, and are rolled back when one fails.
 *  Raises ERRORS rows. Not here: other steps (steps.ts), the meaning of an SQLSTATE (database/pg-errors.ts).
 *  Reference: docs/reference/behaviour/mutations.md. */

import type { Databases } from '../database/databases.ts';
import { type Deadline, deadlineAfter } from '../database/deadline.ts';
import { engineErrorOf, type Failed } from '../database/pg-errors.ts';
import { type Database, isConnectionLost, type Run } from '../database/pool.ts';
import { LOCK_LIMIT, SET_SESSION, SHARDS_ONE_BY_ONE, sessionSettings } from '../database/session-settings.ts';
import { EngineError, fail } from '../errors/engine-error.ts';
import type { Leaf } from '../resolve/predicate.ts';
import type { Statement } from '../sql/fragment.ts';
import type { NestedWrite, Preparation, PreparedStatement } from '../sql/plan.ts';
import { arrayLiteral } from '../wire/encode.ts';
import { type NamedStatement, type Row, textOfColumn, type Value } from '../wire/statement.ts';
import { type Binding, bind } from './bind.ts';
import { withFetched } from './fetched.ts';

/** The protocol counts the parameters of a statement in 16 bits. */
const MOST_PARAMETERS = 65_535;

export async function runQuery(
  statement: PreparedStatement,
  given: Binding,
  databases: Databases,
): Promise<Row> {
  const binding = statement.parameters.some(isFetched)
    ? await withFetched([statement], given, databases)
    : given;
  return runStatement(statement, valuesOf(statement, binding), databases);
}

const isFetched = ({ kind }: Leaf) => kind === 'fetched';

/** Runs a query's statement, on a replica where the source has one. If an idle connection turns out to be closed, a statement that
 *  only reads runs once more, on the source itself. A volatile function may already have written, so its statement does not. */
export async function runStatement(
  statement: PreparedStatement,
  values: readonly Value[],
  databases: Databases,
): Promise<Row> {
  const { source, isRepeatable } = statement;
  const database = isRepeatable ? databases.get(source, 'read') : databases.get(source);
  try {
    return await runOf(statement, database)(nameFor(statement.preparation), values);
  } catch (error) {
    if (!isRepeatable || !isConnectionLost(error)) throw engineErrorOf(error, statement, statement.errorPath);
  }
  return runOne(runOf(statement, databases.get(source)), statement, values);
}

/** Runs the statement once for many subscribers and returns the row of each, in their order. An error does not say whose values
 *  caused it. */
export async function runForMany(
  statement: PreparedStatement,
  valuesOfEach: readonly (readonly Value[])[],
  databases: Databases,
): Promise<readonly Row[]> {
  const { forMany } = statement;
  if (!forMany) throw new Error('the statement has no variant for many subscribers');
  const lists = statement.parameters.map((_, i) => valuesOfEach.map((values) => asText(values[i]!)));
  const shared = { ...statement, text: forMany.once.text, preparation: forMany };
  const columns = await runStatement(shared, lists, databases);
  const width = columns.length / valuesOfEach.length;
  const rows: Row[] = [];
  for (let at = 0; at < columns.length; at += width) {
    rows[Number(textOfColumn(columns[at]!)) - 1] = columns.slice(at + 1, at + width);
  }
  return rows;
}

/** Returns a value as an element of a list of texts, in which an array would be a dimension. */
function asText(value: Value): Value {
  return Array.isArray(value) ? arrayLiteral(value) : value;
}

/** SQL that an administrator wrote runs in a read-only transaction, because it may call functions that write. A statement with a
 *  time limit runs in a transaction, for which the limit is set. */
function runOf({ isAuthored, timeLimitMs, limitMs }: PreparedStatement, database: Database): Run {
  if (isAuthored || timeLimitMs !== null) {
    const options = { readOnly: isAuthored, deadline: deadlineAfter(timeLimitMs), limitMs };
    return (statement, values) => database.atomic(options, (run) => run(statement, values));
  }
  return plainRun(database, limitMs);
}

function plainRun(database: Database, limitMs: number | null): Run {
  if (limitMs === null) return database.run;
  return (statement, values) => database.run(statement, values, { limitMs });
}

/** Runs consecutive statements of a mutation. */
export async function runMutation(
  statements: readonly PreparedStatement[],
  given: Binding,
  databases: Databases,
): Promise<readonly Row[]> {
  const [only] = statements;
  const parts = statements.some(needsFetched) ? statements.flatMap(partsOf) : NO_PARTS;
  const binding = parts.length > 0 ? await withFetched(parts, given, databases) : given;
  const deadline = deadlineAfter(only?.timeLimitMs ?? null);
  if (statements.length === 1 && only && isSingle(only) && !deadline && !needsSetting(only)) {
    const run = plainRun(databases.get(only.source), only.limitMs);
    return [await runOne(run, only, valuesOf(only, binding)).catch(afterCommit)];
  }
  const sources = [...sourcesOf(statements)];
  // Statements that need nothing of those before are sent with them, but each time limit begins with its statement.
  const areTogether = sources.length === 1 && !deadline;
  const { isByAdministrator = false, limitMs = null } = only ?? {};
  const on = { databases, deadline, limitMs, isByAdministrator };
  const settings = settingsFor(statements, sources, binding);
  const body = async (runs: ReadonlyMap<string, Run>) => {
    // Sent together with the first statement, which fails if one of them does.
    for (const { source, statement, values } of settings)
      runs.get(source)!(statement, values).catch(() => {});
    const rows: Promise<Row>[] = [];
    for (const statement of statements) {
      const isTogether = areTogether && isSingle(statement);
      if (!isTogether) await inOrder(rows);
      const row = write(runs.get(statement.source)!, statement, binding);
      // The failure of the first one is raised, and those behind it fail with it.
      row.catch(() => {});
      rows.push(row);
      if (!isTogether) await row;
    }
    return inOrder(rows);
  };
  if (areTogether && statements.every(isSingle)) {
    const count = settings.length + statements.length;
    return inTransactions(sources, { ...on, count }, new Map(), body).catch(afterCommit);
  }
  if (sources.length < 2) return inTransactions(sources, on, new Map(), body);
  // A transaction that was repeated by itself would write a second time in the others.
  let isOutdated = false;
  const onOutdated = () => {
    isOutdated = true;
  };
  const inAll = () => inTransactions(sources, { ...on, onOutdated }, new Map(), body);
  return inAll().catch((error: unknown) => {
    if (!isOutdated) throw error;
    return inAll();
  });
}

function needsSetting({ needsSession, isOneByOne }: PreparedStatement): boolean {
  return needsSession || isOneByOne;
}

/** The end of a message about an answer that could not be given. */
export const COMMITTED = '; the changes are committed';

/** Raises the error of statements that had been committed when a result was refused. */
function afterCommit(error: unknown): never {
  if (!isRefusal(error)) throw error;
  if (error.kind === 'responseTooLarge') fail(error.kind, { ...error.params, note: COMMITTED } as never);
  fail(error.kind, { text: `${error.message}${COMMITTED}` });
}

/** True for the error of a statement that has run, and whose result was refused. */
function isRefusal(
  error: unknown,
): error is EngineError & { readonly kind: 'responseTooLarge' | 'overloaded' } {
  return error instanceof EngineError && (error.kind === 'responseTooLarge' || error.kind === 'overloaded');
}

/** Returns the results. Raises the first failure, but that of a statement rather than the refusal of a result, since it undoes the others. */
async function inOrder<T>(promises: readonly Promise<T>[]): Promise<readonly T[]> {
  const results: T[] = [];
  let refusal: EngineError | undefined;
  for (const promise of promises) {
    try {
      results.push(await promise);
    } catch (error) {
      if (!isRefusal(error)) throw error;
      refusal ??= error;
    }
  }
  if (refusal) throw refusal;
  return results;
}

const NO_PARTS: readonly Pick<Statement, 'parameters'>[] = [];

function needsFetched({ parameters, nestedWrites, answer }: PreparedStatement): boolean {
  return (
    parameters.some(isFetched) ||
    nestedWrites.some((write) => write.parameters.some(isFetched)) ||
    (answer?.parameters.some(isFetched) ?? false)
  );
}

/** Returns a statement with its nested writes and the statement that reads its response. */
function partsOf(statement: PreparedStatement): readonly Pick<Statement, 'parameters'>[] {
  const { nestedWrites, answer } = statement;
  return [statement, ...nestedWrites, ...(answer ? [answer] : [])];
}

type Setting = {
  readonly source: string;
  readonly statement: NamedStatement;
  readonly values: readonly Value[];
};

/** Returns what is set in the transactions before the statements: limits for the waits for locks, where there are several (two sources may be one
 *  database, which does not see that one transaction waits for the other and that the other ends only after it), the session for triggers,
 *  and the order in which a cluster changes its shards for several statements. */
function settingsFor(
  statements: readonly PreparedStatement[],
  sources: readonly string[],
  { session, trace = null }: Binding,
): readonly Setting[] {
  const each = (statement: NamedStatement, values: readonly Value[], of: Iterable<string>): Setting[] =>
    [...of].map((source) => ({ source, statement, values }));
  const isSeveral = statements.length > 1 || !statements.every(isSingle);
  const needing = sourcesOf(statements.filter(({ needsSession }) => needsSession));
  return [
    ...each(LOCK_LIMIT, [], sources.length > 1 ? sources : []),
    ...each(SET_SESSION, needing.size > 0 ? sessionSettings(session, trace) : [], needing),
    ...each(
      SHARDS_ONE_BY_ONE,
      [],
      sourcesOf(statements.filter(({ isOnCluster, isOneByOne }) => isOneByOne || (isSeveral && isOnCluster))),
    ),
  ];
}

function sourcesOf(statements: readonly PreparedStatement[]): ReadonlySet<string> {
  return new Set(statements.map(({ source }) => source));
}

/** True when nothing runs before or after the statement. */
function isSingle({ answer, nestedWrites }: PreparedStatement): boolean {
  return !answer && nestedWrites.length === 0;
}

/** Opens a transaction on each source. All of them stay open until `body` is done. */
async function inTransactions<T>(
  [source, ...others]: readonly string[],
  on: {
    readonly databases: Databases;
    readonly deadline: Deadline | null;
    readonly limitMs: number | null;
    readonly onOutdated?: () => void;
    readonly count?: number;
  } & Pick<Failed, 'isByAdministrator'>,
  runs: Map<string, Run>,
  body: (runs: ReadonlyMap<string, Run>) => Promise<T>,
): Promise<T> {
  if (source === undefined) return body(runs);
  try {
    const { databases, isByAdministrator: _, ...options } = on;
    return await databases.get(source).atomic(options, (run) => {
      return inTransactions(others, on, runs.set(source, run), body);
    });
  } catch (error) {
    // Begin and commit can fail, too: a deferred constraint does so only now.
    throw engineErrorOf(error, { isByAdministrator: on.isByAdministrator, text: 'commit' }, []);
  }
}

/** Runs a statement with its nested writes and its answer, in a transaction that is already open. */
export async function write(run: Run, statement: PreparedStatement, given: Binding): Promise<Row> {
  const { nestedWrites } = statement;
  const binding = nestedWrites.length === 0 ? given : await runNestedWrites(run, nestedWrites, given);
  const row = await runOne(run, statement, valuesOf(statement, binding));
  const { answer } = statement;
  if (!answer) return row;
  return runOne(run, answer, valuesOf(answer, { ...binding, written: row[0] ?? null }));
}

/** The words of Postgres for an upsert two of whose objects are the same row. */
const SECOND_TIME = 'ON CONFLICT DO UPDATE command cannot affect row a second time';

/** Returns the binding of the statement that follows. */
async function runNestedWrites(run: Run, writes: readonly NestedWrite[], given: Binding): Promise<Binding> {
  const inserted: Row[] = [];
  const written: string[] = [];
  const keys = new Set<string>();
  let affectedRows = 0;
  for (const nested of writes) {
    const { unlessInserted, answered, writesOnce, errorPath } = nested;
    const row = await runOne(run, nested, valuesOf(nested, { ...given, inserted }));
    if (row.length === 0 && unlessInserted) {
      fail('notSupported', { text: unlessInserted.text }, { path: unlessInserted.path });
    }
    if (writesOnce && row.length > 0) {
      const key = JSON.stringify(row.slice(1, answered ?? undefined).map(textOfColumn));
      if (keys.has(key)) fail('dataException', { text: SECOND_TIME }, { path: errorPath });
      keys.add(key);
    }
    affectedRows += Number(row[0] ?? 0);
    inserted.push(row.slice(1));
    // Arrays as Postgres prints them, without their braces: joined, they are one array.
    const rows = answered === null ? null : textOfColumn(row[answered] ?? null);
    if (rows) written.push(rows.slice(1, -1));
  }
  return { ...given, affectedRows, written: `{${written.join(',')}}` };
}

async function runOne(
  run: Run,
  statement: PreparedStatement | NestedWrite,
  values: readonly Value[],
): Promise<Row> {
  try {
    return await run(nameFor(statement.preparation), values);
  } catch (error) {
    throw engineErrorOf(error, statement, statement.errorPath);
  }
}

function nameFor(preparation: Preparation): NamedStatement {
  if (preparation.wasUsed) return preparation.named;
  preparation.wasUsed = true;
  return preparation.once;
}

/** Returns the values that a statement runs with. */
export function valuesOf({ parameters }: Statement, binding: Binding): readonly Value[] {
  if (parameters.length > MOST_PARAMETERS)
    fail('badRequest', { text: `more than ${MOST_PARAMETERS} values in one statement` });
  return bind(parameters, binding);
}
