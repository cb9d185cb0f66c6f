/** Reads of logs on request, which may be long: one read-only transaction with a time limit of Postgres. Not here: the statements. */
import type { ClientBase } from 'pg';
import type { Database } from './pool.ts';

const LIMIT = `set local statement_timeout = '10s'`;

/** Runs what `read` reads. Throws what Postgres raises, `57014` after ten seconds. */
export function boundedRead<T>(database: Database, read: (client: ClientBase) => Promise<T>): Promise<T> {
  return database.transaction({ readOnly: true }, async (client) => {
    await client.query(LIMIT);
    return read(client);
  });
}
