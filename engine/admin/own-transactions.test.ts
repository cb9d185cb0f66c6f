/** Tests run_sql with texts that begin and end transactions themselves: what the answer and the metadata say is what the database has. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type AdminTestEngine, op, startTestEngine } from './testing/engine.ts';

let engine: AdminTestEngine;
beforeAll(async () => {
  engine = await startTestEngine({ validatesNativeQueries: true });
});
afterAll(() => engine.close());

beforeEach(async () => {
  await engine.must(op('clear_metadata'));
  await engine.must(
    op('run_sql', {
      sql: `drop schema public cascade; create schema public; create table author (id int primary key, name text);
        create table note (id int primary key)`,
    }),
  );
  await engine.must(
    op('bulk', [
      op('pg_track_table', { table: 'author' }),
      op('pg_track_table', { table: 'note' }),
      op('pg_track_logical_model', { name: 'author_row', fields: [{ name: 'id', type: 'integer' }] }),
      op('pg_track_native_query', {
        root_field_name: 'authors',
        code: 'select id from author where id > {{least}}',
        arguments: { least: { type: 'integer' } },
        returns: 'author_row',
      }),
    ]),
  );
});

const snapshot = () => engine.state.snapshot();
const tracked = () => snapshot().metadata.sources[0]!.tables.map(({ table }) => table.name);
const inconsistent = () => snapshot().inconsistencies.map(({ key }) => key);
const tables = async () =>
  (
    await engine.database.sql(
      `select relname from pg_class where relnamespace = 'public'::regnamespace and relkind = 'r' order by 1`,
    )
  ).map(({ relname }) => relname);
const columnsOf = (name: string) =>
  snapshot()
    .model.sources.get('default')!
    .tables.get(JSON.stringify(['public', name]))?.columns;

/** Ways to put a text into transactions of its own. */
const WRAPPED: readonly (readonly [string, (sql: string) => string])[] = [
  ['begin … commit', (sql) => `begin; ${sql}; commit`],
  ['start transaction … end, with comments', (sql) => `/* a */ start transaction; ${sql}; --\r end`],
  ['commit alone', (sql) => `${sql}; commit;`],
  [
    'two transactions',
    (sql) => `begin; ${sql}; commit; begin; create table if not exists second (id int); commit`,
  ],
  ['commit and chain, then commit', (sql) => `begin; ${sql}; commit and chain; select 1; commit`],
];

describe.each(WRAPPED)('%s', (_, wrapped) => {
  test('a new table is there, and the request succeeds once', async () => {
    expect(await engine.sql(wrapped('create table added (id int)'))).toMatchObject({ status: 200 });
    expect(await tables()).toContain('added');
    expect(inconsistent()).toEqual([]);
    await engine.must(op('pg_track_table', { table: 'added' }));
  });

  test('a new column can be used, and a renamed table is followed', async () => {
    const sql = wrapped('alter table note add text text; alter table author rename to writer');
    expect(await engine.sql(sql)).toMatchObject({ status: 200 });
    expect(tracked().toSorted()).toEqual(['note', 'writer']);
    expect(JSON.stringify(columnsOf('note'))).toContain('text');
    expect(inconsistent()).toEqual(['native_query/default/authors']);
  });

  test('objects that no longer fit become inconsistent, because nothing can be refused any more', async () => {
    expect(await engine.sql(wrapped('alter table author drop id'))).toMatchObject({ status: 200 });
    expect(inconsistent()).toEqual(['native_query/default/authors']);
    expect(await engine.sql(wrapped('drop table note'), { cascade: true })).toMatchObject({ status: 200 });
    expect(tracked()).toEqual(['author']);
    expect(await tables()).not.toContain('note');
  });

  test.each([true, false])('with check_metadata_consistency %s', async (check_metadata_consistency) => {
    const sql = wrapped('create table added (id int)');
    expect(await engine.sql(sql, { check_metadata_consistency })).toMatchObject({ status: 200 });
    expect(await tables()).toContain('added');
  });

  test.each(['bulk', 'bulk_keep_going', 'bulk_atomic'])('in %s, between others', async (batch) => {
    const response = await engine.query(
      op(batch, [
        op('run_sql', { sql: 'create table before_it (id int)' }),
        op('run_sql', { sql: wrapped('create table added (id int)') }),
        op('run_sql', { sql: 'create table after_it (id int)' }),
        op('pg_track_table', { table: 'added' }),
      ]),
    );
    expect(response).toMatchObject({ status: 200 });
    expect(await tables()).toEqual(
      expect.arrayContaining(['added', 'after_it', 'author', 'before_it', 'note']),
    );
    expect(tracked()).toContain('added');
  });
});

test('what a text has rolled back is not there, and the metadata follows the rest', async () => {
  const sql = 'begin; drop table author; rollback; begin; alter table note add text text; commit';
  expect(await engine.sql(sql)).toMatchObject({ status: 200 });
  expect(tracked()).toEqual(['author', 'note']);
  expect(JSON.stringify(columnsOf('note'))).toContain('text');
});

test('a failure after a commit is reported, and later operations are not affected', async () => {
  const response = await engine.query(
    op('bulk_keep_going', [
      op('run_sql', { sql: 'begin; create table kept (id int); commit; select 1/0' }),
      op('run_sql', { sql: 'create table undone (id int); select 1/0' }),
      op('run_sql', { sql: 'create table after_it (id int)' }),
    ]),
  );
  expect(response).toMatchObject({
    status: 200,
    body: [{ code: 'postgres-error' }, { code: 'postgres-error' }, {}],
  });
  expect(await tables()).toEqual(['after_it', 'author', 'kept', 'note']);
});

test('without a transaction each statement is one, whatever hides another', async () => {
  const sql = `select 1 --\r; create table first (id int); select e'a'\n'\\'; drop table first; select \\''`;
  expect(await engine.sql(sql, { no_transaction: true })).toMatchObject({ status: 200 });
  expect(await tables()).toContain('first');
});

test('the code of a native query cannot end the statement that validates it', async () => {
  const track = (code: string) =>
    engine.query(
      op('pg_track_native_query', { root_field_name: 'more', code, arguments: {}, returns: 'author_row' }),
    );
  for (const end of ['--\r', "e'a'\n'\\''--\r", '/*/**/*/', '-- \f\r']) {
    const code = `select id from author ${end}) x; drop table note; select * from (select 1 as id`;
    expect(await track(code)).toMatchObject({ status: 400 });
  }
  expect(await tables()).toContain('note');
}, 20_000);

test.each(["'", '"', "e'\\'", '$a$', '/*'])(
  'a native query with %s that has no end is refused at once',
  async (start) => {
    const code = `select id from author where name = ${start}${'a '.repeat(20_000)}`;
    expect(
      await engine.query(
        op('pg_track_native_query', { root_field_name: 'more', code, arguments: {}, returns: 'author_row' }),
      ),
    ).toMatchObject({ status: 400 });
  },
);
