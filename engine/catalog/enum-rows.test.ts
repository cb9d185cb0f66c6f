/** Rows of enum tables out of a real database: which are read, and which are left alone. */
import pg from 'pg';
import { beforeAll, expect, test } from 'vitest';
import { testDatabase } from '../../testing/world.ts';
import { withEnumRows } from './enum-rows.ts';
import { introspect } from './introspect.ts';
import type { Catalog } from './types.ts';

const database = testDatabase();
let catalog: Catalog;
let statements: string[] = [];
const client = {
  query: async (text: string, values?: unknown[]) => {
    statements.push(text);
    return { rows: await database.sql(text, values) };
  },
};
const named = (...names: readonly string[]) => ({
  tables: names.map((name) => ({ table: { schema: 'public', name }, is_enum: true })),
});
const rowsOf = ({ enumRows }: Catalog) => Object.fromEntries([...enumRows.values()].entries());

beforeAll(async () => {
  await database.sql(`
    create table color (value text primary key, comment text);
    insert into color values ('red', '#f00'), ('blue', ''), ('o''hara', null);
    create table "odd ""name" ("the 'key'" text primary key);
    insert into "odd ""name" values ('a');
    create table empty (value text primary key);
    create table wrong (id int primary key);
  `);
  catalog = await introspect(client);
});

test('values and comments are read, an empty comment is none', async () => {
  const read = await withEnumRows(client, catalog, named('color', 'odd "name', 'empty'));
  expect(rowsOf(read)).toEqual({
    0: [
      { value: 'blue', comment: null },
      { value: "o'hara", comment: null },
      { value: 'red', comment: '#f00' },
    ],
    1: [{ value: 'a', comment: null }],
    2: [],
  });
});

test('tables that are none, or not of that shape, are not asked', async () => {
  statements = [];
  const read = await withEnumRows(client, catalog, named('wrong', 'absent'));
  expect(read).toBe(catalog);
  expect(statements).toEqual([]);
});

test('what is known is kept, and forgotten once the table is no enum', async () => {
  const color = await withEnumRows(client, catalog, named('color'));
  await database.sql(`insert into color values ('green', null)`);
  const both = await withEnumRows(client, color, named('color', 'odd "name'));
  expect(both.enumRows.size).toBe(2);
  expect([...both.enumRows.values()][0]).toHaveLength(3);
  const none = await withEnumRows(client, both, named());
  expect(none.enumRows.size).toBe(0);
  expect([...(await withEnumRows(client, none, named('color'))).enumRows.values()][0]).toHaveLength(4);
});

test('a table that may not be read is left out, and fails no other', async () => {
  await database.sql(`
    create role reader_of_enums;
    grant usage on schema public to reader_of_enums;
    grant select on color to reader_of_enums;
  `);
  const reader = new pg.Client({ connectionString: database.url });
  await reader.connect();
  try {
    await reader.query('set role reader_of_enums');
    const read = await withEnumRows(reader, catalog, named('color', 'empty'));
    expect([...read.enumRows.keys()]).toHaveLength(1);
  } finally {
    await reader.end();
    await database.sql('drop owned by reader_of_enums; drop role reader_of_enums');
  }
});
