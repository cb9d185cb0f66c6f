/** A ready plan → the first row of each of its statements. Queries: a statement a source, outside any transaction, at the
 *  same time. Mutations: in order, in one transaction a source, unless there is only one statement. Raises ERRORS rows; whatever was written is rolled back then.
 *  Not here: what an SQLSTATE means (pg-errors.ts). Reference: docs/reference/behaviour/mutations.md. */

import type { Databases } from '../database/databases.ts';
import { type Deadline, deadlineAfter } from '../database/deadline.ts';
import { engineErrorOf, type Failed } from '../database/pg-errors.ts';
import {
  type Database,
  isConnectionLost,
  type NamedStatement,
  type Row,
  type Run,
} from '../database/pool.ts';
import { SESSION_SETTINGS, sessionSettings } from '../database/session-settings.ts';
import { fail } from '../errors/engine-error.ts';
import type { Statement } from '../sql/fragment.ts';
import { arrayLiteral } from '../wire/encode.ts';
import { textOfColumn, type Value } from '../wire/statement.ts';
import { type Binding, bind } from './bind.ts';
import type { Preparation, ReadyPlan, ReadyStatement, ReadyStep } from './plan-cache.ts';

/** The protocol counts a statement's parameters in 16 bits. */
const MOST_PARAMETERS = 65_535;

export async function runPlan(
  { operation, statements }: Pick<ReadyPlan, 'operation' | 'statements'>,
  binding: Binding,
  databases: Databases,
): Promise<readonly Row[]> {
  if (operation === 'mutation') return runMutation(statements, binding, databases);
  const [only] = statements;
  if (statements.length === 1 && only) return [await runQuery(only, binding, databases)];
  return Promise.all(statements.map((statement) => runQuery(statement, binding, databases)));
}

function runQuery(statement: ReadyStatement, binding: Binding, databases: Databases): Promise<Row> {
  return runStatement(statement, valuesOf(statement, binding), databases);
}

/** What only reads goes to a replica where there is one. A connection may have died while it lay idle: such a statement is simply
 *  asked again, once, of the source itself; what calls a volatile function may have done its work already. */
export async function runStatement(
  statement: ReadyStatement,
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

/** The statement's row for each of many, in their order, asked as one statement. Raises what `runStatement` does: then it is
 *  not known whose values were at fault. */
export async function runForMany(
  statement: ReadyStatement,
  valuesOfEach: readonly (readonly Value[])[],
  databases: Databases,
): Promise<readonly Row[]> {
  const { forMany } = statement;
  if (!forMany) throw new Error('the statement is the same for all');
  const lists = statement.parameters.map((_, i) => valuesOfEach.map((values) => asText(values[i]!)));
  const together = { ...statement, text: forMany.once.text, preparation: forMany };
  const columns = await runStatement(together, lists, databases);
  const width = columns.length / valuesOfEach.length;
  const rows: Row[] = [];
  for (let at = 0; at < columns.length; at += width) {
    rows[Number(textOfColumn(columns[at]!)) - 1] = columns.slice(at + 1, at + width);
  }
  return rows;
}

/** As an element of a list of texts, where an array would be a dimension. */
function asText(value: Value): Value {
  return Array.isArray(value) ? arrayLiteral(value) : value;
}

/** SQL that somebody else wrote may call functions that write: not here. What has a time limit needs a transaction to set it
 *  for. */
function runOf({ isAuthored, timeLimitMs, limitMs }: ReadyStatement, database: Database): Run {
  if (isAuthored || timeLimitMs !== null) {
    const options = { readOnly: isAuthored, deadline: deadlineOf(timeLimitMs), limitMs };
    return (statement, values) => database.atomic(options, (run) => run(statement, values));
  }
  return plainRun(database, limitMs);
}

function plainRun(database: Database, limitMs: number | null): Run {
  if (limitMs === null) return database.run;
  return (statement, values) => database.run(statement, values, { limitMs });
}

async function runMutation(
  statements: readonly ReadyStatement[],
  binding: Binding,
  databases: Databases,
): Promise<readonly Row[]> {
  const [only] = statements;
  const deadline = deadlineOf(only?.timeLimitMs ?? null);
  if (statements.length === 1 && only && isAlone(only) && !deadline && !only.isWatched) {
    return [await runOne(plainRun(databases.get(only.source), only.limitMs), only, valuesOf(only, binding))];
  }
  const sources = [...new Set(statements.map(({ source }) => source))];
  const { isByAdministrator = false, limitMs = null } = only ?? {};
  const on = { databases, deadline, limitMs, isByAdministrator };
  return inTransactions(sources, on, new Map(), async (runs) => {
    const watched = new Set(statements.filter(({ isWatched }) => isWatched).map(({ source }) => source));
    for (const source of watched) tellWhoWrites(runs.get(source)!, binding);
    const rows: Row[] = [];
    for (const statement of statements) {
      rows.push(await write(runs.get(statement.source)!, statement, binding));
    }
    return rows;
  });
}

/** Goes out with the first statement; should it fail, so does that. */
function tellWhoWrites(run: Run, { session, trace = null }: Binding): void {
  run(SESSION_SETTINGS, sessionSettings(session, trace)).catch(() => {});
}

function deadlineOf(timeLimitMs: number | null): Deadline | null {
  return timeLimitMs === null ? null : deadlineAfter(timeLimitMs);
}

/** Nothing is run before or after it. */
function isAlone({ answer, steps }: ReadyStatement): boolean {
  return !answer && steps.length === 0;
}

/** A transaction on each source, all of them open until `body` is done. */
async function inTransactions<T>(
  [source, ...others]: readonly string[],
  on: {
    readonly databases: Databases;
    readonly deadline: Deadline | null;
    readonly limitMs: number | null;
  } & Pick<Failed, 'isByAdministrator'>,
  runs: Map<string, Run>,
  body: (runs: ReadonlyMap<string, Run>) => Promise<T>,
): Promise<T> {
  if (source === undefined) return body(runs);
  try {
    const { deadline, limitMs } = on;
    return await on.databases.get(source).atomic({ deadline, limitMs }, (run) => {
      return inTransactions(others, on, runs.set(source, run), body);
    });
  } catch (error) {
    // Begin and commit can fail, too: a deferred constraint does so only now.
    throw engineErrorOf(error, { ...on, text: 'commit' }, []);
  }
}

/** A statement with the steps before it and its answer, where somebody has opened a transaction. */
export async function write(run: Run, statement: ReadyStatement, given: Binding): Promise<Row> {
  const binding = statement.steps.length === 0 ? given : await runSteps(run, statement.steps, given);
  const row = await runOne(run, statement, valuesOf(statement, binding));
  const { answer } = statement;
  if (!answer) return row;
  return runOne(run, answer, valuesOf(answer, { ...binding, written: row[0] ?? null }));
}

/** Nested writes, up to their answer; what the answer is bound with. */
async function runSteps(run: Run, steps: readonly ReadyStep[], given: Binding): Promise<Binding> {
  const inserted: Row[] = [];
  const written: string[] = [];
  let affectedRows = 0;
  for (const step of steps) {
    const { unlessInserted, answered } = step;
    const row = await runOne(run, step, valuesOf(step, { ...given, inserted }));
    if (row.length === 0 && unlessInserted) {
      fail('notSupported', { text: unlessInserted.text }, { path: unlessInserted.path });
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
  statement: ReadyStatement | ReadyStep,
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

/** What a statement is run with. */
export function valuesOf({ parameters }: Statement, binding: Binding): readonly Value[] {
  if (parameters.length > MOST_PARAMETERS)
    fail('badRequest', { text: `more than ${MOST_PARAMETERS} values in one statement` });
  return bind(parameters, binding);
}
