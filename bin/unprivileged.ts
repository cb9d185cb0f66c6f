/** Postgres refuses to run as root. Under root it runs as an unprivileged user, who cannot enter every folder: a home, for example.
 *  Not here: Postgres itself (embedded-postgres.ts). */
import { existsSync, statSync } from 'node:fs';
import { dirname } from 'node:path';

/** `nobody` on every Linux; it owns nothing else. */
export const UNPRIVILEGED = 65534;

/** True when Postgres cannot run as the user of this process. */
export function isRoot(): boolean {
  return process.getuid?.() === 0;
}

/** True when every user may enter the folders above a path. */
export function isReachable(path: string): boolean {
  return foldersAbove(path).every(isPassable);
}

function isPassable(folder: string): boolean {
  return !existsSync(folder) || (statSync(folder).mode & 0o001) !== 0;
}

function foldersAbove(path: string): readonly string[] {
  const above = dirname(path);
  return above === path ? [] : [above, ...foldersAbove(above)];
}
