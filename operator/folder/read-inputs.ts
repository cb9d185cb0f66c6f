/** Reads the inputs of `-f`: folders, files, and `-` for standard input, in any number, as one content.
 *  Raises an error for a path that cannot be read. Not here: the meaning of a file (read-folder.ts). */
import { join } from 'node:path';
import { text as readAll } from 'node:stream/consumers';
import { GROUP_VERSION } from '../kinds.ts';
import { FlagProblem } from './flag-problem.ts';
import { isFolderAt, textOfFile } from './paths.ts';
import {
  type FileProblem,
  type FolderContent,
  type ManifestText,
  readTexts,
  textsIn,
} from './read-folder.ts';

export const STANDARD_INPUT = '-';
/** The name of standard input in positions. */
const STANDARD_INPUT_NAME = 'stdin';

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
  const given = await Promise.all(inputs.map((input) => inputAt(input, inputs.length > 1)));
  const content = readTexts(given.flatMap(({ texts }) => texts));
  const empty = given.filter(({ isFolder, texts }) => !isFolder && isEmpty(readTexts(texts)));
  return {
    ...content,
    problems: [...content.problems, ...empty.flatMap(({ texts }) => texts.map(emptyInput))],
  };
}

/** The command before a pipe may have failed, and a file may be the wrong one. Without a resource, neither may mean that everything is
 *  deleted. */
function emptyInput({ name }: ManifestText): FileProblem {
  const [what, check] =
    name === STANDARD_INPUT_NAME
      ? ['standard input', 'check the command before the pipe']
      : ['the file', 'check its name'];
  return {
    position: `${name}:1`,
    message: `${what} has no resource of ${GROUP_VERSION}; ${check}, or give an empty folder to delete everything`,
  };
}

function isEmpty({ manifests, spoilt, problems, secrets, configMaps }: FolderContent): boolean {
  return manifests.length + spoilt.length + problems.length + secrets.size + configMaps.size === 0;
}

type Input = { readonly isFolder: boolean; readonly texts: readonly ManifestText[] };

async function inputAt(input: string, isOneOfSeveral: boolean): Promise<Input> {
  if (input === STANDARD_INPUT) {
    return { isFolder: false, texts: [{ name: STANDARD_INPUT_NAME, text: await standardInput() }] };
  }
  if (!(await isFolderAt(input))) {
    return { isFolder: false, texts: [{ name: input, text: await textOfFile(input) }] };
  }
  const texts = await textsIn(input);
  const named = texts.map(({ name, text }) => ({ name: join(input, name), text }));
  return { isFolder: true, texts: isOneOfSeveral ? named : texts };
}

let read: Promise<string> | undefined;

/** Standard input can be read once, and a command may need it for several snapshots. */
function standardInput(): Promise<string> {
  read ??= readAll(process.stdin);
  return read;
}
