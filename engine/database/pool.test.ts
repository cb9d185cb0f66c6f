/** Twins of pool.ts, against a real Postgres whose connections are broken on purpose. */
import { afterEach, beforeAll, beforeEach, expect, onTestFinished, test } from 'vitest';
import { testDatabase } from '../../testing/world.ts';
import { thrownMessage } from '../errors/engine-error.ts';
import { openProxy } from '../wire/testing/proxy.ts';
import { type Database, openDatabase } from './pool.ts';

const source = testDatabase();
let database: Database;

beforeAll(async () => {
  await source.sql('create table item (id int primary key)');
});
beforeEach(async () => {
  await source.sql('truncate item');
  database = openDatabase(source.url, { maxConnections: 2 });
});
afterEach(() => database.close());

const PREPARED = {
  name: '',
  text: `select coalesce(string_agg(name, ',' order by name), '') from pg_prepared_statements where name <> ''`,
};
const items = () => source.sql('select id from item order by id');
/** Ends every connection of the pool, from outside. */
const terminate = () =>
  source.sql(`select pg_terminate_backend(pid) from pg_stat_activity
    where datname = current_database() and application_name = 'pergola'`);

test('a row is the text Postgres sent, whatever its types', async () => {
  const row = await database.run({ name: '', text: `select 1, true, null, '{"a": 1}'::json, 1.50` }, []);
  expect(row).toEqual(['1', 't', null, '{"a": 1}', '1.50']);
});

test('no row is an empty one, and of several the first counts', async () => {
  expect(await database.run({ name: '', text: 'select 1 where false' }, [])).toEqual([]);
  expect(await database.run({ name: '', text: 'select * from generate_series(1, 3)' }, [])).toEqual(['1']);
});

test('a named statement is prepared once, an unnamed one never', async () => {
  await database.run({ name: 'one', text: 'select $1::int' }, ['1']);
  expect(await database.run({ name: 'one', text: 'select $1::int' }, ['2'])).toEqual(['2']);
  await database.run({ name: '', text: 'select 2' }, []);
  expect(await database.run(PREPARED, [])).toEqual(['one']);
});

test('nothing is prepared where prepared statements are off', async () => {
  const plain = openDatabase(source.url, { usePreparedStatements: false, maxConnections: 1 });
  await plain.run({ name: 'one', text: 'select 1' }, []);
  expect(await plain.run(PREPARED, [])).toEqual(['']);
  await plain.close();
});

test('a connection keeps at most a thousand statements prepared; the oldest goes', async () => {
  const one = openDatabase(source.url, { maxConnections: 1 });
  for (let i = 0; i <= 1000; i++) await one.run({ name: `s${i}`, text: 'select 1' }, []);
  const kept = {
    name: '',
    text: `select count(*), bool_or(name = 's0') from pg_prepared_statements where name <> ''`,
  };
  expect(await one.run(kept, [])).toEqual(['1000', 'f']);
  expect(await one.run({ name: 's0', text: 'select 1' }, [])).toEqual(['1']);
  await one.close();
});

test('a transaction is committed when its body is done', async () => {
  const result = await database.atomic({}, async (run) => {
    await run({ name: '', text: 'insert into item values ($1)' }, ['1']);
    return run({ name: '', text: 'select count(*) from item' }, []);
  });
  expect(result).toEqual(['1']);
  expect(await items()).toEqual([{ id: 1 }]);
});

test('a commit that is sent with its statements commits all of them, and no statement follows it', async () => {
  const insert = (id: string) => [{ name: '', text: 'insert into item values ($1)' }, [id]] as const;
  await database.atomic({ count: 2 }, (run) => Promise.all([run(...insert('1')), run(...insert('2'))]));
  expect(await items()).toEqual([{ id: 1 }, { id: 2 }]);
  const failing = database.atomic({ count: 2 }, (run) =>
    Promise.all([run(...insert('3')), run(...insert('1'))]),
  );
  await expect(failing).rejects.toMatchObject({ code: '23505' });
  const following = database.atomic({ count: 1 }, (run) =>
    Promise.all([run(...insert('4')), run(...insert('5'))]),
  );
  await expect(following).rejects.toThrow('follows the commit');
  expect(await items()).toEqual([{ id: 1 }, { id: 2 }, { id: 4 }]);
});

test('a commit that is sent with its statements and refused is the failure, whatever the body says', async () => {
  await source.sql('create table later (id int references item deferrable initially deferred)');
  const failing = database.atomic({ count: 1 }, async (run) => {
    await run({ name: '', text: 'insert into later values (9)' }, []);
    throw new Error('the result is refused');
  });
  await expect(failing).rejects.toMatchObject({ code: '23503' });
  expect(await source.sql('select id from later')).toEqual([]);
  await source.sql('drop table later');
});

test('a transaction whose body throws leaves nothing behind, and its connection works on', async () => {
  const failing = database.transaction({}, async (client) => {
    await client.query('insert into item values (1)');
    throw new Error('no');
  });
  await expect(failing).rejects.toThrow('no');
  expect(await items()).toEqual([]);
  expect(await database.run({ name: '', text: 'select 1' }, [])).toEqual(['1']);
});

test('a read-only transaction cannot write', async () => {
  const writing = database.transaction({ readOnly: true }, (client) =>
    client.query('insert into item values (1)'),
  );
  await expect(writing).rejects.toMatchObject({ code: '25006' });
});

test('transactions have the isolation level of their source', async () => {
  const strict = openDatabase(source.url, { isolationLevel: 'repeatable-read' });
  const level = await strict.atomic({}, (run) => {
    return run({ name: '', text: `select current_setting('transaction_isolation')` }, []);
  });
  expect(level).toEqual(['repeatable read']);
  await strict.close();
});

test('settings made by SQL of a client are gone with their transaction', async () => {
  const one = openDatabase(source.url, { maxConnections: 1 });
  await one.transaction({ isForeign: true }, (client) => client.query(`set application_name = 'changed'`));
  expect(await one.run({ name: '', text: `select current_setting('application_name')` }, [])).toEqual([
    'pergola',
  ]);
  await one.close();
});

test('an idle connection that breaks is replaced, and the process lives', async () => {
  await database.run({ name: '', text: 'select 1' }, []);
  await terminate();
  // A statement that is sent before the end of the connection has arrived fails.
  await expect
    .poll(() => database.run({ name: '', text: 'select 1' }, []).catch(thrownMessage), { timeout: 10_000 })
    .toEqual(['1']);
});

test('a connection that breaks under a statement fails it, and the process lives', async () => {
  const sleeping = database.run({ name: '', text: 'select pg_sleep(20)' }, []);
  const failed = expect(sleeping).rejects.toThrow();
  await new Promise((resolve) => setTimeout(resolve, 100));
  await terminate();
  await failed;
  expect(await database.run({ name: '', text: 'select 1' }, [])).toEqual(['1']);
});

test('a connection that breaks inside a transaction fails it, and the process lives', async () => {
  const working = database.transaction({}, async (client) => {
    await client.query('insert into item values (1)');
    await terminate();
    await new Promise((resolve) => setTimeout(resolve, 50));
    await client.query('select 1');
  });
  await expect(working).rejects.toThrow();
  expect(await items()).toEqual([]);
  expect(await database.run({ name: '', text: 'select 1' }, [])).toEqual(['1']);
});

test('a transaction on a connection that ends without a word fails', async () => {
  const proxy = await openProxy(source.url);
  const cut = openDatabase(proxy.url);
  const working = cut.atomic({}, async (run) => {
    await run({ name: '', text: 'insert into item values (1)' }, []);
    await proxy.close();
    return run({ name: '', text: 'select 1' }, []);
  });
  await expect(working).rejects.toThrow('lost');
  await cut.close();
  expect(await items()).toEqual([]);
});

test.each([
  ['a caller that does not wait', () => ({ signal: AbortSignal.timeout(10) })],
  ['a time limit', () => ({ limitMs: 10 })],
])('%s never moves a statement out of its transaction', async (_, patience) => {
  const proxy = await openProxy(source.url);
  const far = openDatabase(proxy.url);
  onTestFinished(async () => {
    await far.close(AbortSignal.timeout(1000));
    await proxy.close();
  });
  await far.run({ name: '', text: 'select 1' }, []);
  // When the patience ends, Postgres has run BEGIN and the statement, and neither answer has arrived.
  proxy.delayMs = 200;
  for (const text of ['insert into item values (1)', 'select pg_advisory_xact_lock(1)']) {
    const working = far.atomic(patience(), (run) => run({ name: '', text }, []));
    await expect(working).rejects.toThrow(/took longer|timeout/);
  }
  expect(await items()).toEqual([]);
});

test('close can be called twice', async () => {
  const other = openDatabase(source.url);
  await other.run({ name: '', text: 'select 1' }, []);
  await Promise.all([other.close(), other.close()]);
});
