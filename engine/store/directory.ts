/** Reads and writes metadata directories on disk. Writing replaces the previous document: files that only the previous document
 *  consisted of are deleted, and all other files in the folder are kept.
 *  Not here: the content of the files (metadata/directory.ts, metadata/read-directory.ts). */
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { dirname, join, relative, sep } from 'node:path';
import { toDirectory, VERSION_FILE } from '../metadata/directory.ts';
import {
  DirectoryError,
  fromDirectory,
  type RawDirectory,
  rawDirectory,
} from '../metadata/read-directory.ts';
import type { Metadata } from '../metadata/schema/metadata.ts';

/** Returns the document in the folder, and reports the keys and files that are left out of it. Raises DirectoryError. */
export function readDirectory(folder: string, warn: (text: string) => void = () => {}): Metadata {
  const { metadata, unknown, files } = contentOf(folder);
  for (const position of unknown) warn(unknownKeyText(position));
  for (const file of unreadFiles(folder, files))
    warn(`${file}: no other file includes it, so it is left out`);
  return metadata;
}

/** Returns the files of the folder that are no part of its document, without hidden ones: a mounted ConfigMap has every file in a hidden folder, too. */
export function unreadFiles(folder: string, read: ReadonlySet<string>): readonly string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => relative(folder, join(parentPath, name)))
    .filter((file) => !read.has(file) && !file.split(sep).some((part) => part.startsWith('.')))
    .toSorted();
}

/** Returns a sentence about a key that the model does not have. */
export function unknownKeyText(position: string): string {
  return `${position}: the key is unknown and is left out`;
}

/** Writes the document, except files that say the same as before in other words, and returns the paths of its files, relative to the folder.
 *  Raises DirectoryError if the folder holds a metadata directory that cannot be read, because it is unknown which files belong to it. */
export async function writeDirectory(folder: string, metadata: Metadata): Promise<readonly string[]> {
  const known = existsSync(join(folder, VERSION_FILE)) ? contentOf(folder) : undefined;
  const before = known?.files ?? new Set<string>();
  const same = known ? toDirectory(known.metadata) : new Map<string, string>();
  const files = toDirectory(metadata);
  for (const [file, text] of files) {
    if (before.has(file) && same.get(file) === text) continue;
    await mkdir(dirname(join(folder, file)), { recursive: true });
    await writeFile(join(folder, file), text);
  }
  for (const file of before) if (!files.has(file)) await rm(join(folder, file), { force: true });
  return [...files.keys()];
}

/** Returns the folder as one document that is not parsed yet. Raises DirectoryError for files that are no directory. */
export function readRawDirectory(folder: string): RawDirectory {
  return rawDirectory(fileReader(folder));
}

function contentOf(folder: string): ReturnType<typeof fromDirectory> {
  return fromDirectory(fileReader(folder));
}

/** Returns a function that reads the files of a folder. */
function fileReader(folder: string): (file: string) => string | undefined {
  if (!existsSync(folder)) throw new DirectoryError(`there is no folder ${folder}`);
  if (!statSync(folder).isDirectory())
    throw new DirectoryError(`${folder} is a file; name the folder of version.yaml`);
  return (file) => textOf(join(folder, file));
}

function textOf(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
}
