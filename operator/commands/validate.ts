/** `pergola validate`: checks custom resources without an engine and without a cluster. Prints every problem as
 *  `file:line: resource: message`.
 *  Exit codes: 0 valid, 1 there are problems or no resources, 2 wrong flags. Not here: the checks (../folder/validate.ts). */
import { runCommand } from '../folder/flag-problem.ts';
import { type FlagTable, flagLines, parseFlagTable, textOf, textsOf } from '../folder/flag-table.ts';
import { outputOf, printData } from '../folder/output.ts';
import { printProblems, problemsAsJson } from '../folder/print.ts';
import { inputsOf, readInputs } from '../folder/read-inputs.ts';
import { validate } from '../folder/validate.ts';

const OUTPUTS = ['text', 'json', 'yaml'] as const;

const FLAGS = {
  filename: {
    short: 'f',
    value: 'PATH',
    isList: true,
    doc: 'a folder, a file, or - for standard input; may be given several times (required)',
  },
  output: { short: 'o', value: 'FORMAT', values: OUTPUTS, doc: 'the format' },
  help: { short: 'h', doc: 'print this help' },
} as const satisfies FlagTable;

const HELP = `pergola validate -f PATH: check custom resources without an engine and without a cluster.

Finds unknown and misspelt fields, wrong values, broken rules, definitions that cannot be read, and two resources for one object,
with file, line and path. Needs neither network nor credentials, so it suits CI.

${flagLines(FLAGS, { width: 21 })}

  pergola validate -f ./resources
  kustomize build . | pergola validate -f -

Exit codes: 0 valid, 1 there are problems or no resources, 2 wrong flags.
`;

export function run(argv: readonly string[]): Promise<number> {
  return runCommand('validate', () => flagsIn(argv), check, { help: HELP });
}

type ValidateFlags = { readonly inputs: readonly string[]; readonly output: (typeof OUTPUTS)[number] };

function flagsIn(argv: readonly string[]): ValidateFlags | undefined {
  const { values } = parseFlagTable(FLAGS, argv);
  if (values['help'] === true) return undefined;
  return {
    inputs: inputsOf(textsOf(values, 'filename')),
    output: outputOf(textOf(values, 'output'), OUTPUTS),
  };
}

async function check({ inputs, output }: ValidateFlags): Promise<number> {
  const { resources, problems, unchecked } = validate(await readInputs(inputs));
  const isEmpty = resources === 0 && problems.length === 0;
  const isValid = problems.length === 0 && !isEmpty;
  if (output !== 'text') {
    const json = { resources, isValid, problems: problemsAsJson(problems), unchecked };
    process.stdout.write(printData(json, output));
    return isValid ? 0 : 1;
  }
  process.stdout.write(printProblems(problems));
  for (const text of unchecked) process.stderr.write(`not checked: ${text}\n`);
  // A wrong path must not look like a valid folder.
  if (isEmpty) process.stderr.write(`${inputs.join(', ')} contains no resources of pergola.dev.\n`);
  else process.stdout.write(`${countOf(resources, 'resource')}, ${countOf(problems.length, 'problem')}.\n`);
  return isValid ? 0 : 1;
}

function countOf(count: number, what: string): string {
  return `${count === 0 ? 'no' : count} ${what}${count === 1 ? '' : 's'}`;
}
