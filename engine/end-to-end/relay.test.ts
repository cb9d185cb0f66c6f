/** Tests /v1beta1/relay against a real database: pages in every order, what a role sees of them, and ids. Reference:
 *  docs/reference/behaviour/relay.md. */
import { beforeAll, describe, expect, test } from 'vitest';
import type { GraphqlAnswer } from '../../testing/engine.ts';
import { openSession } from '../../testing/websocket.ts';
import { testWorld } from '../../testing/world.ts';

const SCHEMA = `
  create table author (id int primary key, name text not null, country text);
  create table book (
    id bigint primary key, author_id int references author, title text not null, price numeric, rating float8,
    tags text[], details jsonb, at timestamptz, is_public boolean not null default true);
  create table "odd ""table\\" (a text, b uuid, primary key (b, a));
  create view book_view as select * from book;
  create table secret (id int primary key, code text);
  insert into author values (1, 'Ann', 'UK'), (2, 'Bob', null), (3, 'Cy', 'FR'), (4, 'Di', null);
  insert into book values
    (9007199254740993, 1, 'a', 1.10, 0.1, '{x,"y z"}', '{"k": 1}', '2024-01-01T00:00:00.000001Z', true),
    (2, 1, 'b', null, 'NaN', '{}', '"text"', '2024-01-01T00:00:00.000002Z', true),
    (3, 2, 'b', 2.20, 0.30000000000000004, null, '[1]', null, true),
    (4, null, 'c', 1.1, null, '{a}', null, '2025-01-01', false),
    (5, 3, 'd', null, -1e300, '{b,NULL}', '2', null, true),
    (6, 2, 'e', 10, 'Infinity', '{x}', '{}', '2023-01-01', false);
  insert into "odd ""table\\" values ('it''s', 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11');
  insert into secret values (1, 's');
  create function cheap(most numeric) returns setof book language sql stable as
    'select * from book where price <= most';`;

const { engine } = testWorld('', () => ({ inferFunctionPermissions: true }));

beforeAll(async () => {
  await engine.admin('run_sql', { sql: SCHEMA });
  for (const table of ['author', 'book', 'book_view', 'secret'])
    await engine.admin('pg_track_table', { table });
  const odd = { schema: 'public', name: 'odd "table\\' };
  await engine.admin('pg_track_table', { table: odd, configuration: { custom_name: 'odd' } });
  await engine.admin('pg_create_object_relationship', {
    table: 'book',
    name: 'author',
    using: { foreign_key_constraint_on: 'author_id' },
  });
  for (const [name, table] of [
    ['books', 'book'],
    ['views', 'book_view'],
  ] as const) {
    await engine.admin('pg_create_array_relationship', {
      table: 'author',
      name,
      using: { manual_configuration: { remote_table: table, column_mapping: { id: 'author_id' } } },
    });
  }
  await engine.admin('pg_track_function', { function: 'cheap' });
  await permit('author', 'reader', { columns: ['id', 'name'], filter: { country: { _is_null: false } } });
  await permit('book', 'reader', { columns: ['id', 'title'], filter: { is_public: { _eq: true } } });
  await permit('author', 'nameless', { columns: ['name'], filter: {} });
  await permit('book', 'brief', { columns: ['id', 'title'], filter: {}, limit: 2 });
  await permit('book', 'closed', { columns: ['id'], filter: {}, query_root_fields: [] });
  await permit('author', 'closed', { columns: ['id'], filter: {} });
});

const permit = (table: string, role: string, permission: object) =>
  engine.admin('pg_create_select_permission', { table, role, permission });

type Json = ReturnType<typeof JSON.parse>;

async function ask(query: string, role?: string, variables = {}): Promise<GraphqlAnswer<Json>> {
  const response = await engine.fetch('/v1beta1/relay', {
    method: 'POST',
    headers: role === undefined ? {} : { 'x-engine-role': role },
    body: JSON.stringify({ query, variables }),
  });
  return (await response.json()) as GraphqlAnswer<Json>;
}

const refusal = async (query: string, role?: string, variables = {}) => {
  const { errors } = await ask(query, role, variables);
  const [error] = errors ?? [];
  return error && [error.message, error.extensions.code, error.extensions.path];
};

const idOf = (...values: unknown[]) => btoa(JSON.stringify([1, 'public', ...values]));

const PAGE = `query ($first: Int, $last: Int, $after: String, $before: String, $order: [book_order_by!]) {
  book_connection(first: $first, last: $last, after: $after, before: $before, order_by: $order) {
    pageInfo { hasNextPage hasPreviousPage startCursor endCursor }
    edges { cursor node { id } } } }`;

type Page = {
  readonly pageInfo: {
    readonly hasNextPage: boolean;
    readonly hasPreviousPage: boolean;
    readonly startCursor: string;
    readonly endCursor: string;
  };
  readonly edges: readonly { readonly cursor: string; readonly node: { readonly id: string } }[];
};

async function page(variables: object): Promise<Page> {
  const { data, errors } = await ask(PAGE, undefined, variables);
  expect(errors).toBeUndefined();
  return data.book_connection;
}

describe.each([
  ['the key alone', undefined],
  ['a column with equal values', { title: 'desc' }],
  ['numbers, nulls last', { price: 'asc' }],
  ['numbers, nulls first', { price: 'desc' }],
  ['numbers, nulls first, upwards', [{ price: 'asc_nulls_first' }, { title: 'desc' }]],
  ['numbers that are not exact', { rating: 'desc_nulls_last' }],
  ['instants', { at: 'asc' }],
  ['arrays', { tags: 'asc' }],
  ['JSON', { details: 'desc' }],
  ['a row of another table', [{ author: { country: 'desc' } }, { author: { name: 'asc' } }]],
  ['values over other rows', { author: { books_aggregate: { count: 'desc', avg: { price: 'asc' } } } }],
  ['a truth', [{ is_public: 'asc' }, { price: 'asc' }, { id: 'desc' }]],
])('in the order of %s', (_, order) => {
  test.each([1, 2, 4])('pages of %d contain every row once, forwards and backwards', async (size) => {
    const whole = await page({ order });
    const all = whole.edges.map(({ node }) => node.id);
    expect(new Set(all).size).toBe(6);
    expect(whole.pageInfo).toMatchObject({ hasNextPage: false, hasPreviousPage: false });

    const forwards: string[] = [];
    for (let after: string | undefined; ; ) {
      const { edges, pageInfo } = await page({ order, first: size, after });
      expect(pageInfo.hasPreviousPage).toBe(after !== undefined);
      expect([pageInfo.startCursor, pageInfo.endCursor]).toEqual([edges[0]!.cursor, edges.at(-1)!.cursor]);
      forwards.push(...edges.map(({ node }) => node.id));
      expect(pageInfo.hasNextPage).toBe(forwards.length < 6);
      if (!pageInfo.hasNextPage) break;
      after = pageInfo.endCursor;
    }
    expect(forwards).toEqual(all);

    const backwards: string[] = [];
    for (let before: string | undefined; ; ) {
      const { edges, pageInfo } = await page({ order, last: size, before });
      expect(pageInfo.hasNextPage).toBe(before !== undefined);
      backwards.unshift(...edges.map(({ node }) => node.id));
      expect(pageInfo.hasPreviousPage).toBe(backwards.length < 6);
      if (!pageInfo.hasPreviousPage) break;
      before = pageInfo.startCursor;
    }
    expect(backwards).toEqual(all);
  });
});

test('`last` and `first` work at both ends, and with empty pages', async () => {
  const cursors = (await page({})).edges.map(({ cursor }) => cursor);
  const some = await page({ first: 1, before: cursors[3] });
  expect([some.edges[0]!.cursor, some.pageInfo.hasNextPage, some.pageInfo.hasPreviousPage]).toEqual([
    cursors[0],
    true,
    false,
  ]);
  const none = await page({ first: 0 });
  expect(none).toEqual({
    pageInfo: { hasNextPage: true, hasPreviousPage: false, startCursor: '', endCursor: '' },
    edges: [],
  });
  const beyond = await page({ first: 2, after: cursors[5] });
  expect(beyond.pageInfo).toMatchObject({ hasNextPage: false, hasPreviousPage: true, startCursor: '' });
});

test('a page may be requested without its rows', async () => {
  const { data } = await ask(`{ book_connection(first: 1) { __typename pageInfo { hasPreviousPage } }
    secret_connection(where: { id: { _eq: 0 } }) { edges { node { id } } pageInfo { endCursor } } }`);
  expect(data).toEqual({
    book_connection: { __typename: 'bookConnection', pageInfo: { hasPreviousPage: false } },
    secret_connection: { edges: [], pageInfo: { endCursor: '' } },
  });
});

test('distinct rows have pages, too', async () => {
  const query = `query ($after: String) { book_connection(distinct_on: title, first: 2, after: $after,
    order_by: { title: desc }) { pageInfo { hasNextPage endCursor } edges { node { title } } } }`;
  const titles: string[] = [];
  for (let after: string | null = null; ; ) {
    const { data } = await ask(query, undefined, { after });
    const { edges, pageInfo } = data.book_connection;
    titles.push(...edges.map((edge: Json) => edge.node.title));
    if (!pageInfo.hasNextPage) break;
    after = pageInfo.endCursor;
  }
  expect(titles).toEqual(['e', 'd', 'c', 'b', 'a']);
  const { data } = await ask('{ book_connection(distinct_on: title) { edges { node { title } } } }');
  expect(data.book_connection.edges).toHaveLength(5);
});

test('array relationships and functions are connections, objects in them are unchanged', async () => {
  const { data } = await ask(`{
    author_connection(first: 2) { edges { node { name
      books { title }
      books_connection(first: 1, order_by: { title: desc }) {
        pageInfo { hasNextPage } edges { cursor node { title author { name } } } } } } }
    cheap_connection(args: { most: 2 }, first: 1) { pageInfo { hasNextPage } edges { node { title } } } }`);
  const books = (title: string, name: string, id: number) => ({
    pageInfo: { hasNextPage: true },
    edges: [{ cursor: btoa(`{"title" : "${title}", "id" : ${id}}`), node: { title, author: { name } } }],
  });
  expect(data).toEqual({
    author_connection: {
      edges: [
        { node: { name: 'Ann', books: expect.any(Array), books_connection: books('b', 'Ann', 2) } },
        { node: { name: 'Bob', books: expect.any(Array), books_connection: books('e', 'Bob', 6) } },
      ],
    },
    cheap_connection: { pageInfo: { hasNextPage: true }, edges: [{ node: { title: 'c' } }] },
  });
});

test('values share plans: cursors and ids are bound parameters, whatever they contain', async () => {
  const cursors = (await page({ first: 3 })).edges.map(({ cursor }) => cursor);
  for (const after of cursors) expect((await page({ after, first: 1 })).edges).toHaveLength(1);
  const query = 'query ($id: ID!) { node(id: $id) { ... on book { title } } }';
  const titles = [];
  for (const id of [2, 3, 5])
    titles.push((await ask(query, undefined, { id: idOf('book', id) })).data.node.title);
  expect(titles).toEqual(['b', 'b', 'd']);
  const { data } = await ask(query, undefined, { id: idOf('author', 1) });
  expect(data.node).toEqual({});
});

describe('a role', () => {
  test('sees its rows in pages, and no others', async () => {
    const { data } = await ask(
      `{ author_connection { pageInfo { hasNextPage } edges { node { name
        books_connection(last: 1) { pageInfo { hasPreviousPage hasNextPage } edges { node { title } } } } } } }`,
      'reader',
    );
    const own = (title: string, hasPreviousPage: boolean) => ({
      pageInfo: { hasPreviousPage, hasNextPage: false },
      edges: [{ node: { title } }],
    });
    expect(data.author_connection).toEqual({
      pageInfo: { hasNextPage: false },
      edges: [
        { node: { name: 'Ann', books_connection: own('a', true) } },
        { node: { name: 'Cy', books_connection: own('d', false) } },
      ],
    });
  });

  test('does not learn from the flags that there are hidden rows around the cursor', async () => {
    const { edges } = await page({ order: { title: 'asc' } });
    const hidden = edges[3]!.cursor;
    const query = `query ($c: String) { book_connection(order_by: { title: asc }, after: $c) {
      pageInfo { hasPreviousPage hasNextPage } edges { node { title } } } }`;
    const last = await ask(query, 'reader', { c: btoa('{"title": "d", "id": 5}') });
    expect(last.data.book_connection).toEqual({
      pageInfo: { hasPreviousPage: true, hasNextPage: false },
      edges: [],
    });
    const first = await ask(query, 'reader', { c: btoa('{"title": "A", "id": 0}') });
    expect(first.data.book_connection.pageInfo.hasPreviousPage).toBe(false);
    expect((await ask(query, 'reader', { c: hidden })).data.book_connection.edges).toEqual([
      { node: { title: 'd' } },
    ]);
  });

  test('finds its own nodes and no others', async () => {
    const query = 'query ($id: ID!) { node(id: $id) { __typename id ... on author { name } } }';
    const own = await ask(query, 'reader', { id: idOf('author', 1) });
    expect(own.data.node).toMatchObject({ __typename: 'author', name: 'Ann' });
    expect((await ask(query, 'reader', { id: idOf('author', 2) })).data.node).toBeNull();
    expect(await refusal(query, 'reader', { id: idOf('secret', 1) })).toEqual([
      "invalid node id: no such table found: 'secret'",
      'validation-failed',
      '$.selectionSet.node.args.id',
    ]);
  });

  test('without the key has connections, ids and nodes made from it, and still cannot name its columns', async () => {
    const query =
      '{ author_connection(first: 1) { edges { cursor node { id name } } pageInfo { endCursor } } }';
    const { data } = await ask(query, 'nameless');
    const [edge] = data.author_connection.edges;
    expect([atob(edge.node.id), edge.node.name]).toEqual(['[1, "public", "author", 1]', 'Ann']);
    expect([atob(edge.cursor), data.author_connection.pageInfo.endCursor]).toEqual([
      '{"id" : 1}',
      edge.cursor,
    ]);
    const found = await ask('query ($id: ID!) { node(id: $id) { ... on author { name } } }', 'nameless', {
      id: edge.node.id,
    });
    expect(found.data.node).toEqual({ name: 'Ann' });
    for (const [argument, type] of [
      ['where: { id: { _eq: 1 } }', 'author_bool_exp'],
      ['order_by: { id: asc }', 'author_order_by'],
    ]) {
      expect(
        await refusal(`{ author_connection(${argument}) { edges { cursor } } }`, 'nameless'),
      ).toMatchObject([`field 'id' not found in type: '${type}'`, 'validation-failed', expect.any(String)]);
    }
  });

  test('cannot order or page by columns it may not read', async () => {
    expect(
      await refusal('{ book_connection(order_by: { price: asc }) { edges { cursor } } }', 'reader'),
    ).toEqual([
      "field 'price' not found in type: 'book_order_by'",
      'validation-failed',
      '$.selectionSet.book_connection.args.order_by[0].price',
    ]);
  });

  test('with a limit has pages of at most that size', async () => {
    const { data } = await ask(
      '{ book_connection(first: 4) { pageInfo { hasNextPage endCursor } edges { node { title } } } }',
      'brief',
    );
    expect(data.book_connection).toMatchObject({
      pageInfo: { hasNextPage: true },
      edges: [{ node: { title: 'b' } }, { node: { title: 'b' } }],
    });
    const after = data.book_connection.pageInfo.endCursor;
    const next = await ask(
      'query ($after: String) { book_connection(after: $after) { edges { node { title } } } }',
      'brief',
      { after },
    );
    expect(next.data.book_connection.edges).toHaveLength(2);
  });

  test('that inherits a key only in some rows has ids and cursors of every row', async () => {
    await permit('author', 'own', { columns: ['id'], filter: { name: { _eq: 'Ann' } } });
    await engine.admin('add_inherited_role', { role_name: 'mixed', role_set: ['own', 'nameless'] });
    const query = `query ($after: String) { author_connection(first: 3, after: $after, order_by: { id: desc }) {
      edges { cursor node { id } } pageInfo { hasNextPage endCursor } } }`;
    const first = (await ask(query, 'mixed')).data.author_connection;
    const rest = (await ask(query, 'mixed', { after: first.pageInfo.endCursor })).data.author_connection;
    const ids = [...first.edges, ...rest.edges].map(({ node }: Json) => JSON.parse(atob(node.id))[3]);
    expect([...ids].sort()).toEqual([1, 2, 3, 4]);
    expect([first.pageInfo.hasNextPage, rest.pageInfo.hasNextPage]).toEqual([true, false]);
  });

  test('of several parents has the cells of each, and one id', async () => {
    await engine.admin('add_inherited_role', { role_name: 'both', role_set: ['reader', 'closed'] });
    const { data } = await ask('{ author_connection { edges { node { id name } } } }', 'both');
    const names = data.author_connection.edges.map(({ node }: Json) => [atob(node.id), node.name]);
    expect(names).toEqual([
      ['[1, "public", "author", 1]', 'Ann'],
      ['[1, "public", "author", 2]', null],
      ['[1, "public", "author", 3]', 'Cy'],
      ['[1, "public", "author", 4]', null],
    ]);
  });

  test('without root fields finds no nodes of the table, and the schema still has their type', async () => {
    expect(await refusal('{ book_connection { edges { cursor } } }', 'closed')).toMatchObject([
      expect.stringContaining('not found'),
      'validation-failed',
      expect.any(String),
    ]);
    expect(
      await ask('query ($id: ID!) { node(id: $id) { __typename } }', 'closed', { id: idOf('book', 4) }),
    ).toHaveProperty('errors');
    const { data } = await ask('{ __type(name: "Node") { possibleTypes { name } } }', 'closed');
    expect(data).toEqual({ __type: { possibleTypes: [{ name: 'author' }, { name: 'book' }] } });
  });
});

test('fragments on the interface and on objects can be nested', async () => {
  const { data } = await ask(
    `query ($id: ID!) { node(id: $id) { ...Named ... on Node { ... on author { country } } } }
    fragment Named on author { name ... on Node { id ... on book { title } } ... on book_view { nope } }`,
    undefined,
    { id: idOf('author', 1) },
  );
  expect(data.node).toEqual({ name: 'Ann', id: btoa('[1, "public", "author", 1]'), country: 'UK' });
});

test('an id keeps every digit, works with any name, and finds its row', async () => {
  const { data } = await ask(`{ book_connection(last: 1) { edges { node { id } } }
    odd_connection { edges { cursor node { id a } } } }`);
  const [{ node: big }] = data.book_connection.edges;
  const [{ node: odd }] = data.odd_connection.edges;
  expect(atob(big.id)).toBe('[1, "public", "book", 9007199254740993]');
  const found = await ask(
    `query ($a: ID!, $b: ID!) {
    a: node(id: $a) { ... on book { title } } b: node(id: $b) { ... on odd { a b } } }`,
    undefined,
    { a: big.id, b: odd.id },
  );
  expect(found.data).toEqual({
    a: { title: 'a' },
    b: { a: "it's", b: 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11' },
  });
  const literal = await ask(`{ node(id: "${odd.id}") { ... on odd { a } } }`);
  expect(literal.data.node).toEqual({ a: "it's" });
});

const ID_PATH = '$.selectionSet.node.args.id';

test.each([
  ['random', "Error in $: Failed reading: not a valid json value at '\u00ad©Ý¢'"],
  [btoa('[]'), 'Error in $: unexpected GUID format, found empty list'],
  [btoa('[2, "public", "author", 1]'), 'Error in $: unsupported GUID version: 2.0'],
  [btoa('["1"]'), 'Error in $: unexpected GUID format, needs to start with a version number'],
  [btoa('{"id": 4}'), 'Error in $: parsing node id failed, expected Array, but encountered Object'],
  [
    idOf('author'),
    'Error in $: GUID version 1: expecting schema name, table name and at least one column value',
  ],
  [idOf('nothing', 1), "no such table found: 'nothing'"],
  [idOf('book_view', 1), "no such table found: 'book_view'"],
  [idOf('author', 1, 2, 'x'), 'unexpected column values [2,"x"]'],
  [btoa('[1, "public", "odd \\"table\\\\", "x"]'), "primary key columns ['a'] are missing"],
])('the id %s is refused, as a literal and in a variable, the first time and later', async (id, problem) => {
  const expected = [`invalid node id: ${problem}`, 'validation-failed', ID_PATH];
  expect(await refusal(`{ node(id: ${JSON.stringify(id)}) { id } }`)).toEqual(expected);
  const query = 'query ($id: ID!) { node(id: $id) { id } }';
  await ask(query, undefined, { id: idOf('author', 1) });
  expect(await refusal(query, undefined, { id })).toEqual(expected);
});

test('a key of a wrong type is refused, also by a cached plan', async () => {
  const query = 'query ($id: ID!) { node(id: $id) { id } }';
  expect(
    (
      await ask(query, undefined, {
        id: btoa('[1,"public","odd \\"table\\\\","a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11","x"]'),
      })
    ).data,
  ).toEqual({ node: null });
  expect(
    await refusal(query, undefined, {
      id: btoa('[1,"public","odd \\"table\\\\","a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11",7]'),
    }),
  ).toEqual([
    "value of column 'a' in node id: parsing Text failed, expected String, but encountered Number",
    'parse-failed',
    '$.selectionSet.node',
  ]);
});

test.each([
  ['first: 1, last: 2', '"first" and "last" are not allowed at once'],
  ['after: "e30=", before: "e30="', '"after" and "before" are not allowed at once'],
])('%s is refused', async (args, message) => {
  expect(await refusal(`{ author_connection(${args}) { edges { cursor } } }`)).toEqual([
    message,
    'validation-failed',
    '$.selectionSet.author_connection.args',
  ]);
});

test('over a WebSocket a page is a live query', async () => {
  const socket = await openSession(engine, {}, '/v1beta1/relay');
  const query = 'subscription { secret_connection(last: 1) { edges { node { id code } } } }';
  socket.send({ type: 'subscribe', id: '1', payload: { query } });
  const pageOf = (id: number, code: string) => ({
    type: 'next',
    payload: {
      data: {
        secret_connection: { edges: [{ node: { id: btoa(`[1, "public", "secret", ${id}]`), code } }] },
      },
    },
  });
  expect(await socket.next()).toMatchObject(pageOf(1, 's'));
  await engine.admin('run_sql', { sql: "insert into secret values (2, 't')" });
  expect(await socket.next()).toMatchObject(pageOf(2, 't'));
  socket.socket.terminate();
  await engine.admin('run_sql', { sql: 'delete from secret where id = 2' });
});

test.each(['x', btoa('[]'), btoa('{}'), btoa('{"id": null}'), btoa('{"id": {}}'), btoa('{"title": "a"}')])(
  'the cursor %s is refused, or finds nothing, without an internal error',
  async (after) => {
    const [, code] = (await refusal(PAGE, undefined, { after })) ?? [];
    expect(['validation-failed', 'data-exception']).toContain(code);
  },
);

test('explain accepts the schema as an argument', async () => {
  const body = { query: { query: '{ author_connection(first: 1) { edges { cursor } } }' }, is_relay: true };
  const response = await engine.fetch('/v1/graphql/explain', { method: 'POST', body: JSON.stringify(body) });
  expect(await response.json()).toMatchObject([{ field: 'author_connection', plan: expect.any(Array) }]);
});

test('the other schema has no connections', async () => {
  const { errors } = await engine.graphql('{ author_connection { edges { cursor } } }');
  expect(errors?.[0]?.message).toBe("field 'author_connection' not found in type: 'query_root'");
  const { data } = await engine.graphql<Json>('{ author(limit: 1) { id } __type(name: "Node") { name } }');
  expect(data).toEqual({ author: [{ id: 1 }], __type: null });
});

test('a table with the name of a type of this schema is left out', async () => {
  await engine.admin('run_sql', { sql: 'create table "PageInfo" (id int primary key)' });
  await engine.admin('pg_track_table', { table: 'PageInfo' });
  const { data } = await ask(
    '{ __type(name: "PageInfo") { fields { name } } __schema { queryType { fields { name } } } }',
  );
  expect(data.__type.fields).toHaveLength(4);
  expect(data.__schema.queryType.fields.map(({ name }: { name: string }) => name)).not.toContain(
    'PageInfo_connection',
  );
});

test('mutations are those of the other schema, and return global ids', async () => {
  const { data } = await ask(
    'mutation { insert_secret_one(object: { id: 7, code: "x" }) { id code } delete_secret_by_pk(id: 7) { id } }',
  );
  const id = btoa('[1, "public", "secret", 7]');
  expect(data).toEqual({ insert_secret_one: { id, code: 'x' }, delete_secret_by_pk: { id } });
});
