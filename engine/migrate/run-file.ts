/** Runs one migration and records it. In: a migration, the run, and the first statement. A file in a transaction leaves everything or
 *  nothing, its row in the record included. Without one, each statement is recorded before and after it runs.
 *  Postgres decides where a statement ends (database/one-statement.ts), and after each one it says whether a transaction is open. A file
 *  whose transaction is another one at its end is recorded as failed: what ran before may have had its effect.
 *  Raises MigrationFailure. Retries what waited too long for a lock of a table, and nothing else.
 *  Not here: which migrations run (run-migrations.ts), SQL on the record (record.ts). */
import { setTimeout as sleep } from 'node:timers/promises';
import type { ClientBase } from 'pg';
import { oneStatement } from '../database/one-statement.ts';
import { SHARDS_ONE_BY_ONE_IN_CLUSTER } from '../database/session-settings.ts';
import { assignedTransactionId } from '../store/intents.ts';
import { type Migration, StatementsChecksum } from './migration.ts';
import {
  describeFailure,
  isLockTimeout,
  linesBefore,
  MigrationFailure,
  sqlStateOf,
  TransactionEscape,
} from './migration-failure.ts';
import {
  addRow,
  failStatement,
  finishStatement,
  type RecordedRun,
  type RecordRow,
  recordFailure,
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
  let last = 0;
  await client.query('begin');
  try {
    await client.query(SHARDS_ONE_BY_ONE_IN_CLUSTER);
    if (from) await takeRow(run, from.row, rowOf(migration, 0));
    else await addRow(run, { ...newRow(migration), state: 'running' });
    const transaction = await assignedTransactionId(client);
    for (last = 1; last <= statements.length; last++) await execute(run, migration, last, 'T');
    last = statements.length;
    if ((await assignedTransactionId(client)) !== transaction) throw escapeAt(migration, last);
    // The file may have changed the role, and the record is that of the role that connected.
    await client.query('reset session authorization; reset role; reset all');
    await run.check?.(client, migration);
    await stampRow(run, version);
    await commit(run, migration);
  } catch (error) {
    // A broken connection has no transaction any more, and its error is the one that counts.
    await client.query('rollback').catch(() => {});
    if (error instanceof TransactionEscape) await recordEscape(run, migration, { statement: last, error });
    throw error;
  }
}

async function recordEscape(
  run: FileRun,
  migration: Migration,
  { statement, error }: { readonly statement: number; readonly error: TransactionEscape },
): Promise<void> {
  await run.client.query('reset session authorization; reset role; reset all');
  await recordFailure(run, {
    ...newRow(migration),
    state: 'failed',
    started: statement,
    error: error.reason,
  });
}

/** Constraints that are deferred are checked here. */
async function commit({ client }: FileRun, { file, statements }: Migration): Promise<void> {
  const failure = (reason: string, cause?: unknown) =>
    new MigrationFailure(
      `${file}: the transaction of ${statements.length} statements could not be committed: ${reason}`,
      cause,
    );
  const { command } = await client.query('commit').catch((error: unknown) => {
    throw failure(describeFailure(error), error);
  });
  // Postgres answers a commit of a failed transaction with the tag ROLLBACK.
  if (command !== 'COMMIT') throw failure('the database rolled it back');
}

async function runOneByOne(run: FileRun, migration: Migration, from?: Continuation): Promise<void> {
  const { version, statements } = migration;
  const first = from?.finished ?? 0;
  const checksum = new StatementsChecksum(migration);
  if (from) await takeRow(run, from.row, rowOf(migration, first));
  else await addRow(run, { ...newRow(migration), state: 'running', started: 0 });
  for (let number = first + 1; number <= statements.length; number++) {
    await startStatement(run, version, number);
    await runOne(run, migration, number);
    await finishStatement(run, version, {
      statement: number,
      finishedSha256: checksum.ofFirst(number),
    });
  }
}

/** Statements that may have had an effect when they fail: they commit on their way, or leave an invalid index. */
const LEAVES_TRACES = /^(call|do)\b|\bconcurrently\b/i;

async function runOne(run: FileRun, migration: Migration, number: number): Promise<void> {
  const { client } = run;
  const once = () => execute(run, migration, number, 'I');
  try {
    if (LEAVES_TRACES.test(migration.statements.at(number - 1))) await once();
    else await retrying(run, once);
  } catch (error) {
    if (error instanceof TransactionEscape) await client.query('rollback').catch(() => {});
    const reason = reasonOf(error);
    if (reason !== undefined) {
      await client.query('reset session authorization; reset role').catch(() => {});
      await failStatement(run, migration.version, reason).catch(() => {});
    }
    throw error;
  }
  await client.query('reset session authorization; reset role');
}

/** Returns why a statement failed, for the record. Undefined when the connection is broken, and only the database knows what became of
 *  the statement. */
function reasonOf(error: unknown): string | undefined {
  if (error instanceof TransactionEscape) return error.reason;
  if (!(error instanceof MigrationFailure) || sqlStateOf(error.cause) === undefined) return undefined;
  return describeFailure(error.cause);
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

/** Runs a statement. Raises TransactionEscape if the session is not in the expected state afterwards: in a transaction or in none. */
async function execute(
  { client }: FileRun,
  migration: Migration,
  number: number,
  expected: 'T' | 'I',
): Promise<void> {
  const { file, statements } = migration;
  const text = statements.at(number - 1);
  try {
    await client.query(oneStatement(text));
  } catch (error) {
    const at = statements.lineOf(number - 1) + linesBefore(text, error);
    const which = `${file}:${at}: statement ${number} of ${statements.length}`;
    throw new MigrationFailure(`${which} failed: ${describeFailure(error)}`, error);
  }
  if (client.getTransactionStatus() !== expected) throw escapeAt(migration, number);
}

function escapeAt({ file, statements }: Migration, number: number): TransactionEscape {
  return new TransactionEscape(
    `${file}:${statements.lineOf(number - 1)}: statement ${number} of ${statements.length}`,
  );
}

function newRow({ version, name, sha256, statements }: Migration) {
  return { version, name, sha256, statements: statements.length, origin: 'run' as const };
}

function rowOf(migration: Migration, finished: number) {
  const { sha256, statements } = migration;
  const finishedSha256 = new StatementsChecksum(migration).ofFirst(finished);
  return { sha256, statements: statements.length, finished, finishedSha256 };
}
