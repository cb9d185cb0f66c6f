/** The steps of `pergola init`, for the command and for `pergola up --init`: read the folder and the database, propose, write what is new.
 *  In: the options. Out: the summary, and the files or their text. Raises FolderProblem, SchemaProblem, and why the database cannot be read.
 *  Not here: flags (../init.ts), each step (its own file). */
import { appendFile, mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { listText } from '../../engine/errors/list-text.ts';
import { objectKey } from '../../engine/metadata/index.ts';
import type { QualifiedName } from '../../engine/metadata/schema/common.ts';
import { type SchemaBase, schemaLineOf } from '../../operator/folder/schemas.ts';
import { FolderProblem } from '../../operator/folder/write-folder.ts';
import { type Folder, RECORD_FILE, readTarget } from './folder.ts';
import { type Proposal, propose } from './propose.ts';
import { readDatabase } from './read-database.ts';
import { readmeOf } from './readme.ts';
import { filesOf, type ResourceFile, type Surroundings, suggestionsOf } from './resources.ts';
import { summaryOf } from './summary.ts';

export type InitOptions = Omit<Surroundings, 'schemaLine'> & {
  readonly url: string;
  /** The schemas; empty for all. */
  readonly schemas: readonly string[];
  /** The role that may read everything. */
  readonly role: string | undefined;
  /** The JSON Schemas that the files name; undefined for none. */
  readonly schemaBase: SchemaBase | undefined;
};

/** Writes the files of new objects below the folder and returns the summary. Files that exist are unchanged. */
export async function writeNewResources(path: string, options: InitOptions): Promise<string> {
  const { folder, files, database, summary } = await newFiles(path, options);
  await write(path, files, folder);
  if (!folder.files.has('README.md')) {
    await writeNew(join(path, 'README.md'), readmeOf(database, options.role));
  }
  return summary;
}

/** Returns all resources as one YAML text, and the summary. */
export async function printNewResources(
  options: InitOptions,
): Promise<{ readonly text: string; readonly summary: string }> {
  const { files, summary } = await newFiles(undefined, options);
  return { text: files.map((file) => file.text).join('---\n'), summary };
}

async function newFiles(path: string | undefined, options: InitOptions) {
  const { source, schemas, role } = options;
  const folder = await readTarget(path, source);
  const survey = await readDatabase(options.url);
  const { database } = survey;
  const proposal = propose(survey, folder.metadata, { source, schemas, role, offered: folder.offered });
  if (proposal.selection.tables.size === 0) {
    throw new Error(
      `the database ${database} has no tables that can be served${whyNone(proposal.selection)}`,
    );
  }
  const schemaLine = (kind: string, file: string) =>
    schemaLineOf(options.schemaBase, kind, path === undefined ? '-' : join(path, file));
  const files = filesOf(proposal, folder, { ...options, schemaLine });
  const summary = summaryOf({
    folder: path,
    database,
    files,
    suggestions: suggestionsOf(proposal, folder),
    proposal,
    positions: folder.positions,
    emptyEnums: survey.emptyEnums.filter((table) => isWritten(table, files, source)),
  });
  return { folder, files, database, summary };
}

/** Returns the end of the sentence that no table can be served. */
function whyNone({ leftOut }: Proposal['selection']): string {
  const [first] = leftOut;
  if (!first) return '; create tables first';
  const names = listText([first.what], { most: 1, total: leftOut.length });
  return `: ${names} ${leftOut.length === 1 ? 'is' : 'are'} left out, because ${first.why}`;
}

function isWritten({ schema, name }: QualifiedName, files: readonly ResourceFile[], source: string): boolean {
  const key = objectKey('table', source, schema, name);
  return files.some(({ keys }) => keys.includes(key));
}

async function write(path: string, files: readonly ResourceFile[], folder: Folder): Promise<void> {
  const directories = new Set([path, ...files.map((file) => dirname(join(path, file.path)))]);
  for (const directory of directories) {
    await mkdir(directory, { recursive: true }).catch((error: NodeJS.ErrnoException) => {
      throw new FolderProblem(`cannot create the folder ${directory}: ${reasonOf(error)}`);
    });
  }
  for (const file of files) await writeNew(join(path, file.path), file.text);
  const keys = files.flatMap((file) => file.keys).filter((key) => !folder.offered.has(key));
  const head = folder.offered.size === 0 ? RECORD_HEAD : '';
  if (keys.length > 0) await appendFile(join(path, RECORD_FILE), `${head}${keys.join('\n')}\n`);
}

function reasonOf({ code, message }: NodeJS.ErrnoException): string {
  if (code === 'EEXIST' || code === 'ENOTDIR') return 'a file has this name; name another folder with -o';
  if (code === 'EACCES' || code === 'EPERM' || code === 'EROFS') {
    return 'this user may not write there; name another folder with -o';
  }
  return message;
}

const RECORD_HEAD = `# What pergola init wrote, one object a line. It does not write these again.
# Remove a line to have the object written again.
`;

/** Writes a file that does not exist. */
async function writeNew(path: string, text: string): Promise<void> {
  await writeFile(path, text, { flag: 'wx' });
}
