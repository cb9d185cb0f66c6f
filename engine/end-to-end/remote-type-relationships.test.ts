/** Tests relationships that start in a remote schema, end to end: from the answers of a real GraphQL service to rows
 *  of a database and to other services, and back. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createDatabase, type TestDatabase } from '../../testing/database.ts';
import { startTestEngine, type TestEngine } from '../../testing/engine.ts';
import { type RemoteService, startRemote } from '../../testing/remote.ts';

const SHOP = `
  union Thing = Book | Shop
  interface Named { name: String! owner: User }
  enum Genre { crime love }
  scalar Big
  type User { id: Int! name: String nick: ID big: Big bookIds: [Int!]! friend(of: Int): User best: User }
  type Book implements Named { id: Int! name: String! genre: Genre owner: User code(length: Int!): String }
  type Shop implements Named { id: String! name: String! owner: User }
  type Query { user(id: Int!): User users: [User!]! things: [Thing] named: [Named!]! book(id: Int!): Book text: String }
  type Mutation { rename(id: Int!, name: String!): User }
  type Subscription { renamed: User }
`;
const BLOG = `
  input Of { author: Int }
  type Post { id: Int! title: String author: Int tags: [String!]! }
  type Query { posts(of: Of, limit: Int): [Post!]! post(id: Int!): Post many(ids: [Int!]!): [Post]! }
`;

type User = { id: number; name: string; nick: string; big: unknown; bookIds: number[] };
const user = (id: number): User => {
  return { id, name: `user ${id}`, nick: `n${id}`, big: 9007199254740993n, bookIds: [id, id + 1] };
};
const THINGS = [
  { __typename: 'Book', id: 1, name: 'one', genre: 'crime', owner: user(1) },
  { __typename: 'Shop', id: '2', name: 'two', owner: user(2) },
  { __typename: 'Book', id: 3, name: 'three', genre: null, owner: user(1) },
];
const SHOP_RESOLVERS = {
  'Query.user': (_: unknown, { id }: { id: number }) => (id < 10 ? user(id) : null),
  'Query.users': () => [2, 1, 2].map(user),
  'Query.things': () => [...THINGS, null],
  'Query.named': () => THINGS,
  'Query.book': (_: unknown, { id }: { id: number }) => THINGS.find((thing) => thing.id === id),
  'Query.text': () => 'a text',
  'User.friend': ({ id }: { id: number }) => user(id + 1),
  'User.best': ({ id }: { id: number }) => user(id + 2),
  'User.big': () => 42,
  'Mutation.rename': (_: unknown, { id, name }: { id: number; name: string }) => ({ ...user(id), name }),
} as never;
const POSTS = [1, 2, 3].map((id) => ({ id, title: `post ${id}`, author: id % 2, tags: ['a'] }));
const BLOG_RESOLVERS = {
  'Query.posts': (_: unknown, { of, limit }: { of?: { author?: number }; limit?: number }) =>
    POSTS.filter(({ author }) => author === of?.author).slice(0, limit),
  'Query.post': (_: unknown, { id }: { id: number }) => POSTS.find((post) => post.id === id) ?? null,
  'Query.many': (_: unknown, { ids }: { ids: number[] }) =>
    ids.map((id) => POSTS.find((post) => post.id === id) ?? null),
} as never;

let database: TestDatabase;
let engine: TestEngine;
let shop: RemoteService;
let blog: RemoteService;
const admin = (type: string, args: object) => engine.admin<{ error?: string; code?: string }>(type, args);

const relate = (type_name: string, name: string, definition: object, remote_schema = 'shop') =>
  admin('create_remote_schema_remote_relationship', { remote_schema, type_name, name, definition });
const rows = (table: string, relationship_type: string, field_mapping: object) => {
  return { to_source: { source: 'default', table, relationship_type, field_mapping } };
};
const remoteField = (remote_field: object, lhs_fields = ['id'], remote_schema = 'blog') => {
  return { to_remote_schema: { remote_schema, lhs_fields, remote_field } };
};
const ask = async (query: string, options: Parameters<TestEngine['graphql']>[1] = {}) => {
  const { data, errors } = await engine.graphql(query, options);
  expect(errors).toBeUndefined();
  return data;
};

beforeAll(async () => {
  database = await createDatabase();
  await database.sql(`create table account (id int primary key, label text, boss int);
    insert into account select i, 'account ' || i, i + 1 from generate_series(1, 3) i;
    create table sale (id bigint primary key, account int, genre text, price numeric);
    insert into sale values (1, 1, 'crime', 1.50), (2, 1, 'love', 20), (3, 2, 'crime', 9007199254740993);`);
  shop = await startRemote(SHOP, SHOP_RESOLVERS);
  blog = await startRemote(BLOG, BLOG_RESOLVERS);
  engine = await startTestEngine({ databaseUrl: database.url });
});
afterAll(async () => {
  await engine?.close();
  await Promise.all([shop?.close(), blog?.close(), database?.drop()]);
});
beforeEach(async () => {
  await admin('clear_metadata', {});
  await admin('pg_track_table', { table: 'account' });
  await admin('pg_track_table', { table: 'sale' });
  await admin('add_remote_schema', { name: 'shop', definition: { url: shop.url } });
  await admin('add_remote_schema', { name: 'blog', definition: { url: blog.url } });
});
afterEach(() => {
  for (const service of [shop, blog]) service.misbehave(null);
  shop.serve(SHOP, SHOP_RESOLVERS);
});

describe('from objects of a remote schema to rows', () => {
  test('every object gets its row, its rows and their aggregate; keys that were not selected are not returned', async () => {
    expect(await relate('User', 'account', rows('account', 'object', { id: 'id' }))).toMatchObject({
      status: 200,
      body: { message: 'success' },
    });
    await relate('User', 'sales', rows('sale', 'array', { id: 'account' }));
    const data = await ask(`{ users {
      account { label } mine: sales(order_by: {id: desc}, limit: 1) { id price } name
      sales_aggregate { aggregate { count } }
    } }`);
    const first = {
      account: { label: 'account 1' },
      mine: [{ id: 2, price: 20 }],
      name: 'user 1',
      sales_aggregate: { aggregate: { count: 2 } },
    };
    const second = {
      account: { label: 'account 2' },
      mine: [{ id: 3, price: 9007199254740992 }],
      name: 'user 2',
      sales_aggregate: { aggregate: { count: 1 } },
    };
    expect(data).toEqual({ users: [second, first, second] });
    const [{ name: _, ...one }] = (data as { users: [object & { name: string }] }).users;
    expect(Object.keys(one)).toEqual(['account', 'mine', 'sales_aggregate']);
    expect(Object.keys((data as { users: object[] }).users[0]!)).toEqual(Object.keys(first));
  });

  test('there are one request to the service and one statement, for the distinct keys', async () => {
    await relate('User', 'account', rows('account', 'object', { id: 'id' }));
    const before = shop.asked.length;
    await ask('{ users { account { id } } }');
    expect(shop.asked.slice(before).map(({ query }) => query)).toEqual(['{users{k0_0:id}}']);
  });

  test('an answer without relationships is neither parsed nor changed', async () => {
    await relate('User', 'account', rows('account', 'object', { id: 'id' }));
    await ask('{ users { id } }');
    expect(shop.asked.at(-1)!.query).toBe('{users{id}}');
  });

  test('work anywhere: in lists, objects, mutations, beside other root fields', async () => {
    await relate('User', 'account', rows('account', 'object', { id: 'id' }));
    const data = await ask(
      '{ user(id: 1) { best { friend { account { label } } } } account_by_pk(id: 3) { id } text }',
    );
    expect(data).toEqual({
      user: { best: { friend: { account: null } } },
      account_by_pk: { id: 3 },
      text: 'a text',
    });
    expect(await ask('{ user(id: 10) { account { id } } }')).toEqual({ user: null });
    const changed = await ask('mutation { rename(id: 2, name: "x") { name account { label } } }');
    expect(changed).toEqual({ rename: { name: 'x', account: { label: 'account 2' } } });
  });

  test("a client's alias with the name of a key does not replace the key", async () => {
    await relate('User', 'account', rows('account', 'object', { id: 'id' }));
    const data = await ask('{ user(id: 1) { k0_0: name account { k0_0: label } } }');
    expect(data).toEqual({ user: { k0_0: 'user 1', account: { k0_0: 'account 1' } } });
    const odd = await ask(
      '{ user(id: 1) { __proto__: account { id } best { account { id } __proto__: id } } }',
    );
    expect(JSON.stringify(odd)).toBe(
      '{"user":{"__proto__":{"id":1},"best":{"account":{"id":3},"__proto__":3}}}',
    );
  });
});

describe('fragments', () => {
  beforeEach(async () => {
    await relate('User', 'account', rows('account', 'object', { id: 'id' }));
    await relate('Book', 'sales', rows('sale', 'array', { genre: 'genre' }));
    await relate('Shop', 'sales', rows('account', 'object', { id: 'id' }));
  });

  test('each member of a union has its own relationships, also with equal names', async () => {
    const data = await ask(`{ things { __typename
      ... on Book { sales(order_by: {id: asc}) { id } owner { account { label } } }
      ... on Shop { sales { label } name }
    } }`);
    expect(shop.asked.at(-1)!.query).toBe(
      '{things{__typename ...on Book{k0_0:genre owner{k1_0:id}}...on Shop{k2_0:id name}}}',
    );
    const account = { label: 'account 1' };
    expect(data).toEqual({
      things: [
        { __typename: 'Book', sales: [{ id: 1 }, { id: 3 }], owner: { account } },
        { __typename: 'Shop', sales: { label: 'account 2' }, name: 'two' },
        { __typename: 'Book', sales: [], owner: { account } },
        null,
      ],
    });
  });

  test('fields with the same name in different objects are different fields', async () => {
    const data = await ask(`{ things {
      ... on Book { owner { account { label } } } ... on Shop { owner { account { id } } }
    } }`);
    expect(data).toEqual({
      things: [
        { owner: { account: { label: 'account 1' } } },
        { owner: { account: { id: 2 } } },
        { owner: { account: { label: 'account 1' } } },
        null,
      ],
    });
  });

  test('a field that several fragments select is fetched once', async () => {
    const query = `{ user(id: 1) { ...A ...B account { id } } }
      fragment A on User { account { label } } fragment B on User { account { boss } name }`;
    expect(await ask(query)).toEqual({
      user: { account: { label: 'account 1', boss: 2, id: 1 }, name: 'user 1' },
    });
    const { errors } = await engine.graphql(`{ user(id: 1) { ...A sales: account { id } ...B } }
      fragment A on User { x: account(where: {}) { id } } fragment B on User { x: name }`);
    expect(errors).toHaveLength(1);
  });

  test('an interface and its objects may select different parts of one field', async () => {
    const data = await ask(
      `{ named { owner { account { id } } ... on Shop { owner { account { label } } } } }`,
    );
    expect(data).toEqual({
      named: [
        { owner: { account: { id: 1 } } },
        { owner: { account: { id: 2, label: 'account 2' } } },
        { owner: { account: { id: 1 } } },
      ],
    });
  });

  test('skipped fields are absent, whatever the variables', async () => {
    const query = `query($a: Boolean!, $b: Boolean!) { user(id: 1) {
      name account @include(if: $a) { id } ... @skip(if: $b) { account { label } } } }`;
    const asked = async (a: boolean, b: boolean) => {
      const data = await ask(query, { variables: { a, b } });
      return (data as { user: { account?: object } }).user.account;
    };
    expect(await asked(true, true)).toEqual({ id: 1 });
    expect(await asked(true, false)).toEqual({ id: 1, label: 'account 1' });
    expect(await asked(false, false)).toEqual({ label: 'account 1' });
    expect(await asked(false, true)).toBeUndefined();
    const only = 'query($a: Boolean!) { user(id: 1) { account @include(if: $a) { id } } }';
    expect(await ask(only, { variables: { a: false } })).toEqual({ user: {} });
  });
});

describe('to other remote schemas', () => {
  test('arguments, lists of keys, literals, nested fields', async () => {
    await relate('User', 'posts', remoteField({ posts: { arguments: { of: { author: '$id' } } } }));
    await relate('User', 'many', remoteField({ many: { arguments: { ids: '$bookIds' } } }, ['bookIds']));
    await relate('User', 'same', remoteField({ post: { arguments: { id: 3 } } }, []));
    await relate('User', 'title', remoteField({ post: { arguments: { id: '$id' }, field: { title: {} } } }));
    const before = blog.asked.length;
    const data = await ask('{ users { posts(limit: 1) { id } many { id } same { title } title } }');
    const first = {
      posts: [{ id: 1 }],
      many: [{ id: 1 }, { id: 2 }],
      same: { title: 'post 3' },
      title: 'post 1',
    };
    const second = { posts: [], many: [{ id: 2 }, { id: 3 }], same: { title: 'post 3' }, title: 'post 2' };
    expect(data).toEqual({ users: [second, first, second] });
    expect(blog.asked).toHaveLength(before + 4);
  });

  test('back and forth at any depth, with one request for each level', async () => {
    await relate('User', 'account', rows('account', 'object', { id: 'id' }));
    await relate(
      'Post',
      'writer',
      remoteField({ user: { arguments: { id: '$id' } } }, ['id'], 'shop'),
      'blog',
    );
    await relate('User', 'post', remoteField({ post: { arguments: { id: '$id' } } }));
    await admin('pg_create_remote_relationship', {
      table: 'account',
      name: 'user',
      definition: remoteField({ user: { arguments: { id: '$boss' } } }, ['boss'], 'shop'),
    });
    const before = [shop.asked.length, blog.asked.length];
    const data = await ask(
      '{ users { account { user { name post { title writer { account { label user { id } } } } } } } }',
    );
    const one = (id: number) => {
      const writer = { account: id > 3 ? null : { label: `account ${id}`, user: { id: id + 1 } } };
      return { account: { user: { name: `user ${id}`, post: { title: `post ${id}`, writer } } } };
    };
    expect(data).toEqual({ users: [one(3), one(2), one(3)] });
    expect([shop.asked.length, blog.asked.length]).toEqual([before[0]! + 4, before[1]! + 1]);
  });

  test('a thousand objects make one request', async () => {
    await relate('User', 'post', remoteField({ post: { arguments: { id: '$id' } } }));
    const many = Array.from({ length: 1000 }, (_, i) => user(i));
    shop.misbehave((_, response) =>
      response.end(JSON.stringify({ data: { users: many.map(({ id }) => ({ k0_0: id })) } })),
    );
    const before = blog.asked.length;
    const data = await ask('{ users { post { id } } }');
    expect((data as { users: { post: object | null }[] }).users.filter(({ post }) => post)).toHaveLength(3);
    expect(blog.asked).toHaveLength(before + 1);
  });

  test('customized names on either side', async () => {
    for (const name of ['shop', 'blog']) {
      const customization = {
        root_fields_namespace: name,
        type_names: { prefix: `${name}_` },
        field_names: [
          { parent_type: 'User', mapping: { id: 'key', friend: 'pal' } },
          { parent_type: 'Post', prefix: 'p_' },
        ],
      };
      const { url } = name === 'shop' ? shop : blog;
      await admin('update_remote_schema', { name, definition: { url, customization } });
    }
    await relate('User', 'id', remoteField({ post: { arguments: { id: '$id' } } }));
    await relate('User', 'account', rows('account', 'object', { id: 'id' }));
    expect(
      await ask(
        '{ shop { u: user(id: 1) { __typename key id { __typename p_title } pal { account { id } } } } }',
      ),
    ).toEqual({
      shop: {
        u: {
          __typename: 'shop_User',
          key: 1,
          id: { __typename: 'blog_Post', p_title: 'post 1' },
          pal: { account: { id: 2 } },
        },
      },
    });
  });
});

describe('faults', () => {
  beforeEach(async () => {
    await relate('User', 'account', rows('account', 'object', { nick: 'id' }));
    await relate('User', 'sales', rows('sale', 'array', { nick: 'id' }));
    await relate('User', 'post', remoteField({ post: { arguments: { id: '$id' } } }));
    await relate('User', 'posts', remoteField({ posts: { arguments: { of: { author: '$id' } } } }));
  });
  const answerOf = (service: RemoteService, answer: unknown) =>
    service.misbehave((_, response) =>
      response.end(typeof answer === 'string' ? answer : JSON.stringify(answer)),
    );

  test('of the other side affect only their fields, with an error at their path', async () => {
    for (const answer of [
      'nonsense',
      '[]',
      {},
      { data: null },
      { data: [] },
      { data: {} },
      { data: { f0: 7 } },
    ]) {
      answerOf(blog, answer);
      const { data, errors } = await engine.graphql(
        '{ text user(id: 1) { name best { mine: post { id } } } }',
      );
      expect(data).toEqual({ text: 'a text', user: { name: 'user 1', best: { mine: null } } });
      expect(errors).toMatchObject([
        { path: ['user', 'best', 'mine'], extensions: { code: 'remote-schema-error' } },
      ]);
    }
    answerOf(blog, { data: { f0: [{ id: 1 }], f1: { id: 5 } } });
    const one = await engine.graphql('{ users { posts { id } } }');
    expect(one.data).toEqual({ users: [{ posts: [{ id: 1 }] }, { posts: null }, { posts: [{ id: 1 }] }] });
    expect(one.errors).toMatchObject([{ path: ['users', 'posts'] }]);
  });

  test('a service that hangs fails after its timeout', async () => {
    const definition = { url: blog.url, timeout_seconds: 1 };
    await admin('update_remote_schema', { name: 'blog', definition });
    blog.misbehave(() => {});
    const { data, errors } = await engine.graphql('{ text user(id: 1) { name post { id } } }');
    expect(data).toEqual({ text: 'a text', user: { name: 'user 1', post: null } });
    expect(errors).toMatchObject([{ path: ['user', 'post'] }]);
  });

  test('a value that the database cannot read is no row', async () => {
    const { data, errors } = await engine.graphql('{ text user(id: 1) { name account { id } } }');
    expect(data).toEqual({ text: 'a text', user: { name: 'user 1', account: null } });
    expect(errors).toMatchObject([{ path: ['user', 'account'], extensions: { code: 'data-exception' } }]);
    const list = await engine.graphql('{ user(id: 1) { name sales { id } } }');
    expect(list.errors).toMatchObject([{ extensions: { code: 'data-exception' } }]);
    for (const value of [{ a: 1 }, [1], true, 'a\u0000b', '\ud800', [[null]]]) {
      answerOf(shop, { data: { user: { k0_0: value } } });
      const odd = await engine.graphql('{ user(id: 1) { account { id } } }');
      expect(odd.errors?.[0]?.extensions.code ?? 'none').not.toBe('unexpected');
      expect(odd.data).toEqual({ user: { account: null } });
    }
  });

  test('an object without a key has nothing joined, and a value that is no object is an error', async () => {
    answerOf(shop, `{"data":{"users":[{}, {"k0_0": null}, {"k0_0": 1}]}}`);
    const { data } = await engine.graphql('{ users { post { id } } }');
    expect((data as { users: unknown[] }).users.at(-1)).toEqual({ post: { id: 1 } });
    for (const value of ['7', 'null', '90071992547409931234', '"x"', '[]']) {
      answerOf(shop, `{"data":{"users":[{}, ${value}, {"k0_0": 1}]}}`);
      const wrong = await engine.graphql('{ users { post { id } } }');
      expect(wrong).toMatchObject({ data: null, errors: [{ path: ['users', 1] }] });
    }
  });

  test('a forwarded subscription cannot select it', async () => {
    const { errors } = await engine.graphql('subscription { renamed { post { id } } }');
    expect(errors).toMatchObject([
      {
        message: 'Remote relationships are not allowed in subscriptions',
        extensions: {
          code: 'not-supported',
          path: '$.selectionSet.renamed.selectionSet.post',
        },
      },
    ]);
  });

  test('errors of the first service are returned, and nothing is joined', async () => {
    answerOf(shop, { data: { user: null }, errors: [{ message: 'no', path: ['user'] }] });
    const before = blog.asked.length;
    const { data, errors } = await engine.graphql('{ user(id: 1) { post { id } } }');
    expect([data, errors]).toEqual([null, [{ message: 'no', path: ['user'] }]]);
    expect(blog.asked).toHaveLength(before);
  });
});

describe('operations', () => {
  const name = { remote_schema: 'shop', type_name: 'User', name: 'post' };
  const definition = remoteField({ post: { arguments: { id: '$id' } } });
  const inconsistent = (why: string) => ({
    status: 400,
    body: {
      code: 'invalid-configuration',
      error: `Inconsistent object: in remote relationship "post": ${why}`,
    },
  });

  test('create, change and drop one, and refuse an unknown one', async () => {
    const missing = {
      status: 400,
      body: { code: 'not-exists', error: 'no relationship defined on remote schema "shop" with name "post"' },
    };
    expect(await admin('update_remote_schema_remote_relationship', { ...name, definition })).toMatchObject(
      missing,
    );
    expect(await admin('delete_remote_schema_remote_relationship', name)).toMatchObject(missing);
    expect(await relate('User', 'post', definition, 'nowhere')).toMatchObject({
      status: 400,
      body: { code: 'not-exists' },
    });
    expect(await relate('User', 'post', definition)).toMatchObject({ status: 200 });
    expect(await relate('User', 'post', definition)).toMatchObject({
      status: 400,
      body: { code: 'already-exists' },
    });
    const other = remoteField({ post: { arguments: { id: 2 } } }, []);
    expect(
      await admin('update_remote_schema_remote_relationship', { ...name, definition: other }),
    ).toMatchObject({
      status: 200,
    });
    expect(await ask('{ user(id: 1) { post { id } } }')).toEqual({ user: { post: { id: 2 } } });
    expect(await admin('delete_remote_schema_remote_relationship', name)).toMatchObject({ status: 200 });
    const { errors } = await engine.graphql('{ user(id: 1) { post { id } } }');
    expect(errors).toMatchObject([{ message: "field 'post' not found in type: 'User'" }]);
    const { body } = await admin('export_metadata', {});
    expect(JSON.stringify(body)).not.toContain('remote_relationships');
  });

  test('refuse a relationship that does not fit either side', async () => {
    const noObject = 'remote relationships on a remote schema can only be defined on object types';
    expect(await relate('Nobody', 'post', definition)).toMatchObject(
      inconsistent('no type named Nobody defined in remote schema "shop"'),
    );
    for (const type of ['Named', 'Thing', 'Genre', 'Query']) {
      expect(await relate(type, 'post', definition)).toMatchObject(inconsistent(noObject));
    }
    const by = (key: string) => remoteField({ post: { arguments: { id: `$${key}` } } }, [key]);
    for (const [key, why] of [
      ['no', 'the type "User" has no field "no"'],
      ['best', 'the field "best" of the type "User" is no plain value, and cannot be joined by'],
      ['name', '"id" is of type Int!, which takes no such value'],
      ['bookIds', '"id" is of type Int!, which is no list'],
    ] as const) {
      expect(await relate('User', 'post', by(key))).toMatchObject(inconsistent(why));
    }
    expect(await relate('Book', 'post', rows('account', 'object', { code: 'label' }))).toMatchObject({
      status: 400,
    });
    expect(await relate('User', 'post', rows('account', 'object', { bookIds: 'id' }))).toMatchObject({
      status: 400,
    });
    expect(await relate('User', 'post', rows('nothing', 'object', { id: 'id' }))).toMatchObject({
      status: 400,
    });
    expect(await relate('User', 'name', definition)).toMatchObject({ status: 400 });
    expect(await relate('User', 'post', by('big'))).toMatchObject({ status: 200 });
  });

  test('it is inconsistent while its type is missing, and consistent again after', async () => {
    await relate('User', 'post', definition);
    const exported = (await admin('export_metadata', {})).body;
    shop.serve('type Query { text: String }', SHOP_RESOLVERS);
    await admin('reload_metadata', {});
    const { body } = await admin('get_inconsistent_metadata', {});
    expect(body).toMatchObject({
      is_consistent: false,
      inconsistent_objects: [
        {
          type: 'remote_schema_remote_relationship',
          name: 'remote_schema_remote_relationship remote_relationship post on type User in remote schema shop',
          reason:
            'Inconsistent object: in remote relationship "post": no type named User defined in remote schema "shop"',
          definition: { ...name, definition },
        },
      ],
    });
    expect(await ask('{ text }')).toEqual({ text: 'a text' });
    shop.serve(SHOP, SHOP_RESOLVERS);
    await admin('reload_metadata', {});
    expect(await ask('{ user(id: 1) { post { id } } }')).toEqual({ user: { post: { id: 1 } } });
    expect(await admin('replace_metadata', exported as object)).toMatchObject({ status: 200 });
    expect((await admin('export_metadata', {})).body).toEqual(exported);
  });

  test('its target cannot be dropped without cascade, which drops the relationship too', async () => {
    await relate('User', 'post', definition);
    await relate('User', 'account', rows('account', 'object', { id: 'id' }));
    const dependent = (relationship: string) => ({
      status: 400,
      body: {
        code: 'dependency-error',
        error: expect.stringContaining(
          `remote_relationship ${relationship} on type User in remote schema shop`,
        ),
      },
    });
    expect(await admin('remove_remote_schema', { name: 'blog' })).toMatchObject(dependent('post'));
    expect(await admin('pg_untrack_table', { table: 'account' })).toMatchObject(dependent('account'));
    await database.sql('drop table if exists spare; create table spare (id int, more int)');
    await admin('pg_track_table', { table: 'spare' });
    await relate('User', 'spare', rows('spare', 'object', { id: 'more' }));
    const sql = 'alter table spare drop column more';
    expect(await engine.admin('run_sql', { sql })).toMatchObject(dependent('spare'));
    await engine.must('run_sql', { sql, cascade: true });
    expect(JSON.stringify((await admin('export_metadata', {})).body)).not.toContain('more');
    await admin('pg_untrack_table', { table: 'spare' });
    await admin('rename_source', { name: 'default', new_name: 'main' });
    await engine.admin('run_sql', { source: 'main', sql: 'alter table account rename column id to key' });
    expect(await ask('{ user(id: 1) { account { key } } }')).toEqual({ user: { account: { key: 1 } } });
    await engine.admin('run_sql', { source: 'main', sql: 'alter table account rename column key to id' });
    expect(
      await admin('pg_untrack_table', { source: 'main', table: 'account', cascade: true }),
    ).toMatchObject({
      status: 200,
    });
    expect(await ask('{ user(id: 1) { post { id } } }')).toEqual({ user: { post: { id: 1 } } });
    expect(await admin('remove_remote_schema', { name: 'shop' })).toMatchObject({ status: 200 });
    expect(await admin('remove_remote_schema', { name: 'blog' })).toMatchObject({ status: 200 });
    await admin('rename_source', { name: 'main', new_name: 'default' });
  });
});

describe('roles', () => {
  const show = (remote_schema: string, schema: string) =>
    admin('add_remote_schema_permissions', { remote_schema, role: 'user', definition: { schema } });
  const asUser = (query: string, headers: Record<string, string> = {}) =>
    engine.graphql(query, { role: 'user', headers });
  const missing = (field: string, type: string) => [
    { message: `field '${field}' not found in type: '${type}'` },
  ];

  test('have it if they see both sides, and see no more of each than they may', async () => {
    await relate('User', 'account', rows('account', 'object', { id: 'id' }));
    await relate('User', 'sales', rows('sale', 'array', { id: 'account' }));
    await show('shop', 'type User { name: String } type Query { users: [User!]! }');
    const none = await asUser('{ users { account { id } } }');
    expect(none.errors).toMatchObject(missing('account', 'User'));
    const permission = { columns: ['label'], filter: { id: { _eq: 'X-Engine-Id' } } };
    await admin('pg_create_select_permission', { table: 'account', role: 'user', permission });
    const { data } = await asUser('{ users { name account { label } } }', { 'x-engine-id': '2' });
    const second = { name: 'user 2', account: { label: 'account 2' } };
    expect(data).toEqual({ users: [second, { name: 'user 1', account: null }, second] });
    for (const [field, type, query] of [
      ['id', 'account', '{ users { account { id } } }'],
      ['id', 'User', '{ users { id account { label } } }'],
      ['sales', 'User', '{ users { sales { id } } }'],
      ['sales_aggregate', 'User', '{ users { sales_aggregate { aggregate { count } } } }'],
    ] as const) {
      expect((await asUser(query)).errors).toMatchObject(missing(field, type));
    }
    const type = await asUser('{ __type(name: "User") { fields { name } } }');
    expect(type.data).toEqual({ __type: { fields: [{ name: 'account' }, { name: 'name' }] } });
  });

  test('to a remote schema have what they see of it, with its presets', async () => {
    await relate('User', 'posts', remoteField({ posts: { arguments: { of: { author: '$id' } } } }));
    await relate(
      'Post',
      'writer',
      remoteField({ user: { arguments: { id: '$id' } } }, ['id'], 'shop'),
      'blog',
    );
    await show('shop', 'type User { name: String } type Query { users: [User!]! }');
    expect((await asUser('{ users { posts { title } } }')).errors).toMatchObject(missing('posts', 'User'));
    await show(
      'blog',
      `type Post { title: String } input Of { author: Int }
       type Query { posts(of: Of, limit: Int @preset(value: 1)): [Post!]! }`,
    );
    const { data } = await asUser('{ users { posts { title } } }');
    expect(data).toEqual({ users: [{ posts: [] }, { posts: [{ title: 'post 1' }] }, { posts: [] }] });
    expect((await asUser('{ users { posts { id } } }')).errors).toMatchObject(missing('id', 'Post'));
    expect((await asUser('{ users { posts { writer { name } } } }')).errors).toMatchObject(
      missing('writer', 'Post'),
    );
  });
});
