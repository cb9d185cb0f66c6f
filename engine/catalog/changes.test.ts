import { expect, test } from 'vitest';
import { testDatabase } from '../../testing/world.ts';
import { type CatalogChanges, type ChangedFunction, catalogChanges } from './changes.ts';
import { introspect } from './introspect.ts';

const database = testDatabase();

const FIXTURE = `
  drop schema if exists public cascade;
  drop schema if exists other cascade;
  create schema public;
  create schema other;
  create table author (id int primary key, name text, born int);
  create table article (id int primary key, author_id int references author, title varchar(10));
  create view titles as select title from article;
  create function twice(n int) returns int language sql immutable as 'select n * 2';
  create function half(n int) returns int language sql immutable as 'select n / 2';
  create function half(n bigint) returns bigint language sql immutable as 'select n / 2';
`;

async function changesOf(sql: string): Promise<CatalogChanges> {
  const client = { query: async (text: string) => ({ rows: await database.sql(text) }) };
  await database.sql(FIXTURE);
  const before = await introspect(client);
  await database.sql(sql);
  return catalogChanges(before, await introspect(client));
}

const name = (table: string, schema = 'public') => ({ schema, name: table });
const NOTHING = {
  droppedTables: [],
  renamedTables: [],
  alteredTables: [],
  changedFunctions: [],
  droppedFunctions: [],
};

const changed = (how: Partial<ChangedFunction>): ChangedFunction => ({
  function: name('twice'),
  isGone: false,
  isOverloaded: false,
  isNowVolatile: false,
  ...how,
});
const columns = (table: string) => ({
  before: name(table),
  after: name(table),
  addedColumns: [],
  droppedColumns: [],
  renamedColumns: [],
  retypedColumns: [],
});

test.each<[string, string, Partial<CatalogChanges>]>([
  ['data alone changes nothing', `insert into author values (1, 'a', 1)`, {}],
  ['a new table changes nothing that was there', 'create table more (id int)', {}],
  [
    'a default, a comment and a not-null leave the columns the same',
    `alter table author alter name set default 'x', alter name set not null; comment on table author is 'c'`,
    {},
  ],
  [
    'a dropped table is gone',
    'drop table article cascade',
    { droppedTables: [name('article'), name('titles')], hasDrops: true },
  ],
  [
    'a renamed table is no dropped one',
    'alter table author rename to writer',
    { renamedTables: [{ from: name('author'), to: name('writer') }] },
  ],
  [
    'a table in another schema is renamed too',
    'alter table author set schema other',
    { renamedTables: [{ from: name('author'), to: name('author', 'other') }] },
  ],
  [
    'two tables that swap names are two renames',
    'alter table author rename to x; alter table article rename to author; alter table x rename to article',
    {
      renamedTables: [
        { from: name('article'), to: name('author') },
        { from: name('author'), to: name('article') },
      ],
    },
  ],
  [
    'a column comes',
    'alter table author add email text',
    { alteredTables: [{ ...columns('author'), addedColumns: ['email'] }] },
  ],
  [
    'a column goes',
    'alter table author drop born',
    { alteredTables: [{ ...columns('author'), droppedColumns: ['born'] }], hasDrops: true },
  ],
  [
    'a column gets another name',
    'alter table author rename born to birth',
    { alteredTables: [{ ...columns('author'), renamedColumns: [{ from: 'born', to: 'birth' }] }] },
  ],
  [
    'a column gets another type',
    'alter table author alter born type text using born::text',
    { alteredTables: [{ ...columns('author'), retypedColumns: ['born'] }] },
  ],
  [
    'a column made anew under its name is the same one',
    'alter table author drop born; alter table author add born text',
    { alteredTables: [{ ...columns('author'), retypedColumns: ['born'] }] },
  ],
  [
    'a view made anew under its name is the same one',
    'drop view titles; create view titles as select title, id from article',
    { alteredTables: [{ ...columns('titles'), addedColumns: ['id'] }] },
  ],
  [
    'a foreign key that goes is a drop, although no column changes',
    'alter table article drop constraint article_author_id_fkey',
    { hasDrops: true },
  ],
  [
    'a function that goes',
    'drop function twice(int)',
    { droppedFunctions: [name('twice')], changedFunctions: [changed({ isGone: true })], hasDrops: true },
  ],
  [
    'a function that is renamed',
    'alter function twice(int) rename to double',
    { droppedFunctions: [name('twice')], changedFunctions: [changed({ isGone: true })], hasDrops: true },
  ],
  [
    'a function made anew under its name',
    'drop function twice(int); create function twice(a int) returns int language sql immutable as $$ select 2 * a $$',
    { changedFunctions: [changed({ isGone: true })], hasDrops: true },
  ],
  [
    'a function that becomes volatile',
    'alter function twice(int) volatile',
    { changedFunctions: [changed({ isNowVolatile: true })] },
  ],
  [
    'a function that is overloaded',
    'create function twice(a text) returns text language sql immutable as $$ select a $$',
    { changedFunctions: [changed({ isOverloaded: true })] },
  ],
  [
    'one of two functions of a name that goes leaves the name',
    'drop function half(bigint)',
    { hasDrops: true },
  ],
])('%s', async (_name, sql, expected) => {
  expect(await changesOf(sql)).toEqual({ ...NOTHING, hasDrops: false, ...expected });
});
