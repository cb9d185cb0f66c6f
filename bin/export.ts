/** `pergola export -o FOLDER --as metadata|crs`: the metadata of an engine as a directory of YAML files, one a table, or as custom
 *  resources. Files of a metadata directory that have no object any more are removed; resources want a new folder.
 *  Exit codes: 0 written, 1 not, 2 flags. Not here: the files (engine/metadata/directory.ts, write-resources.ts). */
import { writeDirectory } from '../engine/store/directory.ts';
import { readExported } from '../operator/engine/answers.ts';
import { operation, perform } from '../operator/engine/client.ts';
import { FlagProblem, reportFailure } from '../operator/folder/flag-problem.ts';
import { type Command, type CommandLine, parseFlags, RESOURCE_FLAGS } from './engine-flags.ts';
import { writeResources } from './write-resources.ts';

const COMMAND: Command = {
  name: 'export',
  summary: 'write the metadata of an engine into a directory, or as custom resources',
  folderFlag: 'output',
  flags: {
    output: { short: 'o', value: 'FOLDER', doc: 'the folder to write' },
    as: { value: 'FORM', doc: 'metadata: a directory of YAML files (the default); crs: custom resources' },
    ...RESOURCE_FLAGS,
  },
};

export async function run(argv: readonly string[]): Promise<number> {
  try {
    const commandLine = parseFlags(COMMAND, argv);
    if (commandLine) await exportInto(commandLine);
    return 0;
  } catch (error) {
    return reportFailure(COMMAND.name, error);
  }
}

async function exportInto(commandLine: CommandLine): Promise<void> {
  const { folder, address, flag } = commandLine;
  const form = flag('as') ?? 'metadata';
  if (form !== 'metadata' && form !== 'crs') {
    throw new FlagProblem(`--as ${form} is unknown; use --as metadata or --as crs`);
  }
  const { metadata, resourceVersion } = await perform(
    address,
    operation('export_metadata', {}, 2),
    readExported,
  );
  if (form === 'crs') return writeResources(metadata, folder, commandLine);
  const files = await writeDirectory(folder, metadata);
  process.stdout.write(`${files.length} files in ${folder}, resource version ${resourceVersion}\n`);
}
