/** Tests the reading of folders: names, order, checksums, and every problem of names and content. */
import { expect, test } from 'vitest';
import { folderOf } from '../../testing/migrate/folder.ts';
import { MigrationFolderError, readMigrations } from './read-migrations.ts';

const read = (files: Readonly<Record<string, string>>, source = 'default') => {
  const folder = folderOf(files);
  const result = readMigrations(folder, source);
  const short = (text: string) => text.replaceAll(`${folder}/`, '');
  return {
    ...result,
    problems: result.problems.map(short),
    content: [...result.contentProblems.values()].flat().map(short),
    versions: result.migrations.map(({ version, name }) => `${version} ${name}`),
  };
};

test('files and folders are migrations, ordered by the number that begins their name', () => {
  const { versions, problems } = read({
    '10_ten.sql': 'select 1',
    '0009_nine/up.sql': 'select 1',
    '0009_nine/down.sql': 'select 1',
    '2_two.up.sql': 'select 1',
    '2_two.down.sql': 'select 1',
    '1600000000000_init/up.sql': 'select 1',
    'README.md': 'text',
    'notes/todo.txt': 'text',
  });
  expect(versions).toEqual(['2 two', '9 nine', '10 ten', '1600000000000 init']);
  expect(problems).toEqual([]);
});

test('the folder of the source is used where there is one', () => {
  const files = { 'default/1_a/up.sql': 'select 1', 'other/2_b/up.sql': 'select 1' };
  expect(read(files).versions).toEqual(['1 a']);
  expect(read(files, 'other').versions).toEqual(['2 b']);
  expect(() => read(files, 'third')).toThrow(
    /has no migrations and no folder third; it has default, other: name one with --source$/,
  );
  expect(() => readMigrations('/nowhere', 'default')).toThrow(MigrationFolderError);
});

test('line endings and a byte order mark do not change the checksum, anything else does', () => {
  const sum = (text: string) => read({ '1_a.sql': text }).migrations[0]!.sha256;
  expect(sum('\uFEFFselect 1;\r\nselect 2;\r\n')).toBe(sum('select 1;\nselect 2;\n'));
  expect(sum('select 1;\nselect 2; \n')).not.toBe(sum('select 1;\nselect 2;\n'));
});

test('statements have the line of their first word', () => {
  const { migrations } = read({ '1_a.sql': '-- a\n\nselect 1;\n/* b\n */ select 2;\n  select 2' });
  const { statements } = migrations[0]!;
  expect([...statements].map((text, i) => ({ text, line: statements.lineOf(i) }))).toEqual([
    { text: 'select 1', line: 3 },
    { text: 'select 2', line: 5 },
    { text: 'select 2', line: 6 },
  ]);
});

test('the first problems of a file are reported one by one, and the number of others', () => {
  const { content } = read({ '1_a.sql': 'commit;\n'.repeat(15) });
  expect(content).toHaveLength(11);
  expect(content[9]).toMatch(/^1_a\.sql:10: statement 10 begins or ends a transaction/);
  expect(content[10]).toBe('1_a.sql: 5 more statements cannot run');
});

test('line endings do not count, wherever they are', () => {
  const text = 'select 1;\r\n'.repeat(10_000);
  const read1 = read({ '1_a.sql': text }).migrations[0]!;
  const read2 = read({ '1_a.sql': text.replaceAll('\r', '') }).migrations[0]!;
  expect(read1.sha256).toBe(read2.sha256);
  expect(read1.statements.length).toBe(10_000);
});

test('problems of names are found', () => {
  const { problems } = read({
    'first.sql': 'select 1',
    '1_a.sql': 'select 1',
    '01_b/up.sql': 'select 1',
    '2_old/up.yaml': '[]',
    '3_empty/down.sql': 'select 1',
  });
  expect(problems).toEqual([
    '2_old: up.yaml changes metadata, which resources declare now; delete the folder',
    '3_empty: has no up.sql; write it or delete the folder',
    'first.sql: is not named VERSION_NAME.sql or VERSION_NAME/up.sql, where VERSION has at most 18 digits',
    'version 1 is used by 01_b/up.sql and 1_a.sql; rename one of them',
  ]);
});

test('a file that is not UTF-8 is a problem', async () => {
  const { writeFileSync } = await import('node:fs');
  const folder = folderOf({});
  writeFileSync(`${folder}/1_a.sql`, Buffer.from([0x73, 0xff]));
  expect(readMigrations(folder, 'default').problems).toEqual([`${folder}/1_a.sql: is not UTF-8 text`]);
});

test.each([
  ['-- nothing\n', '1_a.sql: contains no statement; write one or delete the migration'],
  [
    '-- pergola: no transaction\nselect 1',
    '1_a.sql:1: unknown directive "no transaction"; the only one is "-- pergola: no-transaction"',
  ],
  ['select 1;\n\\i other.sql', '1_a.sql:2: statement 2 is a command of psql, not SQL; remove it'],
  [
    'copy t from stdin',
    '1_a.sql:1: statement 1 reads rows from outside of the database; use insert, as pg_dump --inserts writes it',
  ],
  [
    'begin;\nselect 1;\ncommit;',
    '1_a.sql:1: statement 1 begins or ends a transaction; remove it: a file runs in one transaction, or, with the first line "-- pergola: no-transaction", in none',
  ],
  [
    'create unique index concurrently i on t (a)',
    '1_a.sql:1: statement 1 cannot run in a transaction; begin the file with the line "-- pergola: no-transaction"',
  ],
  [
    'vacuum t',
    '1_a.sql:1: statement 1 cannot run in a transaction; begin the file with the line "-- pergola: no-transaction"',
  ],
])('%j is a problem of content', (text, problem) => {
  expect(read({ '1_a.sql': text }).content[0]).toBe(problem);
});

test.each([
  'create index concurrently_used on t (a)',
  'select 1; savepoint s; rollback to savepoint s',
  '-- pergola: no-transaction\ncreate index concurrently i on t (a)',
  "select 'begin; commit'; create function f() returns int language sql begin atomic select 1; end",
])('%j has no problem', (text) => {
  expect(read({ '1_a.sql': text }).content).toEqual([]);
});
