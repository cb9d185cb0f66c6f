/** Selects the migrations among the files of an artifact, by the rules for folders (engine/migrate/read-migrations.ts): `VERSION_NAME.sql`,
 *  or `VERSION_NAME/up.sql`. Other files are ignored.
 *  Pure. Raises ArtifactProblem. Not here: the form of names and of statements, which the engine checks. */
import { TextDecoder } from 'node:util';
import type { MigrationFile } from '../ports/migrations.ts';
import { ArtifactProblem } from './artifact-problem.ts';
import type { FileContents } from './layer.ts';
import { LIMITS } from './limits.ts';

/** Returns the migrations in a folder of the artifact; '' is the folder that has everything. */
export function migrationFilesIn(files: FileContents, folder: string): readonly MigrationFile[] {
  const base = folder.replace(/^(?:\.?\/)+|\/+$/g, '').replace(/^\.$/, '');
  const prefix = base === '' ? '' : `${base}/`;
  const found = [...files]
    .filter(([path]) => path.startsWith(prefix))
    .flatMap(([path, bytes]) => {
      const name = migrationName(path.slice(prefix.length));
      return name === undefined ? [] : [{ name, path, bytes }];
    })
    .toSorted((a, b) => (a.path < b.path ? -1 : 1));
  if (found.length === 0) throw new ArtifactProblem(missingText(files, base));
  if (found.length > LIMITS.files)
    throw new ArtifactProblem(`the artifact has more than ${LIMITS.files} migrations`);
  const total = found.reduce((sum, { bytes }) => sum + bytes.length, 0);
  if (total > LIMITS.fileBytes)
    throw new ArtifactProblem(`the migrations are larger than ${LIMITS.fileBytes} bytes`);
  return found.map(({ name, path, bytes }) => ({ name, sql: textOf(path, bytes) }));
}

function migrationName(path: string): string | undefined {
  const [, folder] = /^(\d+_[^/]+)\/up\.sql$/.exec(path) ?? [];
  if (folder !== undefined) return `${folder}.sql`;
  return !path.includes('/') && path.endsWith('.sql') && !path.endsWith('.down.sql') ? path : undefined;
}

function textOf(path: string, bytes: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw new ArtifactProblem(`${JSON.stringify(path)} is not UTF-8 text`);
  }
}

/** The most folders that a message names. */
const MOST_FOLDERS = 3;

function missingText(files: FileContents, base: string): string {
  const where =
    base === '' ? 'the artifact has no migrations at its top' : `the artifact has no migrations in ${base}`;
  const folders = new Set(
    [...files.keys()]
      .filter((path) => path.endsWith('.sql'))
      .map((path) => path.replace(/\/\d+_[^/]+\/up\.sql$/, '').replace(/\/[^/]*\.sql$/, ''))
      .filter((path) => /^[\w./-]{1,100}$/.test(path) && !path.endsWith('.sql')),
  );
  const named = [...folders].slice(0, MOST_FOLDERS);
  return named.length === 0
    ? where
    : `${where}; name the folder in spec.ociArtifact.path: ${named.join(', ')}`;
}
