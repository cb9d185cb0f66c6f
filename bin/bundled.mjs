/** The bundles of commands: where they are, and whether one is newer than its sources. A clone has one for the commands that run for a long
 *  time, a package for all, because Node runs no TypeScript in node_modules. Plain JavaScript, like pergola.mjs.
 *  Not here: how bundles are built (bundle.ts), the package (package.ts). */
import { readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { COMMANDS } from './commands.mjs';

export const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));
export const FOLDER = join(ROOT, 'dist');
/** The file beside the bundles that lists the files from which they were built. */
export const LIST = 'sources.json';
export const BUNDLED = ['serve'];

/** Returns the file of a command: its bundle, or else its source. */
export function fileOf(command) {
  return bundleOf(command) ?? join(ROOT, COMMANDS[command][0]);
}

/** Returns the bundle of a command; undefined if there is none, or if one of its sources has changed since it was built. */
export function bundleOf(command, folder = FOLDER) {
  const file = join(folder, `${command}.mjs`);
  const built = statSync(file, { throwIfNoEntry: false })?.mtimeMs;
  if (built === undefined) return undefined;
  const isOlder = (source) => statSync(join(ROOT, source), { throwIfNoEntry: false })?.mtimeMs < built;
  return JSON.parse(readFileSync(join(folder, LIST), 'utf8')).every(isOlder) ? file : undefined;
}
