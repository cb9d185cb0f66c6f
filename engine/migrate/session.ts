/** The connection of one run of migrations: one session, which has the lock and runs every statement.
 *  Not here: connection strings (database/connect.ts), the lock (lock.ts). */
import type pg from 'pg';
import { connectTo, optionAddress } from '../database/connect.ts';

const TIMEOUT_MS = 10_000;

/** Runs `use` with a session of the database, and closes it. Raises why the database cannot be reached. */
export async function withMigrationSession<T>(
  url: string,
  use: (client: pg.Client) => Promise<T>,
): Promise<T> {
  const client = await connectTo(optionAddress(url), {
    applicationName: 'pergola migrate',
    timeoutMs: TIMEOUT_MS,
  });
  // A statement that runs reports a lost connection itself; without a listener, one that is lost in between would end the process.
  client.on('error', () => {});
  try {
    return await use(client);
  } finally {
    await client.end().catch(() => {});
  }
}
