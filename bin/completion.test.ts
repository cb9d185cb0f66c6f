/** Tests the completion of each shell in the shell itself, where it is installed. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, writeFileSync } from 'node:fs';
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

describe('bash', () => {
  const complete = (...words: readonly string[]) => {
    const given = words.map((word) => `'${word}'`).join(' ');
    const line = `source '${scriptOf('bash')}'; COMP_WORDS=(${given}); COMP_CWORD=${words.length - 1}; _pergola; printf '%s\\n' "\${COMPREPLY[@]}"`;
    return execFileSync('bash', ['-c', line], { encoding: 'utf8' }).trim().split('\n');
  };

  only('bash')(`completes${whereInstalled('bash')}`, () => {
    expect(complete('pergola', 'val')).toEqual(['validate']);
    expect(complete('pergola', 'plan', '--fa')).toEqual(['--fail-on']);
    expect(complete('pergola', 'plan', '-f', 'x', '-o', 'm')).toEqual(['markdown']);
    expect(complete('pergola', 'serve', '--database-u')).toEqual(['--database-url']);
    expect(complete('pergola', 'help', 'up')).toEqual(['up']);
    // Files are completed by the shell itself.
    expect(complete('pergola', 'plan', '-f', 'res')).toEqual(['']);
  });
});

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
