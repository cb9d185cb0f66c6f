/** Tests the admin operation `apply_migrations`: what it runs and records, what it refuses to break, and runs that outlast their request. */
import pg from 'pg';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createDatabase, type TestDatabase } from '../../testing/database.ts';
import { startTestEngine, type TestEngine } from '../../testing/engine.ts';

type Answer = {
  readonly state: string;
  readonly applied: readonly string[];
  readonly version: string | null;
  readonly message: string | null;
};

let home: TestDatabase;
let data: TestDatabase;
let engine: TestEngine;

beforeEach(async () => {
  [home, data] = await Promise.all([createDatabase(), createDatabase()]);
  await data.sql(
    'create table author (id int primary key, name text); create table book (id int primary key)',
  );
  // The periodic check is an hour away: what the engine knows it has read after the migration.
  engine = await startTestEngine({ databaseUrl: home.url, sourceCheckInterval: 3600 });
  const configuration = { connection_info: { database_url: data.url } };
  await engine.admin('pg_add_source', { name: 'data', configuration });
  await engine.admin('pg_track_table', { source: 'data', table: 'author' });
  await engine.admin('pg_create_select_permission', {
    source: 'data',
    table: 'author',
    role: 'user',
    permission: { columns: ['id', 'name'], filter: {} },
  });
});
afterEach(async () => {
  await engine.close();
  await Promise.all([home.drop(), data.drop()]);
});

const migrate = async (files: Readonly<Record<string, string>>, more: object = {}) => {
  const migrations = Object.entries(files).map(([name, sql]) => ({ name, sql }));
  return engine.must<Answer>('apply_migrations', {
    source: 'data',
    migrations,
    ...more,
  });
};
const columns = async () =>
  (
    await data.sql(
      `select attname from pg_attribute where attrelid = 'author'::regclass and attnum > 0 and not attisdropped order by attnum`,
    )
  ).map(({ attname }) => attname);
const PERMISSION = 'select_permission/data/public/author/user';

test('other replicas serve what a migration changed without a check of their own', async () => {
  const other = await startTestEngine({ databaseUrl: home.url, sourceCheckInterval: 0 });
  try {
    expect(await other.graphql('{ author { email } }')).toHaveProperty('errors');
    await migrate({ '1_email.sql': 'alter table author add email text' });
    const answers = async () => expect(await other.graphql('{ author { email } }')).toHaveProperty('data');
    await vi.waitFor(answers, { timeout: 20_000 });
  } finally {
    await other.close();
  }
});

test('migrations run once and the API can use the new column at once', async () => {
  const files = { '1_email.sql': 'alter table author add email text' };
  expect(await migrate(files)).toEqual({ state: 'applied', applied: ['1'], version: '1', message: null });
  const { data: found } = await engine.graphql('{ author { email } }');
  expect(found).toEqual({ author: [] });
  expect(await migrate(files)).toEqual({ state: 'applied', applied: [], version: '1', message: null });
});

test('a file that breaks what is served is rolled back, and names what it breaks', async () => {
  const answer = await migrate({
    '1_free.sql': 'alter table book add title text',
    '2_drop.sql': 'alter table author drop name',
  });
  expect(answer).toMatchObject({ state: 'refused' });
  expect(answer.message).toMatch(
    /^2 drop would break an object that the API serves; change the resources together with it, or remove what uses the old form first: .*user.*name/,
  );
  expect(await columns()).toEqual(['id', 'name']);
  expect((await engine.graphql('{ author { id name } }', { role: 'user' })).data).toEqual({ author: [] });
  expect(await data.sql('select version::int from pergola_migrations.migration')).toEqual([{ version: 1 }]);
});

test('it runs if the metadata changes together with it, or if it may break', async () => {
  const definition = { role: 'user', permission: { columns: ['id'], filter: {} } };
  const drop = { '1_drop.sql': 'alter table author drop name' };
  expect(await migrate(drop, { put: [{ key: PERMISSION, definition }] })).toMatchObject({ state: 'applied' });
  expect(await columns()).toEqual(['id']);
  expect(
    await migrate({ ...drop, '2_drop.sql': 'drop table author' }, { allow_breaking: true }),
  ).toMatchObject({ state: 'applied', applied: ['2'] });
});

test('what was inconsistent before does not count, nor do objects that are new', async () => {
  await engine.admin('patch_metadata', {
    put: [{ key: 'table/data/public/absent', definition: { table: 'absent' } }],
    allow_inconsistent_metadata: true,
  });
  const put = [
    { key: 'table/data/public/later', definition: { table: { schema: 'public', name: 'later' } } },
  ];
  expect(await migrate({ '1_a.sql': 'alter table book add title text' }, { put })).toMatchObject({
    state: 'applied',
  });
});

test('a failed statement is named, and the same request is not repeated at once', async () => {
  const files = { '1_a.sql': "-- pergola: no-transaction\nselect 1;\nselect 'secret' / 0" };
  const answer = await migrate(files);
  expect(answer).toMatchObject({ state: 'failed' });
  expect(answer.message).toMatch(/^1_a\.sql:3: statement 2 of 2 failed: /);
  expect(await migrate(files)).toEqual(answer);
  const corrected = { ...files, '2_b.sql': 'select 2' };
  expect((await migrate(corrected)).message).toMatch(/--resume-from 2/);
});

test('a dry run lists the files that would run, and what would be refused', async () => {
  const files = { '1_a.sql': 'create table a (id int)', '2_b.sql': 'create table b (id int)' };
  const dry = (given: Readonly<Record<string, string>>) => migrate(given, { dry_run: true });
  expect(await dry(files)).toEqual({
    state: 'pending',
    pending: ['1_a.sql', '2_b.sql'],
    applied: [],
    version: null,
    message: null,
  });
  expect(await data.sql(`select to_regnamespace('pergola_migrations') as found`)).toEqual([{ found: null }]);
  await migrate({ '1_a.sql': files['1_a.sql'] });
  expect(await dry(files)).toMatchObject({ state: 'pending', pending: ['2_b.sql'], version: '1' });
  expect(await dry({ '1_a.sql': files['1_a.sql'] })).toMatchObject({ state: 'applied', pending: [] });
  expect(await dry({ ...files, '1_a.sql': 'select 1' })).toMatchObject({ state: 'refused' });
  expect((await dry({ ...files, '3_c.sql': 'commit' })).message).toMatch(
    /^3_c\.sql:1: statement 1 begins or ends/,
  );
});

test('a bad name and a bad source are refused', async () => {
  expect(await migrate({ 'first.sql': 'select 1' })).toMatchObject({
    state: 'refused',
    message: 'first.sql: is not named VERSION_NAME.sql, where VERSION has at most 18 digits',
  });
  const { status } = await engine.admin('apply_migrations', { source: 'nowhere', migrations: [] });
  expect(status).toBe(400);
});

test('a run that another session holds up is running, and its end is found by the same request', async () => {
  const blocker = new pg.Client({ connectionString: data.url });
  await blocker.connect();
  try {
    await blocker.query('select pg_advisory_lock(7883955472886558753)');
    const files = { '1_a.sql': 'alter table book add title text' };
    expect(await migrate(files)).toMatchObject({ state: 'running', applied: [] });
    await blocker.query('select pg_advisory_unlock_all()');
    await vi.waitFor(
      async () => expect(await migrate(files)).toMatchObject({ state: 'applied', version: '1' }),
      { timeout: 20_000 },
    );
  } finally {
    await blocker.end();
  }
});

test('a run continues when the request ends before it', async () => {
  const blocker = new pg.Client({ connectionString: data.url });
  await blocker.connect();
  try {
    await blocker.query('begin; lock table book');
    const files = { '1_a.sql': "set local lock_timeout = '60s'; alter table book add title text" };
    expect(await migrate(files)).toMatchObject({
      state: 'running',
      message: 'the migrations of this source are running',
    });
    expect(await migrate({ '1_b.sql': 'select 1' })).toMatchObject({ state: 'running' });
    await blocker.query('commit');
    await vi.waitFor(
      async () => expect(await migrate(files)).toMatchObject({ state: 'applied', version: '1' }),
      { timeout: 20_000 },
    );
  } finally {
    await blocker.end();
  }
});

test('a role that is not admin, and maintenance mode, are refused', async () => {
  const args = { source: 'default', migrations: [{ name: '1_a.sql', sql: 'create table x (id int)' }] };
  const other = await engine.admin('apply_migrations', args, { headers: { 'x-engine-role': 'user' } });
  expect(other.status).toBe(400);
  const quiet = await startTestEngine({ databaseUrl: home.url, enableMaintenanceMode: true });
  try {
    expect((await quiet.admin('apply_migrations', args)).status).not.toBe(200);
  } finally {
    await quiet.close();
  }
  expect(await home.sql(`select to_regclass('x') as x`)).toEqual([{ x: null }]);
});
