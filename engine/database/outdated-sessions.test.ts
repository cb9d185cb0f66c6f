/** Tests statements whose session has cached an earlier schema: they are repeated in a new one, once, and only where nothing was
 *  written. Schemas and requests at random: end-to-end/schema-changes.test.ts. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { hasPgbouncer, type Pgbouncer, startPgbouncer } from '../../testing/pgbouncer.ts';
import { testDatabase } from '../../testing/world.ts';
import { type Database, type NamedStatement, openDatabase } from './pool.ts';

const CONNECTIONS = 6;
const isThere = hasPgbouncer();
const why = isThere ? '' : ' (skipped: there is no pgbouncer on the PATH)';

const source = testDatabase();
let bouncer: Pgbouncer | undefined;

beforeAll(async () => {
  if (isThere) bouncer = await startPgbouncer(source.url, { poolSize: CONNECTIONS });
});
afterAll(() => bouncer?.close());

const named = (name: string, text: string): NamedStatement => ({ name, text });
const codeOf = (failure: unknown) => (failure as { readonly code?: string }).code;

/** A schema whose function keeps a variable of an enum. The sequence counts calls, also those that are rolled back. */
const SCHEMA = `
  drop schema if exists w cascade; create schema w;
  create sequence w.calls;
  create type w.mood as enum ('red', 'blue');
  create table w.item (id int, kind w.mood, size int);
  create table w.log (text text);
  create function w.cached(what text) returns text language plpgsql as
    $$ declare m w.mood; begin perform nextval('w.calls'); insert into w.log values (what); m := what; return m; end $$;
  create function w.broken() returns int language plpgsql as
    $$ begin perform nextval('w.calls'); insert into w.log values ('x'); raise exception 'cache lookup failed for type 1' using errcode = 'XX000'; end $$;
  insert into w.item values (1, 'red', 1), (2, 'blue', 2)`;

const REPLACED = `
  alter type w.mood rename to mood_old; create type w.mood as enum ('red', 'blue', 'new');
  alter table w.item alter kind type w.mood using kind::text::w.mood; drop type w.mood_old`;

const ways: readonly (readonly [string, boolean])[] = [
  ['directly', true],
  ['through a pooler in transaction mode', false],
];

describe.each(ways)('%s', (_, isDirect) => {
  const isSkipped = !isDirect && !isThere;
  let database: Database;

  beforeEach(async () => {
    if (isSkipped) return;
    await source.sql(SCHEMA);
    const options = { maxConnections: CONNECTIONS, usePreparedStatements: isDirect };
    database = openDatabase(isDirect ? source.url : bouncer!.url, options);
    return () => database.close();
  });

  const calls = async () => Number((await source.sql('select last_value from w.calls'))[0]!['last_value']);
  const logged = async () => (await source.sql('select from w.log')).length;

  /** Runs a statement on each connection at the same time. */
  const onEach = <T>(run: () => Promise<T>) => {
    const sleeping = named('sleep', 'select pg_sleep(0.1)');
    return Promise.all(
      Array.from({ length: CONNECTIONS }, () =>
        database.atomic({}, async (inside) => {
          await inside(sleeping, []);
        }),
      ),
    ).then(() => Promise.all(Array.from({ length: CONNECTIONS }, run)));
  };

  const call = named('call', 'select w.cached($1)');
  const inTransaction = () =>
    database.atomic({}, async (run) => {
      await run(named('insert', 'insert into w.log values ($1)'), ['before']);
      return run(call, ['red']);
    });

  test.skipIf(isSkipped)(
    `a function that kept an enum runs after it was replaced${isDirect ? '' : why}`,
    async () => {
      await onEach(() => database.run(call, ['red']));
      await onEach(inTransaction);
      await source.sql(`${REPLACED}; truncate w.log`);
      expect(await onEach(() => database.run(call, ['red']))).toEqual(Array(CONNECTIONS).fill(['red']));
      expect(await database.run(call, ['new'])).toEqual(['new']);
      // Each call has written once.
      expect(await logged()).toBe(CONNECTIONS + 1);
    },
  );

  test.skipIf(isSkipped)(`a transaction is repeated as a whole${isDirect ? '' : why}`, async () => {
    await onEach(inTransaction);
    await source.sql(`${REPLACED}; truncate w.log`);
    expect(await onEach(inTransaction)).toEqual(Array(CONNECTIONS).fill(['red']));
    expect(await logged()).toBe(2 * CONNECTIONS);
  });

  test.skipIf(isSkipped)(`parameters and results have the new types${isDirect ? '' : why}`, async () => {
    const list = named('list', 'select id from w.item where kind = any($1::w.mood[]) order by id');
    const set = named('set', 'update w.item set kind = $1::w.mood where id = 2 returning kind');
    const all = named('all', 'select size from w.item order by id');
    const once = () =>
      Promise.all([
        database.run(list, [['red']]),
        database.run(set, ['blue']),
        database.run(all, []),
        database.atomic({}, (run) => run(set, ['blue'])),
      ]);
    await onEach(once);
    await source.sql(`${REPLACED}; alter table w.item alter size type text using 'size ' || size`);
    expect(await onEach(once)).toEqual(Array(CONNECTIONS).fill([['1'], ['blue'], ['size 1'], ['blue']]));
    expect(await database.run(set, ['new'])).toEqual(['new']);
  });

  test.skipIf(isSkipped)(
    `a function that always fails like that is called twice at most, and rarely${isDirect ? '' : why}`,
    async () => {
      const broken = named('broken', 'select w.broken()');
      await onEach(() => database.run(named('one', 'select 1'), []));
      const opened = database.counts.opened;
      for (let i = 0; i < 30; i++) {
        expect(codeOf(await database.run(broken, []).catch((error: unknown) => error))).toBe('XX000');
      }
      const seconds = 3;
      const sessions = isDirect ? 1 : CONNECTIONS + 1;
      expect(await calls()).toBeLessThanOrEqual(30 + seconds * sessions);
      expect(database.counts.opened - opened).toBeLessThanOrEqual(seconds * sessions);
      expect(await logged()).toBe(0);
    },
  );

  test.skipIf(isSkipped)(
    `an invalid value is an error, also of a statement that was prepared${isDirect ? '' : why}`,
    async () => {
      const set = named('set', 'update w.item set kind = $1::w.mood where id = 2 returning kind');
      await onEach(() => database.run(set, ['blue']));
      const opened = database.counts.opened;
      for (let i = 0; i < 10; i++) {
        expect(codeOf(await database.run(set, ['green']).catch((error: unknown) => error))).toBe('22P02');
        const inside = database.atomic({}, (run) => run(set, ['green']));
        expect(codeOf(await inside.catch((error: unknown) => error))).toBe('22P02');
      }
      expect(database.counts.opened).toBe(opened);
    },
  );
});

test('connections that are in use when the schema changes end with their work', async () => {
  await source.sql(SCHEMA);
  const database = openDatabase(source.url, { maxConnections: 2 });
  const backend = named('pid', 'select pg_backend_pid()');
  const inside = Promise.withResolvers<void>();
  const goOn = Promise.withResolvers<void>();
  const used = database.atomic({}, async (run) => {
    const [first] = await run(backend, []);
    inside.resolve();
    await goOn.promise;
    return [first, (await run(backend, []))[0]];
  });
  await inside.promise;
  const [idle] = await database.run(backend, []);
  database.retire();
  goOn.resolve();
  const [first, second] = await used;
  expect(second).toBe(first);
  const later = await Promise.all([1, 2].map(() => database.run(backend, [])));
  for (const [pid] of later) expect([first, idle]).not.toContain(pid);
  await database.close();
});
