/** The connection of one run of migrations: one session, which has the lock and runs every statement.
 *  Not here: connection strings (database/connect.ts), the lock (lock.ts). */
import type pg from 'pg';
import { connectTo, optionAddress } from '../database/connect.ts';
import { nameOfDatabase } from '../store/connect.ts';

const TIMEOUT_MS = 10_000;

/** Raised when the database cannot be reached. The message names host and database, never the password. */
export class UnreachableError extends Error {}

/** Runs `use` with a session of the database, and closes it. Raises UnreachableError, ConnectionStringError. */
export async function withMigrationSession<T>(
  url: string,
  use: (client: pg.Client) => Promise<T>,
): Promise<T> {
  const client = await open(url);
  // A statement that runs reports a lost connection itself; without a listener, one that is lost in between would end the process.
  client.on('error', () => {});
  try {
    return await use(client);
  } finally {
    await client.end().catch(() => {});
  }
}

async function open(url: string): Promise<pg.Client> {
  const address = optionAddress(url);
  try {
    return await connectTo(address, { applicationName: 'pergola migrate', timeoutMs: TIMEOUT_MS });
  } catch (error) {
    throw new UnreachableError(`cannot reach the database ${nameOfDatabase(url)}: ${reasonOf(error)}`, {
      cause: error,
    });
  }
}

/** A connection refused by both ::1 and 127.0.0.1 is an AggregateError without a message. */
function reasonOf(error: unknown): string {
  if (error instanceof AggregateError) return error.errors.map(reasonOf).join(', ');
  return error instanceof Error ? error.message : String(error);
}
