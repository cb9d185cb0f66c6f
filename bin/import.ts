/** `pergola import -d FOLDER`: a metadata directory becomes the metadata of an engine, in place of what it has; with `-o FOLDER` it
 *  becomes a folder of custom resources, without an engine.
 *  Exit codes: 0 done, 1 not (it says why, object by object), 2 flags. Not here: reading the files
 *  (engine/metadata/read-directory.ts), judging them (the engine). */
import { exportMetadata } from '../engine/metadata/index.ts';
import { readDirectory } from '../engine/store/directory.ts';
import { type ReplaceAnswer, readReplaced } from '../operator/engine/answers.ts';
import { operation, perform } from '../operator/engine/client.ts';
import { type Command, type CommandLine, complain, parseFlags, RESOURCE_FLAGS } from './engine-flags.ts';
import { writeResources } from './write-resources.ts';

const COMMAND: Command = {
  name: 'import',
  summary: 'load a metadata directory into an engine, or convert it to custom resources',
  folderFlag: 'directory',
  flags: {
    directory: { short: 'd', value: 'FOLDER', doc: 'the metadata directory' },
    output: { short: 'o', value: 'FOLDER', doc: 'write custom resources here instead' },
    ...RESOURCE_FLAGS,
    'dry-run': { doc: 'only report objects that would not fit the databases' },
    'allow-inconsistent': { doc: 'store the metadata although some objects do not fit their database' },
  },
};

export async function run(argv: readonly string[]): Promise<number> {
  try {
    const commandLine = parseFlags(COMMAND, argv);
    return commandLine ? await convert(commandLine) : 0;
  } catch (error) {
    return complain(COMMAND, error);
  }
}

async function convert(commandLine: CommandLine): Promise<number> {
  const output = commandLine.flag('output');
  if (typeof output !== 'string') return importFrom(commandLine);
  await writeResources(readDirectory(commandLine.folder), output, commandLine);
  return 0;
}

/** Always judged first: the judgement names every object, a refusal only the first. */
async function importFrom({ folder, address, flag }: CommandLine): Promise<number> {
  const metadata = exportMetadata(readDirectory(folder));
  const judged = await replace(address, { metadata, dry_run: true });
  for (const { name, reason } of judged.inconsistent_objects) process.stderr.write(`${name}: ${reason}\n`);
  const isRefused = !judged.is_consistent && flag('allow-inconsistent') !== true;
  if (flag('dry-run') === true || isRefused) {
    process.stdout.write(`${judged.is_consistent ? 'It fits' : 'It does not fit'}. Nothing was changed.\n`);
    return isRefused ? 1 : 0;
  }
  const done = await replace(address, {
    metadata,
    allow_inconsistent_metadata: flag('allow-inconsistent') === true,
  });
  for (const { message } of done.warnings ?? []) process.stderr.write(`${message}\n`);
  process.stdout.write(`Done: ${address.url} has the metadata of ${folder}.\n`);
  return 0;
}

function replace(address: CommandLine['address'], args: Record<string, unknown>): Promise<ReplaceAnswer> {
  return perform(address, operation('replace_metadata', args, 2), readReplaced);
}
