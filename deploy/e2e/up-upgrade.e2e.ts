/** Tests the upgrade of a folder and the database of `pergola up`: the release before starts an API in a folder, the commands of the guide lead to this
 *  release and back. Each time the API is the same, no row is lost, and the admin secret is kept. It needs no cluster, but the history of the clone.
 *  The steps are one story and run in order. Not here: a release on a cluster (upgrade.e2e.ts). */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { previousRelease } from '../release/previous.ts';
import { run, until } from './cluster.ts';
import { AMINA, QUERY } from './examples.ts';
import { commandsOf } from './guide.ts';
import { installPrevious } from './installed.ts';

const HERE = resolve('bin/pergola.mjs');
const [FORWARD = '', BACK = ''] = commandsOf('upgrading.md', 'On a laptop');
/** Not below the system's temporary folder, where an installation of npm above it could be taken for ours. */
const folder = mkdtempSync('/var/tmp/pergola-up-upgrade-');
const reader = join(folder, 'reader');
/** The command of the release before. */
let previous: string;
/** The answers of the release before: the rows that role `reader` sees, and the number of authors. */
let before: unknown;

let up: ChildProcess | undefined;
let printed = '';

beforeAll(async () => {
  previous = (await installPrevious(folder)).command;
  cpSync(join(folder, 'sources/deploy/examples/library'), join(reader, 'resources'), { recursive: true });
  await inReader(
    'git init -q && git add -A && git -c user.name=e2e -c user.email=e2e@example.org commit -qm first',
  );
});

afterAll(async () => {
  await stop();
  rmSync(folder, { recursive: true, force: true });
});

test(`${previousRelease().version} serves a folder`, async () => {
  await start(previous);
  await post('/v1/graphql', {
    query: 'mutation { insert_author_one(object: { name: "Octavia E. Butler", country: "US" }) { id } }',
  });
  before = await served();
  expect(JSON.stringify(before)).toContain('The Dispossessed');
  expect(JSON.stringify(before)).toContain('Octavia E. Butler');
});

test('the commands of the guide lead to this release, with every row and the same admin secret', async () => {
  const secret = secretOf();
  await stop();
  const commands = FORWARD.split('\n');
  expect(commands.pop()).toBe('pergola up ./resources');
  await inReader(commands.join('\n'));
  await start(HERE);
  expect(await served()).toEqual(before);
  expect(secretOf()).toBe(secret);
  // A setting without an effect is reported since 0.4.0.
  const failing = printed.split('\n').filter((line) => / False /.test(line) && !/ NotEnforced /.test(line));
  expect(failing).toEqual([]);
});

test('the way back leads to the release before, with the rows of then', async () => {
  await post('/v1/graphql', {
    query: 'mutation { insert_author_one(object: { name: "Written since", country: "US" }) { id } }',
  });
  await stop();
  await inReader(BACK);
  await start(previous);
  expect(await served()).toEqual(before);
});

/** Runs commands in the folder of the user. */
function inReader(commands: string): Promise<string> {
  const prelude = `set -euo pipefail; cd ${reader}; pergola() { ${process.execPath} ${HERE} "$@"; }\n`;
  return run('bash', ['-c', prelude + commands]);
}

/** Starts `up` of a release, and waits until its resources were applied. */
async function start(command: string): Promise<void> {
  printed = '';
  up = spawn(process.execPath, [command, 'up', './resources', '--port', '0'], {
    cwd: reader,
    env: { ...process.env, NO_COLOR: '1' },
  });
  for (const stream of [up.stdout!, up.stderr!])
    stream.setEncoding('utf8').on('data', (text) => (printed += text));
  const hasApplied = () => / resources are Ready/.test(printed) && /Ctrl-C stops everything/.test(printed);
  await until('up has applied the resources', async () => up?.exitCode !== null || hasApplied());
  expect(up.exitCode, printed).toBeNull();
}

async function stop(): Promise<void> {
  if (up === undefined || up.exitCode !== null) return;
  up.kill('SIGINT');
  await once(up, 'exit');
}

async function served(): Promise<unknown> {
  const reads = await post('/v1/graphql', { query: QUERY }, { 'x-engine-role': 'reader', ...AMINA });
  const authors = await post('/v1/graphql', { query: '{ author(order_by: { id: asc }) { id name } }' });
  return { reads, authors };
}

async function post(
  path: string,
  body: object,
  headers: Readonly<Record<string, string>> = {},
): Promise<unknown> {
  const [, address = ''] = /GraphQL +(http:\/\/[^/]+)/.exec(printed) ?? [];
  const response = await fetch(address + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-engine-admin-secret': secretOf(), ...headers },
    body: JSON.stringify(body),
  });
  const answer = (await response.json()) as { readonly errors?: unknown };
  expect(answer.errors).toBeUndefined();
  return answer;
}

function secretOf(): string {
  return readFileSync(join(reader, '.pergola/admin-secret'), 'utf8').trim();
}
