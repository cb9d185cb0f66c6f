/** Fills the database of `pergola test` and `pergola up`, in one order: the Migrations of the folder, the files of its folder of migrations, all
 *  other *.sql files in the order of their names. Each runs once; the caller starts the engine afterwards.
 *  In: the URL of a database, and the folders. Raises an error that names the file that failed.
 *  Not here: running migrations (engine/migrate), running the other files (up/seed.ts). */
import { readdirSync } from 'node:fs';
import { join, relative } from 'node:path';
import type { AdviceWords } from '../engine/migrate/assess.ts';
import type { Migration } from '../engine/migrate/migration.ts';
import { isFolder, migrationsIn, readMigrations } from '../engine/migrate/read-migrations.ts';
import { type MigrationRequest, runMigrations } from '../engine/migrate/run-migrations.ts';
import { withMigrationSession } from '../engine/migrate/session.ts';
import { undoEdited } from '../engine/migrate/undo-edited.ts';
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
  /** True when the newest migration of the folder is undone by its down.sql, and run again, if it was edited. */
  readonly undoesEdited?: boolean | undefined;
  /** Returns the words of a refusal for the folder of migrations. Absent: the caller has the flags of `pergola migrate up`. */
  readonly adviceFor?: (migrations: string) => AdviceWords;
};

/** The text of `--help` about the order. */
export const SQL_ORDER = `SQL of FOLDER runs once, in this order, before the engine starts: the files of Migration resources, those of FOLDER/migrations (or
--migrations), then all other *.sql files by name, except down.sql and *.down.sql.`;

/** Receives each file that was run, and each other file that was looked at, as soon as it is done. */
export type PreparationProgress = {
  readonly onMigration: (file: string) => void;
  readonly onFile: (done: Seeded) => void;
  /** Receives each down.sql that was run. */
  readonly onUndone: (file: string) => void;
};

export async function prepareDatabase(
  url: string,
  { folder, migrations: given, declared = [], undoesEdited = false, adviceFor }: DatabaseFolders,
  progress: PreparationProgress = { onMigration: NOTHING, onFile: NOTHING, onUndone: NOTHING },
): Promise<void> {
  const migrations = given ?? join(folder, 'migrations');
  // A source may have both kinds of migrations: each run then finds versions that it does not have.
  const others = {
    allowsOutOfOrder: declared.length > 0,
    allowsMissing: declared.length > 0,
    words: adviceFor?.(migrations),
  };
  for (const { source, files } of declared) {
    await migrate(url, { source, folder: migrationsIn(files), ...others }, progress);
  }
  if (isFolder(migrations)) {
    for (const source of sourcesIn(migrations)) {
      const request = { source, folder: readMigrations(migrations, source), ...others };
      await migrate(url, request, progress, undoesEdited);
    }
  }
  await seed(url, folder, {
    isWanted: (file) => isSeed(file) && !isInside(migrations, file),
    onFile: progress.onFile,
  });
}

/** The time to wait for another run, such as that of a Migration by the engine. */
const WAIT_MS = 60_000;

async function migrate(
  url: string,
  given: Pick<MigrationRequest, 'source' | 'folder' | 'allowsOutOfOrder' | 'allowsMissing' | 'words'>,
  { onMigration, onUndone }: PreparationProgress,
  undoesEdited = false,
): Promise<void> {
  const request = { ...given, lockTimeoutMs: 5000, lockRetries: 0, waitMs: WAIT_MS };
  const progress = {
    onWait: NOTHING,
    onRetry: NOTHING,
    onNote: NOTHING,
    onApplied: ({ file }: Migration) => onMigration(file),
  };
  await withMigrationSession(url, async (client) => {
    const undone = undoesEdited ? await undoEdited(client, request) : undefined;
    if (undone !== undefined) onUndone(undone);
    await runMigrations(client, request, progress);
  });
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
