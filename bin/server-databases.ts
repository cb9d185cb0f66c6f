/** The databases of a Postgres server: their URLs, and one connection for a few statements.
 *  Not here: the server (embedded-postgres.ts), which databases a command creates (up/databases.ts,
 *  permission-tests/scratch-databases.ts). */
import type pg from 'pg';
import { connectTo, optionAddress } from '../engine/database/connect.ts';

const CONNECT_TIMEOUT_MS = 15_000;

/** Returns the URL of another database on the server. */
export function databaseUrl(serverUrl: string, database: string): string {
  const url = new URL(serverUrl);
  url.pathname = `/${database}`;
  return url.href;
}

/** Connects for the time of the body. `applicationName` names the command to the server's administrator. */
export async function withClient<T>(
  { url, applicationName }: { readonly url: string; readonly applicationName: string },
  body: (client: pg.Client) => Promise<T>,
): Promise<T> {
  const client = await connectTo(optionAddress(url), { applicationName, timeoutMs: CONNECT_TIMEOUT_MS });
  return body(client).finally(() => client.end());
}
