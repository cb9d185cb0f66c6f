/** Golden file of what `pergola migrate` prints for bad input: flags, folders, files, versions, databases. messages.txt has each command,
 *  its exit code and its output. UPDATE_GOLDEN=1 (`make golden`) rewrites it; review the diff. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createDatabase, type TestDatabase } from '../../../testing/database.ts';
import { folderOf } from '../../../testing/migrate/folder.ts';
import { captureOutput } from '../../../testing/output.ts';
import { run } from '../../migrate.ts';

const FILE = join(import.meta.dirname, 'messages.txt');
const FREE = '-- pergola: no-transaction\n';

let database: TestDatabase;

beforeEach(async () => {
  database = await createDatabase();
  vi.stubEnv('ENGINE_GRAPHQL_DATABASE_URL', undefined);
});
afterEach(async () => {
  vi.unstubAllEnvs();
  vi.restoreAllMocks();
  await database.drop();
});

/** Folders by the letter that the commands name them with. */
const FOLDERS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  EMPTY: { 'README.md': 'nothing yet' },
  GOOD: { '1_a.sql': 'create table a (id int)' },
  SOURCES: { 'one/1_a.sql': 'select 1', 'two/1_a.sql': 'select 1' },
  NAMES: {
    'init.sql': 'select 1',
    '1_a.sql': 'select 1',
    '01_b.sql': 'select 1',
    '2_c/down.sql': '',
    '3_d/up.yaml': '',
  },
  CONTENT: {
    '01_nothing.sql': '-- later',
    '02_directive.sql': '-- pergola: no transactions\nselect 1',
    '03_transaction.sql': 'begin;\ncreate table a (id int);\ncommit;',
    '04_psql.sql': '\\c other',
    '05_copy.sql': 'copy a from stdin',
    '06_index.sql': 'create index concurrently i on a (id)',
    '07_vacuum.sql': 'vacuum a',
  },
  SYNTAX: { '1_a.sql': 'select 1;\n\ncreate tabel a (id int)' },
  ENUM: { '1_a.sql': "create type e as enum ('x');", '2_b.sql': "alter type e add value 'y'; select 'y'::e" },
  INSIDE: {
    '1_a.sql': 'create table p (id int); create /* now */ index concurrently i on p (id)',
  },
  HALF: { '1_a.sql': `${FREE}create table h (id int);\nselect 1 / 0;\nselect 2` },
};

/** The commands, in order; DB is the database. */
const COMMANDS = [
  '',
  'apply -f GOOD',
  'stats -f GOOD',
  'up --database-url DB',
  'up -f GOOD',
  'up GOOD --database-url DB',
  'up -f GOOD --database-url DB --dry-run',
  'up -f GOOD --database-url DB --lock-timeout 5s',
  'up -f GOOD --database-url DB -o yaml',
  'up -f GOOD --database-url DB --source a/b',
  'up -f GOOD --database-url DB --mark-applied first',
  'up -f GOOD --database-url DB --engine http://127.0.0.1:2',
  'status -f GOOD --database-url DB --adopt',
  'verify -f GOOD --database-url DB --resume-from 1',
  'create -f EMPTY',
  'create one two -f EMPTY',
  'create --- -f EMPTY',
  'create !!! -f EMPTY',
  'up -f /nowhere/migrations --database-url DB',
  'up -f EMPTY --database-url DB',
  'up -f SOURCES --database-url DB',
  'up -f GOOD --database-url mysql://localhost/db',
  'up -f GOOD --database-url postgres://user:hunter2@127.0.0.1:1/db',
  'up -f NAMES --database-url DB',
  'verify -f NAMES --database-url DB',
  'up -f CONTENT --database-url DB',
  'verify -f CONTENT --database-url DB',
  'up -f SYNTAX --database-url DB',
  'up -f ENUM --database-url DB --source enum',
  'up -f INSIDE --database-url DB',
  'up -f GOOD --database-url DB --adopt',
  'up -f GOOD --database-url DB --adopt --engine http://127.0.0.1:2',
  'up -f GOOD --database-url DB --mark-applied 7',
  'up -f GOOD --database-url DB --resume-from 1',
  'up -f HALF --database-url DB --source half',
  'up -f HALF --database-url DB --source half',
  'status -f HALF --database-url DB --source half',
  'up -f HALF --database-url DB --source half --resume-from 1',
  'up -f HALF --database-url DB --source half --resume-from 9',
];

test('bad input has the expected message and exit code', async () => {
  const output = captureOutput();
  const folders = Object.entries(FOLDERS).map(([name, files]) => [name, folderOf(files)] as const);
  const paths: Readonly<Record<string, string>> = { ...Object.fromEntries(folders), DB: database.url };
  const transcript: string[] = [];
  for (const command of COMMANDS) {
    output.text = '';
    const words = command.split(' ').filter(Boolean);
    const code = await run(words.map((word) => paths[word] ?? word));
    expect(output.text).not.toContain('hunter2');
    const text = folders
      .reduce((all, [name, path]) => all.replaceAll(path, name), output.text)
      .replaceAll(/\(\d+ ms\)/g, '(0 ms)');
    transcript.push(`$ pergola migrate ${command}\n${text}[${code}]\n`);
  }
  const actual = transcript.join('\n');
  if (process.env['UPDATE_GOLDEN']) writeFileSync(FILE, actual);
  expect(actual).toBe(readFileSync(FILE, 'utf8'));
});
