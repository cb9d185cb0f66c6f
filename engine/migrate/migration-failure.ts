/** Errors of a migration's statement as text: what the database said, its code, and what to do for the codes that have an answer.
 *  Not here: running statements (run-file.ts). PostgreSQL manual, appendix "Error Codes". */
import { NO_TRANSACTION } from './migration.ts';

/** Raised when a statement failed. The message has the file and the line; `cause` is the error of the database or the connection. */
export class MigrationFailure extends Error {
  constructor(message: string, cause: unknown) {
    super(message, { cause });
  }
}

/** Raised when the session is in another transaction than the one that the run began, or in one that it did not begin. */
export class TransactionEscape extends MigrationFailure {
  /** The problem, for the record. */
  readonly reason = 'it began or ended a transaction, so that statements up to it may have had their effect';

  /** `statement` is the file, the line and the number of the statement after which that was found. */
  constructor(statement: string) {
    super('', undefined);
    this.message = `${statement}: ${this.reason}; see: pergola migrate status`;
  }
}

const LOCK_NOT_AVAILABLE = '55P03';

/** The advice for a failure, by SQLSTATE. */
const ADVICE: Readonly<Record<string, string>> = {
  '25001': `begin the file with the line "${NO_TRANSACTION}"`,
  '42501': 'the user of the database URL needs this privilege',
  '57014':
    'statement_timeout of the role ends it, or someone cancelled it; a file may set its own statement_timeout',
  '55P03': 'another session uses the table: see pg_stat_activity, or raise --lock-timeout',
  '55P04': 'add the value of the enum in an earlier file',
};

/** Returns the message of the database with its code, and advice. Details are left out, because they may contain rows. */
export function describeFailure(error: unknown): string {
  const state = sqlStateOf(error);
  const message = error instanceof Error ? error.message : String(error);
  if (state === undefined) return `${message}; see: pergola migrate status`;
  const advice = ADVICE[state];
  return `${message} (${state})${advice === undefined ? '' : `; ${advice}`}`;
}

export function isLockTimeout(error: unknown): boolean {
  return sqlStateOf(error) === LOCK_NOT_AVAILABLE;
}

/** Returns the code of an error that the database returned; undefined for one of the connection. A session that the database ended (class
 *  57P) is a lost connection. */
export function sqlStateOf(error: unknown): string | undefined {
  const code = error instanceof Error && 'code' in error && 'severity' in error ? error.code : undefined;
  return typeof code === 'string' && !code.startsWith('57P') ? code : undefined;
}

/** Returns how many lines of the statement are before the position that the database names, which counts code points. */
export function linesBefore(text: string, error: unknown): number {
  const position = error instanceof Error && 'position' in error ? Number(error.position) : Number.NaN;
  let [lines, read] = [0, 1];
  for (const character of text) {
    if (!(read++ < position)) break;
    if (character === '\n') lines++;
  }
  return lines;
}
