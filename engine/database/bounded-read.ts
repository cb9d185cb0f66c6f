/** Reads of logs on request, which may be long: one read-only transaction with a time limit. Not here: the statements. */
import type { ClientBase } from 'pg';
import { EngineError } from '../errors/engine-error.ts';
import { RequestSignal } from '../limits/cancel-signal.ts';
import type { Database } from './pool.ts';

const LIMIT_MS = 10_000;
/** The time for the answer of a database that ends a statement at the limit. */
const ANSWER_MS = 3_000;

/** Runs what `read` reads. Throws what Postgres raises, `57014` at the limit. Raises `timeLimitExceeded` when the database does not even say that. */
export async function boundedRead<T>(
  database: Database,
  read: (client: ClientBase) => Promise<T>,
  limitMs = LIMIT_MS,
): Promise<T> {
  const patience = new RequestSignal();
  const reading = database.transaction({ readOnly: true, signal: patience }, async (client) => {
    await client.query(`set local statement_timeout = ${limitMs}`);
    return read(client);
  });
  let timer: NodeJS.Timeout | undefined;
  const silence = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      const error = new EngineError('timeLimitExceeded', { most: limitMs / 1000 });
      patience.abort(error);
      reject(error);
    }, limitMs + ANSWER_MS);
  });
  try {
    return await Promise.race([reading, silence]);
  } finally {
    clearTimeout(timer);
  }
}
