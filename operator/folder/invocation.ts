/** How the user has started `pergola`, for the commands that it prints: they work where they are printed.
 *  In: the arguments and the environment of this process. Not here: what is printed. */
import { readFileSync } from 'node:fs';
import { basename, delimiter, dirname, join, relative } from 'node:path';
import { shellWord } from './shell-word.ts';

type Process = Pick<NodeJS.Process, 'argv' | 'env'>;

/** Returns `pergola` when the shell finds it, `npx` with the package when npx has started it, or the path of the file that was started. */
export function invocation({ argv, env }: Process = process, folder = process.cwd()): string {
  const file = argv[1] ?? '';
  // Tests run commands in a process of their own.
  if (!/^pergola(\.mjs)?$/.test(basename(file))) return 'pergola';
  if (env['npm_lifecycle_event'] === 'npx') return `npx ${shellWord(packageOfNpx(file))}`;
  // npm adds its folders for the time of a script.
  const folders = (env['PATH'] ?? '').split(delimiter).filter((path) => !path.includes('node_modules'));
  const isFound = folders.some((path) => join(path, 'pergola') === file);
  if (isFound) return 'pergola';
  const near = relative(folder, file);
  if (near.startsWith('..')) return shellWord(file);
  return shellWord(dirname(near) === '.' ? `./${near}` : near);
}

/** Returns the package as it was given to npx: `./pergola-0.4.0.tgz`. npx notes it beside the packages that it installs for one call. */
function packageOfNpx(file: string): string {
  try {
    const noted = JSON.parse(readFileSync(join(dirname(file), '../../package.json'), 'utf8'));
    return String(noted._npx.packages[0]);
  } catch {
    return 'pergola';
  }
}

/** The commands of `pergola`, as texts name them. One before a colon is the beginning of a message or a heading. */
const COMMAND =
  /(?<![\w/.-]|npx )pergola (?=(?:up|init|serve|operator|plan|apply|watch|status|validate|explain|test|why|convert|migrate|rollback|export|import|compat|completion|help|version)\b(?!:)|--)/g;

/** Returns a text for people in which commands of `pergola` begin as the user has started it. */
export function runnable(text: string): string {
  const started = invocation();
  return started === 'pergola' ? text : text.replace(COMMAND, () => `${started} `);
}
