/** Columns that the metadata says are never null: `column_config.<column>.nullable: false`. */
import type { GraphQLInputObjectType, GraphQLObjectType } from 'graphql';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { roleSchema } from '../schema/role-schemas.ts';
import { openWorld, type World } from './testing/world.ts';

const SCHEMA = `
  drop schema public cascade;
  create schema public;
  create table author (id int primary key, name text not null);
  create table book (id int primary key, author_id int references author, title text, isbn text not null);
  create view shelf as select id, author_id, title, isbn from book;
  insert into author values (1, 'Ada');
  insert into book values (1, 1, 'Notes', 'a'), (2, null, null, 'b');`;

const public_ = (name: string) => ({ schema: 'public', name });
const never = { nullable: false };
const columns = ['id', 'title'];
const TABLES = [
  { table: public_('author') },
  {
    table: public_('book'),
    configuration: { column_config: { author_id: never, isbn: never } },
    object_relationships: [{ name: 'author', using: { foreign_key_constraint_on: 'author_id' } }],
  },
  {
    table: public_('shelf'),
    configuration: { column_config: { id: never, title: never } },
    select_permissions: [{ role: 'user', permission: { columns, filter: {}, allow_aggregations: true } }],
    insert_permissions: [{ role: 'user', permission: { columns: [...columns, 'isbn'], check: {} } }],
  },
];

let world: World;
beforeAll(async () => {
  const options = { stringifyNumericTypes: false, features: ['group_by'] };
  world = await openWorld(SCHEMA, { tables: TABLES }, options);
});
afterAll(() => world.close());

/** Fields of a type with theirs, in order. */
const typesOf = (name: string) => {
  const type = roleSchema(world.model, 'admin', false).schema().getType(name);
  const fields = (type as GraphQLObjectType | GraphQLInputObjectType).getFields();
  return Object.values(fields)
    .map((field) => `${field.name}: ${field.type}`)
    .toSorted();
};

describe('in the schema', () => {
  test('a view’s column is non-null where it is said, and nullable elsewhere', () => {
    expect(typesOf('shelf')).toEqual(['author_id: Int', 'id: Int!', 'isbn: String', 'title: String!']);
  });

  test('so is a table’s, and the object its key leads to', () => {
    const fields = ['author: author!', 'author_id: Int!', 'id: Int!', 'isbn: String!', 'title: String'];
    expect(typesOf('book')).toEqual(fields);
  });

  test('what is written and compared stays as it was', () => {
    const written = ['author_id: Int', 'id: Int', 'isbn: String', 'title: String'];
    expect(typesOf('shelf_insert_input')).toEqual(written);
    expect(typesOf('shelf_set_input')).toEqual(written);
    expect(typesOf('shelf_max_fields')).toEqual(written);
  });
});

describe('a null that is there all the same', () => {
  test('is answered as null, and takes nothing with it', async () => {
    expect(await world.ask('{ shelf(order_by: {id: asc}) { id title } }')).toEqual({
      data: {
        shelf: [
          { id: 1, title: 'Notes' },
          { id: 2, title: null },
        ],
      },
    });
  });

  test('is answered as null where a key leads nowhere', async () => {
    const query = '{ book_by_pk(id: 2) { id author_id author { name } } }';
    expect(await world.ask(query, {}, { role: 'admin' })).toEqual({
      data: { book_by_pk: { id: 2, author_id: null, author: null } },
    });
  });

  test('is a key of a group', async () => {
    const query = '{ shelf_group_by(keys: [title], order_by: {keys: {title: asc}}) { keys { title } } }';
    expect(await world.ask(query)).toEqual({
      data: { shelf_group_by: [{ keys: { title: 'Notes' } }, { keys: { title: null } }] },
    });
  });

  test('comes back from what was written', async () => {
    const query = 'mutation { insert_shelf_one(object: {id: 3, isbn: "c"}) { id title } }';
    expect(await world.ask(query)).toEqual({ data: { insert_shelf_one: { id: 3, title: null } } });
    await world.reset();
  });
});

test('a column of the table that may not be null is still asked for', async () => {
  const asked = await world.ask('mutation { insert_shelf_one(object: {id: 3}) { id } }');
  expect(asked.errors![0]!.extensions.code).toBe('constraint-violation');
});
