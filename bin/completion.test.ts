/** Tests the completion of each shell in the shell itself, where it is installed. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { COMMANDS } from './commands.mjs';
import { type CommandFlags, commandsWithFlags, flagsIn } from './completion/flags.ts';
import { SHELLS, type Shell } from './completion/shells.ts';

const PROGRAM = join(import.meta.dirname, 'pergola.mjs');
const folder = mkdtempSync(join(tmpdir(), 'pergola-completion-'));
let commands: readonly CommandFlags[];

beforeAll(async () => {
  commands = await commandsWithFlags();
});

function scriptOf(shell: Shell): string {
  const file = join(folder, `pergola.${shell}`);
  writeFileSync(file, SHELLS[shell](commands));
  return file;
}

const isInstalled = (shell: string) => {
  try {
    execFileSync(shell, ['-c', 'true']);
    return true;
  } catch {
    return false;
  }
};
const only = (shell: string) => (isInstalled(shell) ? test : test.skip);
const whereInstalled = (shell: string) => (isInstalled(shell) ? '' : ` (skipped: ${shell} is not installed)`);

test('every command has at least the flag help, and its summary', () => {
  expect(commands.map(({ name }) => name)).toEqual(Object.keys(COMMANDS));
  for (const { name, summary, flags } of commands) {
    expect([name, flags.map(({ long }) => long)]).toEqual([name, expect.arrayContaining(['help'])]);
    expect(summary).not.toBe('');
  }
});

test('up has the flags of serve, each once, and its own', () => {
  const flagsOf = (wanted: string) =>
    commands.find(({ name }) => name === wanted)!.flags.map(({ long }) => long);
  const up = flagsOf('up');
  expect(up).toEqual(expect.arrayContaining(['enable-allowlist', 'data', 'port']));
  expect(up).toHaveLength(new Set(up).size);
  expect(flagsOf('serve')).not.toContain('data');
});

test('a flag in the text of a help is no flag of the command', () => {
  expect(
    flagsIn(`pergola x: like --other, and --more

  -f, --filename PATH   a folder; see --engine
      --dry             write nothing
  -o, --output FORMAT   the format: text, json
  --wide-one LIST,…
  pergola x --example
`),
  ).toEqual([
    { long: 'help', doc: 'print the help', takesValue: false, values: [] },
    { long: 'filename', short: 'f', doc: 'a folder; see --engine', takesValue: true, values: [] },
    { long: 'dry', doc: 'write nothing', takesValue: false, values: [] },
    { long: 'output', short: 'o', doc: 'the format: text, json', takesValue: true, values: ['text', 'json'] },
    { long: 'wide-one', doc: '', takesValue: true, values: [] },
  ]);
});

/** A line up to the cursor, and the words that complete it. */
const CASES: readonly (readonly [line: string, words: readonly string[]])[] = [
  ['pergola val', ['validate']],
  ['pergola help val', ['validate']],
  ['pergola plan --fa', ['--fail-on']],
  ['pergola plan -f x -o ma', ['markdown']],
  ['pergola apply -o ', ['json', 'markdown', 'text', 'yaml']],
  ['pergola plan --fail-on ', ['breaking', 'breaking-in-use', 'granted', 'widened']],
  ['pergola plan --fail-on widened --fail-on gr', ['granted']],
  ['pergola test -o j', ['json', 'junit']],
  ['pergola why --operation ', ['delete', 'insert', 'select', 'update']],
  ['pergola export --as ', ['crs', 'metadata']],
  ['pergola serve --database-u', ['--database-url']],
  ['pergola serve --enable-console --log-level ', ['debug', 'error', 'info', 'warn']],
  ['pergola migrate ', ['create', 'status', 'up', 'verify']],
  ['pergola migrate up --ad', ['--admin-secret', '--adopt']],
  ['pergola migrate create --ad', []],
  ['pergola migrate status -o ', ['json', 'text']],
  ['pergola completion ', ['bash', 'fish', 'zsh']],
];

describe('bash', () => {
  const complete = (line: string) => {
    const words = line.split(' ');
    const given = words.map((word) => `'${word}'`).join(' ');
    const script = `source '${scriptOf('bash')}'; COMP_WORDS=(${given}); COMP_CWORD=${words.length - 1}; _pergola; printf '%s\\n' "\${COMPREPLY[@]}"`;
    return wordsIn(execFileSync('bash', ['-c', script], { encoding: 'utf8' }));
  };

  only('bash').each(CASES)(`%s${whereInstalled('bash')}`, (line, words) => {
    expect(complete(line)).toEqual(words);
  });

  only('bash')(`--flag=value, which bash splits at the =${whereInstalled('bash')}`, () => {
    expect(complete('pergola plan --fail-on = gr')).toEqual(['granted']);
    expect(complete('pergola plan --output =')).toEqual(['json', 'markdown', 'text', 'yaml']);
  });

  only('bash')(`leaves files to the shell${whereInstalled('bash')}`, () => {
    expect(complete('pergola plan -f res')).toEqual([]);
  });
});

describe('fish', () => {
  only('fish').each(CASES)(`%s${whereInstalled('fish')}`, (line, words) => {
    const out = execFileSync('fish', ['-N', '-c', `source '${scriptOf('fish')}'; complete -C '${line}'`], {
      encoding: 'utf8',
      cwd: folder,
    });
    // fish offers the files of the folder where a command has no such word.
    const files = readdirSync(folder);
    expect(wordsIn(out.replaceAll(/\t.*/g, '')).filter((word) => !files.includes(word))).toEqual(words);
  });
});

describe('zsh', () => {
  const unique = CASES.filter(([, words]) => words.length === 1);

  only('zsh')(`completes the word on the line, also in --flag=value${whereInstalled('zsh')}`, () => {
    const lines = [...unique.map(([line]) => line), 'pergola plan --fail-on=gr'];
    const expected = unique.map(([line, [word]]) => [...line.split(' ').slice(1, -1), word].join(' '));
    expect(typedInZsh(lines)).toEqual([...expected, 'plan --fail-on=granted']);
  });

  /** Types the lines with a tab and a line break into a zsh with a terminal. Returns the arguments of the command. */
  function typedInZsh(lines: readonly string[]): readonly string[] {
    const [setup, file] = [join(folder, 'setup.zsh'), join(folder, 'type.zsh')];
    writeFileSync(
      setup,
      `autoload -U compinit; compinit -u -D; source ${scriptOf('zsh')}; pergola() { print -r -- "GOT<$*>" }; print REA''DY`,
    );
    const typing = lines.map((line) =>
      [
        `zpty -w -n shell ${quoted(line)}$'\\t\\n'`,
        "zpty -r -m shell got '*GOT<*>*'",
        'print -r -- $got',
      ].join('\n'),
    );
    writeFileSync(
      file,
      `zmodload zsh/zpty
zpty shell 'TERM=dumb PS1= zsh -f -i'
zpty -w shell 'source ${setup}'
zpty -r -m shell got '*READY*'
${typing.join('\n')}
`,
    );
    const out = execFileSync('zsh', ['-f', file], { encoding: 'utf8', timeout: 25_000 });
    return [...out.matchAll(/GOT<([^>]*)>/g)].map(([, words]) => words!);
  }
});

const quoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;
const wordsIn = (text: string) => text.split('\n').filter(Boolean).toSorted();

describe.each(['zsh', 'fish'] as const)('%s', (shell) => {
  only(shell)(`can read the script${whereInstalled(shell)}`, () => {
    execFileSync(shell, ['-n', scriptOf(shell)]);
  });

  test('names every command and flag', () => {
    const script = SHELLS[shell](commands);
    for (const { name, flags } of commands) {
      expect(script).toContain(name);
      for (const { long } of flags) expect(script).toContain(long);
    }
  });
});

test.each([
  [[], 'the shell is required: bash, zsh, fish'],
  [['tcsh'], 'there is no completion for tcsh; there is one for bash, zsh, fish'],
  [['bash', 'zsh'], 'there is no completion for bash zsh; there is one for bash, zsh, fish'],
])('%j is wrong usage', (argv, message) => {
  expect(() => execFileSync(process.execPath, [PROGRAM, 'completion', ...argv], { stdio: 'pipe' })).toThrow(
    message,
  );
});
