/** Fills the database of `pergola test` and `pergola up`: first the migrations of every source that have not run, then all other *.sql files
 *  of the folder that have not run, in the order of their names.
 *  In: the URL of a database, and the folders. Raises an error that names the file that failed.
 *  Not here: running migrations (engine/migrate), running the other files (up/seed.ts). */
import { readdirSync } from 'node:fs';
import { join, relative } from 'node:path';
import type { Migration } from '../engine/migrate/migration.ts';
import { isFolder, migrationsIn, readMigrations } from '../engine/migrate/read-migrations.ts';
import { type MigrationRequest, runMigrations } from '../engine/migrate/run-migrations.ts';
import { withMigrationSession } from '../engine/migrate/session.ts';
import { isSeed, type Seeded, seed } from './up/seed.ts';

const NOTHING = () => {};

/** The files of a Migration resource. */
export type DeclaredMigrations = {
  readonly source: string;
  readonly files: readonly { readonly name: string; readonly text: string }[];
};

export type DatabaseFolders = {
  readonly folder: string;
  /** The folder of the migrations. Absent: `migrations` in the folder, if there is one. */
  readonly migrations?: string | undefined;
  /** Migrations that run before those of the folder. Absent: none. */
  readonly declared?: readonly DeclaredMigrations[] | undefined;
};

/** Receives each file that was run, and each other file that was looked at, as soon as it is done. */
export type PreparationProgress = {
  readonly onMigration: (file: string) => void;
  readonly onFile: (done: Seeded) => void;
};

export async function prepareDatabase(
  url: string,
  { folder, migrations: given, declared = [] }: DatabaseFolders,
  progress: PreparationProgress = { onMigration: NOTHING, onFile: NOTHING },
): Promise<void> {
  // A source may have both kinds of migrations: each run then finds versions that it does not have.
  const others = { allowsOutOfOrder: declared.length > 0, allowsMissing: declared.length > 0 };
  for (const { source, files } of declared) {
    await migrate(url, { source, folder: migrationsIn(files), ...others }, progress.onMigration);
  }
  const migrations = given ?? join(folder, 'migrations');
  if (isFolder(migrations)) {
    for (const source of sourcesIn(migrations)) {
      const request = { source, folder: readMigrations(migrations, source), ...others };
      await migrate(url, request, progress.onMigration);
    }
  }
  await seed(url, folder, {
    isWanted: (file) => isSeed(file) && !isInside(migrations, file),
    onFile: progress.onFile,
  });
}

async function migrate(
  url: string,
  request: Pick<MigrationRequest, 'source' | 'folder' | 'allowsOutOfOrder' | 'allowsMissing'>,
  onMigration: (file: string) => void,
): Promise<void> {
  const progress = {
    onWait: NOTHING,
    onRetry: NOTHING,
    onNote: NOTHING,
    onApplied: ({ file }: Migration) => onMigration(file),
  };
  await withMigrationSession(url, (client) =>
    runMigrations(client, { ...request, lockTimeoutMs: 5000, lockRetries: 0, waitMs: 0 }, progress),
  );
}

/** Returns the sources that have folders of their own; `default` when the folder itself has the migrations. */
function sourcesIn(path: string): readonly string[] {
  const names = readdirSync(path).filter((name) => !name.startsWith('.'));
  if (names.some((name) => /^\d+_/.test(name))) return ['default'];
  return names.filter((name) => isFolder(join(path, name))).toSorted();
}

function isInside(folder: string, file: string): boolean {
  const path = relative(folder, file);
  return path !== '' && !path.startsWith('..');
}
