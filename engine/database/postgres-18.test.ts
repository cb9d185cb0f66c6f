/** What Postgres 18 brings to tables, asked over GraphQL: virtual generated columns, uuidv7(), not-null constraints that are
 *  in pg_constraint and may be unvalidated, foreign keys that are not enforced, keys over periods, and the names OLD and NEW in
 *  `returning`. PostgreSQL 18 release notes. Older servers have none of it: .ci/postgres-versions.ts asks them the rest. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createDatabase } from '../../testing/database.ts';
import { openWorld, type World } from '../execute/testing/world.ts';

const SCHEMA = `
  drop schema public cascade;
  create schema public;
  create extension btree_gist;
  create table item (
    id uuid primary key default uuidv7(), price int not null, amount int constraint amount_given not null,
    total int generated always as (price * amount) virtual, kept int generated always as (price + 1) stored);
  create table old (id int primary key, old int, new int, unique (old));
  create table loose (id int primary key, item_id uuid references item not enforced, note text);
  insert into loose values (1, null, null);
  alter table loose add constraint note_given not null note not valid;
  create table stay (room int, during daterange, primary key (room, during without overlaps));
  create table visit (id int primary key, room int, during daterange,
    foreign key (room, period during) references stay (room, period during));`;

const public_ = (name: string) => ({ schema: 'public', name });
const columns = ['id', 'price', 'amount', 'total'];
const TABLES = [
  {
    table: public_('item'),
    select_permissions: [{ role: 'user', permission: { columns, filter: { total: { _lt: 100 } } } }],
    insert_permissions: [
      { role: 'user', permission: { columns: ['price', 'amount'], check: { total: { _lt: 50 } } } },
    ],
  },
  { table: public_('old') },
  {
    table: public_('loose'),
    object_relationships: [{ name: 'item', using: { foreign_key_constraint_on: 'item_id' } }],
  },
  { table: public_('stay') },
  { table: public_('visit') },
];

const isThere = await (async () => {
  const database = await createDatabase();
  const [row] = await database.sql(`select current_setting('server_version_num')::int as version`);
  await database.drop();
  return Number(row!['version']) >= 180000;
})();

describe.runIf(isThere)('on Postgres 18', () => {
  let world: World;
  const admin = { role: 'admin' };
  beforeAll(async () => {
    world = await openWorld(SCHEMA, { tables: TABLES });
  });
  afterAll(() => world?.close());

  test('generated columns are read and not written, virtual or stored', async () => {
    const query = 'mutation { insert_item_one(object: {price: 2, amount: 3}) { total kept } }';
    expect(await world.ask(query, {}, admin)).toEqual({ data: { insert_item_one: { total: 6, kept: 3 } } });
    for (const column of ['total', 'kept']) {
      const refused = await world.ask(
        `mutation { insert_item_one(object: {${column}: 1}) { id } }`,
        {},
        admin,
      );
      expect(refused.errors![0]!.message).toBe(`field '${column}' not found in type: 'item_insert_input'`);
    }
  });

  test('permissions are checked on a virtual column', async () => {
    const insert = (price: number) =>
      world.ask(`mutation { insert_item_one(object: {price: ${price}, amount: 1}) { total } }`);
    expect(await insert(49)).toEqual({ data: { insert_item_one: { total: 49 } } });
    expect((await insert(50)).errors![0]!.extensions.code).toBe('permission-error');
    await world.ask('mutation { insert_item_one(object: {price: 100, amount: 1}) { id } }', {}, admin);
    const { data } = await world.ask('{ item(where: {total: {_gt: 40}}) { total } }');
    expect(data).toEqual({ item: [{ total: 49 }] });
  });

  test('a named not-null constraint is told like any', async () => {
    const { errors } = await world.ask('mutation { insert_item_one(object: {price: 1}) { id } }', {}, admin);
    expect(errors![0]).toMatchObject({
      message: expect.stringMatching(/^Not-NULL violation\. null value in column "amount"/),
      extensions: { code: 'constraint-violation' },
    });
  });

  test('columns and tables called OLD and NEW come back from what was written', async () => {
    const query = `mutation { insert_old(objects: [{id: 1, old: 1, new: 2}, {id: 1, old: 5, new: 6}],
      on_conflict: {constraint: old_pkey, update_columns: []}) { returning { id old new } } }`;
    expect(await world.ask(query, {}, admin)).toEqual({
      data: { insert_old: { returning: [{ id: 1, old: 1, new: 2 }] } },
    });
    const update = 'mutation { update_old_by_pk(pk_columns: {id: 1}, _inc: {new: 1}) { old new } }';
    expect(await world.ask(update, {}, admin)).toEqual({
      data: { update_old_by_pk: { old: 1, new: 3 } },
    });
  });

  test('a null from before a not-null constraint that is not validated is answered as null', async () => {
    expect(await world.ask('{ loose(where: {id: {_eq: 1}}) { id note } }', {}, admin)).toEqual({
      data: { loose: [{ id: 1, note: null }] },
    });
  });

  test('a row that a key which is not enforced leads to may be missing', async () => {
    await world.source.sql(`insert into loose values (2, uuidv7(), 'x')`);
    expect(await world.ask('{ loose(where: {id: {_eq: 2}}) { id item { price } } }', {}, admin)).toEqual({
      data: { loose: [{ id: 2, item: null }] },
    });
  });
});
