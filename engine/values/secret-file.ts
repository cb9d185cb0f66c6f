/** Reads files that metadata names: a database URL, a token, a certificate. Only files below the folders of --dynamic-secrets-path are
 *  read; the path may lead through links, as those of Kubernetes do, and its end must be below a folder, too.
 *  Not here: what the content means. */
import { closeSync, constants, fstatSync, openSync, readFileSync, realpathSync } from 'node:fs';
import { isAbsolute, relative, resolve, sep } from 'node:path';

/** A larger file is no secret. */
const MOST_BYTES = 65_536;

/** True when the path is absolute and below one of the folders, by its text alone. */
export function isBelow(folders: readonly string[], path: string): boolean {
  return isAbsolute(path) && folders.some((folder) => isWithin(resolve(folder), resolve(path)));
}

/** Returns the content; null when there is no file that may be read. */
export function secretFile(path: string, folders: readonly string[]): string | null {
  let descriptor: number | undefined;
  try {
    const real = realpathSync(path);
    if (!folders.some((folder) => isWithin(realOf(folder), real))) return null;
    descriptor = openSync(real, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    const status = fstatSync(descriptor);
    return status.isFile() && status.size <= MOST_BYTES ? readFileSync(descriptor, 'utf8') : null;
  } catch {
    return null;
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
}

/** Returns the folder itself if it does not exist: nothing is below it then. */
function realOf(folder: string): string {
  try {
    return realpathSync(folder);
  } catch {
    return resolve(folder);
  }
}

function isWithin(folder: string, path: string): boolean {
  const way = relative(folder, path);
  return way !== '' && way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way);
}
