/** The metadata directory: the document as files to review and merge, one for each table and function.
 *  FILES lists the file of each key of the document. Sources and their tables are in files that include each other; actions and
 *  custom types are in one file of SDL and one of settings (actions-sdl.ts).
 *  In: the document. Out: path → text, the same for equal documents. Pure. Not here: reading (read-directory.ts),
 *  the disk (store/directory.ts). Spec: "Metadata directory (format version 3)". */
import { isRecord, type JsonRecord } from '../json/value.ts';
import { splitActions } from './actions-sdl.ts';
import { exportMetadata } from './export.ts';
import type { Metadata } from './schema/metadata.ts';
import { printYamlFile } from './yaml.ts';

/** The files that contain the value of one key. */
export const FILES = [
  { file: 'remote_schemas.yaml', key: 'remote_schemas' },
  { file: 'query_collections.yaml', key: 'query_collections' },
  { file: 'allow_list.yaml', key: 'allowlist' },
  { file: 'cron_triggers.yaml', key: 'cron_triggers' },
  { file: 'scheduled_events.yaml', key: 'scheduled_events' },
  { file: 'rest_endpoints.yaml', key: 'rest_endpoints' },
  { file: 'inherited_roles.yaml', key: 'inherited_roles' },
  { file: 'api_limits.yaml', key: 'api_limits' },
  { file: 'graphql_schema_introspection.yaml', key: 'graphql_schema_introspection' },
  { file: 'network.yaml', key: 'network' },
  { file: 'metrics_config.yaml', key: 'metrics_config' },
  { file: 'opentelemetry.yaml', key: 'opentelemetry' },
  { file: 'backend_configs.yaml', key: 'backend_configs' },
] as const satisfies readonly { readonly file: string; readonly key: keyof Metadata }[];

export const VERSION_FILE = 'version.yaml';
export const DATABASES_FILE = 'databases/databases.yaml';
export const ACTIONS_FILE = 'actions.yaml';
export const ACTIONS_SDL_FILE = 'actions.graphql';

/** Returns a reference to another file, relative to the file that contains it. */
export const INCLUDE = '!include ';

/** Returns the text of a file. An include has double quotes, as the command line of the reference writes it. */
function printFile(value: unknown): string {
  return printYamlFile(value, (text) => text.startsWith(INCLUDE));
}

/** The texts of files, by relative path with `/`. */
export type Files = ReadonlyMap<string, string>;

/** Returns the files of a document. Keys that it does not have get no file. */
export function toDirectory(metadata: Metadata): Files {
  const document = exportMetadata(metadata);
  const files = new Map([[VERSION_FILE, printFile({ version: document['version'] })]]);
  writeSources(document['sources'] as readonly JsonRecord[], files);
  if (document['actions'] || document['custom_types']) {
    const { sdl, settings } = splitActions(document);
    files.set(ACTIONS_SDL_FILE, sdl).set(ACTIONS_FILE, printFile(settings));
  }
  for (const { file, key } of FILES)
    if (document[key] !== undefined) files.set(file, printFile(document[key]));
  return files;
}

function writeSources(sources: readonly JsonRecord[], files: Map<string, string>): void {
  const folderOf = namer(['databases.yaml']);
  const entries = sources.map(({ tables, functions, ...source }) => {
    const folder = folderOf(fileName(String(source['name'])));
    return {
      ...source,
      ...writeList('table', tables, folder, files),
      ...writeList('function', functions, folder, files),
    };
  });
  files.set(DATABASES_FILE, printFile(entries));
}

/** Returns `databases/<folder>/tables/tables.yaml` and a file for each table. Without a list of tables there is no file; an empty list
 *  has one. */
function writeList(
  what: 'table' | 'function',
  items: unknown,
  folder: string,
  files: Map<string, string>,
): JsonRecord {
  if (!Array.isArray(items)) return {};
  const list = `${what}s`;
  const nameOf = namer([list]);
  const names = items.map((item: JsonRecord) => {
    const name = nameOf(fileName(nameInFile(item[what])));
    files.set(`databases/${folder}/${list}/${name}.yaml`, printFile(item));
    return `${INCLUDE}${name}.yaml`;
  });
  files.set(`databases/${folder}/${list}/${list}.yaml`, printFile(names));
  return { [list]: `${INCLUDE}${folder}/${list}/${list}.yaml` };
}

/** Returns the name of a table or function as its file has it: `public_author`. Sources of kinds that the engine does not serve have other forms
 *  of names: `{dataset, name}`, a list, a text. */
function nameInFile(named: unknown): string {
  if (isRecord(named)) {
    const { schema, dataset, name } = named;
    return [schema ?? dataset, name]
      .filter((part) => part !== undefined)
      .map(String)
      .join('_');
  }
  return Array.isArray(named) ? named.map(String).join('_') : String(named);
}

/** Returns the name of the folder of a database. Characters that not every file system allows, or that would change the folder, are
 *  encoded. */
function fileName(text: string): string {
  const safe = text.replaceAll(/[^\p{L}\p{N}_.-]/gu, (c) => encodeURIComponent(c).replaceAll('*', '%2A'));
  return safe.startsWith('.') ? `%2E${safe.slice(1)}` : safe;
}

/** Returns names that differ even when case is ignored: the second `author` is `author_2`. */
function namer(taken: readonly string[] = []): (name: string) => string {
  const known = new Set(taken);
  return (name) => {
    let free = name;
    for (let count = 2; known.has(free.toLowerCase()); count++) free = `${name}_${count}`;
    known.add(free.toLowerCase());
    return free;
  };
}

/** Returns the file that a value includes. */
export function includedFile(value: unknown): string | undefined {
  if (typeof value !== 'string' || !value.startsWith(INCLUDE)) return undefined;
  const file = value.slice(INCLUDE.length).trim();
  return /\.ya?ml$/.test(file) ? file : undefined;
}
