/** Maps a failure of Postgres to the error that a client receives: SQLSTATE → ERRORS row, an ordered table; the first match counts.
 *  Failures that the client caused keep the message of the database. For all others `internal` holds the message and the statement,
 *  which only administrators see. PostgreSQL manual, appendix "Error Codes". */
import { EngineError, type PathStep } from '../errors/engine-error.ts';
import { quotedText } from '../errors/quoted.ts';
import { CHECK_FAILED } from '../sql/check.ts';
import { TimeIsUp } from '../wire/patience.ts';
import { TooManyWaiting, WaitedTooLong } from '../wire/pool.ts';
import { type DataFailure, textForRole } from './data-exception.ts';

/** The fields of a `pg` DatabaseError that are used here. */
type DatabaseFailure = DataFailure & {
  readonly detail?: string;
  readonly hint?: string;
  readonly column?: string;
};

type Entry = {
  readonly state: RegExp;
  /** Only failures whose message has this. */
  readonly says?: string | RegExp;
  readonly error: (failure: DatabaseFailure, path: readonly PathStep[], internal: unknown) => EngineError;
};

const violation =
  (prefix: string): Entry['error'] =>
  ({ message }, path) =>
    new EngineError('constraintViolation', { text: `${prefix}${message}` }, path);

/** An error with the message of the database. */
const saying =
  (kind: 'badRequest' | 'dataException' | 'constraintError' | 'concurrentUpdate'): Entry['error'] =>
  ({ message }, path) =>
    new EngineError(kind, { text: message }, path);

/** The reason stays inside: it names hosts and users. */
const unreachable: Entry['error'] = (_failure, path, internal) => {
  const reason = 'the database cannot be reached';
  return new EngineError('sourceUnreachable', { reason }, path, internal);
};

const PG_ERRORS: readonly Entry[] = [
  // invalid_text_representation: the cast that a failed check of a permission ends in (sql/check.ts).
  {
    state: /^22P02$/,
    says: CHECK_FAILED,
    error: (_failure, path) => new EngineError('checkFailed', {}, path),
  },
  { state: /^23505$/, error: violation('Uniqueness violation. ') },
  {
    state: /^23502$/,
    error: ({ message, column = '' }, path) =>
      new EngineError('notNullViolation', { name: column, text: message }, path),
  },
  { state: /^23503$/, error: violation('Foreign key violation. ') },
  // `on delete restrict`, since Postgres 18.
  { state: /^23001$/, error: violation('Can not delete or update due to data being referred. ') },
  { state: /^23514$/, error: violation('Check constraint violation. ') },
  { state: /^23P01$/, error: violation('Exclusion violation. ') },
  { state: /^23/, error: violation('') },
  // A LIKE pattern that ends in its escape character.
  { state: /^22025$/, error: saying('badRequest') },
  // Two objects of one upsert that are the same row.
  { state: /^21000$/, error: saying('dataException') },
  // Data exceptions: a value the type does not have, a division by zero, an invalid regular expression.
  { state: /^22/, error: saying('dataException') },
  {
    // The target of an upsert has lost its index since the database was last looked at,
    state: /^42P10$/,
    error: (_failure, path) =>
      new EngineError(
        'constraintError',
        { text: 'there is no unique or exclusion constraint on target column(s)' },
        path,
      ),
  },
  // or its constraint.
  { state: /^42704$/, error: saying('constraintError') },
  {
    state: /^40001$/,
    error: (_failure, path) =>
      new EngineError('concurrentUpdate', { text: 'serialization failure due to concurrent update' }, path),
  },
  // A deadlock: this transaction was the one to give way.
  { state: /^40/, error: saying('concurrentUpdate') },
  // lock_not_available: waited for as long as the transaction may.
  { state: /^55P03$/, error: saying('concurrentUpdate') },
  {
    // program_limit_exceeded: what Postgres has no room for.
    state: /^54/,
    error: ({ message }, path, internal) => new EngineError('tooComplex', { text: message }, path, internal),
  },
  // too_many_connections: waited for as long as may be (wire/pool.ts).
  {
    state: /^53300$/,
    error: (_failure, path, internal) =>
      new EngineError('databaseBusy', { text: 'the database has no connection left' }, path, internal),
  },
  // Connection lost, refused for its user, its database or the number of others; server shutting down.
  { state: /^(08|28|3D|53|57P)/, error: unreachable },
];

/** The statement that failed: its text, which administrators see, whether an administrator ran it, and its source. */
export type Failed = {
  readonly text: string;
  readonly isByAdministrator: boolean;
  readonly source?: string;
};

/** SQLSTATEs for tables, columns, functions, types and constraints that are missing or differ: undefined_table, undefined_column,
 *  undefined_function, undefined_object, invalid_schema_name, datatype_mismatch, cannot_coerce, wrong_object_type,
 *  invalid_column_reference, feature_not_supported ("cached plan must not change result type"). */
const SUGGESTS_CHANGE = /^(42P01|42703|42883|42704|3F000|42804|42846|42809|42P10|0A000)$/;

/** True when the failure suggests that the schema of the database has changed. */
export function suggestsChange(failure: unknown): boolean {
  return SUGGESTS_CHANGE.test(sqlStateOf(failure) ?? '');
}

/** Any failure of a statement as an EngineError. */
export function engineErrorOf(thrown: unknown, failed: Failed, path: readonly PathStep[]): EngineError {
  if (thrown instanceof EngineError) return thrown;
  const failure = failureOf(thrown);
  const internal = internalOf(failure, failed.text);
  if (thrown instanceof TimeIsUp)
    return new EngineError('timeLimitExceeded', { most: thrown.limitMs / 1000 });
  if (isOurs(thrown)) return new EngineError('databaseBusy', { text: failure.message }, path, internal);
  if (isOfWorker(thrown)) return new EngineError('workerUnreachable', {}, path, internal);
  if (failure.code === undefined) return unreachable(failure, path, internal);
  const entry = PG_ERRORS.find(
    ({ state, says = '' }) => state.test(failure.code!) && failure.message.search(says) >= 0,
  );
  const visible = failed.isByAdministrator ? failure : forRole(failure);
  const error =
    entry?.error(visible, path, internal) ?? new EngineError('databaseQueryFailed', {}, path, internal);
  if (failed.source === undefined || !suggestsChange(failure)) return error;
  return new EngineError(error.kind, error.params, path, error.internal, { outdatedSource: failed.source });
}

/** The words of a coordinator about a connection to a worker, and in the context of an error that a worker has sent. */
const NO_CONNECTION_TO_WORKER = 'connection to the remote node ';
const ON_WORKER = 'while executing command on ';

/** True when the coordinator of a Citus cluster answers that a worker does not: the connection to the coordinator itself is not lost. */
export function isOfWorker(thrown: unknown): boolean {
  if (!/^(08|57P)/.test(sqlStateOf(thrown) ?? '')) return false;
  const { message } = thrown as { readonly message: string };
  return message.startsWith(NO_CONNECTION_TO_WORKER) || isFromWorker(thrown);
}

function isFromWorker(thrown: unknown): boolean {
  return ((thrown as { readonly where?: string }).where ?? '').includes(ON_WORKER);
}

/** The class of integrity constraint violations, whose messages quote names of tables, columns and constraints only. */
const VIOLATION = '23';
/** The number of a shard at the end of the name of its table or constraint. */
const SHARD = /_\d{6,}"/g;

/** The pool itself has given up, not the database: no connection became free in time, too many wait for one, or a statement took
 *  too long. */
export function isOurs(thrown: unknown): boolean {
  return [WaitedTooLong, TooManyWaiting, TimeIsUp].some((kind) => thrown instanceof kind);
}

/** The failure as a role may read it. */
function forRole(failure: DatabaseFailure): DatabaseFailure {
  const mayQuote = failure.code !== undefined && QUOTES_VALUES.test(failure.code);
  return mayQuote ? { ...failure, message: textForRole(failure) } : failure;
}

/** SQLSTATEs whose messages may quote a row's value: data exceptions, values of ltree and of types such as regtype. */
const QUOTES_VALUES = /^(22|42601$|42704$)/;

/** An administrator's view: the statement, never the values it was run with. */
export function internalOf(failure: DatabaseFailure, statement: string): unknown {
  return {
    statement,
    prepared: true,
    error: {
      exec_status: 'FatalError',
      hint: failure.hint === undefined ? null : quotedText(failure.hint),
      message: quotedText(failure.message),
      status_code: failure.code ?? null,
      description: failure.detail === undefined ? null : quotedText(failure.detail),
    },
  };
}

function failureOf(thrown: unknown): DatabaseFailure {
  const error = thrown as (Partial<Omit<DatabaseFailure, 'message'>> & { message?: unknown }) | null;
  const code = sqlStateOf(thrown);
  const message = typeof error?.message === 'string' ? error.message : String(thrown);
  return {
    message: code?.startsWith(VIOLATION) && isFromWorker(thrown) ? message.replace(SHARD, '"') : message,
    ...(code ? { code } : {}),
    ...(error?.detail ? { detail: error.detail } : {}),
    ...(error?.hint ? { hint: error.hint } : {}),
    ...(error?.column ? { column: error.column } : {}),
    ...(error?.routine ? { routine: error.routine } : {}),
    ...(error?.isBeforeRun ? { isBeforeRun: true } : {}),
  };
}

/** Five digits or capitals. Node's own network errors have codes, too: `EPIPE`; no SQLSTATE begins with an E. */
export function sqlStateOf(thrown: unknown): string | undefined {
  const code = (thrown as { code?: unknown } | null)?.code;
  return typeof code === 'string' && /^(?!E)[0-9A-Z]{5}$/.test(code) ? code : undefined;
}
