/** `pergola migrate create NAME`: writes the file of a new migration, in the form that the folder has: `VERSION_NAME.sql`, or
 *  `VERSION_NAME/up.sql` where migrations are folders. The version is the time, or the next number where versions are numbers.
 *  Not here: the other commands. */
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { compareVersions, type Migration, NO_TRANSACTION } from '../../engine/migrate/migration.ts';
import { readMigrations } from '../../engine/migrate/read-migrations.ts';
import { FlagProblem } from '../../operator/folder/flag-problem.ts';
import type { MigrateFlags } from './flags.ts';

const IN_TRANSACTION = `-- This file runs in one transaction. A statement that waits longer than --lock-timeout for a lock is rolled back and tried again.
-- Add columns, tables and constraints here; change the resources next; remove what nothing uses in a later migration.

`;
const WITHOUT = `${NO_TRANSACTION}
-- Each statement runs by itself and is recorded, so that a run that ends half-way can continue.

`;

export async function create({ folder, source, words, has }: MigrateFlags): Promise<number> {
  const [name, ...rest] = words;
  if (name === undefined || rest.length > 0) {
    throw new FlagProblem('name the migration: pergola migrate create add_isbn -f FOLDER');
  }
  const slug = name
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '_')
    .replaceAll(/^_|_$/g, '');
  if (slug === '') throw new FlagProblem(`the name ${JSON.stringify(name)} has no letter or digit`);
  const { path, migrations } = existingIn(folder, source);
  const isFolder = migrations.some(({ file }) => file.endsWith('up.sql') && dirname(file) !== path);
  const entry = `${nextVersion(migrations)}_${slug}`;
  const file = isFolder ? join(path, entry, 'up.sql') : join(path, `${entry}.sql`);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, has('no-transaction') ? WITHOUT : IN_TRANSACTION, { flag: 'wx' });
  process.stdout.write(`${file}\n`);
  return 0;
}

/** A folder that does not exist yet has no migrations. */
function existingIn(
  folder: string,
  source: string,
): { readonly path: string; readonly migrations: readonly Migration[] } {
  return existsSync(folder) ? readMigrations(folder, source) : { path: folder, migrations: [] };
}

/** Numbers below this are counted, not times. */
const LEAST_TIME = 1_000_000_000;

/** Returns a version above all others, in the style of the newest one: a number, milliseconds since 1970, or `YYYYMMDDhhmmss`. */
function nextVersion(migrations: readonly Migration[]): string {
  const newest = migrations.at(-1);
  if (newest && Number(newest.version) < LEAST_TIME) {
    const width = /(\d+)_[^/]*(\/up\.sql)?$/.exec(newest.file)?.[1]?.length ?? 1;
    return `${Number(newest.version) + 1}`.padStart(width, '0');
  }
  const now = new Date();
  const isMilliseconds = newest?.version.length === 13;
  const time = isMilliseconds ? `${now.getTime()}` : now.toISOString().replaceAll(/\D/g, '').slice(0, 14);
  if (!newest || compareVersions(time, newest.version) > 0) return time;
  return `${BigInt(newest.version) + 1n}`;
}
