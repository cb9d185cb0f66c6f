/** Fingerprints change with the definitions that the engine relies on, and with nothing else. */
import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { testDatabase } from '../../testing/world.ts';
import { currentSum, type Fingerprinted, fingerprintsOf, sumOf } from './fingerprint.ts';

const TABLE: Fingerprinted = { kind: 'table', schema: 'public', name: 'note' };
const FUNCTION: Fingerprinted = { kind: 'function', schema: 'public', name: 'noted' };
const user = `reader_${randomUUID().slice(0, 8)}`;
const database = testDatabase();
let client: pg.Client;

beforeAll(async () => {
  await database.sql(`create table note (id int primary key, text text); create table other (id int primary key);
    create function noted() returns int language sql as 'select 1'; create role ${user} login;
    create function seen() returns trigger language plpgsql as 'begin return new; end'`);
  const url = new URL(database.url);
  url.username = user;
  client = new pg.Client({ connectionString: url.href });
  await client.connect();
});
afterAll(() => client.end());

const CHANGES: readonly (readonly [string, boolean])[] = [
  ['alter table note add column more int', true],
  ['alter table note alter column more set default 1', true],
  ['alter table note alter column more type bigint', true],
  ["alter table note add constraint longer check (text <> '')", true],
  ['alter table note drop constraint longer', true],
  ['create unique index note_text on note (text)', true],
  ['create index note_more on note (more)', false],
  ["create or replace function noted() returns int language sql as 'select 2'", true],
  ['create trigger seen after insert on other for each row execute function seen()', true],
  ['drop trigger seen on other', true],
  ['create policy readers on other using (true)', false],
  ['alter table other enable row level security', true],
  ['create policy writers on other for update using (true)', true],
  ['alter policy writers on other using (false)', true],
  ['alter table other disable row level security', true],
  ['alter table other add column more int', false],
  ["insert into note values (1, 'a')", false],
  ['analyze note', false],
];

test.each(CHANGES)('%s', async (sql, isSeen) => {
  const wanted = [TABLE, FUNCTION];
  const before = await currentSum(client, wanted);
  expect(sumOf(await fingerprintsOf(client), wanted)).toBe(before);
  await database.sql(sql);
  expect((await currentSum(client, wanted)) !== before).toBe(isSeen);
});
