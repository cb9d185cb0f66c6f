/** Metadata directories on the disk. Writing one replaces what was there: files the old document was read from and the new one
 *  has not are removed, anything else in the folder is left alone.
 *  Not here: what is in the files (metadata/directory.ts, metadata/read-directory.ts). */
import { existsSync, readFileSync } from 'node:fs';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { toDirectory, VERSION_FILE } from '../metadata/directory.ts';
import { DirectoryError, fromDirectory } from '../metadata/read-directory.ts';
import type { Metadata } from '../metadata/schema/metadata.ts';

/** Raises DirectoryError. */
export function readDirectory(folder: string): Metadata {
  return contentOf(folder).metadata;
}

/** Paths of the files, relative to the folder. Raises DirectoryError when a directory is there that cannot be read: then it is
 *  not known what would be lost. */
export async function writeDirectory(folder: string, metadata: Metadata): Promise<readonly string[]> {
  const before = existsSync(join(folder, VERSION_FILE)) ? contentOf(folder).files : new Set<string>();
  const files = toDirectory(metadata);
  for (const [file, text] of files) {
    await mkdir(dirname(join(folder, file)), { recursive: true });
    await writeFile(join(folder, file), text);
  }
  for (const file of before) if (!files.has(file)) await rm(join(folder, file), { force: true });
  return [...files.keys()];
}

function contentOf(folder: string): ReturnType<typeof fromDirectory> {
  if (!existsSync(folder)) throw new DirectoryError(`there is no folder ${folder}`);
  return fromDirectory((file) => textOf(join(folder, file)));
}

function textOf(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
}
