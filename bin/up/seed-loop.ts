/** Runs the SQL of the folder of `pergola up` at the start and when files appear or change, and names those that have changed since they were
 *  run, or does what `--edited-sql` says about them. Not here: the order and running the files (../prepare-database.ts). */
import { existsSync } from 'node:fs';
import { isAbsolute, join, relative } from 'node:path';
import { MigrationRecordRefusal } from '../../engine/migrate/run-migrations.ts';
import { FolderSource } from '../../operator/folder/folder-source.ts';
import { FolderWatch, LOOK_MS } from '../../operator/folder/folder-watch.ts';
import { invocation } from '../../operator/folder/invocation.ts';
import { filesIn, isManifest } from '../../operator/folder/read-folder.ts';
import { shellWord } from '../../operator/folder/shell-word.ts';
import { migrationsDeclaredIn } from '../permission-tests/folder-tests.ts';
import { type DeclaredMigrations, prepareDatabase } from '../prepare-database.ts';
import type { EditedSql, UpOptions } from './options.ts';
import { isSeed, type Seeded } from './seed.ts';

export type SeedLoop = {
  /** Runs what is new. A failure is printed. */
  readonly run: () => Promise<void>;
  /** Runs what is new whenever a file changes, until the signal. `onRun` is called after files were run, with true when the database is
   *  another one since the last call. */
  readonly follow: (signal: AbortSignal, onRun: (isRecreated: boolean) => Promise<void>) => Promise<void>;
  readonly close: () => void;
};

export type SeedDatabase = {
  readonly url: string;
  /** The URL as it is printed: without a password. */
  readonly shownUrl: string;
  /** Replaces the database by an empty one; absent for a database of the user. */
  readonly recreate?: () => Promise<void>;
  /** The folder to remove in order to start over; absent for a database of the user. */
  readonly statePath?: string;
};

type SqlOptions = Pick<UpOptions, 'folder' | 'migrations' | 'editedSql'>;

export function seedLoop(
  options: SqlOptions,
  database: SeedDatabase,
  print: (text: string) => void,
): SeedLoop {
  const { folder, migrations } = options;
  const runs = new SqlRuns(options, database, print);
  const inputs = [folder, ...(migrations === undefined ? [] : [migrations])];
  const sql = new FolderWatch(inputs, (file) => file.endsWith('.sql'));
  // A new Migration is run by the engine, which checks it. It may be what a file that failed was waiting for.
  const resources = new FolderWatch(inputs, isManifest);
  const markSeen = () => Promise.all([sql.markSeen(), resources.markSeen()]);
  return {
    run: async () => {
      await markSeen();
      await runs.run();
    },
    follow: async (signal, onRun) => {
      if (runs.isRecreated) await onRun(runs.takeRecreated());
      while (!signal.aborted) {
        await sql.next(LOOK_MS, signal);
        if (!(await sql.hasChanged()) && !(runs.hasFailed && (await resources.hasChanged()))) continue;
        await markSeen();
        if (await runs.run()) await onRun(runs.takeRecreated());
      }
    },
    close: () => {
      sql.close();
      resources.close();
    },
  };
}

/** Runs the SQL of the folder again and again. Remembers which edited files it has named. */
class SqlRuns {
  readonly #options: SqlOptions;
  readonly #database: SeedDatabase;
  readonly #print: (text: string) => void;
  /** The contents of edited files that were named, by file. */
  readonly #named = new Map<string, string>();
  /** The files that the last run found edited. */
  #edited: string[] = [];
  /** True when the last run failed. */
  hasFailed = false;
  /** True when the database is another one than at the last `takeRecreated`. */
  isRecreated = false;

  constructor(options: SqlOptions, database: SeedDatabase, print: (text: string) => void) {
    this.#options = options;
    this.#database = database;
    this.#print = print;
  }

  takeRecreated(): boolean {
    const was = this.isRecreated;
    this.isRecreated = false;
    return was;
  }

  /** Resolves to true when something may have been run. A failure is printed. */
  async run(): Promise<boolean> {
    try {
      const hasRun = await this.#runOrRecreate();
      this.hasFailed = false;
      return hasRun;
    } catch (error) {
      if (!(error instanceof Error)) throw error;
      this.hasFailed = true;
      this.#print(`${error.message}\nIt is tried again when a file changes.\n`);
      return true;
    }
  }

  async #runOrRecreate(): Promise<boolean> {
    const { recreate } = this.#database;
    if (this.#options.editedSql !== 'recreate' || recreate === undefined) return this.#prepare();
    let reason: string;
    try {
      const hasRun = await this.#prepare();
      if (this.#edited.length === 0) return hasRun;
      reason = `Changed since it was run: ${this.#edited.join(', ')}.`;
    } catch (error) {
      if (!(error instanceof MigrationRecordRefusal)) throw error;
      reason = 'Migrations that ran were edited or removed.';
    }
    this.#print(
      `${reason}\nThe embedded database is created anew, and all SQL is run again (--edited-sql recreate).\n`,
    );
    await recreate();
    this.isRecreated = true;
    return this.#prepare();
  }

  async #prepare(): Promise<boolean> {
    const { folder, migrations, editedSql } = this.#options;
    const declared = await declaredIn(folder);
    this.#edited = [];
    let hasRun = false;
    const onRun = (what: string, file: string) => {
      this.#print(`${what} ${shown(folder, file)}.\n`);
      hasRun = true;
    };
    const folders = {
      folder,
      migrations,
      declared,
      undoesEdited: editedSql === 'down',
      adviceFor: (path: string) => adviceFor(path, this.#database, declared.length > 0),
    };
    await prepareDatabase(this.#database.url, folders, {
      onMigration: (file) => onRun('Ran the migration', file),
      onUndone: (file) => onRun('Undid the edited migration with', file),
      onFile: (done) => {
        if (done.state === 'run') onRun('Ran', join(folder, done.file));
        this.#noteEdited(done);
      },
    });
    return hasRun;
  }

  #noteEdited({ file, hash, state }: Seeded): void {
    if (state !== 'changed') {
      this.#named.delete(file);
      return;
    }
    this.#edited.push(file);
    if (this.#named.get(file) !== hash && this.#options.editedSql !== 'recreate') {
      this.#print(changedText(file, this.#database));
    }
    this.#named.set(file, hash);
  }
}

/** Returns the Migrations for the database: those of the source `default`, unless a Source of the folder says where that is. */
async function declaredIn(folder: string): Promise<readonly DeclaredMigrations[]> {
  const snapshot = await new FolderSource(folder).snapshot();
  const isElsewhere = snapshot.resources.some(
    ({ kind, metadata, spec }) => kind === 'Source' && (spec['name'] ?? metadata.name) === 'default',
  );
  if (isElsewhere) return [];
  return (await migrationsDeclaredIn(snapshot)).filter(({ source }) => source === 'default');
}

/** Returns the path relative to the folder if it is below it. The file of a Migration has only a name. */
function shown(folder: string, file: string): string {
  if (!isAbsolute(file)) return file;
  const near = relative(folder, file);
  return near.startsWith('..') ? file : near;
}

/** A command that reads the folder only does not have the versions of Migrations. */
function adviceFor(migrations: string, { shownUrl, recreate }: SeedDatabase, hasDeclared: boolean) {
  const modes: readonly EditedSql[] = recreate === undefined ? ['down'] : ['down', 'recreate'];
  const others = hasDeclared ? ' --allow-missing --allow-out-of-order' : '';
  return {
    command: `${invocation()} migrate up -f ${shellWord(migrations)} --database-url ${shownUrl}${others}`,
    edited: `start pergola up with ${modes.map((mode) => `--edited-sql ${mode}`).join(' or ')}, `,
  };
}

function changedText(file: string, { shownUrl, statePath }: SeedDatabase): string {
  return [
    `${file} has changed since it was run, and is not run again. Put the change into a new file, or run it with`,
    `  psql ${shownUrl}`,
    ...(statePath === undefined
      ? []
      : [
          `To start over with an empty database, start pergola up with --edited-sql recreate, or stop it and remove ${statePath}.`,
        ]),
    '',
  ].join('\n');
}

/** Returns a hint for a database of the user, in which no file is run without --run-sql; undefined when there is none to run. */
export async function seedHint(
  folder: string,
  migrations = join(folder, 'migrations'),
): Promise<string | undefined> {
  // --init creates the folder.
  const folders = [folder, migrations].filter((each) => existsSync(each));
  const files = new Set((await Promise.all(folders.map((each) => filesIn(each, isSeed)))).flat());
  if (files.size === 0) return undefined;
  const count = files.size === 1 ? '1 *.sql file' : `${files.size} *.sql files`;
  return `${count} below ${folder} are not run in your own database. With --run-sql they are, in the order of pergola up --help.\n`;
}
