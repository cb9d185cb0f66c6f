/** The databases of `pergola up`: `app` for the user's tables, `metadata` for the engine.
 *  Not here: the server (../embedded-postgres.ts), the tables (seed.ts). */
import { databaseUrl, withClient } from '../server-databases.ts';

export type Databases = { readonly app: string; readonly metadata: string };

/** Replaces the database of the user's tables by an empty one. Connections to it are ended. */
export async function recreateApp(serverUrl: string): Promise<void> {
  await withClient({ url: serverUrl, applicationName: 'pergola up' }, async (client) => {
    await client.query('drop database app with (force)');
    await client.query('create database app');
  });
}

export async function ensureDatabases(serverUrl: string): Promise<Databases> {
  await withClient({ url: serverUrl, applicationName: 'pergola up' }, async (client) => {
    const { rows } = await client.query<{ datname: string }>('select datname from pg_database');
    const known = new Set(rows.map(({ datname }) => datname));
    for (const name of ['app', 'metadata']) {
      if (!known.has(name)) await client.query(`create database ${name}`);
    }
  });
  return { app: databaseUrl(serverUrl, 'app'), metadata: databaseUrl(serverUrl, 'metadata') };
}
