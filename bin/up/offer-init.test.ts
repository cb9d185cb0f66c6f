/** Tests the offer of `pergola up` to write resources: the flag, the question and its answers, and when there is none. */
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { killAll, pergola } from '../../testing/program.ts';
import { testDatabase } from '../../testing/world.ts';
import { folderToServe, type Offer } from './offer-init.ts';

const database = testDatabase();
let folder: string;
beforeAll(async () => {
  await database.sql('create table author (id int primary key)');
});
afterAll(() => killAll());
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'pergola-offer-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

/** Makes the offer to a user who types `answer`; undefined: nobody can answer. */
async function offered(answer: string | undefined, more: Partial<Offer> = {}) {
  const [input, output] = [new PassThrough(), new PassThrough()];
  const stop = new AbortController();
  const offer = {
    folder,
    isFolderNamed: false,
    isInit: false,
    isOwnDatabase: true,
    url: database.url,
    ...more,
  };
  const terminal = { input, output, isInteractive: answer !== undefined, signal: stop.signal };
  const serving = folderToServe(offer, terminal);
  if (answer === 'end') input.end();
  else if (answer === 'interrupt') stop.abort();
  else if (answer !== undefined) input.write(`${answer}\n`);
  const served = await serving;
  return { served: served.replace(folder, '.'), said: String(output.read() ?? '') };
}

const isWritten = () => existsSync(join(folder, 'resources/tables/author.yaml'));

test.each(['', 'y', 'Yes'])('the answer %j writes the resources', async (answer) => {
  const { served, said } = await offered(answer);
  expect([served, isWritten()]).toEqual(['./resources', true]);
  expect(said).toContain('Write resources for this database to');
  expect(said).toContain('1 table');
  expect(said).not.toContain('Next:');
});

test.each(['n', 'what', 'end', 'interrupt'])('the answer %j writes nothing', async (answer) => {
  const { served } = await offered(answer);
  expect([served, isWritten()]).toEqual(['.', false]);
});

test('without a terminal, the message names the flag', async () => {
  const { served, said } = await offered(undefined);
  expect([served, isWritten()]).toEqual(['.', false]);
  expect(said).toContain('With --init, resources for this database are written to');
});

test('the flag writes without a question, into the folder that is named', async () => {
  const target = join(folder, 'shop');
  const { served } = await offered(undefined, { isInit: true, folder: target, isFolderNamed: true });
  expect(served).toBe('./shop');
  const file = join(target, 'tables/author.yaml');
  writeFileSync(file, `# Ours.\n${readFileSync(file, 'utf8')}`);
  await offered(undefined, { isInit: true, folder: target, isFolderNamed: true });
  expect(readFileSync(file, 'utf8')).toContain('# Ours.');
});

test('the next start serves what was written, and a folder with resources is not asked about', async () => {
  await offered('y');
  expect(await offered('y')).toEqual({ served: './resources', said: '' });
  rmSync(join(folder, 'resources/.pergola-init'));
  expect(await offered('y')).toEqual({ served: '.', said: '' });
});

test('the embedded database is not asked about', async () => {
  expect(await offered('y', { isOwnDatabase: false })).toEqual({ served: '.', said: '' });
});

test('up --init serves a database in one command', { timeout: 60_000 }, async () => {
  const target = join(folder, 'shop');
  const flags = ['--database-url', database.url, '--port', '0', '--data', join(folder, 'data')];
  const { child, output, ended } = pergola(['up', target, '--init', '--admin-secret', 'secret', ...flags]);
  const isServing = () =>
    [/1 of 1 resources are Ready/, /GraphQL +\S/].every((line) => line.test(output.stdout));
  await vi.waitUntil(() => isServing() || child.exitCode !== null, 50_000);
  expect(output.stdout).toContain('1 table');
  const [, url] = /GraphQL +(\S+)/.exec(output.stdout)!;
  const response = await fetch(url!, {
    method: 'POST',
    headers: { 'x-engine-admin-secret': 'secret' },
    body: JSON.stringify({ query: '{ author { id } }' }),
  });
  expect(await response.json()).toEqual({ data: { author: [] } });
  child.kill('SIGINT');
  expect(await ended).toBe(0);
});
