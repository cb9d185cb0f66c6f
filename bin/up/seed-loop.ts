/** Runs migrations and other *.sql files of the folder of `pergola up` at the start and when they appear, and names those that have changed
 *  since they were run. Not here: running them (../prepare-database.ts). */
import { existsSync } from 'node:fs';
import { relative } from 'node:path';
import { FolderWatch, LOOK_MS } from '../../operator/folder/folder-watch.ts';
import { filesIn } from '../../operator/folder/read-folder.ts';
import { prepareDatabase } from '../prepare-database.ts';
import { isSeed, type Seeded } from './seed.ts';

export type SeedLoop = {
  /** Runs what is new. A failure is printed. */
  readonly run: () => Promise<void>;
  /** Runs what is new whenever a file changes, until the signal. `onRun` is called after files were run. */
  readonly follow: (signal: AbortSignal, onRun: () => Promise<void>) => Promise<void>;
  readonly close: () => void;
};

export function seedLoop(given: {
  readonly databaseUrl: string;
  readonly folder: string;
  /** The folder to remove in order to start over. */
  readonly statePath: string;
  readonly print: (text: string) => void;
}): SeedLoop {
  const { databaseUrl, folder, statePath, print } = given;
  const named = new Map<string, string>();
  const onFile = ({ file, hash, state }: Seeded): boolean => {
    const isNamed = named.get(file) === hash;
    if (state === 'run') print(`Ran ${file}.\n`);
    if (state === 'changed' && !isNamed) print(changedText(file, databaseUrl, statePath));
    if (state === 'changed') named.set(file, hash);
    else named.delete(file);
    return state === 'run';
  };
  /** Resolves to true when something may have been run. */
  const run = async (): Promise<boolean> => {
    let hasRun = false;
    try {
      await prepareDatabase(
        databaseUrl,
        { folder },
        {
          onMigration: (file) => {
            print(`Ran the migration ${relative(folder, file)}.\n`);
            hasRun = true;
          },
          onFile: (done) => {
            hasRun = onFile(done) || hasRun;
          },
        },
      );
      return hasRun;
    } catch (error) {
      if (!(error instanceof Error)) throw error;
      print(`${error.message}\nIt is tried again when a *.sql file changes.\n`);
      return true;
    }
  };
  const watch = new FolderWatch([folder], isSeed);
  return {
    run: async () => {
      await watch.markSeen();
      await run();
    },
    follow: async (signal, onRun) => {
      while (!signal.aborted) {
        await watch.next(LOOK_MS, signal);
        if (!(await watch.hasChanged())) continue;
        await watch.markSeen();
        if (await run()) await onRun();
      }
    },
    close: () => watch.close(),
  };
}

function changedText(file: string, databaseUrl: string, statePath: string): string {
  return [
    `${file} has changed since it was run, and is not run again. Put the change into a new file, or run it with`,
    `  psql ${databaseUrl}`,
    `To start over with an empty database, stop pergola up and remove ${statePath}.`,
    '',
  ].join('\n');
}

/** Returns a hint for a database of the user, in which no file is run; undefined when there is none to run. */
export async function seedHint(folder: string): Promise<string | undefined> {
  // --init creates the folder.
  if (!existsSync(folder)) return undefined;
  const { length } = await filesIn(folder, isSeed);
  if (length === 0) return undefined;
  const files = length === 1 ? '1 *.sql file' : `${length} *.sql files`;
  return `${files} below ${folder} are not run in your own database: run them with psql or pergola migrate.\n`;
}
