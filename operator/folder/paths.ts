/** Reads paths that a command line names. Raises Error with the path and what is wrong with it, in place of the codes of the system.
 *  Not here: the flags with the paths, and the meaning of the files. */
import { readdir, readFile, stat } from 'node:fs/promises';

/** Maps the common error codes of the system to messages about a path. */
const REASONS: Readonly<Record<string, (path: string) => string>> = {
  ENOENT: (path) => `there is no file or folder ${path}`,
  ENOTDIR: (path) => `there is no file or folder ${path}`,
  EACCES: (path) => `${path} cannot be read: permission denied`,
  EPERM: (path) => `${path} cannot be read: permission denied`,
  EISDIR: (path) => `${path} is a folder, not a file`,
  ELOOP: (path) => `${path} is a link that leads to itself`,
};

/** True for a folder, false for a file. */
export async function isFolderAt(path: string): Promise<boolean> {
  return reading(path, async () => (await stat(path)).isDirectory());
}

export async function textOfFile(path: string): Promise<string> {
  return reading(path, () => readFile(path, 'utf8'));
}

/** Returns the entries of a folder. */
export async function entriesOf(path: string) {
  return reading(path, () => readdir(path, { withFileTypes: true }));
}

async function reading<T>(path: string, read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    const reason = Object.hasOwn(REASONS, code) ? REASONS[code] : undefined;
    if (reason === undefined) throw error;
    // The code and the path stay for callers, such as one that tells a path that is gone from others.
    throw Object.assign(new Error(reason(path), { cause: error }), { code, path });
  }
}
