/** Counts of the fields that clients use: two engines over HTTP, WebSockets and REST with one metadata database, and `get_field_usage`. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { replaceMetadata, startTestEngine, type TestEngine } from '../../testing/engine.ts';
import { openSession, openSocket } from '../../testing/websocket.ts';
import { testWorld } from '../../testing/world.ts';

type Used = { readonly role: string; readonly requests: number; readonly last_day: string };
type Usage = {
  readonly is_counting: boolean;
  readonly days: number;
  readonly since: string | null;
  readonly operations: readonly (Used & {
    readonly operation: string | null;
    readonly client: string | null;
  })[];
  readonly coordinates: readonly (Used & { readonly coordinate: string })[];
  readonly uncounted: readonly Used[];
};

let replica: TestEngine;

const { database, engine } = testWorld(
  `create table author (id int primary key, name text, born int);
   create table status (value text primary key, comment text);
   insert into status values ('open', 'x'), ('closed', 'y');
   create table book (id int primary key, title text, author_id int references author, status text references status)`,
  () => ({ enabledApis: ['metadata', 'graphql', 'metrics'] }),
);
afterAll(() => replica?.close());

beforeAll(async () => {
  replica = await startTestEngine({ databaseUrl: database.url });
  const select = (columns: readonly string[]) => [{ role: 'reader', permission: { columns, filter: {} } }];
  const insert = [{ role: 'reader', permission: { columns: ['id', 'title', 'status'], check: {} } }];
  const queries = [{ name: 'list', query: 'query Listed { author { born } }' }];
  const tables = [
    { table: { schema: 'public', name: 'author' }, select_permissions: select(['id', 'name', 'born']) },
    {
      table: { schema: 'public', name: 'book' },
      object_relationships: [{ name: 'author', using: { foreign_key_constraint_on: 'author_id' } }],
      select_permissions: select(['id', 'title', 'status']),
      insert_permissions: insert,
    },
    { table: { schema: 'public', name: 'status' }, is_enum: true, select_permissions: select(['value']) },
  ];
  const endpoint = {
    name: 'authors',
    url: 'authors',
    methods: ['GET'],
    definition: { query: { collection_name: 'saved', query_name: 'list' } },
  };
  const saved = await replaceMetadata(
    engine,
    { tables },
    {
      query_collections: [{ name: 'saved', definition: { queries } }],
      rest_endpoints: [endpoint],
    },
  );
  expect(saved).toMatchObject({ status: 200 });
});

async function usage(args: object = {}, of = engine): Promise<Usage> {
  return of.must<Usage>('get_field_usage', { limit: 1000, ...args });
}

/** Returns the coordinates that the operation of one client used, and how often. */
async function used(client: string): Promise<Readonly<Record<string, number>>> {
  const { coordinates } = await usage({ client });
  return Object.fromEntries(
    coordinates.map(({ coordinate, requests }) => [coordinate, requests] as const).sort(),
  );
}

async function ask(client: string, query: string, variables: object = {}, role = 'reader', of = engine) {
  const headers = { 'graphql-client-name': client };
  return of.graphql(query, { role, headers, variables: variables as Record<string, unknown> });
}

test('fields, arguments, input fields and enum values, also through fragments, count once for each request', async () => {
  const query = `query Books { book(where: {title: {_eq: "a secret title"}}, order_by: {id: asc}) { ...Part author { born } } }
    fragment Part on book { id __typename }`;
  for (let i = 0; i < 3; i++) expect(await ask('web', query)).not.toHaveProperty('errors');
  expect(await used('web')).toEqual(
    Object.fromEntries(
      [
        ...['query_root.book', 'query_root.book(where:)', 'query_root.book(order_by:)'],
        ...['book', 'book.id', 'book.author', 'author', 'author.born', 'Int'],
        ...[
          'book_bool_exp',
          'book_bool_exp.title',
          'String_comparison_exp',
          'String_comparison_exp._eq',
          'String',
        ],
        ...['book_order_by', 'book_order_by.id', 'order_by', 'order_by.asc'],
      ]
        .sort()
        .map((coordinate) => [coordinate, 3]),
    ),
  );
  const { operations } = await usage({ client: 'web' });
  const today = new Date().toISOString().slice(0, 10);
  expect(operations).toEqual([
    { role: 'reader', operation: 'Books', client: 'web', requests: 3, last_day: today },
  ]);
});

test('members of variables count for the plan that has them', async () => {
  const query =
    'query Where($where: book_bool_exp!, $order: [book_order_by!]) { book(where: $where, order_by: $order) { id } }';
  await ask('variables', query, { where: { id: { _eq: 1 } } });
  await ask('variables', query, { where: { id: { _eq: 2 } } });
  await ask('variables', query, { where: { title: { _like: 'x' } }, order: [{ title: 'desc' }] });
  expect(await used('variables')).toMatchObject({
    'query_root.book(where:)': 3,
    'book_bool_exp.id': 2,
    'Int_comparison_exp._eq': 2,
    'book_bool_exp.title': 1,
    'String_comparison_exp._like': 1,
    'order_by.desc': 1,
  });
});

test('values of an enum table count by name in the text, and as unknown in variables', async () => {
  await ask('literal', '{ book(where: {status: {_eq: open}}) { id } }');
  await ask('variable', 'query ($in: [status_enum!]) { book(where: {status: {_in: $in}}) { id } }', {
    in: [],
  });
  await ask('variable', 'query ($in: [status_enum!]) { book(where: {status: {_in: $in}}) { id } }', {
    in: ['closed'],
  });
  expect(await used('literal')).toMatchObject({ 'status_enum.open': 1 });
  const variable = await used('variable');
  expect(variable).toMatchObject({ 'status_enum.*': 2 });
  expect(variable).not.toHaveProperty(['status_enum.closed']);
});

test('a selection that a variable may skip counts, one that a literal skips does not', async () => {
  const query = 'query ($with: Boolean!) { book { id title @include(if: $with) status @skip(if: true) } }';
  await ask('conditions', query, { with: false });
  const found = await used('conditions');
  expect(found).toMatchObject({ 'book.id': 1, 'book.title': 1 });
  expect(found).not.toHaveProperty(['book.status']);
});

test('a request that fails after planning counts, one that is refused before does not', async () => {
  await ask('failing', 'mutation { insert_book_one(object: {id: 900, status: open}) { id } }');
  await ask('failing', 'mutation { insert_book_one(object: {id: 900, status: open}) { id } }');
  await ask('failing', '{ book { author_id } }');
  expect(await used('failing')).toMatchObject({ 'book_insert_input.status': 2 });
  expect((await usage({ client: 'failing' })).operations).toMatchObject([{ operation: null, requests: 2 }]);
});

test('introspection uses no coordinate, and a role without permissions is not counted', async () => {
  await ask('tool', '{ __schema { types { name } } }');
  await ask('tool', '{ __typename }', {}, 'nobody');
  expect(await usage({ client: 'tool' })).toMatchObject({
    operations: [{ role: 'reader', requests: 1 }],
    coordinates: [],
  });
});

test('the header of Apollo names the client, and a client without a name has none', async () => {
  await engine.graphql('query Named { author { id } }', {
    role: 'reader',
    headers: { 'apollographql-client-name': 'ios' },
  });
  await engine.graphql('query Named { author { id } }', { role: 'reader' });
  const { operations } = await usage({ operation: 'Named' });
  expect(operations.map(({ client }) => client).sort()).toEqual(['ios', null]);
  expect((await usage({ operation: 'Named', client: '' })).operations).toHaveLength(1);
});

test('the name of a client is read as UTF-8, in a header and in a message', async () => {
  await ask(Buffer.from('日本').toString('latin1'), '{ author { id } }');
  expect((await usage({ client: '日本' })).operations).toMatchObject([{ requests: 1 }]);
  const socket = await openSession(engine, { 'x-engine-role': 'reader', 'graphql-client-name': '日本' });
  socket.send({ type: 'subscribe', id: '1', payload: { query: '{ author { id } }' } });
  await socket.next();
  await socket.next();
  socket.close();
  expect((await usage({ client: '日本' })).operations).toMatchObject([{ requests: 2 }]);
});

test('a REST endpoint counts under its name, and its document under its own', async () => {
  const headers = { 'x-engine-role': 'reader', 'graphql-client-name': 'rest' };
  expect((await engine.fetch('/api/rest/authors', { headers })).status).toBe(200);
  await ask('rest', 'query Listed { author { born } }');
  const { operations } = await usage({ client: 'rest' });
  expect(operations.map(({ operation }) => operation).sort()).toEqual(['Listed', 'rest:authors']);
});

test('a subscription counts once for each start, and an operation over a WebSocket each time', async () => {
  const socket = await openSocket(engine.url, 'graphql-transport-ws');
  const secret = { 'x-engine-admin-secret': engine.adminSecret, 'x-engine-role': 'reader' };
  socket.send({
    type: 'connection_init',
    payload: { headers: { ...secret, 'GraphQL-Client-Name': 'socket\u0000' } },
  });
  expect(await socket.next()).toMatchObject({ type: 'connection_ack' });
  const payload = { query: 'subscription Live { author { name } }' };
  socket.send({ id: '1', type: 'subscribe', payload });
  expect(await socket.next()).toMatchObject({ type: 'next' });
  await database.sql(`insert into author values (1, 'changed', 1900)`);
  expect(await socket.next()).toMatchObject({ type: 'next' });
  for (const id of ['2', '3']) {
    socket.send({ id, type: 'subscribe', payload: { query: 'query Once { author { id } }' } });
    expect(await socket.next()).toMatchObject({ id, type: 'next' });
    expect(await socket.next()).toMatchObject({ id, type: 'complete' });
  }
  socket.close();
  await socket.closed;
  const { operations } = await usage({ client: 'socket\ufffd' });
  expect(operations.map(({ operation, requests }) => [operation, requests]).sort()).toEqual([
    ['Live', 1],
    ['Once', 2],
  ]);
});

test('requests of all replicas are added up, and a replica that stops writes what it has counted', async () => {
  const query = 'query Shared { author { id } }';
  const third = await startTestEngine({ databaseUrl: database.url });
  for (const one of [engine, replica, third]) await ask('shared', query, {}, 'reader', one);
  await third.close();
  await usage({}, replica);
  expect((await usage({ operation: 'Shared' })).operations).toMatchObject([{ requests: 3 }]);
});

test('a filter by coordinate names the operations that use it', async () => {
  await ask('filter', 'query UsesName { author { name } }');
  await ask('filter', 'query UsesId { author { id } }');
  const { operations, coordinates } = await usage({ coordinate: 'author.name', client: 'filter' });
  expect(operations).toMatchObject([{ operation: 'UsesName' }]);
  expect(coordinates).toMatchObject([{ coordinate: 'author.name', requests: 1 }]);
});

test('no value of a request is stored', async () => {
  await ask(
    'values',
    'query ($t: String!) { book(where: {_or: [{title: {_eq: $t}}, {title: {_eq: "in-the-text"}}]}) { id } }',
    {
      t: 'in-a-variable',
    },
  );
  await usage();
  const tables = ['coordinate_set', 'operation_usage', 'uncounted_usage'];
  for (const table of tables) {
    const rows = await database.sql(`select t::text as row from pergola.${table} t`);
    const text = JSON.stringify(rows);
    for (const value of ['in-the-text', 'in-a-variable', 'a secret title']) expect(text).not.toContain(value);
  }
});

test('only administrators read the counts', async () => {
  const headers = { 'x-engine-role': 'reader' };
  const answer = await engine.admin('get_field_usage', {}, { headers });
  expect(answer).toMatchObject({ status: 400, body: { code: 'access-denied' } });
});

test('a write that fails concerns no request, and is repeated', async () => {
  await usage();
  await database.sql('alter table pergola.operation_usage rename to gone');
  expect(await ask('patient', 'query Patient { author { id } }')).not.toHaveProperty('errors');
  expect((await engine.admin('get_field_usage', {})).status).toBe(500);
  expect(await ask('patient', 'query Patient { author { id } }')).not.toHaveProperty('errors');
  await database.sql('alter table pergola.gone rename to operation_usage');
  expect((await usage({ client: 'patient' })).operations).toMatchObject([{ requests: 2 }]);
});

test('a role has a limited number of operations on a day; what is beyond is counted without a name', async () => {
  for (let i = 0; i < 1010; i += 101) {
    const names = Array.from({ length: 101 }, (_, j) => `query Many${i + j} { author { id } }`);
    await Promise.all(names.map((query) => ask('many', query, {}, 'admin')));
  }
  const before = await usage({ role: 'admin' });
  expect(before.operations).toHaveLength(1000);
  expect(before.uncounted).toMatchObject([{ role: 'admin', requests: 10 }]);
  await ask('many', 'query Later { author { id } }', {}, 'admin');
  await ask('many', 'query Many5 { author { id } }', {}, 'admin');
  const after = await usage({ role: 'admin' });
  expect(after.uncounted).toMatchObject([{ requests: 11 }]);
  expect(after.operations[0]).toMatchObject({ operation: 'Many5', requests: 2 });
  expect(await (await engine.fetch('/v1/metrics')).text()).toContain(
    '\npergola_usage_uncounted_requests_total 11\n',
  );
  // Other roles are counted as before.
  await ask('others', 'query Others { author { id } }');
  expect((await usage({ client: 'others' })).operations).toHaveLength(1);
}, 180_000);

test('with --field-usage-days 0 nothing is counted', async () => {
  const off = await startTestEngine({ databaseUrl: database.url, fieldUsageDays: 0 });
  await ask('off', 'query Off { author { id } }', {}, 'reader', off);
  expect(await usage({}, off)).toEqual({
    is_counting: false,
    days: 0,
    since: null,
    operations: [],
    coordinates: [],
    uncounted: [],
  });
  await off.close();
  expect((await usage({ client: 'off' })).operations).toEqual([]);
});

test('days that are not kept are deleted, with the coordinates that only they have', async () => {
  await usage();
  await database.sql(
    `insert into pergola.coordinate_set values ('old', '{author.old}'), ('older', '{author.older}');
     insert into pergola.operation_usage
     select (now() at time zone 'utc')::date - age, 'reader', 'Old', 'past', id, 1
       from (values (6, 'old'), (7, 'older')) as days (age, id)`,
  );
  const short = await startTestEngine({ databaseUrl: database.url, fieldUsageDays: 7 });
  expect((await usage({ client: 'past' }, short)).coordinates).toMatchObject([{ coordinate: 'author.old' }]);
  expect((await usage({ client: 'past', days: 6 }, short)).coordinates).toEqual([]);
  await short.close();
  expect(await database.sql(`select id from pergola.coordinate_set where id like 'old%'`)).toEqual([
    { id: 'old' },
  ]);
});
