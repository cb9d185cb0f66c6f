/** Calls of functions, asked of a real database: arguments by name, by position and left out, one row or none, the session,
 *  and that what may write is never asked twice. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openWorld, type World } from '../execute/testing/world.ts';

const SCHEMA = `
  create table author (id int primary key, name text not null);
  insert into author values (1, 'Ada'), (2, 'Bo');
  create function found(search text default '%', lowest int default 0) returns setof author language sql stable
    as $$ select * from author where name like search and id >= lowest order by id $$;
  create function by_place(int, text default 'Ada') returns setof author language sql stable
    as $$ select * from author where id = $1 or name = $2 order by id $$;
  create function one(wanted int) returns author language sql stable
    as $$ select * from author where id = wanted $$;
  create function next_of(author) returns author language sql stable
    as $$ select * from author where id > $1.id order by id limit 1 $$;
  create function mine(session json) returns setof author language sql stable
    as $$ select * from author where id = (session ->> 'x-engine-user-id')::int $$;
  create sequence writes;
  create sequence reads;
  create function written() returns setof author language plpgsql volatile as $$
    begin perform nextval('writes'); perform pg_terminate_backend(pg_backend_pid()); return; end $$;
  create function read() returns setof author language plpgsql stable as $$
    begin perform nextval('reads'); perform pg_terminate_backend(pg_backend_pid()); return; end $$;`;

const public_ = (name: string) => ({ schema: 'public', name });
const tracked = (name: string, configuration = {}) => ({ function: public_(name), configuration });

let world: World;
beforeAll(async () => {
  world = await openWorld(SCHEMA, {
    tables: [
      {
        table: public_('author'),
        computed_fields: [{ name: 'next', definition: { function: public_('next_of') } }],
        select_permissions: [{ role: 'user', permission: { columns: ['id'], filter: { id: { _neq: 2 } } } }],
      },
    ],
    functions: [
      ...['found', 'by_place', 'one', 'read'].map((name) => tracked(name)),
      tracked('mine', { session_argument: 'session' }),
      tracked('written', { exposed_as: 'query' }),
    ],
  });
});
afterAll(() => world.close());

const admin = { role: 'admin' };
const ask = async (field: string, who: object = admin) => {
  const { data, errors } = await world.ask(`{ asked: ${field} { id } }`, {}, who);
  return errors ? errors[0]!.message : data!['asked'];
};

test('arguments are given by name or place, and left out where they have a default', async () => {
  expect(await ask('found')).toEqual([{ id: 1 }, { id: 2 }]);
  expect(await ask('found(args: { lowest: 2 })')).toEqual([{ id: 2 }]);
  expect(await ask('found(args: { search: "A%", lowest: 0 })')).toEqual([{ id: 1 }]);
  expect(await ask('by_place(args: { arg_1: 2 })')).toEqual([{ id: 1 }, { id: 2 }]);
  expect(await ask('by_place(args: { arg_1: 2, arg_2: "x" })')).toEqual([{ id: 2 }]);
  expect(await ask('found(args: { lowest: 1 }, where: { name: { _eq: "Bo" } }, limit: 1)')).toEqual([
    { id: 2 },
  ]);
});

test('a function of one row answers with it, or with null when there is none or it is hidden', async () => {
  expect(await ask('one(args: { wanted: 2 })')).toEqual({ id: 2 });
  expect(await ask('one(args: { wanted: 9 })')).toBeNull();
  expect(await ask('one(args: { wanted: 2 })', { role: 'user' })).toBeNull();
  const query = '{ author(order_by: { id: asc }) { id next { id } } }';
  expect((await world.ask(query, {}, admin)).data).toEqual({
    author: [
      { id: 1, next: { id: 2 } },
      { id: 2, next: null },
    ],
  });
  expect((await world.ask(query)).data).toEqual({ author: [{ id: 1, next: null }] });
});

test('the session is given, and can not be given by the client', async () => {
  expect(await ask('mine', { role: 'user' })).toEqual([{ id: 1 }]);
  expect(await ask('mine(args: { session: {} })', { role: 'user' })).toBe(
    "'mine' has no argument named 'args'",
  );
});

test('a read that lost its connection is asked again, a volatile function is not', async () => {
  await ask('read');
  await ask('written', admin);
  const [counts] = await world.source.sql(
    'select (select last_value from reads) reads, (select last_value from writes) writes',
  );
  expect(counts).toEqual({ reads: '2', writes: '1' });
});
