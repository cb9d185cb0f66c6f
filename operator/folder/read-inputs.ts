/** Reads the inputs of `-f`: folders, files, and `-` for standard input, in any number, as one content.
 *  Raises an error for a path that cannot be read. Not here: the meaning of a file (read-folder.ts). */
import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { text as readAll } from 'node:stream/consumers';
import { FlagProblem } from './flag-problem.ts';
import { type FolderContent, type ManifestText, readTexts, textsIn } from './read-folder.ts';

export const STANDARD_INPUT = '-';

/** Returns the inputs as they were given, each once. Raises FlagProblem when there is none. */
export function inputsOf(filenames: unknown): readonly string[] {
  const given = (Array.isArray(filenames) ? filenames : [filenames]).filter(
    (one): one is string => typeof one === 'string' && one !== '',
  );
  if (given.length === 0) throw new FlagProblem('no resources are given: -f FOLDER, -f FILE, or -f -');
  return [...new Set(given)];
}

/** Reads all inputs. Positions are relative to the folder when it is the only input; else they begin with the input. */
export async function readInputs(inputs: readonly string[]): Promise<FolderContent> {
  const texts = await Promise.all(inputs.map((input) => textsOf(input, inputs.length > 1)));
  return readTexts(texts.flat());
}

async function textsOf(input: string, isOneOfSeveral: boolean): Promise<readonly ManifestText[]> {
  if (input === STANDARD_INPUT) return [{ name: 'stdin', text: await standardInput() }];
  if (!(await stat(input)).isDirectory()) return [{ name: input, text: await readFile(input, 'utf8') }];
  const texts = await textsIn(input);
  return isOneOfSeveral ? texts.map(({ name, text }) => ({ name: join(input, name), text })) : texts;
}

let read: Promise<string> | undefined;

/** Standard input can be read once, and a command may need it for several snapshots. */
function standardInput(): Promise<string> {
  read ??= readAll(process.stdin);
  return read;
}
