/** `pergola import -d FOLDER`: a metadata directory becomes the metadata of an engine, in place of what it has; with `-o FOLDER` it
 *  becomes a folder of custom resources, without an engine. `--from-database URL` reads the catalog of Hasura instead, and
 *  also takes over its migration state.
 *  Exit codes: 0 done, 1 not (it says why, object by object), 2 flags. Not here: reading the files
 *  (engine/metadata/read-directory.ts) and the catalog (engine/store/foreign-catalog.ts), judging the metadata (the engine). */
import type { JsonRecord } from '../engine/json/value.ts';
import { renamePrefix } from '../engine/metadata/header-prefix.ts';
import {
  exportMetadata,
  hindering,
  isRecord,
  type Metadata,
  parseDocument,
  printPath,
  unknownKeys,
} from '../engine/metadata/index.ts';
import { readDirectory, unknownKeyText, writeDirectory } from '../engine/store/directory.ts';
import { type ForeignCatalog, readForeignCatalog } from '../engine/store/foreign-catalog.ts';
import { type ReplaceAnswer, readReplaced, readSuccess } from '../operator/engine/answers.ts';
import { operation, perform } from '../operator/engine/request.ts';
import { FlagProblem, runCommand } from '../operator/folder/flag-problem.ts';
import { type Command, type CommandLine, FORMS, parseFlags, RESOURCE_FLAGS } from './engine-flags.ts';
import { writeResources } from './write-resources.ts';

const COMMAND: Command = {
  name: 'import',
  summary: 'load a metadata directory, or the catalog of Hasura, into an engine or a folder',
  folderFlag: 'directory',
  insteadFlag: 'from-database',
  flags: {
    directory: { short: 'd', value: 'FOLDER', doc: 'the metadata directory' },
    'from-database': { value: 'URL', doc: 'read the schema hdb_catalog of this database instead' },
    'states-only': { doc: 'with --from-database: only the states of migrations and of the console' },
    output: {
      short: 'o',
      value: 'FOLDER',
      doc: 'the folder to write custom resources into, instead of an engine; not a format',
    },
    as: {
      value: 'FORM',
      values: FORMS,
      doc: 'with --output: custom resources (crs, the default) or a directory of YAML files (metadata)',
    },
    ...RESOURCE_FLAGS,
    'dry-run': { doc: 'only report objects that would not fit the databases' },
    'allow-inconsistent': { doc: 'store the metadata although some objects do not fit their database' },
  },
};

/** The prefix of headers and session variables in the catalogs of Hasura. */
const FOREIGN_PREFIX = 'x-hasura-';

/** Metadata to import, as it was written; for a catalog also its states. */
type Import = {
  readonly metadata: JsonRecord | Metadata;
  readonly origin: string;
  readonly states: Pick<ForeignCatalog, 'cli' | 'console'> | null;
};

export function run(argv: readonly string[]): Promise<number> {
  return runCommand(COMMAND.name, () => parseFlags(COMMAND, argv), convert);
}

async function convert(commandLine: CommandLine): Promise<number> {
  const { flag } = commandLine;
  const output = flag('output');
  const form = flag('as') ?? 'crs';
  if (flag('states-only') === true && typeof flag('from-database') !== 'string') {
    throw new FlagProblem('--states-only needs --from-database URL, the database with the states');
  }
  const given = await read(commandLine);
  if (flag('states-only') === true && given.states !== null) {
    await storeStates(commandLine, given.states);
    return 0;
  }
  if (typeof output !== 'string') return importInto(commandLine, given);
  if (form === 'crs') await writeResources(parseDocument(given.metadata), output, commandLine);
  else {
    const files = await writeDirectory(output, parseDocument(given.metadata));
    process.stdout.write(`${files.length} files in ${output}\n`);
  }
  if (given.states) {
    process.stderr.write(
      `The migration state is not in ${output}: store it in the engine with --states-only.\n`,
    );
  }
  return 0;
}

async function read({ folder, flag, address }: CommandLine): Promise<Import> {
  const url = flag('from-database');
  const warn = (text: string) => process.stderr.write(`${text}\n`);
  if (typeof url !== 'string') {
    return { metadata: exportMetadata(readDirectory(folder, warn)), origin: folder, states: null };
  }
  const { metadata, resourceVersion, ...states } = await readForeignCatalog(url);
  for (const path of unknownKeys(metadata)) warn(unknownKeyText(printPath(path)));
  const renamed = renamePrefix(metadata, FOREIGN_PREFIX, address.headerPrefix ?? 'x-engine-');
  const origin = `hdb_catalog, resource version ${resourceVersion ?? 'unknown'}`;
  return { metadata: parseDocument(renamed), origin, states };
}

/** Always judged first: the judgement names every object, a refusal only the first. */
async function importInto(commandLine: CommandLine, { metadata, origin, states }: Import): Promise<number> {
  const { address, flag } = commandLine;
  const judged = await replace(address, { metadata, dry_run: true });
  for (const { name, reason } of judged.inconsistent_objects) process.stderr.write(`${name}: ${reason}\n`);
  const others = hindering(metadata, judged.inconsistent_objects);
  const isRefused = others.length > 0 && flag('allow-inconsistent') !== true;
  if (flag('dry-run') === true || isRefused) {
    process.stdout.write(`${others.length === 0 ? 'It fits' : 'It does not fit'}. Nothing was changed.\n`);
    return isRefused ? 1 : 0;
  }
  const done = await replace(address, {
    metadata,
    allow_inconsistent_metadata: flag('allow-inconsistent') === true || !judged.is_consistent,
  });
  for (const { message } of done.warnings ?? []) process.stderr.write(`${message}\n`);
  process.stdout.write(`Done: ${address.url} has the metadata of ${origin}.\n`);
  if (states) await storeStates(commandLine, states);
  return 0;
}

function replace(address: CommandLine['address'], args: Record<string, unknown>): Promise<ReplaceAnswer> {
  return perform(address, operation('replace_metadata', args, 2), readReplaced);
}

/** Stores the states that clients find with `get_catalog_state`. */
async function storeStates(
  { address }: CommandLine,
  { cli, console }: ForeignCatalog | NonNullable<Import['states']>,
) {
  await perform(address, operation('set_catalog_state', { type: 'cli', state: cli }), readSuccess);
  await perform(address, operation('set_catalog_state', { type: 'console', state: console }), readSuccess);
  const migrations = isRecord(cli['migrations']) ? Object.entries(cli['migrations']) : [];
  const counts = migrations.map(
    ([database, versions]) => `${Object.keys(versions ?? {}).length} of ${database}`,
  );
  process.stdout.write(`Migrations applied: ${counts.length > 0 ? counts.join(', ') : 'none'}.\n`);
}
