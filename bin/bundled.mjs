/** The bundles of commands: which commands have one, and whether it is newer than its sources. Plain JavaScript, like pergola.mjs.
 *  Not here: how a bundle is built (bundle.ts). */
import { readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));
export const FOLDER = join(ROOT, 'dist');
/** The file beside the bundles that lists the files from which they were built. */
export const LIST = 'sources.json';
export const BUNDLED = ['serve'];

/** Returns the bundle of a command; undefined if there is none, or if one of its sources has changed since it was built. */
export function bundleOf(command, folder = FOLDER) {
  const file = join(folder, `${command}.mjs`);
  const built = statSync(file, { throwIfNoEntry: false })?.mtimeMs;
  if (!BUNDLED.includes(command) || built === undefined) return undefined;
  const isOlder = (source) => statSync(join(ROOT, source), { throwIfNoEntry: false })?.mtimeMs < built;
  return JSON.parse(readFileSync(join(folder, LIST), 'utf8')).every(isOlder) ? file : undefined;
}
