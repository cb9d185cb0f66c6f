/** Tests remote relationships end to end: from rows to a real GraphQL service and to another database. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { startTestEngine, type TestEngine } from '../../testing/engine.ts';
import { type RemoteService, startRemote } from '../../testing/remote.ts';
import { testDatabase } from '../../testing/world.ts';

const SDL = `
  interface Entry { id: Int! text: String }
  type Post implements Entry { id: Int! text: String broken: String comments(first: Int): [String!]! }
  type User { id: Int! posts(where: Where, only: Only): [Post!]! greeting(to: String): String }
  input Where { id: Number, text: Text }
  input Number { eq: Int gt: Int }
  input Text { eq: String }
  input Only { ids: [Int!] }
  type Query {
    user(id: Int!): User
    post(id: Int!): Post
    posts(where: Where, only: Only, limit: Int): [Post!]!
    entry(id: Int!): Entry
    hello: String
  }`;

const POSTS = [1, 2, 3, 4].map((id) => ({ __typename: 'Post', id, text: `post ${id}` }));
type Parent = { readonly id: number };
type Where = {
  where?: { id?: { eq?: number; gt?: number }; text?: { eq?: string } };
  only?: { ids?: number[] };
};
const found = ({ where, only }: Where) =>
  POSTS.filter(({ id, text }) => {
    const { eq, gt } = where?.id ?? {};
    if (eq !== undefined && id !== eq) return false;
    if (gt !== undefined && id <= gt) return false;
    if (where?.text?.eq !== undefined && text !== where.text.eq) return false;
    return only?.ids === undefined || only.ids.includes(id);
  });
const RESOLVERS = {
  'Query.user': (_: unknown, { id }: { id: number }) => (id < 100 ? { id } : null),
  'Query.post': (_: unknown, { id }: { id: number }) => POSTS.find((post) => post.id === id) ?? null,
  'Query.entry': (_: unknown, { id }: { id: number }) => POSTS.find((post) => post.id === id) ?? null,
  'Query.posts': (_: unknown, args: Where) => found(args),
  'Query.hello': () => 'world',
  'User.posts': (user: unknown, args: Where) => found(args).filter(({ id }) => id === (user as Parent).id),
  'User.greeting': (user: unknown, { to }: { to?: string }) => `${(user as Parent).id} greets ${to}`,
  'Post.comments': (post: unknown, { first = 9 }: { first?: number }) =>
    ['a', 'b'].slice(0, first).map((letter) => `${(post as Parent).id}${letter}`),
  'Post.broken': () => {
    throw new Error('it broke');
  },
};

const database = testDatabase();
const elsewhere = testDatabase();
let engine: TestEngine;
let remote: RemoteService;
const admin = (type: string, args: object) => engine.admin<{ error?: string; code?: string }>(type, args);

const relate = (name: string, remote_field: object, lhs_fields = ['id'], table = 'author') => {
  const definition = { to_remote_schema: { remote_schema: 'blog', lhs_fields, remote_field } };
  return admin('pg_create_remote_relationship', { table, name, definition });
};
const relateRows = (name: string, relationship_type: string, field_mapping: object, to = 'sale') => {
  const definition = { to_source: { source: 'shop', table: to, relationship_type, field_mapping } };
  return admin('pg_create_remote_relationship', { table: 'author', name, definition });
};
const asked = () => remote.asked.at(-1)!;

beforeAll(async () => {
  await database.sql(`create table author (id int primary key, name text, code text, boss int references author,
      favourites int[]);
    insert into author
      values (1, 'Ada', 'x', null, '{1,3}'), (2, 'Bo', null, 1, '{}'), (3, 'Cy', 'x', 1, null);
    create function twice(author) returns int language sql stable as 'select $1.id * 2';
    create table many (id int primary key);
    insert into many select generate_series(1, 1000);`);
  await elsewhere.sql(`create table sale (id bigint primary key, author int, code text, price numeric);
    insert into sale values (1, 1, 'x', 1.50), (2, 1, 'y', 20), (3, 3, 'x', 9007199254740993);
    create table profile (author int primary key, bio text, favourites int[]);
    insert into profile values (1, 'first', '{1,3}'), (2, 'second', '{}');`);
  remote = await startRemote(SDL, RESOLVERS);
  engine = await startTestEngine({
    databaseUrl: database.url,
    env: { SHOP: elsewhere.url },
  });
});
afterAll(async () => {
  await engine?.close();
  await remote?.close();
});
beforeEach(async () => {
  await admin('clear_metadata', {});
  await admin('pg_track_table', { table: 'author' });
  await admin('pg_track_table', { table: 'many' });
  const using = { foreign_key_constraint_on: { table: 'author', column: 'boss' } };
  await admin('pg_create_array_relationship', { table: 'author', name: 'staff', using });
  await admin('add_remote_schema', { name: 'blog', definition: { url: remote.url } });
});
afterEach(() => remote.misbehave(null));

describe('from rows to a remote schema', () => {
  test('every row gets its objects, with one request for the distinct keys', async () => {
    await relate('posts', { posts: { arguments: { where: { text: { eq: '$code' } } } } }, ['id', 'code']);
    await relate('post', { post: { arguments: { id: '$id' } } });
    const before = remote.asked.length;
    const { data } = await engine.graphql('{ author(order_by: {id: asc}) { post { t: text } id } }');
    expect(data).toEqual({
      author: [
        { post: { t: 'post 1' }, id: 1 },
        { post: { t: 'post 2' }, id: 2 },
        { post: { t: 'post 3' }, id: 3 },
      ],
    });
    expect(Object.keys((data as { author: object[] }).author[0]!)).toEqual(['post', 'id']);
    expect(remote.asked).toHaveLength(before + 1);
    expect(asked().variables).toEqual({ k0: 1, k1: 2, k2: 3 });
    // Two rows have the same code, one has none.
    const second = await engine.graphql('{ author(order_by: {id: asc}) { posts { id } } }');
    expect(second.data).toEqual({ author: [{ posts: [] }, { posts: null }, { posts: [] }] });
    expect(asked().variables).toEqual({ k0: { text: { eq: 'x' } } });
  });

  test('a thousand rows make one request', async () => {
    await relate('user', { user: { arguments: { id: '$id' } } }, ['id'], 'many');
    const before = remote.asked.length;
    const { data } = await engine.graphql('{ many(order_by: {id: asc}) { id user { id } } }');
    const { many } = data as { many: { id: number; user: { id: number } | null }[] };
    expect(many).toHaveLength(1000);
    expect(many.every(({ id, user }) => (id < 100 ? user?.id === id : user === null))).toBe(true);
    expect(remote.asked).toHaveLength(before + 1);
  });

  test('nested fields, literals, and arguments of the client besides those of the relationship', async () => {
    await relate('greeted', {
      user: { arguments: { id: '$id' }, field: { greeting: { arguments: { to: 'all' } } } },
    });
    await relate('written', {
      user: {
        arguments: { id: '$id' },
        field: { posts: { arguments: { where: { text: { eq: '$text' } } } } },
      },
    });
    await relate('later', { posts: { arguments: { where: { id: { gt: '$id' } } } } });
    const { data, errors } = await engine.graphql(
      `query($eq: Int, $first: Int, $no: Boolean = true) {
        author(order_by: {id: asc}, limit: 2) {
          greeted
          later(where: {id: {eq: $eq}}, only: {ids: [3, 4]}) { ...P @skip(if: $no) __typename comments(first: $first) }
        }
      } fragment P on Post { text }`,
      { variables: { eq: 3, first: 1 } },
    );
    expect(errors).toBeUndefined();
    const later = [{ __typename: 'Post', comments: ['3a'] }];
    expect(data).toEqual({
      author: [
        { greeted: '1 greets all', later },
        { greeted: '2 greets all', later },
      ],
    });
    expect(asked().query).not.toContain('$eq');
    const type = await engine.graphql(
      '{ __type(name: "author") { fields { name args { name type { name } } } } }',
    );
    const fields = (type.data as { __type: { fields: { name: string }[] } }).__type.fields;
    expect(fields.find(({ name }) => name === 'later')).toEqual({
      name: 'later',
      args: [
        { name: 'limit', type: { name: 'Int' } },
        { name: 'only', type: { name: 'Only' } },
        { name: 'where', type: { name: 'Where_remote_rel_authorlater' } },
      ],
    });
    expect(fields.find(({ name }) => name === 'greeted')).toMatchObject({ args: [] });
  });

  test('an array is a list of keys', async () => {
    const only = { only: { ids: '$favourites' } };
    await relate('favoured', { posts: { arguments: only } }, ['favourites']);
    const { data } = await engine.graphql('{ author(order_by: {id: asc}) { favoured { id } } }');
    expect(data).toEqual({
      author: [{ favoured: [{ id: 1 }, { id: 3 }] }, { favoured: [] }, { favoured: null }],
    });
    const { body } = await relate('first', { post: { arguments: { id: '$favourites' } } }, ['favourites']);
    expect(body.error).toContain('"id" is of type Int!, which is no list');
  });

  test('work at any depth, in aggregates, and in rows that a mutation returns', async () => {
    await relate('post', { post: { arguments: { id: '$id' } } });
    const { data } = await engine.graphql(`{
      a: author_by_pk(id: 1) { staff(order_by: {id: asc}) { mine: post { id } } }
      author_aggregate(where: {id: {_eq: 2}}) { nodes { post { id } } aggregate { count } }
    }`);
    expect(data).toEqual({
      a: { staff: [{ mine: { id: 2 } }, { mine: { id: 3 } }] },
      author_aggregate: { nodes: [{ post: { id: 2 } }], aggregate: { count: 1 } },
    });
    const updated = await engine.graphql(
      'mutation { update_author(where: {id: {_eq: 1}}, _set: {name: "Eve"}) { returning { name post { text } } } }',
    );
    expect(updated.data).toEqual({
      update_author: { returning: [{ name: 'Eve', post: { text: 'post 1' } }] },
    });
  });

  test('work in rows related to the answer of an action', async () => {
    await relate('post', { post: { arguments: { id: '$id' } } });
    const handler = await startRemote('type Query { nothing: Int }');
    handler.misbehave((_, response) => response.end('{"inner":[{"id":2},{"id":1}]}'));
    const author = { name: 'author', type: 'object', remote_table: 'author', field_mapping: { id: 'id' } };
    const objects = [
      { name: 'Outer', fields: [{ name: 'inner', type: '[Inner!]!' }] },
      { name: 'Inner', fields: [{ name: 'id', type: 'Int!' }], relationships: [author] },
    ];
    await admin('set_custom_types', { objects });
    const definition = { handler: handler.url, type: 'query', output_type: 'Outer' };
    await admin('create_action', { name: 'who', definition });
    const { data } = await engine.graphql('{ who { inner { author { id post { text } } } } }');
    await handler.close();
    const inner = [2, 1].map((id) => ({ author: { id, post: { text: `post ${id}` } } }));
    expect(data).toEqual({ who: { inner } });
  });

  test('without rows there is no request', async () => {
    await relate('post', { post: { arguments: { id: '$id' } } });
    const before = remote.asked.length;
    const { data } = await engine.graphql(
      '{ author(where: {id: {_eq: 0}}) { post { id } } author_by_pk(id: 0) { post { id } } }',
    );
    expect(data).toEqual({ author: [], author_by_pk: null });
    expect(remote.asked).toHaveLength(before);
  });

  test('its errors are part of the answer', async () => {
    await relate('post', { post: { arguments: { id: '$id' } } });
    const { data, errors } = await engine.graphql('{ author_by_pk(id: 1) { post { broken } } }');
    expect(data ?? null).toBeNull();
    expect(errors).toMatchObject([
      {
        message: 'Errors from remote server',
        extensions: {
          path: '$',
          code: 'unexpected',
          internal: { errors: [{ message: 'it broke', path: ['f0', 'broken'] }] },
        },
      },
    ]);
  });

  test('a service that cannot be reached leaves the fields null', async () => {
    await relate('post', { post: { arguments: { id: '$id' } } });
    for (const answer of ['nonsense', '[]', '{"data":null}', '{"data":[]}']) {
      remote.misbehave((_, response) => response.end(answer));
      const { data, errors } = await engine.graphql('{ author_by_pk(id: 1) { id post { id } } }');
      expect(data).toEqual({ author_by_pk: { id: 1, post: null } });
      expect(errors).toMatchObject([
        {
          path: ['author_by_pk', 'post'],
          extensions: { code: 'remote-schema-error', path: '$.selectionSet.author_by_pk.selectionSet.post' },
        },
      ]);
    }
  });

  test('a subscription cannot select it', async () => {
    await relate('post', { post: { arguments: { id: '$id' } } });
    const { errors } = await engine.graphql('subscription { author { post { id } } }');
    expect(errors).toMatchObject([
      {
        message: 'Remote relationships are not allowed in subscriptions',
        extensions: { code: 'not-supported' },
      },
    ]);
  });
});

describe('operations', () => {
  const definition = {
    to_remote_schema: {
      remote_schema: 'blog',
      lhs_fields: ['id'],
      remote_field: { hello: { arguments: {} } },
    },
  };
  const inconsistent = (why: string) => ({
    status: 400,
    body: {
      code: 'invalid-configuration',
      error: `Inconsistent object: in table "author": in remote relationship "post": ${why}`,
    },
  });

  test('change and drop one, and refuse an unknown one', async () => {
    await relate('post', { post: { arguments: { id: '$id' } } });
    expect(await relate('post', { hello: { arguments: {} } })).toMatchObject({ status: 400 });
    expect(await relate('staff', { hello: { arguments: {} } })).toMatchObject({ status: 400 });
    const args = { table: 'author', name: 'post' };
    expect(await admin('pg_update_remote_relationship', { ...args, definition })).toMatchObject({
      status: 200,
    });
    expect(await engine.graphql('{ author_by_pk(id: 1) { post } }')).toEqual({
      data: { author_by_pk: { post: 'world' } },
    });
    expect(await admin('pg_delete_remote_relationship', args)).toMatchObject({ status: 200 });
    for (const [type, more] of [
      ['pg_delete_remote_relationship'],
      ['pg_update_remote_relationship', { definition }],
    ] as const) {
      expect(await admin(type, { ...args, ...more })).toMatchObject({
        status: 400,
        body: { code: 'not-exists', error: 'remote relationship "post" on table "author" does not exist' },
      });
    }
  });

  test('refuse a relationship that does not fit either side', async () => {
    expect(await relate('post', { post: { arguments: { id: '$name' } } }, ['name'])).toMatchObject(
      inconsistent('"id" is of type Int!, which takes no such value'),
    );
    expect(await relate('post', { post: { arguments: { id: '$no' } } }, ['no'])).toMatchObject({
      status: 400,
    });
    expect(await relate('name', { hello: { arguments: {} } })).toMatchObject({ status: 400 });
    expect(await relateRows('post', 'array', { id: 'author' })).toMatchObject({ status: 400 });
  });

  test('a remote schema in use by a relationship is not removed', async () => {
    await relate('post', { post: { arguments: { id: '$id' } } });
    expect(await admin('remove_remote_schema', { name: 'blog' })).toMatchObject({ status: 400 });
  });
});

describe('roles', () => {
  const readAuthors = (role: string) =>
    admin('pg_create_select_permission', {
      table: 'author',
      role,
      permission: { columns: ['id'], filter: { id: { _lt: 3 } } },
    });
  const show = (role: string, schema: string) =>
    admin('add_remote_schema_permissions', { remote_schema: 'blog', role, definition: { schema } });
  const missing = (name: string) => [{ message: `field '${name}' not found in type: 'author'` }];

  test('without access to the remote schema do not have the relationship', async () => {
    await relate('post', { post: { arguments: { id: '$id' } } });
    await readAuthors('user');
    const nothing = await engine.graphql('{ author { post { id } } }', { role: 'user' });
    expect(nothing.errors).toMatchObject(missing('post'));
    await show('user', 'type Post { id: Int! } type Query { post(id: Int!): Post }');
    const query = '{ author(order_by: {id: asc}) { post { id } } }';
    const { data } = await engine.graphql(query, { role: 'user' });
    expect(data).toEqual({ author: [{ post: { id: 1 } }, { post: { id: 2 } }] });
    const hidden = await engine.graphql('{ author { post { text } } }', { role: 'user' });
    expect(hidden.errors).toMatchObject([{ message: "field 'text' not found in type: 'Post'" }]);
  });

  test('without access to an argument of the relationship do not have it', async () => {
    await relate('later', { posts: { arguments: { where: { id: { gt: '$id' } } } } });
    await readAuthors('user');
    await show(
      'user',
      'type Post { id: Int! } input Only { ids: [Int!] } type Query { posts(only: Only): [Post!]! }',
    );
    const { errors } = await engine.graphql('{ author { later { id } } }', { role: 'user' });
    expect(errors).toMatchObject(missing('later'));
  });

  test('have their presets sent, but not in place of keys', async () => {
    await relate('later', { posts: { arguments: { where: { id: { gt: '$id' } } } } });
    await relate('post', { post: { arguments: { id: '$id' } } });
    await readAuthors('user');
    await show(
      'user',
      `type Post { id: Int! } input Only { ids: [Int!] } input Where { id: Number } input Number { gt: Int }
       type Query { post(id: Int! @preset(value: 4)): Post posts(where: Where, only: Only @preset(value: {ids: [3]})): [Post!]! }`,
    );
    const query = '{ author(order_by: {id: asc}) { later { id } post { id } } }';
    const { data } = await engine.graphql(query, { role: 'user' });
    expect(data).toEqual({
      author: [
        { later: [{ id: 3 }], post: { id: 1 } },
        { later: [{ id: 3 }], post: { id: 2 } },
      ],
    });
    const given = await engine.graphql('{ author { later(only: {ids: [1]}) { id } } }', { role: 'user' });
    expect(given.errors).toMatchObject([{ message: "'later' has no argument named 'only'" }]);
  });

  test.each([
    ['of the argument', 'where: Where @preset(value: {text: {eq: "post 2"}, id: {gt: 9}})', 'text: Text'],
    ['of a field', 'where: Where', 'text: Text @preset(value: {eq: "post 2"})'],
  ])('have the preset %s for what the relationship leaves open in it', async (_, argument, field) => {
    await relate('later', { posts: { arguments: { where: { id: { gt: '$id' } } } } });
    await readAuthors('user');
    await show(
      'user',
      `type Post { id: Int! } input Where { id: Number ${field} } input Number { gt: Int } input Text { eq: String }
       type Query { posts(${argument}): [Post!]! }`,
    );
    const { data } = await engine.graphql('{ author(order_by: {id: asc}) { later { id } } }', {
      role: 'user',
    });
    expect(data).toEqual({ author: [{ later: [{ id: 2 }] }, { later: [] }] });
  });
});

describe('from rows to another database', () => {
  beforeEach(async () => {
    await admin('pg_add_source', {
      name: 'shop',
      configuration: { connection_info: { database_url: { from_env: 'SHOP' } } },
    });
    await admin('pg_track_table', { source: 'shop', table: 'sale' });
    await admin('pg_track_table', { source: 'shop', table: 'profile' });
  });

  test('one row, many rows with their arguments, and their aggregate', async () => {
    expect(await relateRows('profile', 'object', { id: 'author' }, 'profile')).toMatchObject({
      status: 200,
    });
    await relateRows('sales', 'array', { id: 'author' });
    const query = `{ author(order_by: {id: asc}) {
      profile { bio }
      sales(order_by: {id: desc}, limit: 1) { id price }
      sales_aggregate { aggregate { count } }
    } }`;
    const headers = { 'content-type': 'application/json', 'x-engine-admin-secret': engine.adminSecret };
    const body = JSON.stringify({ query });
    const response = await engine.fetch('/v1/graphql', { method: 'POST', headers, body });
    // JavaScript would lose the last digit.
    expect(await response.text()).toBe(
      '{"data":{"author":[' +
        '{"profile":{"bio":"first"},"sales":[{"id":2,"price":20}],"sales_aggregate":{"aggregate":{"count":2}}},' +
        '{"profile":{"bio":"second"},"sales":[],"sales_aggregate":{"aggregate":{"count":0}}},' +
        '{"profile":null,"sales":[{"id":3,"price":9007199254740993}],"sales_aggregate":{"aggregate":{"count":1}}}' +
        ']}}',
    );
  });

  test('by several columns; a null key has no rows', async () => {
    await relateRows('sales', 'array', { id: 'author', code: 'code' });
    const { data } = await engine.graphql('{ author(order_by: {id: asc}) { sales { id } } }');
    expect(data).toEqual({ author: [{ sales: [{ id: 1 }] }, { sales: [] }, { sales: [{ id: 3 }] }] });
  });

  test('by arrays', async () => {
    await relateRows('alike', 'array', { favourites: 'favourites' }, 'profile');
    const { data } = await engine.graphql('{ author(order_by: {id: asc}) { alike { bio } } }');
    expect(data).toEqual({
      author: [{ alike: [{ bio: 'first' }] }, { alike: [{ bio: 'second' }] }, { alike: [] }],
    });
  });

  test('and back again, at any depth', async () => {
    await relateRows('sales', 'array', { id: 'author' });
    const definition = {
      to_source: {
        source: 'default',
        table: 'author',
        relationship_type: 'object',
        field_mapping: { author: 'id' },
      },
    };
    await admin('pg_create_remote_relationship', {
      source: 'shop',
      table: 'sale',
      name: 'writer',
      definition,
    });
    await relate('post', { post: { arguments: { id: '$id' } } });
    const { data } = await engine.graphql(
      '{ author_by_pk(id: 1) { sales(order_by: {id: asc}) { writer { name post { id } sales_aggregate { nodes { id } } } } } }',
    );
    const writer = { name: 'Eve', post: { id: 1 }, sales_aggregate: { nodes: [{ id: 1 }, { id: 2 }] } };
    expect(data).toEqual({ author_by_pk: { sales: [{ writer }, { writer }] } });
    remote.misbehave((_, response) => response.end('nonsense'));
    const failed = await engine.graphql(
      '{ author_by_pk(id: 1) { sales(limit: 1) { writer { post { id } } } } }',
    );
    expect(failed.data).toEqual({ author_by_pk: { sales: [{ writer: { post: null } }] } });
    expect(failed.errors).toMatchObject([{ path: ['author_by_pk', 'sales', 'writer', 'post'] }]);
  });

  test('a role sees the rows it may read there, and has no field if it may read none', async () => {
    await relateRows('sales', 'array', { id: 'author' });
    const permission = { columns: ['id'], filter: {} };
    await admin('pg_create_select_permission', { table: 'author', role: 'user', permission });
    const before = await engine.graphql('{ author { sales { id } } }', { role: 'user' });
    expect(before.errors).toMatchObject([{ message: "field 'sales' not found in type: 'author'" }]);
    const cheap = { columns: ['id'], filter: { price: { _lt: 'X-Engine-Most' } } };
    await admin('pg_create_select_permission', {
      source: 'shop',
      table: 'sale',
      role: 'user',
      permission: cheap,
    });
    const { data } = await engine.graphql('{ author(order_by: {id: asc}) { sales { id } } }', {
      role: 'user',
      headers: { 'x-engine-most': '10' },
    });
    expect(data).toEqual({ author: [{ sales: [{ id: 1 }] }, { sales: [] }, { sales: [] }] });
    const hidden = await engine.graphql('{ author { sales { price } } }', { role: 'user' });
    expect(hidden.errors).toMatchObject([{ message: "field 'price' not found in type: 'sale'" }]);
    const aggregate = await engine.graphql('{ author { sales_aggregate { aggregate { count } } } }', {
      role: 'user',
    });
    expect(aggregate.errors).toMatchObject([
      { message: "field 'sales_aggregate' not found in type: 'author'" },
    ]);
  });
});
