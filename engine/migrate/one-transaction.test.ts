/** Tests that a migration cannot leave its transaction, whatever its text is: what a run reports and records is what the database has. Texts
 *  are generated from statements that end transactions and from ways to hide them. */
import { randomUUID } from 'node:crypto';
import type pg from 'pg';
import { expect, test } from 'vitest';
import { folderOf, migrateUp, statesOf } from '../../testing/migrate/folder.ts';
import { testDatabase } from '../../testing/world.ts';
import { finish } from '../metadata/steps.ts';
import { type Migration, migrationSteps } from './migration.ts';
import { MigrationFailure, TransactionEscape } from './migration-failure.ts';
import { createRecord, readRecord } from './record.ts';
import { runFile } from './run-file.ts';
import { MigrationRefusal } from './run-migrations.ts';
import { withMigrationSession } from './session.ts';

const database = testDatabase();

const ENDERS = [
  ...[
    'commit',
    'commit and chain',
    'rollback',
    'end',
    'abort',
    'COMMIT WORK',
    'rollback/**/and--\rchain',
    'end transaction',
  ],
  ...["prepare/**/transaction 'x'", 'begin', 'start--\ntransaction', "commit prepared 'x'"],
];

/** The number of enders, from the first, that every carrier has. */
const ALWAYS = 2;

/** Ways to hide a statement. Each text runs after `create table kept_N` and before an error. */
const CARRIERS: readonly ((ender: string, n: number) => string)[] = [
  (ender) => ender,
  (ender) => `--\r${ender}`,
  (ender) => `-- \u2028 ${ender}`,
  (ender) => `--\f${ender}`,
  (ender) => `select 1 --\r; ${ender}; --`,
  (ender) => `select 1 -- /*\r; ${ender}; select '--'`,
  (ender) => `select e'a' --\r; ${ender}; select 'a' --`,
  (ender, n) => `create domain atomic as int; create table ab_${n} (begin atomic); ${ender}; end`,
  (ender, n) => `create view av_${n} as select 1 as begin, atomic.* from (select 2) atomic; ${ender}; end`,
  (ender, n) => `create view av_${n} as select begin atomic from (select 1 as begin) x; ${ender}; end`,
  (ender) => `-- it's\r${ender}; --'`,
  (ender) => `/* /* */ */${ender}`,
  (ender) => `/*/**/${ender}`,
  (ender) => `/*${ender}`,
  (ender) => `\u00a0${ender}`,
  (ender) => `\\;${ender}`,
  (ender) => `select 1 \\g ${ender}`,
  (ender) => `;;;/**/;${ender}`,
  (ender) => `select '\\'; ${ender}; --'`,
  (ender) => `set standard_conforming_strings = off; select '\\'; ${ender}; --'`,
  (ender) => `set standard_conforming_strings = off; select '\\'';${ender}; select '\\'`,
  (ender) => `select e'a'\n'\\'; ${ender}; select \\''`,
  (ender) => `select e'a'--\r'\\'; ${ender}; select \\''`,
  (ender) => `select e'a' '\\'; ${ender}; select \\''`,
  (ender) => `select u&'\\0041'; ${ender}`,
  (ender) => `select U&"d\\0061t"; ${ender}`,
  (ender) => `select $a$ $a$; ${ender}; select $b$ $b$`,
  (ender) => `select a$a$; ${ender}; select $a$`,
  (ender) => `select 1$$; ${ender}; select $$`,
  (ender, n) => `create table at_${n} (begin int, atomic int); ${ender}`,
  (ender, n) => `create domain atomic_${n} as int; create table at_${n} (begin atomic_${n}); ${ender}`,
  (ender) => `select 1 as begin, 2 as atomic; ${ender}; end`,
  (ender, n) => `create function f_${n}() returns int begin atomic select 1 as end; ${ender}; end; ${ender}`,
  (ender, n) =>
    `create function f_${n}() returns int begin atomic select case 1 when 1 then 2 end; end; ${ender}`,
  (ender, n) => `create function f_${n}() returns int begin/**/--\r atomic select 1 end; end; ${ender}`,
  (ender, n) =>
    `create function f_${n}() returns int language sql as $$ select 1 $$; begin atomic; ${ender}; end`,
  (ender, n) => `create procedure p_${n}() begin atomic ${ender}; end; call p_${n}()`,
  (ender) => `do $$ begin ${ender}; end $$`,
  (ender) => `do $$ begin execute $e$${ender}$e$; end $$`,
  (ender, n) => `create procedure p_${n}() language plpgsql as $$ begin ${ender}; end $$; call p_${n}()`,
  (ender, n) => `create procedure p_${n}() language sql as $$ ${ender} $$; call p_${n}()`,
  (ender, n) => `create rule r as on insert to kept_${n} do (${ender}; ${ender}); ${ender}`,
  (ender, n) => `prepare q_${n} as select 1; execute q_${n}; deallocate q_${n}; ${ender}`,
  (ender) => `(${ender}`,
  (ender) => `select (1); ${ender})`,
  (ender, n) => `copy kept_${n} from/**/stdin; ${ender}`,
  (ender) => `savepoint a; rollback to a; release a; ${ender}`,
  (ender) => `savepoint a; rollback work to savepoint a; ${ender}`,
];

const failureOf = async (running: Promise<unknown>): Promise<Error | undefined> => {
  try {
    await running;
    return undefined;
  } catch (error) {
    return error as Error;
  }
};
const tablesLike = (pattern: string) =>
  database.sql('select relname from pg_class where relname like $1 order by 1', [pattern]);

test.each(CARRIERS.map((carrier, i) => [carrier('ENDER', i), carrier] as const))(
  'nothing is left of a file with %j that fails',
  async (_, carrier) => {
    const first = CARRIERS.indexOf(carrier);
    for (const [n, ender] of ENDERS.entries()) {
      // Every carrier has the first enders, and a third of the others.
      if (n >= ALWAYS && n % 3 !== first % 3) continue;
      const text = carrier(ender, n);
      const file = `create table kept_${n} (id int);\n${text}\n;select 1/0`;
      const folder = folderOf({ '1_a.sql': file });
      const failure = await failureOf(migrateUp(database.url, folder));
      expect(failure, file).toBeDefined();
      expect(failure instanceof MigrationRefusal || failure instanceof MigrationFailure, file).toBe(true);
      expect(failure, file).not.toBeInstanceOf(TransactionEscape);
      expect(await tablesLike('kept%'), file).toEqual([]);
      expect(await statesOf(database.url, folder), file).toEqual({ 1: 'pending' });
    }
  },
  120_000,
);

test('what only looks like the end of a transaction runs', async () => {
  const [version] = await database.sql(
    "select current_setting('server_version_num')::int >= 140000 as has_bodies",
  );
  const body = version!['has_bodies']
    ? 'begin atomic select 1 as commit; select case when true then 2 end; end'
    : 'language sql as $$ select 2 $$';
  const folder = folderOf({
    '1_a.sql': `create table ran (commit int, "rollback" int); comment on column ran.commit is 'commit; rollback';
      savepoint a; insert into ran values (1, 2); rollback to savepoint a; savepoint a; insert into ran values (3, 4);
      rollback work to a; savepoint b; release savepoint a; /* commit; */ -- rollback;
      create function abort() returns int ${body};
      do $commit$ begin perform 1; end $commit$; insert into ran values (5, 6)`,
  });
  expect((await migrateUp(database.url, folder)).version).toBe('1');
  expect(await database.sql('select * from ran')).toEqual([{ commit: 5, rollback: 6 }]);
  await database.sql('drop table ran; drop function abort(); drop schema pergola_migrations cascade');
});

/** Runs a file whose statements nobody has looked at. */
async function runUnseen(client: pg.Client, text: string): Promise<Error | undefined> {
  const migration: Migration = finish(migrationSteps({ version: '7', name: 'a', file: '7_a.sql' }, text));
  const run = {
    client,
    source: 'default',
    run: randomUUID(),
    lockTimeoutMs: 1000,
    lockRetries: 0,
    onRetry: () => {},
  };
  return failureOf(runFile(run, migration));
}

test.each([
  ['commit', 2, ['left_1']],
  ['rollback', 2, []],
  ['rollback and chain', 3, []],
  ['commit and chain', 3, ['left_1']],
  ['commit; begin', 2, ['left_1']],
])('a transaction that ends by %j is found, and recorded as failed', async (ender, statement, tables) => {
  const [failure, rows] = await withMigrationSession(database.url, async (client) => {
    await createRecord(client);
    const text = `create table left_1 (id int);\n${ender};\ncreate table left_2 (id int)`;
    return [await runUnseen(client, text), await readRecord(client, 'default')];
  });
  expect(failure).toBeInstanceOf(TransactionEscape);
  expect(failure!.message).toMatch(
    new RegExp(`^7_a.sql:${statement}: statement ${statement} of \\d: it began or ended a transaction`),
  );
  expect(rows).toMatchObject([{ version: '7', state: 'failed', started: statement, finished: 0 }]);
  expect((await tablesLike('left%')).map(({ relname }) => relname)).toEqual(tables);
  await database.sql('drop schema pergola_migrations cascade; drop table if exists left_1');
});

test('a transaction that begins in a file without one is found, and recorded as failed', async () => {
  const [failure, rows] = await withMigrationSession(database.url, async (client) => {
    await createRecord(client);
    const text =
      '-- pergola: no-transaction\ncreate table left_1 (id int);\nbegin;\ncreate table left_2 (id int)';
    return [await runUnseen(client, text), await readRecord(client, 'default')];
  });
  expect(failure).toBeInstanceOf(TransactionEscape);
  expect(rows).toMatchObject([{ version: '7', state: 'failed', started: 2, finished: 1 }]);
  expect((await tablesLike('left%')).map(({ relname }) => relname)).toEqual(['left_1']);
  await database.sql('drop schema pergola_migrations cascade; drop table left_1');
});

test('a procedure that commits runs in a file without a transaction, and is refused in one', async () => {
  const procedure =
    'create procedure p() language plpgsql as $$ begin create table left_1 (id int); commit; end $$;';
  const refused = folderOf({ '1_a.sql': `${procedure} call p()` });
  expect((await failureOf(migrateUp(database.url, refused)))?.message).toMatch(
    /invalid transaction termination \(2D000\)/,
  );
  expect(await tablesLike('left%')).toEqual([]);
  const folder = folderOf({
    '1_a.sql': `-- pergola: no-transaction\n${procedure} call p(); vacuum; drop procedure p`,
  });
  expect((await migrateUp(database.url, folder)).version).toBe('1');
  expect(await tablesLike('left%')).toEqual([{ relname: 'left_1' }]);
});
