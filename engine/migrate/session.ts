/** The connection of one run of migrations: one session, which has the lock and runs every statement.
 *  Not here: connection strings (database/connect.ts), the lock (lock.ts). */
import type pg from 'pg';
import { connectTo, optionAddress } from '../database/connect.ts';
import type { DatabaseAddress } from '../database/connection-defaults.ts';
import { nameOfTarget } from '../store/connect.ts';
import type { Tls } from '../wire/socket.ts';

const TIMEOUT_MS = 10_000;

/** Raised when the database cannot be reached. The message names host and database, never the password. */
export class UnreachableError extends Error {}

/** Raised for a pooler that gives the statements of one connection different sessions. */
export class SharedSessionError extends Error {}

const SHARED =
  'the connection goes through a pooler in transaction mode, where a lock of migrations would not hold; connect to Postgres itself, or to ' +
  'the pooler in session mode';

/** Runs `use` with a session of the database of a URL, and closes it. Raises UnreachableError, SharedSessionError, ConnectionStringError. */
export function withMigrationSession<T>(url: string, use: (client: pg.Client) => Promise<T>): Promise<T> {
  return withMigrationClient(optionAddress(url), undefined, use);
}

/** Runs `use` with a session of a database, and closes it. Raises UnreachableError, SharedSessionError. */
export async function withMigrationClient<T>(
  address: DatabaseAddress,
  tls: Tls | undefined,
  use: (client: pg.Client) => Promise<T>,
): Promise<T> {
  const client = await open(address, tls);
  // A statement that runs reports a lost connection itself; without a listener, one that is lost in between would end the process.
  client.on('error', () => {});
  try {
    if (await isShared(client, () => open(address, tls))) throw new SharedSessionError(SHARED);
    return await use(client);
  } finally {
    await client.end().catch(() => {});
  }
}

/** How often two connections are compared. Other clients of the pooler may take a session in between. */
const COMPARISONS = 25;

/** True when statements of different connections run in one session of the database. Then a lock of the session would be shared, and stay
 *  behind when the connection is closed. A pooler or proxy is recognised by its own process numbers. */
async function isShared(client: pg.Client, another: () => Promise<pg.Client>): Promise<boolean> {
  const { processID } = client as pg.Client & { readonly processID?: number };
  const first = await processOf(client);
  if (first === processID) return false;
  const other = await another();
  other.on('error', () => {});
  try {
    for (let i = 0; i < COMPARISONS; i++) {
      const theirs = await processOf(other);
      const ours = await processOf(client);
      if (ours !== first || ours === theirs) return true;
    }
    return false;
  } finally {
    await other.end().catch(() => {});
  }
}

async function processOf(client: pg.Client): Promise<number> {
  const { rows } = await client.query('select pg_backend_pid() as pid');
  return rows[0].pid;
}

async function open(address: DatabaseAddress, tls: Tls | undefined): Promise<pg.Client> {
  try {
    return await connectTo(address, { applicationName: 'pergola migrate', timeoutMs: TIMEOUT_MS }, tls);
  } catch (error) {
    throw new UnreachableError(`cannot reach the database${nameOf(address)}: ${reasonOf(error)}`, {
      cause: error,
    });
  }
}

/** Returns hosts and database of an option. Those of a source may be secret. */
function nameOf({ origin, target }: DatabaseAddress): string {
  return origin === 'option' ? ` ${nameOfTarget(target)}` : '';
}

/** A connection refused by both ::1 and 127.0.0.1 is an AggregateError without a message. */
function reasonOf(error: unknown): string {
  if (error instanceof AggregateError) return error.errors.map(reasonOf).join(', ');
  return error instanceof Error ? error.message : String(error);
}
