/** `pergola convert`: rewrites resources of the old form to the new form, in the files of a folder or from standard input to standard
 *  output. Comments and formatting of what does not change are kept.
 *  Exit codes: 0 done, 1 a file could not be read or, with --check, has the old form; 2 wrong flags.
 *  Not here: the conversion (../conversion), the edits (../yaml/edit.ts). */
import { writeFile } from 'node:fs/promises';
import { extname, join, relative } from 'node:path';
import { text as readAll } from 'node:stream/consumers';
import { YAML_SCHEMA } from '@pergola/engine/metadata';
import { loadAll, YAMLException } from 'js-yaml';
import { convertDocument } from '../conversion/convert.ts';
import { FlagProblem, reportFailure } from '../folder/flag-problem.ts';
import { type FlagTable, flagLines, parseFlagTable, textOf } from '../folder/flag-table.ts';
import { isFolderAt, textOfFile } from '../folder/paths.ts';
import { filesIn, MANIFEST_EXTENSIONS } from '../folder/read-folder.ts';
import { SCHEMAS_FLAG, type SchemaBase, schemaBaseOf, schemasOfFile } from '../folder/schemas.ts';
import { editYaml } from '../yaml/edit.ts';
import { yamlProblem } from '../yaml/problem.ts';
import { withSchemaLines } from '../yaml/schema-line.ts';

const FLAGS = {
  filename: {
    short: 'f',
    value: 'PATH',
    doc: 'a folder or a file, which is rewritten in place, or - to read standard input and write standard output',
  },
  check: { doc: 'write nothing, print the files that have the old form, and exit with 1 if there are any' },
  ...SCHEMAS_FLAG,
  help: { short: 'h', doc: 'print this help' },
} as const satisfies FlagTable;

const HELP = `pergola convert -f PATH: rewrite custom resources of the old form to the new form. Comments are kept.

${flagLines(FLAGS, { width: 21 })}

  pergola convert -f ./resources
  kubectl get pergola -A -o yaml | pergola convert -f - > resources.yaml
`;

export async function run(argv: readonly string[]): Promise<number> {
  try {
    const { values } = parseFlagTable(FLAGS, argv);
    if (values['help'] === true) {
      process.stdout.write(HELP);
      return 0;
    }
    const filename = textOf(values, 'filename');
    const check = values['check'] === true;
    if (!filename) throw new FlagProblem('the folder is required: -f FOLDER, -f FILE, or -f -');
    const schemas = schemaBaseOf(textOf(values, 'schemas'));
    if (filename !== '-') return await convertFiles(filename, check, schemas);
    if (check) throw new FlagProblem('--check needs a folder or a file');
    return convertStream(await readAll(process.stdin), schemas);
  } catch (error) {
    if (!(error instanceof YAMLException)) return reportFailure('convert', error);
    const { line, message } = yamlProblem(error);
    return reportFailure('convert', new Error(`line ${line} of standard input: ${message}`));
  }
}

/** An empty input is an error: the command before the pipe has failed. */
function convertStream(text: string, schemas: SchemaBase | undefined): number {
  if (text.trim() === '') throw new Error('standard input is empty; check the command before the pipe');
  const { output, notes } = converted(text, /^\s*[{[]/.test(text), schemas, '-');
  printNotes(notes);
  process.stdout.write(output);
  return 0;
}

async function convertFiles(
  path: string,
  isCheck: boolean,
  schemas: SchemaBase | undefined,
): Promise<number> {
  const isFolder = await isFolderAt(path);
  const files = isFolder ? await filesIn(path, (file) => MANIFEST_EXTENSIONS.has(extname(file))) : [path];
  const nameOf = (file: string) => (isFolder ? join(path, relative(path, file)) : file);
  let [changed, unreadable] = [0, 0];
  for (const file of files) {
    const text = await textOfFile(file);
    try {
      const { output, notes } = converted(text, extname(file) === '.json', schemas, file);
      printNotes(notes);
      if (output === text) continue;
      changed++;
      process.stdout.write(`${nameOf(file)}\n`);
      if (!isCheck) await writeFile(file, output);
    } catch (error) {
      if (!(error instanceof YAMLException)) throw error;
      unreadable++;
      const { line, message } = yamlProblem(error);
      process.stderr.write(`${nameOf(file)}:${line}: ${message}\n`);
    }
  }
  if (files.length === 0) {
    throw new Error(
      `${path} contains no *.yaml, *.yml or *.json file; give the folder of the resources: -f FOLDER`,
    );
  }
  process.stdout.write(summary(files.length - unreadable, changed, isCheck));
  return unreadable > 0 || (isCheck && changed > 0) ? 1 : 0;
}

function summary(files: number, changed: number, isCheck: boolean): string {
  const all = files === 1 ? '1 file' : `${files} files`;
  if (files === 0) return 'No file could be read.\n';
  if (changed === 0) return `${all}, none has the old form.\n`;
  return isCheck
    ? `${changed} of ${all} ${changed === 1 ? 'has' : 'have'} the old form.\n`
    : `${changed} of ${all} rewritten.\n`;
}

/** Returns the text with its resources in the new form, and the lines that name their schemas: the same text when none has the old form. */
function converted(
  text: string,
  isJson: boolean,
  schemas: SchemaBase | undefined,
  file: string,
): { readonly output: string; readonly notes: readonly string[] } {
  const documents = loadAll(text, { schema: YAML_SCHEMA });
  const results = documents.map(convertDocument);
  const notes = results.flatMap((result) => result.notes);
  if (results.every(({ document }, i) => document === documents[i])) return { output: text, notes };
  const values = results.map(({ document }) => document);
  if (isJson) return { output: values.map((value) => `${JSON.stringify(value, null, 2)}\n`).join(''), notes };
  const output = editYaml(text, values);
  return { output: schemas ? withSchemaLines(output, schemasOfFile(schemas, file)) : output, notes };
}

function printNotes(notes: readonly string[]): void {
  for (const note of notes) process.stderr.write(`${note}\n`);
}
