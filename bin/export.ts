/** `pergola export FOLDER --as metadata`: the metadata of an engine as a directory of YAML files, one a table.
 *  Files of an export before that have no object any more are removed. Exit codes: 0 written, 1 not, 2 flags.
 *  Not here: the files (engine/metadata/directory.ts). */
import { parseMetadata } from '../engine/metadata/index.ts';
import { writeDirectory } from '../engine/store/directory.ts';
import { operation, perform } from '../operator/engine-client.ts';
import { type Asked, type Command, complain, FlagProblem, parseFlags } from './engine-flags.ts';

const COMMAND: Command = {
  name: 'export',
  summary: 'write the metadata of an engine into a directory',
  flags: { as: { value: 'FORM', doc: 'metadata: a directory of YAML files (the default)' } },
};

export async function run(argv: readonly string[]): Promise<number> {
  try {
    const asked = parseFlags(COMMAND, argv);
    if (asked) await exportInto(asked);
    return 0;
  } catch (error) {
    return complain(COMMAND, error);
  }
}

async function exportInto({ folder, address, flag }: Asked): Promise<void> {
  const form = flag('as') ?? 'metadata';
  if (form !== 'metadata') throw new FlagProblem(`--as ${form} is not known; there is --as metadata`);
  const answer = await perform<Exported>(address, operation('export_metadata', {}, 2));
  const files = await writeDirectory(folder, parseMetadata(answer.metadata));
  process.stdout.write(`${files.length} files in ${folder}, resource version ${answer.resource_version}\n`);
}

type Exported = { readonly resource_version: number; readonly metadata: unknown };
