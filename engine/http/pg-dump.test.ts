/** Tests the endpoint with a fake pg_dump that prints its arguments, and with the real one if it is as new as the
 *  server. */
import { execFileSync } from 'node:child_process';
import { chmodSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { createDatabase, type TestDatabase } from '../../testing/database.ts';
import { startTestEngine, type TestEngine } from '../../testing/engine.ts';
import { cleanDump, forbiddenOption } from '../database/pg-dump.ts';

const PATH = process.env['PATH'];
let database: TestDatabase;
let engine: TestEngine;

beforeAll(async () => {
  database = await createDatabase();
  await database.sql('create table author (id int primary key); create table hidden (id int)');
  engine = await startTestEngine({ databaseUrl: database.url });
});
afterEach(() => {
  process.env['PATH'] = PATH;
});
afterAll(async () => {
  await engine.close();
  await database.drop();
});

const dump = async (body: unknown, headers: Record<string, string> = {}) => {
  const response = await engine.fetch('/v1alpha1/pg_dump', {
    method: 'POST',
    body: JSON.stringify(body),
    headers,
  });
  return { status: response.status, type: response.headers.get('content-type'), text: await response.text() };
};

/** Installs a program called pg_dump at the front of the PATH. */
function install(script: string): void {
  const folder = mkdtempSync(join(tmpdir(), 'pergola-pg-dump-'));
  writeFileSync(join(folder, 'pg_dump'), `#!/bin/sh\n${script}\n`);
  chmodSync(join(folder, 'pg_dump'), 0o755);
  process.env['PATH'] = folder + delimiter + PATH;
}

test('the program receives the options and the source, without the password', async () => {
  install('for a in "$@"; do echo "$a"; done; echo "password: $PGPASSWORD"');
  const { status, type, text } = await dump({ opts: ['-O', '-x', '--schema', 'public'] });
  expect({ status, type }).toEqual({ status: 200, type: 'application/sql; charset=utf-8' });
  const { password, hostname, port, username, pathname } = new URL(database.url);
  expect(text).toContain(`password: ${password}\n`);
  const args = text.split('\n').slice(0, 6);
  const address = `host='${hostname}' port='${port}' user='${username}' dbname='${pathname.slice(1)}'`;
  expect(args).toEqual(['-O', '-x', '--schema', 'public', '--no-password', `--dbname=${address}`]);
});

test('administrators see its error output when it fails', async () => {
  install('echo "server version mismatch" >&2; exit 1');
  const { status, text } = await dump({ opts: [] });
  expect(status).toBe(500);
  expect(JSON.parse(text)).toMatchObject({ code: 'unexpected', internal: 'server version mismatch' });
});

test('a missing program is reported', async () => {
  process.env['PATH'] = mkdtempSync(join(tmpdir(), 'pergola-empty-'));
  const { status, text } = await dump({ opts: [] });
  expect(status).toBe(400);
  expect(JSON.parse(text)).toMatchObject({
    code: 'not-supported',
    error: expect.stringContaining('pg_dump'),
  });
});

test('only administrators get a dump', async () => {
  const { status, text } = await dump({ opts: [] }, { 'x-engine-role': 'user' });
  expect(status).toBe(400);
  expect(text).toContain('access-denied');
});

test.each<[string, unknown, string]>([
  ['a body that is none', [], '$'],
  ['options that are no list', { opts: '-O' }, '$.opts'],
  ['an option that writes a file', { opts: ['-O', '--file=/tmp/x'] }, '$.opts[1]'],
  ['a source there is not', { opts: [], source: 'x' }, '$'],
])('%s is refused', async (_name, body, path) => {
  const { status, text } = await dump(body);
  expect(status).toBe(400);
  expect(JSON.parse(text).path).toBe(path);
});

test('options that write files, connect elsewhere or are unknown are refused, in every notation', () => {
  const fine = [['-Ox'], ['-napp'], ['-n', '-f'], ['--schema=app', '--data-only'], ['-t', 'a', '-s']];
  for (const options of fine) expect(forbiddenOption(options)).toBeUndefined();
  const bad = [
    '-f',
    '-ffile',
    '--file',
    '--fil=x',
    '-d',
    '--dbname=x',
    '-h',
    '-p',
    '-U',
    '-j4',
    '-Fd',
    '-Of',
    'name',
  ];
  for (const option of bad) expect(forbiddenOption(['-s', option])).toBe(option);
});

test('a cleaned dump contains only statements', () => {
  const sql = `--\n-- PostgreSQL\n--\n\\restrict abc\nSET statement_timeout = 0;
SELECT pg_catalog.set_config('search_path', '', false);\nCREATE SCHEMA public;\n\nCREATE TABLE public.a (\n    id integer\n);\n`;
  expect(cleanDump(sql)).toBe(
    'SET check_function_bodies = false;\nCREATE TABLE public.a (\n    id integer\n);\n',
  );
});

test('the real program dumps the requested tables', async ({ skip }) => {
  const [row] = await database.sql('show server_version_num');
  const installed = /(\d+)\./.exec(versionOfProgram())?.[1];
  skip(
    Number(installed ?? 0) < Math.floor(Number(row!['server_version_num']) / 10_000),
    'no pg_dump as new as the server',
  );
  const { status, text } = await dump({
    opts: ['-O', '-x', '--schema-only', '-t', 'author'],
    clean_output: true,
  });
  expect(status).toBe(200);
  expect(text).toMatch(/^SET check_function_bodies = false;\nCREATE TABLE public.author \(\n/);
  expect(text).not.toContain('hidden');
});

function versionOfProgram(): string {
  try {
    return execFileSync('pg_dump', ['--version'], { encoding: 'utf8' });
  } catch {
    return '';
  }
}
