/** What a failure in Postgres means to a client: SQLSTATE → ERRORS row, an ordered table; the first match counts.
 *  The database's own words go to `internal`, which only administrators see. PostgreSQL manual, appendix "Error Codes". */
import { EngineError, type PathStep } from '../errors/engine-error.ts';

/** The fields of a `pg` DatabaseError that are used here. */
export type DatabaseFailure = {
  readonly code?: string;
  readonly message: string;
  readonly detail?: string;
  readonly hint?: string;
};

type Entry = {
  readonly state: RegExp;
  readonly error: (failure: DatabaseFailure, path: readonly PathStep[], internal: unknown) => EngineError;
};

const violation =
  (kind: string): Entry['error'] =>
  ({ message }, path, internal) =>
    new EngineError('constraintViolation', { text: `${kind} violation. ${message}` }, path, internal);

const PG_ERRORS: readonly Entry[] = [
  { state: /^23505$/, error: violation('Uniqueness') },
  { state: /^23502$/, error: violation('Not-NULL') },
  { state: /^23503$/, error: violation('Foreign key') },
  { state: /^23514$/, error: violation('Check constraint') },
  { state: /^23P01$/, error: violation('Exclusion constraint') },
  { state: /^23/, error: violation('Integrity constraint') },
  {
    // Data exceptions: a value the type does not have, a division by zero, an invalid regular expression.
    state: /^22/,
    error: ({ message }, path, internal) =>
      new EngineError('dataException', { text: message }, path, internal),
  },
  {
    state: /^(08|57P)/,
    error: ({ message }, path, internal) =>
      new EngineError('sourceUnreachable', { source: '', reason: message }, path, internal),
  },
];

/** Any failure of a statement as an EngineError. `statement` is shown to administrators. */
export function engineErrorOf(thrown: unknown, statement: string, path: readonly PathStep[]): EngineError {
  if (thrown instanceof EngineError) return thrown;
  const failure = failureOf(thrown);
  const internal = internalOf(failure, statement);
  if (failure.code === undefined) {
    return new EngineError('sourceUnreachable', { source: '', reason: failure.message }, path, internal);
  }
  const entry = PG_ERRORS.find(({ state }) => state.test(failure.code!));
  return entry?.error(failure, path, internal) ?? new EngineError('databaseQueryFailed', {}, path, internal);
}

/** An administrator's view: the statement, never the values it was run with. */
export function internalOf(failure: DatabaseFailure, statement: string): unknown {
  return {
    statement,
    prepared: true,
    error: {
      exec_status: 'FatalError',
      hint: failure.hint ?? null,
      message: failure.message,
      status_code: failure.code ?? null,
      description: failure.detail ?? null,
    },
  };
}

function failureOf(thrown: unknown): DatabaseFailure {
  const error = thrown as { code?: unknown; message?: unknown; detail?: string; hint?: string } | null;
  // Node's own network errors (`ECONNREFUSED`) have codes too; an SQLSTATE is five digits or capitals.
  const isSqlState = typeof error?.code === 'string' && /^[0-9A-Z]{5}$/.test(error.code);
  return {
    message: typeof error?.message === 'string' ? error.message : String(thrown),
    ...(isSqlState ? { code: error.code as string } : {}),
    ...(error?.detail ? { detail: error.detail } : {}),
    ...(error?.hint ? { hint: error.hint } : {}),
  };
}
