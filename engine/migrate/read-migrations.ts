/** Reads the migrations in a folder: `<version>_<name>.sql`, or `<version>_<name>/up.sql` as the command line of the reference engine
 *  writes them. In: a folder and the name of a source. Out: the migrations in the order of their versions, and problems of names and files.
 *  Files that undo a migration (`down.sql`) are ignored: migrations only go forward.
 *  Not here: the content of a file (migration.ts). */
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { TextDecoder } from 'node:util';
import { finish, type Steps } from '../metadata/steps.ts';
import { compareVersions, contentProblems, type Migration, migrationSteps } from './migration.ts';

export type MigrationFolder = {
  /** The folder that has the migrations: the given one, or the folder of the source in it. */
  readonly path: string;
  readonly migrations: readonly Migration[];
  /** Problems of the folder, for every command. */
  readonly problems: readonly string[];
  /** Problems of files by version, which count only for files that have not run. */
  readonly contentProblems: ReadonlyMap<string, readonly string[]>;
};

/** Raised for a folder that cannot be read. */
export class MigrationFolderError extends Error {}

/** The most digits of a version: it is a `bigint` in the record. */
const NAME = /^0*(\d{1,18})_(.+)$/;
const FORM = 'VERSION_NAME.sql or VERSION_NAME/up.sql, where VERSION has at most 18 digits';

/** Returns the migrations of a source. Raises MigrationFolderError. */
export function readMigrations(folder: string, source: string): MigrationFolder {
  const path = folderOfSource(folder, source);
  return folderOf(
    path,
    namesIn(path).map((name) => readEntry(path, name)),
  );
}

/** Returns the migrations in texts that are named as files are. */
export function migrationsIn(files: readonly MigrationText[]): MigrationFolder {
  return finish(migrationsSteps(files));
}

type MigrationText = { readonly name: string; readonly text: string };

/** Returns the migrations in texts that are named as files are. */
export function* migrationsSteps(files: readonly MigrationText[]): Steps<MigrationFolder> {
  const entries: Entry[] = [];
  for (const { name, text } of files) {
    const identity = identityIn(name);
    entries.push(
      identity
        ? yield* entrySteps(name, identity, text)
        : { problem: `${name}: is not named VERSION_NAME.sql, where VERSION has at most 18 digits` },
    );
  }
  return folderOf('the resource', entries);
}

function folderOf(path: string, found: readonly Entry[]): MigrationFolder {
  const read = found.flatMap((entry) => ('migration' in entry ? [entry] : []));
  const migrations = read
    .map(({ migration }) => migration)
    .sort((a, b) => compareVersions(a.version, b.version));
  return {
    path,
    migrations,
    problems: [
      ...found.flatMap((entry) => ('problem' in entry ? [entry.problem] : [])),
      ...duplicates(migrations),
    ],
    contentProblems: new Map(
      read.map(({ migration, contentProblems }) => [migration.version, contentProblems]),
    ),
  };
}

type Entry =
  | { readonly migration: Migration; readonly contentProblems: readonly string[] }
  | { readonly problem: string }
  | { readonly isIgnored: true };

const IGNORED: Entry = { isIgnored: true };

/** Returns the folder itself, or the folder of the source in it. */
function folderOfSource(folder: string, source: string): string {
  const own = join(folder, source);
  if (isFolder(own)) return own;
  const names = namesIn(folder);
  const folders = names.filter((name) => isFolder(join(folder, name)) && !name.startsWith('.'));
  const hasMigrations = names.some((name) => NAME.test(name));
  if (hasMigrations || folders.length === 0) return folder;
  throw new MigrationFolderError(
    `${folder} has no migrations and no folder ${source}; it has ${folders.join(', ')}: name one with --source`,
  );
}

function namesIn(folder: string): readonly string[] {
  if (!existsSync(folder)) throw new MigrationFolderError(`there is no folder ${folder}`);
  if (!isFolder(folder)) throw new MigrationFolderError(`${folder} is not a folder`);
  return readdirSync(folder).sort();
}

export function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}

function readEntry(folder: string, name: string): Entry {
  const path = join(folder, name);
  if (isFolder(path)) return readFolderEntry(path, name);
  if (!name.endsWith('.sql') || name.endsWith('.down.sql')) return IGNORED;
  const identity = identityIn(name);
  if (!identity) return { problem: `${path}: is not named ${FORM}` };
  return readText(path, identity);
}

function identityIn(name: string): RegExpExecArray | null {
  return name.endsWith('.sql') ? NAME.exec(name.replace(/(\.up)?\.sql$/, '')) : null;
}

function readFolderEntry(path: string, name: string): Entry {
  const identity = NAME.exec(name);
  if (!identity) return IGNORED;
  const file = join(path, 'up.sql');
  if (existsSync(file)) return readText(file, identity);
  if (existsSync(join(path, 'up.yaml'))) {
    return { problem: `${path}: up.yaml changes metadata, which resources declare now; delete the folder` };
  }
  return { problem: `${path}: has no up.sql; write it or delete the folder` };
}

function* entrySteps(file: string, [, version = '', name = '']: RegExpExecArray, text: string): Steps<Entry> {
  const migration = yield* migrationSteps({ version, name, file }, text);
  return { migration, contentProblems: yield* contentProblems(migration, text) };
}

function readText(file: string, identity: RegExpExecArray): Entry {
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(readFileSync(file));
    return finish(entrySteps(file, identity, text));
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    return { problem: `${file}: is not UTF-8 text` };
  }
}

function duplicates(migrations: readonly Migration[]): readonly string[] {
  const byVersion = Map.groupBy(migrations, ({ version }) => version);
  return [...byVersion].flatMap(([version, same]) =>
    same.length === 1
      ? []
      : [`version ${version} is used by ${same.map(({ file }) => file).join(' and ')}; rename one of them`],
  );
}
