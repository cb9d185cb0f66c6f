/** Tests runs of migrations on a real database: order, transactions, locks, edits, files without a transaction, and what the record says. */
import pg from 'pg';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createDatabase, type TestDatabase } from '../../testing/database.ts';
import {
  deleteFile,
  folderOf,
  migrateUp,
  statesOf,
  versionsOf,
  writeFiles,
} from '../../testing/migrate/folder.ts';
import { refusals } from './assess.ts';
import { readMigrations } from './read-migrations.ts';
import { MigrationRefusal } from './run-migrations.ts';

let database: TestDatabase;

beforeEach(async () => {
  database = await createDatabase();
});
afterEach(() => database.drop());

const run = (folder: string, given?: Parameters<typeof migrateUp>[2]) =>
  migrateUp(database.url, folder, given);
const states = (folder: string) => statesOf(database.url, folder);
const tables = async () =>
  (
    await database.sql(
      `select relname from pg_class where relkind in ('r', 'i') and relnamespace = 'public'::regnamespace order by 1`,
    )
  ).map(({ relname }) => relname);
const failure = async (running: Promise<unknown>): Promise<string> => {
  try {
    await running;
  } catch (error) {
    return (error as Error).message.replaceAll(/\S*\/(?=\w+\.sql)/g, '');
  }
  throw new Error('it did not fail');
};
const FREE = '-- pergola: no-transaction\n';

test('migrations run once, in order, and the record has who ran what', async () => {
  const folder = folderOf({
    '2_b.sql': 'create table b (id int references a);\ninsert into b values (1)',
    '1_a.sql': 'create table a (id int primary key);\ninsert into a values (1)',
  });
  expect(await states(folder)).toEqual({ 1: 'pending', 2: 'pending' });
  const first = await run(folder);
  expect(first.applied.map(({ version }) => version)).toEqual(['1', '2']);
  expect(first.version).toBe('2');
  expect((await run(folder)).applied).toEqual([]);
  expect(await states(folder)).toEqual({ 1: 'applied', 2: 'applied' });
  const rows = await database.sql(
    `select version::int, name, state, origin, statements, finished, applied_by = session_user as mine,
            finished_at >= started_at as ordered, sha256 ~ '^[0-9a-f]{64}$' as sum from pergola_migrations.migration order by 1`,
  );
  const common = {
    state: 'applied',
    origin: 'run',
    statements: 2,
    finished: 2,
    mine: true,
    ordered: true,
    sum: true,
  };
  expect(rows).toEqual([
    { version: 1, name: 'a', ...common },
    { version: 2, name: 'b', ...common },
  ]);
});

test('a file that fails leaves nothing, names file, line and statement, and runs whole when it is repaired', async () => {
  const folder = folderOf({
    '1_a.sql': 'create table a (id int);',
    '2_b.sql': 'create table b (id int);\n\nselect 1,\n  nope;',
    '3_c.sql': 'create table c (id int)',
  });
  expect(await failure(run(folder))).toBe(
    '2_b.sql:4: statement 2 of 2 failed: column "nope" does not exist (42703)',
  );
  expect(await tables()).toEqual(['a']);
  expect(await states(folder)).toEqual({ 1: 'applied', 2: 'pending', 3: 'pending' });
  writeFiles(folder, { '2_b.sql': 'create table b (id int)' });
  expect((await run(folder)).applied.map(({ version }) => version)).toEqual(['2', '3']);
  expect(await tables()).toEqual(['a', 'b', 'c']);
});

test('a statement that takes longer than the role allows names the setting', async () => {
  await database.sql(
    `do $$ begin execute format('alter database %I set statement_timeout = 100', current_database()); end $$`,
  );
  const folder = folderOf({ '1_a.sql': 'select pg_sleep(5)' });
  expect(await failure(run(folder))).toBe(
    '1_a.sql:1: statement 1 of 1 failed: canceling statement due to statement timeout (57014); ' +
      'statement_timeout of the role ends it, or someone cancelled it; a file may set its own statement_timeout',
  );
  writeFiles(folder, { '1_a.sql': 'set statement_timeout = 0; select pg_sleep(0.2)' });
  expect((await run(folder)).version).toBe('1');
});

test('a deferred constraint that fails at the commit is named, and leaves nothing', async () => {
  const folder = folderOf({
    '1_a.sql':
      'create table a (id int primary key, other int references a deferrable initially deferred); insert into a values (1, 2)',
  });
  expect(await failure(run(folder))).toMatch(
    /^1_a\.sql: the transaction of 2 statements could not be committed: .* violates foreign key constraint .* \(23503\)$/,
  );
  expect(await tables()).toEqual([]);
  expect(await states(folder)).toEqual({ 1: 'pending' });
});

test('settings and roles of one file do not reach the next one or the record', async () => {
  const role = `migrate_${process.pid}_${Date.now()}`;
  await database.sql(`create role ${role}`);
  try {
    await database.sql(`grant create on schema public to ${role}`);
    const folder = folderOf({
      '1_a.sql': `set role ${role}; set search_path = pg_catalog; create table public.a (id int)`,
      '2_b.sql': 'create table b (id int)',
      '3_c.sql': `${FREE}set role ${role}; set search_path = pg_catalog; create table public.c (id int)`,
      '4_d.sql': 'create table d (id int)',
    });
    await run(folder);
    expect(await tables()).toEqual(['a', 'b', 'c', 'd']);
    expect(
      await database.sql(`select pg_get_userbyid(relowner) as owner from pg_class where relname = 'a'`),
    ).toEqual([{ owner: role }]);
  } finally {
    await database.sql(`drop owned by ${role}; drop role ${role}`);
  }
});

test('a file that was edited after it ran is refused, and can be restored or accepted', async () => {
  const folder = folderOf({ '1_a.sql': 'create table a (id int)' });
  await run(folder);
  writeFiles(folder, { '1_a.sql': 'create table a (id bigint)', '2_b.sql': 'create table b (id int)' });
  expect(await states(folder)).toEqual({ 1: 'changed', 2: 'pending' });
  expect(await failure(run(folder))).toBe(
    '1 a: the file was edited after it was applied; restore it and write another migration, or accept it with --mark-applied 1',
  );
  expect(await tables()).toEqual(['a']);
  const { notes, applied } = await run(folder, { markApplied: ['1'] });
  expect(notes).toEqual(['1 a is recorded as applied, and was not run']);
  expect(applied.map(({ version }) => version)).toEqual(['2']);
  expect(await states(folder)).toEqual({ 1: 'applied', 2: 'applied' });
});

test('a version below an applied one is refused unless it is allowed', async () => {
  const folder = folderOf({ '2_b.sql': 'create table b (id int)' });
  await run(folder);
  writeFiles(folder, { '1_a.sql': 'create table a (id int)', '3_c.sql': 'create table c (id int)' });
  expect(await states(folder)).toEqual({ 1: 'out-of-order', 2: 'applied', 3: 'pending' });
  expect(await failure(run(folder))).toBe(
    '1 a: it is not applied, and the later version 2 is; give it a later version, or run it with --allow-out-of-order',
  );
  expect(await tables()).toEqual(['b']);
  const { applied } = await run(folder, { allowsOutOfOrder: true });
  expect(applied.map(({ version }) => version)).toEqual(['1', '3']);
});

test('an applied version without its file is refused unless it is allowed', async () => {
  const folder = folderOf({ '1_a.sql': 'create table a (id int)', '2_b.sql': 'create table b (id int)' });
  await run(folder);
  deleteFile(folder, '1_a.sql');
  expect(await states(folder)).toEqual({ 1: 'missing', 2: 'applied' });
  expect(await failure(run(folder))).toBe(
    '1 a: it is applied, and its file is gone; restore it, or continue with --allow-missing',
  );
  expect((await run(folder, { allowsMissing: true })).applied).toEqual([]);
});

test('two runs at once: one waits, and nothing runs twice', async () => {
  const folder = folderOf({
    '1_a.sql': 'create table a (id serial); insert into a default values; select pg_sleep(0.3)',
    '2_b.sql': `${FREE}insert into a default values; select pg_sleep(0.3); create index concurrently a_i on a (id)`,
  });
  const results = await Promise.all([run(folder), run(folder), run(folder)]);
  expect(results.map(({ applied }) => applied.length).sort()).toEqual([0, 0, 2]);
  expect(results.flatMap(({ notes }) => notes)).toEqual(['waits', 'waits']);
  expect(await database.sql('select count(*)::int as n from a')).toEqual([{ n: 2 }]);
});

test('a run that waits too long for another one names it', async () => {
  const folder = folderOf({ '1_a.sql': 'select pg_sleep(2)' });
  const first = run(folder);
  await expect
    .poll(() =>
      database.sql(
        `select 1 from pg_stat_activity where query = 'select pg_sleep(2)' and datname = current_database()`,
      ),
    )
    .toHaveLength(1);
  expect(await failure(run(folder, { waitMs: 0 }))).toMatch(
    /^another run has the lock of migrations \(process \d+ of the database, pergola migrate\); wait for it, or look at it in pg_stat_activity$/,
  );
  await first;
});

test('a version whose statements run now is running, not unknown, also for other sessions', async () => {
  const folder = folderOf({ '1_a.sql': `${FREE}select 1;\nselect pg_sleep(2);\nselect 2` });
  const first = run(folder);
  await expect.poll(() => states(folder), { timeout: 2000 }).toEqual({ 1: 'running' });
  const [version] = await versionsOf(database.url, folder);
  expect(version!.reason).toMatch(
    /^statement 2 of 3 began, and a run is at work \(process \d+ of the database, pergola migrate\)$/,
  );
  expect(refusals([version!], { allowsOutOfOrder: false, allowsMissing: false })).toEqual([]);
  await first;
  expect(await states(folder)).toEqual({ 1: 'applied' });
});

test('a statement that waits for a table is tried again, as often as is allowed', async () => {
  await database.sql('create table a (id int)');
  const folder = folderOf({ '1_a.sql': 'create table b (id int);\nalter table a add b int' });
  const blocker = new pg.Client({ connectionString: database.url });
  await blocker.connect();
  try {
    await blocker.query('begin; select * from a');
    expect(await failure(run(folder, { lockTimeoutMs: 50, lockRetries: 1 }))).toBe(
      '1_a.sql:2: statement 2 of 2 failed: canceling statement due to lock timeout (55P03); another session uses the table: see pg_stat_activity, or raise --lock-timeout',
    );
    const retried = run(folder, { lockTimeoutMs: 500, lockRetries: 20 });
    await expect
      .poll(
        () =>
          database.sql(
            `select 1 from pg_locks where not granted and database = (select oid from pg_database where datname = current_database())`,
          ),
        { interval: 5, timeout: 10_000 },
      )
      .toHaveLength(1);
    await blocker.query('commit');
    expect((await retried).applied).toHaveLength(1);
  } finally {
    await blocker.end();
  }
  expect(await tables()).toEqual(['a', 'b']);
});

test('a statement outside of a transaction that fails stops the run until someone decides', async () => {
  const folder = folderOf({
    '1_a.sql': 'create table a (id int); insert into a values (1), (1)',
    '2_b.sql': `${FREE}create table b (id int);\ncreate unique index concurrently a_id on a (id);\ncreate table c (id int)`,
    '3_d.sql': 'create table d (id int)',
  });
  expect(await failure(run(folder))).toMatch(
    /^2_b\.sql:3: statement 2 of 3 failed: could not create unique index/,
  );
  expect(await tables()).toEqual(['a', 'a_id', 'b']);
  const [, second] = await versionsOf(database.url, folder);
  expect(second).toMatchObject({
    state: 'failed',
    reason: 'statement 2 of 3 failed: could not create unique index "a_id" (23505)',
  });
  const advice =
    /^2 b: statement 2 of 3 failed: .*\. Look at the database: if the statement had no effect, run it with --resume-from 2; if it had, continue after it with --resume-from 3; if all is done, record that with --mark-applied 2$/;
  expect(await failure(run(folder))).toMatch(advice);
  expect(await failure(run(folder, { resumeFrom: 2 }))).toBe(
    '2 b: index public.a_id is invalid; drop it first: drop index concurrently public.a_id',
  );
  expect(await failure(run(folder, { resumeFrom: 1 }))).toBe('--resume-from 1: 2 b can continue with 2 or 3');
  await database.sql('drop index a_id; delete from a');
  const { applied, notes } = await run(folder, { resumeFrom: 2 });
  expect(notes).toEqual(['2 b continues at statement 2 of 3']);
  expect(applied.map(({ version }) => version)).toEqual(['2', '3']);
  expect(await tables()).toEqual(['a', 'a_id', 'b', 'c', 'd']);
  expect(await failure(run(folder, { resumeFrom: 2 }))).toBe(
    '--resume-from: no version is unfinished; run without it',
  );
});

test('the rest of a failed file may be edited, what has run may not', async () => {
  const folder = folderOf({ '1_a.sql': `${FREE}create table a (id int);\ncreate tabel b (id int)` });
  expect(await failure(run(folder))).toMatch(/syntax error/);
  writeFiles(folder, { '1_a.sql': `${FREE}create table x (id int);\ncreate table b (id int)` });
  expect(await failure(run(folder, { resumeFrom: 2 }))).toBe(
    '1 a: what has run, up to statement 1, was edited since; restore it',
  );
  writeFiles(folder, { '1_a.sql': `${FREE}create table a (id int);\ncreate table b (id int)` });
  await run(folder, { resumeFrom: 2 });
  expect(await tables()).toEqual(['a', 'b']);
  expect(await states(folder)).toEqual({ 1: 'applied' });
});

test('a run whose session ends during a statement leaves it unknown, and can be continued after it', async () => {
  const folder = folderOf({
    '1_a.sql': `${FREE}create table a (id int);\nselect pg_sleep(20);\ncreate table b (id int)`,
  });
  const running = failure(run(folder));
  await expect
    .poll(() =>
      database.sql(
        `select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and query like '%sleep(20)' and state = 'active' and pid <> pg_backend_pid()`,
      ),
    )
    .toHaveLength(1);
  expect(await running).toMatch(/^1_a\.sql:3: statement 2 of 3 failed: .*; see: pergola migrate status$/);
  expect((await versionsOf(database.url, folder))[0]).toMatchObject({
    state: 'unknown',
    reason: 'the run ended during statement 2 of 3; it may have had its effect or not',
  });
  expect(await failure(run(folder))).toContain(
    '--resume-from 2; if it had, continue after it with --resume-from 3',
  );
  await run(folder, { resumeFrom: 3 });
  expect(await tables()).toEqual(['a', 'b']);
  expect(await states(folder)).toEqual({ 1: 'applied' });
});

test('to continue after the last statement records the version as applied', async () => {
  const folder = folderOf({ '1_a.sql': `${FREE}create table a (id int);\nselect 1 / 0` });
  await failure(run(folder));
  await run(folder, { resumeFrom: 3 });
  expect(await states(folder)).toEqual({ 1: 'applied' });
});

test('problems of the folder and of files that would run are refused together, before anything runs', async () => {
  const folder = folderOf({
    '1_a.sql': 'create table a (id int)',
    '2_b.sql': 'commit',
    '3_c.sql': 'vacuum a',
  });
  const error = await run(folder).catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(MigrationRefusal);
  expect((error as MigrationRefusal).reasons).toHaveLength(2);
  expect(await tables()).toEqual([]);
});

test('the record keeps sources apart', async () => {
  const folder = folderOf({ '1_a.sql': 'create table a (id int)' });
  const other = folderOf({ '1_b.sql': 'create table b (id int)' });
  await run(folder);
  await run(other, { source: 'other', folder: readMigrations(other, 'other') });
  expect(await tables()).toEqual(['a', 'b']);
});

test('a role without privileges on the record is refused with what it needs', async () => {
  const role = `migrate_nobody_${process.pid}_${Date.now()}`;
  await database.sql(`create role ${role} login`);
  try {
    const url = new URL(database.url);
    url.username = role;
    const folder = folderOf({ '1_a.sql': 'select 1' });
    const refusal = (what: string) =>
      `the record of migrations needs privileges that the user of the database lacks: permission denied for ${what}; ` +
      'grant create on the database, or usage on schema pergola_migrations and select, insert, update on its table';
    const { pathname } = url;
    expect(await failure(migrateUp(url.href, folder))).toBe(refusal(`database ${pathname.slice(1)}`));
    await run(folder);
    expect(await failure(migrateUp(url.href, folder))).toBe(refusal('schema pergola_migrations'));
  } finally {
    await database.sql(`drop role ${role}`);
  }
});

test('a role that may not create a schema can use a record that exists', async () => {
  const folder = folderOf({ '1_a.sql': 'select 1' });
  await run(folder);
  const role = `migrate_user_${process.pid}_${Date.now()}`;
  await database.sql(`create role ${role} login; grant usage on schema pergola_migrations to ${role};
    grant select, insert, update on pergola_migrations.migration to ${role}`);
  try {
    writeFiles(folder, { '2_b.sql': 'select 2' });
    const url = new URL(database.url);
    url.username = role;
    expect((await migrateUp(url.href, folder)).version).toBe('2');
  } finally {
    await database.sql(`drop owned by ${role}; drop role ${role}`);
  }
});
