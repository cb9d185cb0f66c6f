/** Tests `pergola migrate` as a command: what it writes, prints and exits with, and the record of the reference's command line. Messages
 *  for bad input are in the golden file beside this one. */
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createDatabase, type TestDatabase } from '../testing/database.ts';
import { startTestEngine } from '../testing/engine.ts';
import { folderOf, writeFiles } from '../testing/migrate/folder.ts';
import { captureOutput } from '../testing/output.ts';
import { run } from './migrate.ts';

let database: TestDatabase;
let output: { text: string };

beforeEach(async () => {
  database = await createDatabase();
  output = captureOutput();
});
afterEach(async () => {
  vi.restoreAllMocks();
  await database.drop();
});

/** Runs a command over a folder and returns its exit code and what it printed, without paths and times. */
async function migrate(folder: string, command: string, ...args: readonly string[]) {
  output.text = '';
  const url = command === 'create' ? [] : ['--database-url', database.url];
  const code = await run([command, ...args, '-f', folder, ...url]);
  return { code, text: output.text.replaceAll(folder, 'F').replaceAll(/\(\d+ ms\)/g, '(0 ms)') };
}

test('create, status, up, verify', async () => {
  const folder = folderOf({ '1_a.sql': 'create table a (id int)', '2_b.sql': 'create table b (id int)' });
  expect(await migrate(folder, 'status')).toEqual({
    code: 2,
    text: `VERSION          STATE         NAME
1                pending       a
2                pending       b
0 applied; 2 pending.
`,
  });
  expect((await migrate(folder, 'verify')).code).toBe(0);
  expect(await migrate(folder, 'up')).toEqual({
    code: 0,
    text: 'applied 1 a (0 ms)\napplied 2 b (0 ms)\n2 migrations applied. The newest version is 2.\n',
  });
  expect(await migrate(folder, 'up')).toEqual({
    code: 0,
    text: 'Nothing to do. The newest version is 2.\n',
  });
  expect(await migrate(folder, 'status')).toMatchObject({ code: 0 });
  writeFiles(folder, { '1_a.sql': 'create table a (id bigint)' });
  const refused = '1 a: the file was edited after it was applied; restore it';
  for (const command of ['status', 'verify', 'up']) {
    const { code, text } = await migrate(folder, command);
    expect([command, code, text.includes(refused)]).toEqual([command, 1, true]);
  }
});

test('-o json prints one document', async () => {
  const folder = folderOf({ '1_a.sql': 'create table a (id int)' });
  const pending = JSON.parse((await migrate(folder, 'status', '-o', 'json')).text);
  expect(pending).toMatchObject({
    folder: 'F',
    versions: [{ version: '1', state: 'pending' }],
    problems: [],
  });
  const stdout = vi.mocked(process.stdout.write);
  stdout.mockClear();
  await migrate(folder, 'up', '-o', 'json');
  const printed = stdout.mock.calls.map(([text]) => String(text)).join('');
  expect(JSON.parse(printed)).toEqual({ applied: [{ version: '1', name: 'a' }], version: '1' });
});

test('create follows the form of the folder', async () => {
  const created = async (files: Readonly<Record<string, string>>, ...args: readonly string[]) => {
    const folder = folderOf(files);
    const { code, text } = await migrate(folder, 'create', ...args);
    expect([code, existsSync(text.trim().replace('F', folder))]).toEqual([0, true]);
    return { file: text.trim(), content: readFileSync(text.trim().replace('F', folder), 'utf8') };
  };
  expect((await created({}, 'Add ISBN!')).file).toMatch(/^F\/20\d{12}_add_isbn\.sql$/);
  expect((await created({ '0009_a.sql': 'select 1' }, 'b')).file).toBe('F/0010_b.sql');
  expect((await created({ '1600000000000_a/up.sql': 'select 1' }, 'b')).file).toMatch(
    /^F\/\d{13}_b\/up\.sql$/,
  );
  expect((await created({ '9999999999999_a/up.sql': 'select 1' }, 'b')).file).toBe(
    'F/10000000000000_b/up.sql',
  );
  expect((await created({ 'default/1_a.sql': 'select 1' }, 'b')).file).toBe('F/default/2_b.sql');
  expect((await created({}, 'b', '--no-transaction')).content).toMatch(/^-- pergola: no-transaction\n/);
});

test('a file that create wrote has to get a statement', async () => {
  const folder = folderOf({});
  await migrate(folder, 'create', 'a');
  expect((await migrate(folder, 'up')).text).toMatch(
    /contains no statement; write one or delete the migration/,
  );
  const [file] = readdirSync(folder);
  writeFileSync(join(folder, file!), `${readFileSync(join(folder, file!), 'utf8')}select 1;`);
  expect((await migrate(folder, 'up')).code).toBe(0);
});

/** A project of the reference's command line, of which the first versions have run. */
const PROJECT = {
  'default/1600000000000_init/up.sql': 'create table a (id int)',
  'default/1600000000000_init/down.sql': 'drop table a',
  'default/1600000000001_more/up.sql': 'create table b (id int)',
};

test('the record of the reference in the same database is refused until it is adopted', async () => {
  await database.sql(`create table a (id int); create schema hdb_catalog;
    create table hdb_catalog.hdb_version (hasura_uuid uuid, version text, cli_state jsonb, console_state jsonb);
    insert into hdb_catalog.hdb_version values (null, '48', '{"migrations": {"default": {"1600000000000": false}}}', '{}')`);
  const folder = folderOf(PROJECT);
  expect(await migrate(folder, 'up')).toEqual({
    code: 1,
    text: 'pergola migrate: no migration was run:\nthe schema hdb_catalog records that another tool has run 1 of these migrations; take over its record with --adopt\n',
  });
  expect(await migrate(folder, 'up', '--adopt')).toEqual({
    code: 0,
    text: '1 of 1 recorded versions adopted\napplied 1600000000001 more (0 ms)\n1 migrations applied. The newest version is 1600000000001.\n'.replace(
      '1 migrations',
      '1 migration',
    ),
  });
  expect((await migrate(folder, 'status')).text).toBe(`VERSION          STATE         NAME
1600000000000    applied       init (adopted)
1600000000001    applied       more
2 applied, the newest is 1600000000001; 0 pending.
`);
});

test('a version that the reference did not finish needs a decision; older tables of its record are read', async () => {
  await database.sql(`create schema hdb_catalog;
    create table hdb_catalog.schema_migrations (version bigint primary key, dirty boolean not null);
    insert into hdb_catalog.schema_migrations values (1600000000000, false), (1600000000001, true)`);
  const folder = folderOf(PROJECT);
  const { code, text } = await migrate(folder, 'up', '--adopt');
  expect(code).toBe(1);
  expect(text).toContain('recorded as unfinished: 1600000000001\n');
  expect(text).toContain(
    'Look at the database: run it with --resume-from 1, or record it with --mark-applied 1600000000001',
  );
  expect((await migrate(folder, 'up', '--resume-from', '1')).code).toBe(0);
  expect(
    await database.sql(`select to_regclass('b') is not null as b, to_regclass('a') is not null as a`),
  ).toEqual([{ b: true, a: false }]);
});

test('the record can be read from an engine', async () => {
  const engine = await startTestEngine({ databaseUrl: database.url });
  try {
    const state = { migrations: { default: { 1600000000000: false }, other: { 5: false } } };
    await engine.admin('set_catalog_state', { type: 'cli', state });
    await database.sql('create table a (id int)');
    const folder = folderOf(PROJECT);
    const flags = ['--adopt', '--engine', engine.url, '--admin-secret', engine.adminSecret];
    expect(await migrate(folder, 'up', ...flags)).toMatchObject({ code: 0 });
    expect((await migrate(folder, 'up', ...flags)).text).toContain('0 of 1 recorded versions adopted\n');
  } finally {
    await engine.close();
  }
});
