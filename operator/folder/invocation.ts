/** How the user has started `pergola`, for the commands that it prints: they work where they are printed.
 *  In: the arguments and the environment of this process. Not here: what is printed. */
import { delimiter, dirname, join, relative } from 'node:path';
import { shellWord } from './shell-word.ts';

type Process = Pick<NodeJS.Process, 'argv' | 'env'>;

/** Returns `pergola` when the shell finds it, `npx pergola` when npx has started it, or the path of the file that was started. */
export function invocation({ argv, env }: Process = process, folder = process.cwd()): string {
  if (env['npm_lifecycle_event'] === 'npx') return 'npx pergola';
  const file = argv[1] ?? 'pergola';
  const isFound = (env['PATH'] ?? '').split(delimiter).some((path) => join(path, 'pergola') === file);
  if (isFound) return 'pergola';
  const near = relative(folder, file);
  if (near.startsWith('..')) return shellWord(file);
  return shellWord(dirname(near) === '.' ? `./${near}` : near);
}
