/** Tests the package of npm as a user gets it: installed by npm into an empty folder, and run with Node alone on PATH and a home of its own. Every
 *  command runs, `up` starts an API, and stack traces name the sources. The commands of README install it, and remove it without a trace. */
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  copyFileSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { homedir } from 'node:os';
import { basename, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { blocksOf } from '../operator/testing/guide.ts';
import { createDatabase } from '../testing/database.ts';
import { ROOT } from './bundled.mjs';
import { COMMANDS } from './commands.mjs';
import { packInto } from './package.ts';

const MOST_MB = 6;
/** The address of the site that SITE_URL names in a release. */
const SITE = 'https://docs.example/pergola/';
/** The repository that SOURCE_URL names in a release. */
const SOURCES = 'https://forge.example/pergola/pergola';

// Not below the system's temporary folder, where an installation of npm above it could be taken for ours.
const folder = mkdtempSync('/var/tmp/pergola-packed-');
const installed = join(folder, 'node_modules/pergola');
const PROGRAM = join(folder, 'node_modules/.bin/pergola');
const ENV = { PATH: join(folder, 'only-node'), HOME: folder, NO_COLOR: '1' };
let archive: string;

beforeAll(async () => {
  chmodSync(folder, 0o755);
  archive = await packInto(folder, SITE, SOURCES);
  execFileSync('npm', ['install', '--prefer-offline', '--no-audit', '--no-fund', archive], {
    cwd: folder,
    stdio: 'pipe',
  });
  mkdirSync(ENV.PATH);
  copyFileSync(process.execPath, join(ENV.PATH, 'node'));
}, 240_000);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

type Manifest = {
  readonly version: string;
  readonly dependencies: Readonly<Record<string, string>>;
  readonly repository?: object;
};

function manifest(): Manifest {
  return JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8'));
}

function output(program: string, ...args: readonly string[]): string {
  return execFileSync(program, args, { cwd: folder, env: ENV, encoding: 'utf8' });
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
  expect(plain(output(PROGRAM, command, '--help'), 'node_modules/.bin/pergola')).toBe(
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

test('resources name the JSON Schemas that the site has of the version', () => {
  const old =
    'apiVersion: pergola.dev/v1alpha1\nkind: InheritedRole\nmetadata: { name: a }\nspec: { roleSet: [b] }\n';
  writeFileSync(join(folder, 'role.yaml'), old);
  output(PROGRAM, 'convert', '-f', 'role.yaml');
  const schemas = `https://docs.example/pergola/${manifest().version}/schemas`;
  const line = `# yaml-language-server: $schema=${schemas}/pergola.dev/inheritedrole_v1alpha1.json\n`;
  expect(readFileSync(join(folder, 'role.yaml'), 'utf8')).toBe(line + old.replace('roleSet', 'roles'));
});

test('a release says where its sources are, without which a registry refuses its provenance', () => {
  expect(manifest().repository).toEqual({
    type: 'git',
    url: 'git+https://forge.example/pergola/pergola.git',
  });
});

test('an address of the site that is no URL is refused', async () => {
  await expect(packInto(folder, 'docs.example')).rejects.toThrow('SITE_URL docs.example is not a URL');
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

test('on a Node that is too old it says which one is needed', () => {
  const old = `Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '22.18.0' } })`;
  const { status, stderr } = spawnSync(
    process.execPath,
    [`--import=data:text/javascript,${encodeURIComponent(old)}`, PROGRAM, 'up'],
    { cwd: folder, env: ENV, encoding: 'utf8' },
  );
  expect(status).toBe(2);
  expect(stderr).toContain('Node 24.2 or newer is needed');
});

test('up starts a database and an API', async () => {
  await using started = await up();
  expect(await started.text('{ __schema { queryType { fields { name } } } }')).toContain('_by_pk');
  const { status } = await fetch(new URL('/', started.url));
  expect(status).toBe(200);
}, 90_000);

test('up --init serves a database that is given', async () => {
  const database = await createDatabase();
  try {
    await database.sql(`create table pen (id int primary key, ink text); insert into pen values (1, 'blue')`);
    await using started = await up('--init', '--database-url', database.url);
    expect(await started.text('{ pen { ink } }')).toBe('{"data":{"pen":[{"ink":"blue"}]}}');
  } finally {
    await database.drop();
  }
}, 90_000);

/** Hides the repository from a command by an empty file system over it, which not every system allows. */
const HIDE = ['--mount', 'bash', '-c', `mount -t tmpfs none '${ROOT}' && exec bash -c "$1"`, 'bash'];
const canHide = spawnSync('unshare', [...HIDE, 'true']).status === 0;
const shell = (command: string): readonly [string, readonly string[]] =>
  canHide ? ['unshare', [...HIDE, command]] : ['bash', ['-c', command]];

describe(`the commands of README, ${canHide ? 'without' : 'beside'} the repository`, () => {
  const commands = blocksOf(readFileSync(join(ROOT, 'README.md'), 'utf8')).find(({ text }) =>
    text.includes('.tgz'),
  )!;
  const [npx, ...global] = commands.text.split('\n');
  const cache = join(homedir(), '.npm');
  const home = mkdtempSync(join(folder, 'home-'));
  const env = {
    PATH: `${join(home, 'bin')}:${ENV.PATH}:${withoutRepository(process.env['PATH']!)}`,
    HOME: home,
    npm_config_prefix: home,
    npm_config_cache: cache,
    npm_config_prefer_offline: 'true',
  };
  beforeAll(() => cpSync(archive, join(home, basename(archive))));

  test('run up in an empty folder, which leaves its data there and nothing else', async () => {
    const child = spawn(...shell(`${npx} --port 0`), { cwd: home, env, detached: true });
    let said = '';
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (text) => (said += text));
    await expect.poll(() => said, { timeout: 90_000 }).toContain('Ctrl-C stops everything');
    process.kill(-child.pid!, 'SIGINT');
    await once(child, 'exit');
    expect(readdirSync(home).toSorted()).toEqual(['.pergola', basename(archive)]);
  }, 150_000);

  test('install it for a user, and remove all of it', () => {
    const run = (command: string) => execFileSync(...shell(command), { cwd: home, env, encoding: 'utf8' });
    expect(global).toHaveLength(2);
    run(global[0]!);
    expect(run('pergola version')).toBe(`pergola ${manifest().version}\n`);
    run(global[1]!);
    const left = readdirSync(home, { recursive: true, withFileTypes: true })
      .filter((entry) => !entry.isDirectory())
      .map(({ parentPath, name }) => join(parentPath, name).slice(home.length + 1));
    expect(left.filter((file) => !file.startsWith('.pergola/'))).toEqual([basename(archive)]);
  }, 150_000);
});

/** The PATH of a person who has no clone. */
function withoutRepository(path: string): string {
  return path
    .split(':')
    .filter((entry) => !entry.startsWith(ROOT))
    .join(':');
}

type Up = AsyncDisposable & {
  readonly url: string;
  /** Sends a query as administrator, and returns the text of the response. */
  readonly text: (query: string) => Promise<string>;
};

/** Starts `up` on a folder of its own, and returns when it has said that it is ready. */
async function up(...flags: readonly string[]): Promise<Up> {
  const work = mkdtempSync(join(folder, 'up-'));
  if (!flags.includes('--init')) {
    cpSync(new URL('./testing/shop', import.meta.url), join(work, 'shop'), { recursive: true });
    flags = ['shop', ...flags];
  }
  const child = spawn(PROGRAM, ['up', ...flags, '--port', '0', '--data', 'data'], { cwd: work, env: ENV });
  const stop = async () => {
    child.kill('SIGINT');
    await once(child, 'exit');
  };
  let said = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text) => (said += text));
  await expect
    .poll(() => said, { timeout: 60_000 })
    .toContain('Ctrl-C stops everything')
    .catch(async (error) => {
      await stop();
      throw error;
    });
  const url = /GraphQL +(\S+)/.exec(said)![1]!;
  const secret = /Admin secret +(\S+)/.exec(said)![1]!;
  return {
    url,
    text: async (query) => {
      const headers = { 'content-type': 'application/json', 'x-engine-admin-secret': secret };
      const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify({ query }) });
      return response.text();
    },
    [Symbol.asyncDispose]: stop,
  };
}
