/** `pergola validate`: checks the custom resources of a folder without an engine and without a cluster. Prints every problem as
 *  `file:line: resource: message`.
 *  Exit codes: 0 valid, 1 there are problems or no resources, 2 wrong flags. Not here: the checks (../folder/validate.ts). */
import { text as readAll } from 'node:stream/consumers';
import { parseArgs } from 'node:util';
import { FlagProblem, reportFailure } from '../folder/flag-problem.ts';
import { printProblems, problemsAsJson } from '../folder/print.ts';
import { readFolder, readTexts } from '../folder/read-folder.ts';
import { type FolderValidation, validate } from '../folder/validate.ts';

const HELP = `pergola validate -f FOLDER: check custom resources without an engine and without a cluster.

Finds unknown and misspelt fields, wrong values, broken rules, definitions that cannot be read, and two resources for one object,
with file, line and path. Needs neither network nor credentials, so it suits CI.

  -f, --filename PATH   the folder, or - for standard input: kustomize build . | pergola validate -f -
  -o, --output json     print JSON
  -h, --help            print this help
`;

const OPTIONS = {
  filename: { type: 'string', short: 'f' },
  output: { type: 'string', short: 'o' },
  help: { type: 'boolean', short: 'h', default: false },
} as const;

export async function run(argv: readonly string[]): Promise<number> {
  try {
    const { filename, output, help } = flagsIn(argv);
    if (help) {
      process.stdout.write(HELP);
      return 0;
    }
    if (filename === undefined) throw new FlagProblem('the folder is required: -f FOLDER, or -f -');
    if (output !== undefined && output !== 'json') {
      throw new FlagProblem(`-o ${output} is not supported; use -o json`);
    }
    const content =
      filename === '-'
        ? readTexts([{ name: 'stdin', text: await readAll(process.stdin) }])
        : await readFolder(filename);
    return report(validate(content), filename, output === 'json');
  } catch (error) {
    return reportFailure('validate', error);
  }
}

function flagsIn(argv: readonly string[]) {
  try {
    return parseArgs({ args: [...argv], options: OPTIONS, strict: true, allowPositionals: false }).values;
  } catch (error) {
    throw new FlagProblem((error as Error).message);
  }
}

function report(
  { resources, problems, unchecked }: FolderValidation,
  filename: string,
  isJson: boolean,
): number {
  const isEmpty = resources === 0 && problems.length === 0;
  const isValid = problems.length === 0 && !isEmpty;
  if (isJson) {
    const json = { resources, isValid, problems: problemsAsJson(problems), unchecked };
    process.stdout.write(`${JSON.stringify(json, null, 2)}\n`);
    return isValid ? 0 : 1;
  }
  process.stdout.write(printProblems(problems));
  for (const text of unchecked) process.stderr.write(`not checked: ${text}\n`);
  // A wrong path must not look like a valid folder.
  if (isEmpty) process.stderr.write(`${filename} contains no resources of pergola.dev.\n`);
  else process.stdout.write(`${resources} resources, ${countOf(problems.length)}.\n`);
  return isValid ? 0 : 1;
}

function countOf(problems: number): string {
  if (problems === 0) return 'no problems';
  return problems === 1 ? '1 problem' : `${problems} problems`;
}
