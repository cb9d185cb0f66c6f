/** Checks the command lines in the shell blocks of the guides and READMEs: commands of pergola and their flags, targets of make, and files
 *  that kubectl, helm and docker read. Not here: requests and resources of guides (operator/end-to-end/guides.test.ts). */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { type CommandFlags, commandsWithFlags, type HelpFlag } from '../bin/completion/flags.ts';
import { commandsIn, shellCommands } from '../operator/testing/shell-commands.ts';

const FILES = execFileSync('git', ['ls-files', '-co', '--exclude-standard', '*.md'], { encoding: 'utf8' })
  .split('\n')
  .filter(
    (file) =>
      /^(README|CONTRIBUTING|docs\/.*|deploy\/.*|charts\/.*|bin\/.*)\.md$/.test(file) ||
      /README\.md$/.test(file),
  )
  .filter((file) => existsSync(file));

const TARGETS = [...readFileSync('Makefile', 'utf8').matchAll(/^([a-z0-9_-]+):/gm)].map(([, name]) => name!);

/** Returns what is wrong with a command line; undefined when nothing is found. */
function problemOf(words: readonly string[], commands: readonly CommandFlags[]): string | undefined {
  const [program, ...rest] = words[0] === 'npx' ? words.slice(1) : words;
  if (program === 'pergola') return pergolaProblem(rest, commands);
  if (program === 'make') {
    const target = rest.find((word) => !word.includes('=') && !TARGETS.includes(word));
    return target && `the Makefile has no target ${target}`;
  }
  return ['kubectl', 'helm', 'docker'].includes(program ?? '') ? missingFile(rest) : undefined;
}

/** Paths of this repository that a command reads. */
function missingFile(words: readonly string[]): string | undefined {
  const paths = words.filter((word) => /^(\.\/)?(deploy|charts|crds|docs)\//.test(word));
  const missing = paths.find((path) => !existsSync(path));
  return missing && `there is no ${missing}`;
}

function pergolaProblem(words: readonly string[], commands: readonly CommandFlags[]): string | undefined {
  const [name = '', ...rest] = words;
  if (['help', '--help', '-h', 'version', '--version', '-v'].includes(name)) return undefined;
  const command = commands.find((one) => one.name === name);
  if (command === undefined) return `there is no command ${name}`;
  if (command.subcommands.length === 0 || /^(--help|-h)$/.test(rest[0] ?? ''))
    return flagProblem(rest, command.flags);
  const nested = command.subcommands.find((one) => one.name === rest[0]);
  return nested === undefined
    ? `${name} has no command ${rest[0]}`
    : flagProblem(rest.slice(1), nested.flags);
}

function flagProblem(words: readonly string[], flags: readonly HelpFlag[]): string | undefined {
  for (let i = 0; i < words.length; i++) {
    const [written = '', inline] = words[i]!.split(/=(.*)/s);
    if (!/^-./.test(written)) continue;
    const flag = flags.find(({ long, short }) => written === `--${long}` || written === `-${short}`);
    if (flag === undefined) return `there is no flag ${written}`;
    if (!flag.takesValue) continue;
    const value = inline ?? words[++i];
    if (value === undefined || (inline === undefined && /^--?[a-z]/.test(value)))
      return `${written} has no value`;
    if (flag.values.length > 0 && !flag.values.includes(value)) return `${written} does not take ${value}`;
  }
  return undefined;
}

test('every command line in a document is one that exists', async () => {
  const commands = await commandsWithFlags();
  const all = FILES.flatMap((file) => shellCommands(file).map((one) => ({ ...one, file })));
  expect(all.filter(({ words }) => words.includes('pergola')).length).toBeGreaterThan(20);
  const problems = all.flatMap(({ file, line, words }) => {
    const problem = problemOf(words, commands);
    return problem === undefined ? [] : [`${file}:${line}: ${problem}`];
  });
  expect(problems).toEqual([]);
});

test('documents call the command pergola, since npx would run a package of somebody else', () => {
  const found = FILES.flatMap((file) => {
    const lines = readFileSync(file, 'utf8').split('\n');
    return lines.flatMap((line, i) => (/npx pergola/.test(line) ? [`${file}:${i + 1}`] : []));
  });
  expect(found).toEqual([]);
});

test.each([
  ['pergola aply -f x', 'there is no command aply'],
  ['npx pergola plan -f x --fail-on', '--fail-on has no value'],
  ['pergola plan -f x --fail-on all', '--fail-on does not take all'],
  ['pergola plan -f x -o junit', '-o does not take junit'],
  ['pergola validate -f x --engine y', 'there is no flag --engine'],
  ['pergola migrate apply -f x', 'migrate has no command apply'],
  ['pergola migrate create x -f y --adopt', 'there is no flag --adopt'],
  ['make tests', 'the Makefile has no target tests'],
  ['kubectl apply -f deploy/nowhere.yaml', 'there is no deploy/nowhere.yaml'],
  ['kustomize build . | pergola plan -f - -o xml > x # a comment', '-o does not take xml'],
  ['pergola up x --enable-console --port 1 && pergola test -f \\\n  x --nope', 'there is no flag --nope'],
])('%s', async (line, problem) => {
  const commands = await commandsWithFlags();
  expect(
    commandsIn(line)
      .map(({ words }) => problemOf(words, commands))
      .filter(Boolean),
  ).toEqual([problem]);
});
