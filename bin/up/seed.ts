/** The seed: *.sql files of the folder, each run once, in the order of their names, in one transaction with the note that it was run.
 *  Files named down.sql or *.down.sql undo what others do: they are left out.
 *  Raises Error with the file and the line of a failing statement.
 *  Not here: when (seed-loop.ts), the databases (databases.ts), migrations (../prepare-database.ts). */
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { basename, relative } from 'node:path';
import type pg from 'pg';
import { runStatements } from '../../engine/migrate/run-statements.ts';
import { filesIn } from '../../operator/folder/read-folder.ts';
import { withClient } from '../server-databases.ts';

export type Seeded = {
  readonly file: string;
  readonly hash: string;
  /** `changed`: it was run before with another content, and is not run again. */
  readonly state: 'run' | 'known' | 'changed';
};

/** True for the files that may be run. */
export function isSeed(file: string): boolean {
  return file.endsWith('.sql') && !/^(.*\.)?down\.sql$/.test(basename(file));
}

/** Runs the wanted files that were not run before. `onFile` receives each file as soon as it is done, also when a later one fails. */
export async function seed(
  databaseUrl: string,
  folder: string,
  {
    isWanted,
    onFile,
  }: { readonly isWanted: (file: string) => boolean; readonly onFile: (done: Seeded) => void },
): Promise<void> {
  const files = await filesIn(folder, isWanted);
  if (files.length === 0) return;
  await withClient({ url: databaseUrl, applicationName: 'pergola up' }, async (client) => {
    await client.query('create schema if not exists pergola_up');
    await client.query(
      'create table if not exists pergola_up.seed (file text primary key, hash text not null)',
    );
    for (const file of files) onFile(await seedOne(client, file, relative(folder, file)));
  });
}

async function seedOne(client: pg.Client, path: string, file: string): Promise<Seeded> {
  const text = await readFile(path, 'utf8');
  const hash = createHash('sha256').update(text).digest('hex');
  const { rows } = await client.query<{ hash: string }>('select hash from pergola_up.seed where file = $1', [
    file,
  ]);
  if (rows[0]) return { file, hash, state: rows[0].hash === hash ? 'known' : 'changed' };
  try {
    await client.query('begin');
    await runStatements(client, text, file);
    // Files of pg_dump begin with settings, an empty search_path among them, which are not for the next file.
    await client.query('reset session authorization; reset role; reset all');
    await client.query('insert into pergola_up.seed (file, hash) values ($1, $2)', [file, hash]);
    await client.query('commit');
  } catch (error) {
    await client.query('rollback');
    throw error;
  }
  return { file, hash, state: 'run' };
}
