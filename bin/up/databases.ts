/** The databases of `pergola up`: `app` for the user's tables, `metadata` for the engine.
 *  Not here: the server (../embedded-postgres.ts), the tables (seed.ts). */
import type pg from 'pg';
import { connectTo, optionAddress } from '../../engine/database/connect.ts';

const PURPOSE = { applicationName: 'pergola up', timeoutMs: 15_000 };

export type Databases = { readonly app: string; readonly metadata: string };

export async function ensureDatabases(serverUrl: string): Promise<Databases> {
  const made = await Promise.all(['app', 'metadata'].map((name) => urlOf(serverUrl, name)));
  await withClient(serverUrl, async (client) => {
    const { rows } = await client.query<{ datname: string }>('select datname from pg_database');
    const known = new Set(rows.map(({ datname }) => datname));
    for (const name of ['app', 'metadata']) {
      if (!known.has(name)) await client.query(`create database ${name}`);
    }
  });
  return { app: made[0]!, metadata: made[1]! };
}

function urlOf(serverUrl: string, database: string): string {
  const url = new URL(serverUrl);
  url.pathname = `/${database}`;
  return url.href;
}

/** Connects for the time of the body. */
export async function withClient<T>(url: string, body: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = await connectTo(optionAddress(url), PURPOSE);
  return body(client).finally(() => client.end());
}
