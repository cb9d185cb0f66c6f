/** Tests that the commands which `pergola` prints can be run where they are printed, and the Node that it needs. */
import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { invocation, runnable } from '../operator/folder/invocation.ts';
import { COMMANDS } from './commands.mjs';

const FILE = join(import.meta.dirname, 'pergola.mjs');
const root = mkdtempSync(join(tmpdir(), 'pergola-invocation-'));
afterAll(() => rmSync(root, { recursive: true }));

test.each([
  [['/clone/bin/pergola.mjs'], {}, '/clone', 'bin/pergola.mjs'],
  [['/clone/bin/pergola.mjs'], {}, '/clone/bin', './pergola.mjs'],
  [['/clone/bin/pergola.mjs'], {}, '/elsewhere', '/clone/bin/pergola.mjs'],
  [['/a clone/bin/pergola.mjs'], {}, '/', "'a clone/bin/pergola.mjs'"],
  [['/usr/bin/pergola'], { PATH: '/bin:/usr/bin' }, '/', 'pergola'],
  [['/usr/bin/pergola'], { PATH: '/bin' }, '/home', '/usr/bin/pergola'],
  [
    ['/shop/node_modules/.bin/pergola'],
    { PATH: '/shop/node_modules/.bin' },
    '/shop',
    'node_modules/.bin/pergola',
  ],
  [['/shop/node_modules/.bin/pergola'], { npm_lifecycle_event: 'npx' }, '/shop', 'npx pergola'],
  [['/clone/node_modules/vitest/worker.js'], {}, '/clone', 'pergola'],
] as const)('%j in %j, called in %s, is %s', (argv, env, folder, expected) => {
  expect(invocation({ argv: ['node', ...argv], env }, folder)).toBe(expected);
});

test('npx is named with the package that it was given, once', () => {
  const installed = join(root, '_npx/1');
  mkdirSync(join(installed, 'node_modules/.bin'), { recursive: true });
  writeFileSync(
    join(installed, 'package.json'),
    JSON.stringify({ _npx: { packages: ['./pergola-0.4.0.tgz'] } }),
  );
  const argv = ['node', join(installed, 'node_modules/.bin/pergola')];
  expect(invocation({ argv, env: { npm_lifecycle_event: 'npx' } })).toBe('npx ./pergola-0.4.0.tgz');
});

type Run = { readonly text: string; readonly status: number | null };

function run(file: string, args: readonly string[], cwd: string): Run {
  const { stdout, stderr, status } = spawnSync(file, args, { cwd, encoding: 'utf8' });
  return { text: stdout + stderr, status };
}

/** The ways to call the command: the folder, and the words that begin a printed command there. */
const link = join(root, 'folder with space');
mkdirSync(link);
symlinkSync(FILE, join(link, 'pergola'));
const WAYS = [
  [FILE, process.cwd(), relative(process.cwd(), FILE)],
  [FILE, root, FILE],
  [join(link, 'pergola'), tmpdir(), `'${relative(tmpdir(), join(link, 'pergola'))}'`],
] as const;

test.each(WAYS)('commands that %s prints in %s begin with %s and can be run', (file, cwd, begin) => {
  for (const [args, command] of [
    [['nonsense'], 'help'],
    [['plan', '--nonsense'], 'plan --help'],
    [['status', '--engine', 'http://127.0.0.1:9'], 'up'],
    [['serve', '--nonsense'], 'serve --help'],
    [['help'], `up ${cwd === process.cwd() ? '' : `${process.cwd()}/`}deploy/examples/library`],
    [['help', 'migrate'], 'migrate create add_isbn -f migrations'],
  ] as const) {
    const { text } = run(file, args, cwd);
    expect(text).toContain(`${begin} ${command}`);
    expect(text).not.toMatch(/(^|\s)(npx )?pergola (help|plan|up|serve|migrate) /m);
  }
  expect(execFileSync('sh', ['-c', `${begin} plan --help`], { cwd, encoding: 'utf8' })).toContain('--engine');
});

test('every command is one of those that texts name', () => {
  const before = process.argv[1]!;
  process.argv[1] = '/elsewhere/pergola.mjs';
  try {
    const words = [...Object.keys(COMMANDS).filter((name) => name !== 'completion'), 'help', 'version'];
    for (const word of words)
      expect(runnable(`see pergola ${word} x`)).toBe(`see /elsewhere/pergola.mjs ${word} x`);
    // The beginning of a message, a path, a word that is no command, and a command that is whole.
    for (const text of ['pergola up: no', '/x/pergola up', 'pergola is', 'my-pergola up', 'npx pergola up'])
      expect(runnable(text)).toBe(text);
  } finally {
    process.argv[1] = before;
  }
});

/** A Node that is older than what `pergola` needs, if the machine has one. */
const OLD_NODE = ['/usr/bin/node', '/usr/local/bin/node'].find((file) => {
  const { stdout } = spawnSync(file, ['--version'], { encoding: 'utf8' });
  return /^v(18|20|22)\./.test(stdout ?? '');
});

test.skipIf(OLD_NODE === undefined)(
  'an older Node starts the one of npm, and without that says which Node is needed',
  () => {
    const newer = run(OLD_NODE!, [FILE, 'nonsense'], process.cwd());
    expect(newer.text).toBe('pergola: there is no command nonsense\nSee: bin/pergola.mjs help\n');
    const alone = join(root, 'alone');
    cpSync(import.meta.dirname, join(alone, 'bin'), {
      recursive: true,
      filter: (file) => !/golden/.test(file),
    });
    const { text, status } = run(OLD_NODE!, [join(alone, 'bin/pergola.mjs'), 'up'], root);
    expect(status).toBe(2);
    expect(text).toMatch(
      /^pergola: this is Node v\d+\S*, and Node 24\.2 or newer is needed\. In a clone, npm ci installs one/,
    );
  },
);
