/** Twins of pg-errors.ts: failures of a real Postgres as what a client reads. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { testDatabase } from '../../testing/world.ts';
import { toGraphqlError } from '../errors/engine-error.ts';
import { engineErrorOf, sqlStateOf } from './pg-errors.ts';
import { type Database, isConnectionLost, openDatabase } from './pool.ts';

const source = testDatabase();
let database: Database;

beforeAll(async () => {
  await source.sql(`
    create extension if not exists btree_gist;
    create table parent (id int primary key, name text unique, age int not null check (age > 0));
    create table child (parent_id int references parent);
    create table slot (during int4range, exclude using gist (during with &&));
    insert into parent values (1, 'Ada', 5);
    insert into child values (1);
    insert into slot values ('[1,5]')`);
  database = openDatabase(source.url);
});

afterAll(() => database.close());

const asked = (text: string) => ({ text, isByAdministrator: true });

const failureOf = async (text: string) => {
  const thrown = await database.query(text).then(
    () => undefined,
    (error: unknown) => error,
  );
  return toGraphqlError(engineErrorOf(thrown, asked(text), ['selectionSet', 'it']), false);
};

describe('clients read', () => {
  test.each<[string, string, string, string]>([
    [
      'a duplicate key',
      `insert into parent values (2, 'Ada', 1)`,
      'constraint-violation',
      'Uniqueness violation. duplicate key value violates unique constraint "parent_name_key"',
    ],
    [
      'one row twice in an upsert',
      'insert into parent values (7, null, 1), (7, null, 2) on conflict (id) do update set age = 3',
      'data-exception',
      'ON CONFLICT DO UPDATE command cannot affect row a second time',
    ],
    [
      'a missing value',
      'insert into parent values (2)',
      'constraint-violation',
      'Not-NULL violation. null value in column "age" of relation "parent" violates not-null constraint',
    ],
    [
      'a missing parent',
      'insert into child values (9)',
      'constraint-violation',
      'Foreign key violation. insert or update on table "child" violates foreign key constraint "child_parent_id_fkey"',
    ],
    [
      'a child that is in the way',
      'delete from parent',
      'constraint-violation',
      'Foreign key violation. update or delete on table "parent" violates foreign key constraint "child_parent_id_fkey" on table "child"',
    ],
    [
      'a failed check of the table',
      `insert into parent values (2, 'Bo', 0)`,
      'constraint-violation',
      'Check constraint violation. new row for relation "parent" violates check constraint "parent_age_check"',
    ],
    [
      'an exclusion',
      `insert into slot values ('[2,3]')`,
      'constraint-violation',
      'Exclusion violation. conflicting key value violates exclusion constraint "slot_during_excl"',
    ],
    [
      'text that is no number',
      `select 'x'::int`,
      'data-exception',
      'invalid input syntax for type integer: "x"',
    ],
    [
      'a transaction that must be tried again',
      `do $$ begin raise serialization_failure using message = 'could not serialize access'; end $$`,
      'concurrent-update',
      'serialization failure due to concurrent update',
    ],
    [
      'a row that is still referred to',
      `do $$ begin raise restrict_violation using message = 'still referenced from table "child"'; end $$`,
      'constraint-violation',
      'Can not delete or update due to data being referred. still referenced from table "child"',
    ],
    ['a number out of range', 'select 3000000000::int', 'data-exception', 'integer out of range'],
    [
      'a pattern that ends in its escape',
      `select 'ab' like E'a\\\\'`,
      'bad-request',
      'LIKE pattern must not end with escape character',
    ],
    [
      'a constraint to meet that is gone',
      'insert into parent values (1) on conflict on constraint gone do nothing',
      'constraint-error',
      'constraint "gone" for table "parent" does not exist',
    ],
    [
      'columns to meet without an index',
      'insert into parent values (1) on conflict (age) do nothing',
      'constraint-error',
      'there is no unique or exclusion constraint on target column(s)',
    ],
    ['whatever a client cannot help', 'select * from nowhere', 'unexpected', 'database query error'],
  ])('%s', async (_name, text, code, message) => {
    expect(await failureOf(text)).toEqual({ message, extensions: { code, path: '$.selectionSet.it' } });
  });

  /** What no statement brings about at will. */
  const raised = (state: string) =>
    failureOf(`do $$ begin raise exception using errcode = '${state}', message = 'said'; end $$`);

  test.each([
    ['another violation of a constraint', '23000', 'constraint-violation', 'said'],
    ['another data exception', '22000', 'data-exception', 'said'],
    ['another rollback', '40003', 'concurrent-update', 'said'],
    ['a lock that is not available', '55P03', 'concurrent-update', 'said'],
    [
      'a limit of Postgres',
      '54001',
      'validation-failed',
      'the request is too complex for the database: said',
    ],
    ['a lost connection', '08006', 'postgres-error', 'connection error: the database cannot be reached'],
    ['a refused user', '28P01', 'postgres-error', 'connection error: the database cannot be reached'],
    [
      'a database that is gone',
      '3D000',
      'postgres-error',
      'connection error: the database cannot be reached',
    ],
    [
      'too many connections',
      '53300',
      'postgres-max-connections-error',
      'the database has no connection left',
    ],
    ['a shutdown', '57P01', 'postgres-error', 'connection error: the database cannot be reached'],
    ['a cancelled statement', '57014', 'unexpected', 'database query error'],
    ['a missing privilege', '42501', 'unexpected', 'database query error'],
    ['what a trigger raises', 'P0001', 'unexpected', 'database query error'],
    ['a view’s own check', '44000', 'unexpected', 'database query error'],
  ])('%s (%s)', async (_name, state, code, message) => {
    expect(await raised(state)).toEqual({ message, extensions: { code, path: '$.selectionSet.it' } });
  });
});

test("administrators read the statement and the database's own words, but no values", async () => {
  const text = 'select * from nowhere where id = $1';
  const thrown = await database.query(text, ['secret']).catch((error: unknown) => error);
  const { extensions } = toGraphqlError(engineErrorOf(thrown, asked(text), []), true);
  const message = 'relation "nowhere" does not exist';
  expect(extensions.internal).toMatchObject({ statement: text, error: { status_code: '42P01', message } });
  expect(JSON.stringify(extensions)).not.toContain('secret');
});

test('what a client can help is told to everybody alike', async () => {
  const thrown = await database.query('insert into child values (9)').catch((error: unknown) => error);
  expect(toGraphqlError(engineErrorOf(thrown, asked(''), []), true).extensions).not.toHaveProperty(
    'internal',
  );
});

test('the one that gives way in a deadlock reads so', async () => {
  await source.sql('insert into parent values (11, null, 1), (12, null, 1)');
  let waiting = 0;
  const meet = async (first: number, second: number) =>
    database.transaction({}, async (client) => {
      await client.query('update parent set age = age + 1 where id = $1', [first]);
      waiting++;
      while (waiting < 2) await client.query('select 1');
      await client.query('update parent set age = age + 1 where id = $1', [second]);
    });
  const outcomes = await Promise.allSettled([meet(11, 12), meet(12, 11)]);
  const [lost] = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason] : []));
  expect(toGraphqlError(engineErrorOf(lost, asked(''), []), false)).toEqual({
    message: 'deadlock detected',
    extensions: { code: 'concurrent-update', path: '$' },
  });
  expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
});

test('a network failure is a connection error that names no host', async () => {
  const nowhere = openDatabase('postgres://nobody:hunter2@127.0.0.1:1/nothing');
  const thrown = await nowhere.query('select 1').catch((error: unknown) => error);
  const shown = toGraphqlError(engineErrorOf(thrown, asked('select 1'), []), false);
  expect(shown).toEqual({
    message: 'connection error: the database cannot be reached',
    extensions: { code: 'postgres-error', path: '$' },
  });
  await nowhere.close();
});

test('an SQLSTATE is told from a code of the network', () => {
  expect(sqlStateOf({ code: '23505' })).toBe('23505');
  expect(sqlStateOf({ code: 'EPIPE' })).toBeUndefined();
  expect(sqlStateOf(new Error('Connection terminated unexpectedly'))).toBeUndefined();
});

test('an error that already is one of ours stays itself', async () => {
  const thrown = await database.query('select 1/0').catch((error: unknown) => error);
  const once = engineErrorOf(thrown, asked('select 1/0'), ['a']);
  expect(engineErrorOf(once, asked('commit'), [])).toBe(once);
});

test('a worker of a Citus cluster that does not answer is no loss of its coordinator, and administrators read its address', () => {
  const refused = Object.assign(
    new Error(
      'connection to the remote node postgres@10.0.0.7:5432 failed with the following error: refused',
    ),
    { code: '08006' },
  );
  const ended = Object.assign(new Error('terminating connection due to administrator command'), {
    code: '57P01',
    where: 'while executing command on 10.0.0.7:5432',
  });
  for (const thrown of [refused, ended]) {
    expect(isConnectionLost(thrown)).toBe(false);
    const error = engineErrorOf(thrown, asked('select 1'), []);
    expect(toGraphqlError(error, false).extensions.code).toBe('worker-unreachable');
    expect(JSON.stringify(toGraphqlError(error, false))).not.toContain('10.0.0.7');
    expect(JSON.stringify(error.internal)).toContain(thrown.message);
  }
  expect(isConnectionLost(Object.assign(new Error('closed'), { code: '57P01' }))).toBe(true);
});

test('a violation on a shard names the table and the constraint that were declared', () => {
  const thrown = Object.assign(
    new Error('insert or update on table "ads_102008" violates foreign key constraint "ads_fkey_102008"'),
    { code: '23503', where: 'while executing command on 10.0.0.7:5432' },
  );
  expect(engineErrorOf(thrown, asked('insert'), []).message).toBe(
    'Foreign key violation. insert or update on table "ads" violates foreign key constraint "ads_fkey"',
  );
  const local = Object.assign(new Error('duplicate key value violates unique constraint "ads_102008"'), {
    code: '23505',
  });
  expect(engineErrorOf(local, asked('insert'), []).message).toContain('"ads_102008"');
});
