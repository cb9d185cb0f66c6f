/** Tests the line of an error in a *.sql file. Running files is tested in ../up.test.ts. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { testDatabase } from '../../testing/world.ts';
import { isSeed, seed } from './seed.ts';

const database = testDatabase();
const folder = mkdtempSync(join(tmpdir(), 'pergola-seed-'));

afterAll(async () => {
  rmSync(folder, { recursive: true });
});

const runOf = async (text: string) => {
  writeFileSync(join(folder, 'a.sql'), text);
  const done: string[] = [];
  await seed(database.url, folder, { isWanted: isSeed, onFile: ({ state }) => done.push(state) });
  return done;
};

test.each([
  [
    'an error at run time',
    'create table t (id int);\n\n-- later\nselect 1 / 0;\n',
    'a.sql:4: division by zero',
  ],
  [
    'a constraint',
    'create table t (id int not null);\ninsert into t\nvalues (null);\n',
    'a.sql:2: null value in column',
  ],
  [
    'a name',
    'create table t (id int);\nselect id,\n  nowhere\nfrom t;\n',
    'a.sql:3: column "nowhere" does not exist',
  ],
  [
    'the data of pg_dump',
    'create table t (id int);\ncopy t (id) from stdin;\n1\n\\.\n',
    'a.sql:2: the statement reads rows from outside of the database; use insert, as pg_dump --inserts writes it',
  ],
  ['a command of psql', '\\restrict x\nselect 1;\n', 'a.sql:1: the statement is a command of psql'],
  ['a syntax error', 'create table t (id int);\r\ncreate tabel u;\r\n', 'a.sql:2: syntax error'],
])('%s has the line, and nothing of the file stays', async (_, text, message) => {
  await expect(runOf(text)).rejects.toThrow(message);
  await expect(runOf('create table t (id int);\ndrop table t;\nselect 1 / 0')).rejects.toThrow('a.sql:3');
});

test('settings of a file, as pg_dump writes them, do not reach the next one', async () => {
  const own = mkdtempSync(join(tmpdir(), 'pergola-seed-'));
  try {
    writeFileSync(
      join(own, 'first.sql'),
      "select pg_catalog.set_config('search_path', '', false);\nset role pg_read_all_data;\n",
    );
    writeFileSync(join(own, 'second.sql'), 'create table after_settings (id int);\n');
    const done: string[] = [];
    await seed(database.url, own, { isWanted: isSeed, onFile: ({ state }) => done.push(state) });
    expect(done).toEqual(['run', 'run']);
    const [table] = await database.sql("select to_regclass('public.after_settings')::text as name");
    expect(table).toEqual({ name: 'after_settings' });
  } finally {
    rmSync(own, { recursive: true });
  }
});

test('a file without errors is run as a whole, once', async () => {
  const text = `create function f() returns int language sql as $$ select 1; $$;\ncreate table t (v text);\ninsert into t values ('a;b');`;
  expect(await runOf(text)).toEqual(['run']);
  expect(await runOf(text)).toEqual(['known']);
});
