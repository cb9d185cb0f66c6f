/** Tests the package of npm where npm puts it, below node_modules, with nothing of the repository but what it depends on: every command runs, `up` starts
 *  an API, and stack traces name the sources. */
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ROOT } from './bundled.mjs';
import { COMMANDS } from './commands.mjs';
import { packInto } from './package.ts';

const MOST_MB = 6;

const folder = mkdtempSync(join(tmpdir(), 'pergola-packed-'));
const installed = join(folder, 'node_modules/pergola');
const PROGRAM = join(installed, 'bin/pergola.mjs');
let archive: string;

beforeAll(async () => {
  chmodSync(folder, 0o755);
  archive = await packInto(folder);
  mkdirSync(installed, { recursive: true });
  execFileSync('tar', ['-xzf', archive, '-C', installed, '--strip-components=1']);
  for (const name of Object.keys(manifest().dependencies)) {
    const link = join(folder, 'node_modules', name);
    mkdirSync(dirname(link), { recursive: true });
    symlinkSync(join(ROOT, 'node_modules', name), link);
  }
}, 60_000);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

type Manifest = { readonly version: string; readonly dependencies: Readonly<Record<string, string>> };

function manifest(): Manifest {
  return JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8'));
}

function output(program: string, ...args: readonly string[]): string {
  const env = { ...process.env, NO_COLOR: '1' };
  return execFileSync(process.execPath, [program, ...args], { cwd: folder, env, encoding: 'utf8' });
}

test('it has the version of the repository, and can be published', () => {
  expect(output(PROGRAM, 'version')).toBe(`pergola ${manifest().version}\n`);
  expect(manifest()).not.toHaveProperty('private');
  expect(manifest()).not.toHaveProperty('devDependencies');
});

test(`it is smaller than ${MOST_MB} MB, and names the licences of what it contains`, () => {
  expect(statSync(archive).size).toBeLessThan(MOST_MB * 1e6);
  const licences = readFileSync(join(installed, 'dist/LICENSES.md'), 'utf8');
  for (const name of ['pg', 'graphql', 'fastify', '@kubernetes/client-node'])
    expect(licences).toContain(`## ${name} `);
});

test.each(Object.keys(COMMANDS))('%s prints the help that the sources print', (command) => {
  const plain = (text: string, program: string) => text.replaceAll(`${program} `, 'pergola ');
  expect(plain(output(PROGRAM, command, '--help'), 'node_modules/pergola/bin/pergola.mjs')).toBe(
    plain(output(join(ROOT, 'bin/pergola.mjs'), command, '--help'), join(ROOT, 'bin/pergola.mjs')),
  );
});

test('commands read the files beside them', () => {
  expect(output(PROGRAM, 'explain', 'table.spec.permissions')).toContain('select');
  expect(output(PROGRAM, 'completion', 'bash')).toContain('--engine');
  expect(output(PROGRAM, 'validate', '-f', join(installed, 'deploy/examples/library'))).toContain(
    'no problems',
  );
});

test('a stack trace names the source', () => {
  const script = `
    await import(${JSON.stringify(pathToFileURL(PROGRAM).href)});
    const { run } = await import(${JSON.stringify(pathToFileURL(join(installed, 'dist/serve.mjs')).href)});
    await run(null).catch(({ stack }) => console.log(stack));`;
  const printed = execFileSync(process.execPath, ['--input-type=module', '-e', script], { encoding: 'utf8' });
  const [, line] = /engine\/main\.ts:(\d+):/.exec(printed)!;
  const source = readFileSync(join(ROOT, 'engine/main.ts'), 'utf8').split('\n');
  expect(source[Number(line) - 1]).toContain('argv.includes(');
});

test('up starts a database and an API', async () => {
  cpSync(new URL('./testing/shop', import.meta.url), join(folder, 'shop'), { recursive: true });
  const up = spawn(process.execPath, [PROGRAM, 'up', 'shop', '--port', '0', '--data', 'data'], {
    cwd: folder,
  });
  let said = '';
  for (const stream of [up.stdout, up.stderr])
    stream.setEncoding('utf8').on('data', (text) => (said += text));
  try {
    await expect.poll(() => said, { timeout: 60_000 }).toContain('Ctrl-C stops everything');
    const url = /GraphQL +(\S+)/.exec(said)![1]!;
    const secret = /Admin secret +(\S+)/.exec(said)![1]!;
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-engine-admin-secret': secret },
      body: JSON.stringify({ query: '{ __schema { queryType { fields { name } } } }' }),
    });
    expect(await response.text()).toContain('_by_pk');
    const { status } = await fetch(new URL('/', url));
    expect(status).toBe(200);
  } finally {
    up.kill('SIGINT');
    await once(up, 'exit');
  }
}, 90_000);
