/** Golden files of what commands print for bad input: messages/COMMAND/RULE.txt has each command line, its exit code, and what it prints.
 *  The rules about flags take their cases from the flags of the command. Paths and ports are replaced by names. UPDATE_GOLDEN=1
 *  (`make golden`) rewrites the files; review the diff. Not here: init, why and migrate, which have goldens of their own. */
import { execFile } from 'node:child_process';
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { OVERRIDABLE } from '../../operator/folder/flag-table.ts';
import { runCommand } from '../../testing/output.ts';
import { testWorld } from '../../testing/world.ts';
import { COMMANDS } from '../commands.mjs';
import { type CommandFlags, commandsWithFlags, type HelpFlag } from '../completion/flags.ts';

const GOLDEN = join(import.meta.dirname, 'messages');
const ROOT = join(import.meta.dirname, '../..');
const NAMES = [
  ...['plan', 'apply', 'watch', 'status', 'validate', 'test'],
  ...['up', 'convert', 'export', 'import', 'compat', 'completion'],
] as const;
type Name = (typeof NAMES)[number];

const CLOSED = 'http://127.0.0.1:2';
const folder = mkdtempSync(join(tmpdir(), 'pergola-messages-'));
const path = (name: string) => join(folder, name);
let commands: ReadonlyMap<string, CommandFlags>;

afterAll(() => rmSync(folder, { recursive: true }));

const { engine } = testWorld();

beforeAll(async () => {
  commands = new Map((await commandsWithFlags()).map((command) => [command.name, command]));
  for (const [name, text] of Object.entries(FILES)) {
    mkdirSync(dirname(path(name)), { recursive: true });
    writeFileSync(path(name), text);
  }
  mkdirSync(path('EMPTY'));
  mkdirSync(path('LOOP'));
  symlinkSync('loop.yaml', path('LOOP/loop.yaml'));
});
beforeEach(() => {
  for (const name of ['ADMIN_SECRET', 'HEADER_PREFIX', 'DATABASE_URL']) {
    vi.stubEnv(`ENGINE_GRAPHQL_${name}`, undefined);
  }
});
afterEach(() => vi.unstubAllEnvs());

const NOTE =
  'apiVersion: pergola.dev/v1alpha1\nkind: Table\nmetadata: { name: note }\nspec: { table: note }\n';
const FILES: Readonly<Record<string, string>> = {
  'GOOD/note.yaml': NOTE,
  'INDENT/note.yaml': NOTE.replace('\nkind', '\n  kind'),
  'BRACKET/note.yaml': NOTE.replace('table: note }', 'table: note'),
  'TAB/note.yaml': NOTE.replace('spec: {', 'spec:\n\ttable: note #'),
  'KIND/note.yaml': NOTE.replace('Table', 'Tabel'),
  'FIELD/note.yaml': NOTE.replace('table: note }', 'tabel: note }'),
  'METADATA/version.yaml': 'version: 3\n',
  'METADATA/databases/databases.yaml': '[]\n',
  'BROKEN/version.yaml': 'version: 3\n',
  'BROKEN/databases/databases.yaml': '- name: a\n configuration: {}\n',
};

type Case = readonly string[];
/** The cases of a rule for a command; none where the rule does not apply. */
type Rule = (name: Name, flags: readonly HelpFlag[]) => readonly Case[];

const isRepeatable = ({ doc }: HelpFlag) => /several times|repeat/.test(doc);
const withValue = (flags: readonly HelpFlag[]) => flags.filter(({ takesValue }) => takesValue);
const has = (flags: readonly HelpFlag[], name: string) => flags.some(({ long }) => long === name);

/** The arguments that name the resources or the metadata. */
const inputOf = (name: Name, input: string): Case =>
  ['up', 'import', 'export', 'compat'].includes(name) ? [input] : ['-f', input];
const READERS: readonly Name[] = ['plan', 'apply', 'validate', 'test', 'convert'];
/** The commands that end when the engine answers with an error; watch tries again. */
const CLIENTS: readonly Name[] = ['plan', 'apply', 'status', 'export', 'import', 'compat'];
const clientCase = (name: Name, ...argv: readonly string[]): readonly Case[] => {
  if (!CLIENTS.includes(name)) return [];
  if (name === 'status') return [argv];
  const input = { import: 'METADATA', compat: 'METADATA', export: 'OUT' }[name as string] ?? 'GOOD';
  return [[...inputOf(name, input), ...argv]];
};

const RULES: Readonly<Record<string, Rule>> = {
  'required-flag-missing': (name) => (name === 'up' || name === 'status' ? [] : [[]]),
  'flag-unknown': (_, flags) => [
    ...flags.filter(({ long }) => long.length > 4).map(({ long }) => [`--${long.slice(0, -1)}`]),
    ['--nonsense'],
    ['-x'],
  ],
  'flag-twice': (_, flags) =>
    withValue(flags)
      .filter((flag) => !isRepeatable(flag) && !OVERRIDABLE.has(flag.long))
      .map(({ long, values: [value = '1'] }) => [`--${long}`, value, `--${long}`, value]),
  'flag-without-value': (_, flags) =>
    withValue(flags).flatMap(({ long }) => [[`--${long}`], [`--${long}`, '--help']]),
  'value-unknown': (name, flags) =>
    flags
      .filter(({ values }) => values.length > 0)
      .flatMap(({ long, values: [value = ''] }) => [
        [...(name === 'status' ? [] : inputOf(name, 'GOOD')), `--${long}`, 'nonsense'],
        [...(name === 'status' ? [] : inputOf(name, 'GOOD')), `--${long}`, `${value}s`],
      ]),
  'value-invalid': (name) =>
    ({
      test: ['200', '-1', 'much'].map((percent) => ['-f', 'GOOD', `--min-coverage=${percent}`]),
      up: ['--port=70000', '--port=many', '--init=x'].map((flag) => ['GOOD', flag]),
      completion: [['tcsh'], ['bash', 'zsh']],
      compat: [
        ['--from', 'localhost:8080'],
        ['METADATA', 'MORE'],
        ['METADATA', '--replay', 'GOOD/note.yaml'],
        ['METADATA', '--mutations'],
      ],
      export: [
        ['-o', 'json'],
        ['-o', 'yaml', '--as', 'crs'],
        ['OUT', 'MORE'],
      ],
      import: [
        ['METADATA', '-o', 'json'],
        ['METADATA', '--states-only'],
        ['METADATA', '--from-database', 'postgres://localhost/old'],
        ['--from-database', 'mysql://localhost/old'],
      ],
    })[name as string] ?? [],
  'word-unexpected': (name, flags) =>
    has(flags, 'filename') ? [['resources']] : name === 'status' ? [['now']] : [],
  'path-missing': (name) =>
    [...READERS, 'watch', 'import', 'up', 'compat'].includes(name)
      ? [inputOf(name, 'NOWHERE'), inputOf(name, 'GOOD/note.yaml/deeper')]
      : [],
  'path-empty': (name) => (READERS.includes(name) ? [inputOf(name, '')] : []),
  'file-as-folder': (name) =>
    ['test', 'import', 'up', 'compat'].includes(name) ? [inputOf(name, 'GOOD/note.yaml')] : [],
  'file-unreadable': (name) => (READERS.includes(name) ? [inputOf(name, 'LOOP')] : []),
  'yaml-broken': (name) =>
    READERS.includes(name)
      ? ['INDENT', 'BRACKET', 'TAB', ...(name === 'convert' ? [] : ['KIND', 'FIELD'])].map((input) => [
          ...inputOf(name, input),
          ...(name === 'plan' || name === 'apply' ? ['--engine', 'ENGINE', '--admin-secret', 'SECRET'] : []),
          ...(name === 'convert' ? ['--check'] : []),
        ])
      : name === 'import' || name === 'compat'
        ? [inputOf(name, 'BROKEN')]
        : [],
  'folder-empty': (name) =>
    ['validate', 'test', 'convert', 'import', 'compat'].includes(name) ? [inputOf(name, 'EMPTY')] : [],
  'engine-unreachable': (name) => clientCase(name, '--engine', CLOSED),
  'engine-url-invalid': (name) => [
    ...clientCase(name, '--engine', 'localhost:8080'),
    ...clientCase(name, '--engine', 'ftp://localhost'),
    ...clientCase(name, '--engine', ''),
  ],
  'admin-secret-wrong': (name) => [
    ...clientCase(name, '--engine', 'ENGINE', '--admin-secret', 'wrong'),
    ...clientCase(name, '--engine', 'ENGINE'),
  ],
  'header-prefix-wrong': (name) =>
    clientCase(name, '--engine', 'ENGINE', '--admin-secret', 'SECRET', '--header-prefix', 'x-other-'),
  'standard-input-nothing': (name) =>
    [...READERS, 'watch'].includes(name)
      ? [
          [
            ...inputOf(name, '-'),
            ...(name === 'plan' || name === 'apply'
              ? ['--engine', 'ENGINE', '--admin-secret', 'SECRET']
              : []),
          ],
        ]
      : [],
};

test.each(NAMES)(
  '%s: bad input has the expected message and exit code',
  { timeout: 180_000 },
  async (name) => {
    const command = commands.get(name)!;
    const serve = new Set(name === 'up' ? commands.get('serve')!.flags.map(({ long }) => long) : []);
    const flags = command.flags.filter(({ long }) => !serve.has(long) || long === 'admin-secret');
    const { run } = (await import(pathToFileURL(join(ROOT, COMMANDS[name]![0])).href)) as {
      run: (argv: readonly string[]) => Promise<number>;
    };
    const expected: string[] = [];
    for (const [rule, casesOf] of Object.entries(RULES)) {
      const cases = casesOf(name, flags);
      if (cases.length === 0) continue;
      const parts: string[] = [];
      for (const argv of cases) {
        const given = argv.map(filled);
        const isPiped = argv.includes('-');
        const { code, out, err } = isPiped ? await withoutInput(name, given) : await runCommand(run, given);
        const line = ['$ pergola', name, ...argv.map((word) => (word === '' ? "''" : word))].join(' ');
        parts.push(`${line}${isPiped ? ' < /dev/null' : ''}\n${masked(out + err)}[${code}]\n`);
        expect([code === 0, line]).toEqual([false, line]);
      }
      const text = parts.join('\n');
      const file = join(GOLDEN, name, `${rule}.txt`);
      if (process.env['UPDATE_GOLDEN']) {
        mkdirSync(dirname(file), { recursive: true });
        writeFileSync(file, text);
      }
      expect(text).toBe(readFileSync(file, 'utf8'));
      expected.push(`${rule}.txt`);
    }
    expect(readdirSync(join(GOLDEN, name)).toSorted()).toEqual(expected.toSorted());
  },
);

const INPUTS = [
  'NOWHERE',
  'EMPTY',
  'LOOP',
  'OUT',
  'MORE',
  ...new Set(Object.keys(FILES).map((file) => file.split('/')[0]!)),
];

/** Returns the word with the path, address or secret that it stands for. */
function filled(word: string): string {
  if (word === 'ENGINE') return engine.url;
  if (word === 'SECRET') return engine.adminSecret;
  return INPUTS.includes(word.split('/')[0]!) ? path(word) : word;
}

function masked(text: string): string {
  return text.replaceAll(`${folder}/`, '').replaceAll(engine.url, 'ENGINE');
}

/** Runs the command as a program whose standard input is empty. */
function withoutInput(name: Name, argv: readonly string[]) {
  return new Promise<{ code: number; out: string; err: string }>((resolve) => {
    const program = execFile(
      process.execPath,
      [join(ROOT, 'bin/pergola.mjs'), name, ...argv],
      (error, out, err) => resolve({ code: Number(error?.code ?? 0), out, err }),
    );
    program.stdin?.end();
  });
}
