/** Runs one migration and records it. In: a migration, the run, and the first statement. A file in a transaction leaves everything or
 *  nothing, its row in the record included. Without one, each statement is recorded before and after it runs.
 *  Raises MigrationFailure. Retries what waited too long for a lock of a table, and nothing else.
 *  Not here: which migrations run (run-migrations.ts), SQL on the record (record.ts). */
import { setTimeout as sleep } from 'node:timers/promises';
import type { ClientBase } from 'pg';
import { checksumOfFirst, type Migration, type MigrationStatement } from './migration.ts';
import { describeFailure, isLockTimeout, MigrationFailure, sqlStateOf } from './migration-failure.ts';
import {
  addRow,
  failStatement,
  finishStatement,
  type RecordedRun,
  type RecordRow,
  stampRow,
  startStatement,
  takeRow,
} from './record.ts';

export type FileRun = RecordedRun & {
  readonly lockTimeoutMs: number;
  /** How often a statement is repeated that waited too long for a lock. */
  readonly lockRetries: number;
  readonly onRetry: (message: string) => void;
  /** Called before a transaction commits. An error rolls it back. */
  readonly check?: ((client: ClientBase, migration: Migration) => Promise<void>) | undefined;
};

/** The row of a run that did not finish, and the number of statements that need not run any more. */
export type Continuation = { readonly row: RecordRow; readonly finished: number };

/** Runs the statements of a migration that have not run. Raises MigrationFailure, RecordConflict. */
export async function runFile(run: FileRun, migration: Migration, from?: Continuation): Promise<void> {
  await prepareSession(run);
  if (migration.isTransactional && (from === undefined || from.finished === 0)) {
    return retrying(run, () => runInTransaction(run, migration, from));
  }
  return runOneByOne(run, migration, from);
}

/** Undoes what an earlier file set in the session. */
async function prepareSession({ client, lockTimeoutMs }: FileRun): Promise<void> {
  await client.query('reset session authorization; reset role; reset all');
  await client.query(`select set_config('lock_timeout', $1, false)`, [`${lockTimeoutMs}ms`]);
}

async function runInTransaction(run: FileRun, migration: Migration, from?: Continuation): Promise<void> {
  const { client } = run;
  const { version, statements } = migration;
  await client.query('begin');
  try {
    if (from) await takeRow(run, from.row, rowOf(migration, 0));
    else await addRow(run, { ...newRow(migration), state: 'running' });
    for (const [i, statement] of statements.entries()) await execute(run, migration, statement, i + 1);
    // The file may have changed the role, and the record is that of the role that connected.
    await client.query('reset session authorization; reset role; reset all');
    await run.check?.(client, migration);
    await stampRow(run, version);
    await commit(run, migration);
  } catch (error) {
    // A broken connection has no transaction any more, and its error is the one that counts.
    await client.query('rollback').catch(() => {});
    throw error;
  }
}

/** Constraints that are deferred are checked here. */
async function commit({ client }: FileRun, { file, statements }: Migration): Promise<void> {
  try {
    await client.query('commit');
  } catch (error) {
    throw new MigrationFailure(
      `${file}: the transaction of ${statements.length} statements could not be committed: ${describeFailure(error)}`,
      error,
    );
  }
}

async function runOneByOne(run: FileRun, migration: Migration, from?: Continuation): Promise<void> {
  const { version, statements } = migration;
  const first = from?.finished ?? 0;
  if (from) await takeRow(run, from.row, rowOf(migration, first));
  else await addRow(run, { ...newRow(migration), state: 'running', started: 0 });
  for (let number = first + 1; number <= statements.length; number++) {
    await startStatement(run, version, number);
    await runOne(run, migration, number);
    await finishStatement(run, version, {
      statement: number,
      finishedSha256: checksumOfFirst(migration, number),
    });
  }
}

/** Statements that may have had an effect when they fail: they commit on their way, or leave an invalid index. */
const LEAVES_TRACES = /^(call|do)\b|\bconcurrently\b/i;

async function runOne(run: FileRun, migration: Migration, number: number): Promise<void> {
  const statement = migration.statements[number - 1]!;
  const once = () => execute(run, migration, statement, number);
  try {
    if (LEAVES_TRACES.test(statement.text)) await once();
    else await retrying(run, once);
  } catch (error) {
    // Without a code the connection is broken, and only the database knows what became of the statement.
    if (error instanceof MigrationFailure && sqlStateOf(error.cause) !== undefined) {
      await run.client.query('reset session authorization; reset role').catch(() => {});
      await failStatement(run, migration.version, describeFailure(error.cause)).catch(() => {});
    }
    throw error;
  }
  await run.client.query('reset session authorization; reset role');
}

const FIRST_PAUSE_MS = 250;
const LONGEST_PAUSE_MS = 30_000;

/** Repeats an attempt that waited too long for a lock, with growing pauses, so that the statements that wait behind it can run. */
async function retrying(run: FileRun, attempt: () => Promise<void>): Promise<void> {
  for (let retry = 1, pause = FIRST_PAUSE_MS; ; retry++, pause = Math.min(pause * 2, LONGEST_PAUSE_MS)) {
    try {
      return await attempt();
    } catch (error) {
      if (!(error instanceof MigrationFailure) || !isLockTimeout(error.cause) || retry > run.lockRetries)
        throw error;
      run.onRetry(`${error.message}; attempt ${retry + 1} of ${run.lockRetries + 1} in ${pause} ms`);
      await sleep(pause);
    }
  }
}

async function execute(
  { client }: FileRun,
  { file, statements }: Migration,
  { text, line }: MigrationStatement,
  number: number,
): Promise<void> {
  try {
    await client.query(text);
  } catch (error) {
    const at = line + linesBefore(text, error);
    const which = `${file}:${at}: statement ${number} of ${statements.length}`;
    throw new MigrationFailure(`${which} failed: ${describeFailure(error)}`, error);
  }
}

/** Returns how many lines of the statement are before the position that the database names. */
function linesBefore(text: string, error: unknown): number {
  const position = error instanceof Error && 'position' in error ? Number(error.position) : Number.NaN;
  return position > 0 ? [...text].slice(0, position - 1).filter((character) => character === '\n').length : 0;
}

function newRow({ version, name, sha256, statements }: Migration) {
  return { version, name, sha256, statements: statements.length, origin: 'run' as const };
}

function rowOf(migration: Migration, finished: number) {
  const { sha256, statements } = migration;
  const finishedSha256 = checksumOfFirst(migration, finished);
  return { sha256, statements: statements.length, finished, finishedSha256 };
}
