/** Failures of a client's SQL as ERRORS rows: the database refuses a statement, or cannot be reached.
 *  Not here: GraphQL requests (database/pg-errors.ts). Spec: "Errors", postgres-error. */
import pg from 'pg';
import { fail, thrownMessage } from '../errors/engine-error.ts';
import { isUnreachable } from '../store/connect.ts';

/** Runs `body`, which executes `statement`. Raises `queryExecutionFailed` with the database's own message, or `sourceUnreachable`. */
export async function withSqlErrors<T>(statement: string, body: () => Promise<T>): Promise<T> {
  try {
    return await body();
  } catch (error) {
    if (error instanceof pg.DatabaseError) refuseStatement(statement, error);
    if (!isUnreachable(error)) throw error;
    fail('sourceUnreachable', { reason: thrownMessage(error) });
  }
}

function refuseStatement(statement: string, error: pg.DatabaseError): never {
  const internal = {
    statement,
    prepared: false,
    arguments: [],
    error: {
      exec_status: 'FatalError',
      status_code: error.code ?? null,
      message: error.message,
      description: error.detail ?? null,
      hint: error.hint ?? null,
    },
  };
  fail('queryExecutionFailed', {}, { internal });
}
