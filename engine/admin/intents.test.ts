/** An engine that ended between the commit of a source and that of the metadata: whoever comes next finds its intent. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createDatabase, type TestDatabase } from '../../testing/database.ts';
import { recordIntent } from '../store/intents.ts';
import { type AdminTestEngine, op, startTestEngine } from './testing/engine.ts';

const AUTHOR = { schema: 'public', name: 'author' };
let engine: AdminTestEngine;
let other: TestDatabase;

beforeEach(async () => {
  [engine, other] = await Promise.all([startTestEngine(), createDatabase()]);
  await other.sql('create table book (id int primary key); create table author (id int primary key)');
  const configuration = { connection_info: { database_url: other.url } };
  await engine.must(op('pg_add_source', { name: 'other', configuration }));
  await engine.must(op('track_table', { source: 'other', table: 'book' }));
});
afterEach(async () => {
  await engine.close();
  await other.drop();
});

const tables = (of = engine) =>
  of.state.snapshot().metadata.sources[1]!.tables.map(({ table }) => table.name);

/** What an engine that is gone wanted: one more table tracked, once `xid` has committed. */
async function leaveIntent(xid: string): Promise<void> {
  const { metadata, resourceVersion } = engine.state.snapshot();
  const [first, source] = metadata.sources;
  const changed = { ...source!, tables: [...source!.tables, { table: AUTHOR }] };
  const write = { metadata: { ...metadata, sources: [first!, changed] } };
  const query = async (text: string, values?: readonly unknown[]) =>
    ({ rows: await engine.database.sql(text, values) }) as never;
  const transactions = [{ source: source!, xid }];
  await recordIntent(
    { query },
    { id: '00000000-0000-0000-0000-000000000001', expected: resourceVersion, write, transactions },
  );
}

/** Of a transaction that ended so. What a sequence is set to is not taken back. */
async function xidOf(end: 'commit' | 'rollback'): Promise<string> {
  await other.sql('create sequence xid');
  const [row] = await other.sql(
    `begin; select setval('xid', pg_current_xact_id()::text::bigint); ${end}; select last_value::text as xid from xid`,
  );
  return row!['xid'] as string;
}

test('an intent is applied at the next start if its source has committed', async () => {
  await leaveIntent(await xidOf('commit'));
  const next = await startTestEngine({}, engine);
  expect(tables(next)).toEqual(['book', 'author']);
  expect(await engine.database.sql('select from pergola.intent')).toEqual([]);
  await next.close();
});

test('an intent is dropped at the next start if its source has not committed', async () => {
  await leaveIntent(await xidOf('rollback'));
  const next = await startTestEngine({}, engine);
  expect(tables(next)).toEqual(['book']);
  expect(await engine.database.sql('select from pergola.intent')).toEqual([]);
  await next.close();
});

test('the next engine that writes completes the intent first, and writes on the result', async () => {
  await leaveIntent(await xidOf('commit'));
  await engine.must(op('pg_untrack_table', { source: 'other', table: 'book' }));
  expect(tables()).toEqual(['author']);
});

test('a client that names the earlier version gets a conflict, and the next request finds the intent completed', async () => {
  await leaveIntent(await xidOf('commit'));
  const version = engine.state.snapshot().resourceVersion;
  const untrack = {
    ...op('pg_untrack_table', { source: 'other', table: 'book' }),
    resource_version: version,
  };
  expect(await engine.metadata(untrack)).toMatchObject({ status: 409 });
  expect(tables()).toEqual(['book', 'author']);
});

test('an unreachable source does not block writes to the others', async () => {
  const xid = await xidOf('commit');
  await engine.database.sql('create table local (id int primary key)');
  await leaveIntent(xid);
  const down = JSON.stringify([
    {
      source: {
        name: 'down',
        configuration: { connection_info: { database_url: 'postgres://x@127.0.0.1:1/x' } },
      },
      xid,
    },
  ]);
  await engine.database.sql('update pergola.intent set transactions = $1::json', [down]);
  await engine.must(op('pg_track_table', { source: 'default', table: 'local' }));
  expect(tables()).toEqual(['book']);
});

test('SQL on a source leaves no intent, whether it succeeds or fails', async () => {
  await engine.must(op('run_sql', { source: 'other', sql: 'alter table book rename to tome' }));
  const late = `alter table tome rename to book; alter table book add column n int unique deferrable initially deferred;
    insert into book values (1, 1), (2, 1)`;
  expect(await engine.sql(late, { source: 'other' })).toMatchObject({ status: 400 });
  expect(await engine.database.sql('select from pergola.intent')).toEqual([]);
  expect(tables()).toEqual(['tome']);
});
