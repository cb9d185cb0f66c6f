/** `pergola export -o FOLDER --as metadata|crs`: the metadata of an engine as a directory of YAML files, one a table, or as custom
 *  resources. Files of a metadata directory that have no object any more are removed; resources want a new folder.
 *  Exit codes: 0 written, 1 not, 2 flags. Not here: the files (engine/metadata/directory.ts, write-resources.ts). */
import { writeDirectory } from '../engine/store/directory.ts';
import { readExported } from '../operator/engine/answers.ts';
import { operation, perform } from '../operator/engine/request.ts';
import { runCommand } from '../operator/folder/flag-problem.ts';
import { type Command, type CommandLine, FORMS, parseFlags, RESOURCE_FLAGS } from './engine-flags.ts';
import { writeResources } from './write-resources.ts';

const COMMAND: Command = {
  name: 'export',
  summary: 'write the metadata of an engine into a directory, or as custom resources',
  folderFlag: 'output',
  flags: {
    output: { short: 'o', value: 'FOLDER', doc: 'the folder to write, in place of FOLDER; not a format' },
    as: {
      value: 'FORM',
      values: FORMS,
      doc: 'a directory of YAML files (metadata, the default) or custom resources (crs)',
    },
    ...RESOURCE_FLAGS,
  },
};

export function run(argv: readonly string[]): Promise<number> {
  return runCommand(COMMAND.name, () => parseFlags(COMMAND, argv), exportInto);
}

async function exportInto(commandLine: CommandLine): Promise<number> {
  const { folder, address, flag } = commandLine;
  const form = flag('as') ?? 'metadata';
  const { metadata, resourceVersion } = await perform(
    address,
    operation('export_metadata', {}, 2),
    readExported,
  );
  if (form === 'crs') await writeResources(metadata, folder, commandLine);
  else {
    const files = await writeDirectory(folder, metadata);
    process.stdout.write(`${files.length} files in ${folder}, resource version ${resourceVersion}\n`);
  }
  return 0;
}
