/** The databases of `pergola up`: `app` for the user's tables, `metadata` for the engine; and the seed: every *.sql file of the
 *  folder, run once, in the order of their names, each in one transaction with the note that it was run.
 *  Not here: the server (../embedded-postgres.ts). */
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { relative } from 'node:path';
import type pg from 'pg';
import { connectTo, optionAddress } from '../../engine/database/connect.ts';
import { filesIn } from '../../operator/folder/read-folder.ts';

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

export type Seeded = {
  readonly file: string;
  /** `changed`: it was run before, and is another one now; it is not run again. */
  readonly state: 'run' | 'known' | 'changed';
};

/** Runs the files that `isWanted` accepts. */
export async function seed(
  databaseUrl: string,
  folder: string,
  isWanted: (file: string) => boolean = () => true,
): Promise<readonly Seeded[]> {
  const files = await filesIn(folder, (file) => file.endsWith('.sql') && isWanted(file));
  if (files.length === 0) return [];
  return withClient(databaseUrl, async (client) => {
    await client.query('create schema if not exists pergola_up');
    await client.query(
      'create table if not exists pergola_up.seed (file text primary key, hash text not null)',
    );
    const done: Seeded[] = [];
    for (const file of files) done.push(await seedOne(client, file, relative(folder, file)));
    return done;
  });
}

async function seedOne(client: pg.Client, path: string, file: string): Promise<Seeded> {
  const text = await readFile(path, 'utf8');
  const hash = createHash('sha256').update(text).digest('hex');
  const { rows } = await client.query<{ hash: string }>('select hash from pergola_up.seed where file = $1', [
    file,
  ]);
  if (rows[0]) return { file, state: rows[0].hash === hash ? 'known' : 'changed' };
  try {
    await client.query('begin');
    await client.query(text);
    await client.query('insert into pergola_up.seed (file, hash) values ($1, $2)', [file, hash]);
    await client.query('commit');
  } catch (error) {
    await client.query('rollback');
    throw new Error(`${file}: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
  }
  return { file, state: 'run' };
}

function urlOf(serverUrl: string, database: string): string {
  const url = new URL(serverUrl);
  url.pathname = `/${database}`;
  return url.href;
}

async function withClient<T>(url: string, body: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = await connectTo(optionAddress(url), PURPOSE);
  return body(client).finally(() => client.end());
}
