/** Tests actions of a whole engine: a webhook answers root fields, under roles, with the rows related to its answers. */
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { startTestEngine } from '../../testing/engine.ts';
import { testWorld } from '../../testing/world.ts';

type Called = { readonly url: string; readonly headers: IncomingMessage['headers']; readonly body: unknown };
type Reply = {
  readonly status?: number;
  readonly body: unknown;
  readonly headers?: Record<string, string>;
  readonly afterMs?: number;
};

const calls: Called[] = [];
let reply: Reply;

const webhook = createServer((request, response) => {
  let text = '';
  request.on('data', (chunk) => (text += chunk));
  request.on('end', () => {
    calls.push({ url: request.url!, headers: request.headers, body: text === '' ? null : JSON.parse(text) });
    const { status = 200, body, headers = {}, afterMs = 0 } = reply;
    setTimeout(() => {
      response.writeHead(status, { 'content-type': 'application/json', ...headers });
      response.end(typeof body === 'string' && status !== 200 ? body : JSON.stringify(body));
    }, afterMs);
  });
});

const TYPES = {
  scalars: [{ name: 'Anything' }],
  enums: [{ name: 'Size', values: [{ value: 'small' }, { value: 'large', is_deprecated: true }] }],
  input_objects: [
    {
      name: 'Order',
      fields: [
        { name: 'size', type: 'Size!' },
        { name: 'notes', type: '[String!]' },
        { name: 'extra', type: 'jsonb' },
      ],
    },
  ],
  objects: [
    {
      name: 'Who',
      fields: [
        { name: 'id', type: 'Int!' },
        { name: 'name', type: 'String' },
        { name: 'big', type: 'bigint' },
        { name: 'any', type: 'Anything' },
        { name: 'boss', type: 'Who' },
        { name: 'staff', type: '[Who!]' },
      ],
      relationships: [
        { name: 'author', type: 'object', remote_table: 'author', field_mapping: { id: 'id' } },
        { name: 'books', type: 'array', remote_table: 'book', field_mapping: { id: 'author_id' } },
      ],
    },
  ],
};

const ACTIONS = {
  who: {
    type: 'query',
    arguments: [
      { name: 'id', type: 'Int' },
      { name: 'order', type: 'Order' },
    ],
    output_type: 'Who',
  },
  whos: { type: 'query', output_type: '[Who!]!' },
  sign_up: { arguments: [{ name: 'name', type: 'String!' }], output_type: 'Who!' },
  count: { type: 'query', output_type: 'Int!' },
};

async function must(type: string, args: unknown): Promise<void> {
  const { status, body } = await engine.admin(type, args);
  expect(body, type).toEqual({ message: 'success' });
  expect(status).toBe(200);
}

afterAll(() => webhook.close());

const { database, engine } = testWorld(
  async (database) => {
    await database.sql(`
    create table author (id int primary key, name text);
    create table book (id int primary key, author_id int references author, title text, is_public boolean);
    insert into author values (1, 'Ada'), (2, 'Bob');
    insert into book values (1, 1, 'One', true), (2, 1, 'Two', false), (3, 2, 'Three', true)`);
    await new Promise<void>((resolve) => webhook.listen(0, '127.0.0.1', resolve));
  },
  () => ({ env: { HOOK: `http://127.0.0.1:${(webhook.address() as AddressInfo).port}`, KEY: 'the key' } }),
);

beforeAll(async () => {
  await must('pg_track_table', { table: 'author' });
  await must('pg_track_table', { table: 'book' });
  await must('pg_create_select_permission', {
    table: 'book',
    role: 'user',
    permission: { columns: ['title'], filter: { is_public: true } },
  });
  await must('set_custom_types', TYPES);
  for (const [name, definition] of Object.entries(ACTIONS)) {
    await must('create_action', { name, definition: { handler: `{{HOOK}}/${name}`, ...definition } });
  }
  await must('create_action_permission', { action: 'who', role: 'user' });
});
beforeEach(() => {
  calls.length = 0;
});

const errorOf = (answer: { errors?: readonly unknown[] }) => answer.errors?.[0];

test('the webhook receives the action, its arguments, the session and the query', async () => {
  reply = { body: { id: 1 } };
  const query =
    'query ($s: Size!) { who(id: 7, order: {size: $s, notes: ["a"], extra: {n: 9007199254740993}}) { id } }';
  const variables = { s: 'small' };
  const answer = await engine.graphql(query, {
    role: 'user',
    variables,
    headers: { 'x-engine-user-id': '5' },
  });
  expect(answer).toEqual({ data: { who: { id: 1 } } });
  expect(calls).toMatchObject([
    {
      url: '/who',
      body: {
        action: { name: 'who' },
        input: { id: 7, order: { size: 'small', notes: ['a'] } },
        session_variables: { 'x-engine-role': 'user', 'x-engine-user-id': '5' },
        request_query: query,
      },
    },
  ]);
});

test('fields that were not selected are removed; aliases and type names are added', async () => {
  reply = {
    body: { id: 1, name: 'Ada', any: { deep: [1] }, big: '12', boss: { id: 2, boss: null }, extra: 1 },
  };
  const answer = await engine.graphql('{ a: who { __typename n: name any big boss { i: id boss { id } } } }');
  const boss = { i: 2, boss: null };
  expect(answer).toEqual({
    data: { a: { __typename: 'Who', n: 'Ada', any: { deep: [1] }, big: '12', boss } },
  });
});

test('rows related to an answer are those the role may read, at any depth', async () => {
  reply = { body: { id: 1, boss: { id: 2 }, staff: [{ id: 2 }, { id: 9 }, { id: 1 }] } };
  const query =
    '{ who { books { title } boss { books(order_by: {title: asc}) { title } } staff { books { title } } } }';
  expect(await engine.graphql(query, { role: 'user' })).toEqual({
    data: {
      who: {
        books: [{ title: 'One' }],
        boss: { books: [{ title: 'Three' }] },
        staff: [{ books: [{ title: 'Three' }] }, { books: [] }, { books: [{ title: 'One' }] }],
      },
    },
  });
  const hidden = await engine.graphql('{ who { author { name } } }', { role: 'user' });
  expect(errorOf(hidden)).toMatchObject({ message: "field 'author' not found in type: 'Who'" });
});

test('objects, lists and aggregates are joined in one statement, with their arguments and variables', async () => {
  reply = { body: [{ id: 2 }, { id: 1 }, { id: 3 }] };
  const query = `query ($t: String!) { whos {
    id
    author { name }
    books(where: {title: {_neq: $t}}, order_by: {id: desc}, limit: 1) { title }
    all: books_aggregate { aggregate { count } }
  } }`;
  expect(await engine.graphql(query, { variables: { t: 'Two' } })).toEqual({
    data: {
      whos: [
        { id: 2, author: { name: 'Bob' }, books: [{ title: 'Three' }], all: { aggregate: { count: 1 } } },
        { id: 1, author: { name: 'Ada' }, books: [{ title: 'One' }], all: { aggregate: { count: 2 } } },
        { id: 3, author: null, books: [], all: { aggregate: { count: 0 } } },
      ],
    },
  });
});

test('a role without the permission does not see the action', async () => {
  const answer = await engine.graphql('{ whos { id } }', { role: 'user' });
  expect(errorOf(answer)).toMatchObject({ message: "field 'whos' not found in type: 'query_root'" });
  expect(calls).toEqual([]);
});

test('arguments are checked before the webhook is called', async () => {
  const wrong = await engine.graphql('{ who(order: {size: huge}) { id } }');
  expect(errorOf(wrong)).toMatchObject({
    extensions: { code: 'validation-failed', path: '$.selectionSet.who.args.order.size' },
  });
  expect(errorOf(await engine.graphql('mutation { sign_up { id } }'))).toMatchObject({
    extensions: { path: '$.selectionSet.sign_up.args.name' },
  });
  expect(calls).toEqual([]);
});

test.each([
  ['{ who { id } }', 'text', 'got scalar String for the action webhook response, expecting Who'],
  ['{ who { id } }', [], 'got array for the action webhook response, expecting Who'],
  ['{ who { id } }', { id: null }, 'expecting not null value for field "id"'],
  ['{ who { id } }', {}, 'field "id" expected in webhook response, but not found'],
  ['{ who { id } }', { id: 'x' }, 'got scalar String for the action webhook response, expecting Int'],
  ['{ who { staff { id } } }', { id: 1, staff: {} }, 'expecting array for the action webhook response'],
  ['{ whos { id } }', [null], 'got null for the action webhook response'],
  ['{ whos { id } }', null, 'got null for the action webhook response'],
  ['{ count }', { n: 1 }, 'got object for the action webhook response, expecting Int'],
])('%s with %j: %s', async (query, body, message) => {
  reply = { body };
  expect(errorOf(await engine.graphql(query))).toMatchObject({
    message,
    extensions: { code: 'unexpected', path: '$' },
  });
});

test('null and missing scalars are null, and missing objects are left out, where the type allows it', async () => {
  reply = { body: null };
  expect(await engine.graphql('{ who { id } }')).toEqual({ data: { who: null } });
  reply = { body: { id: 1 } };
  expect(await engine.graphql('{ who { name staff { id } } }')).toEqual({
    data: { who: { name: null } },
  });
});

test('the webhook refuses a request with its own message, code and extensions', async () => {
  reply = { status: 400, body: { message: 'taken', code: 'name-taken' } };
  expect((await engine.graphql('{ who { id } }', { role: 'user' })).errors).toEqual([
    { message: 'taken', extensions: { path: '$', code: 'name-taken' } },
  ]);
  reply = { status: 422, body: { message: 'no', extensions: { hint: 'other' } } };
  expect((await engine.graphql('{ who { id } }', { role: 'user' })).errors).toEqual([
    { message: 'no', extensions: { hint: 'other' } },
  ]);
});

test('administrators see why a webhook failed, without secrets of the environment', async () => {
  reply = { status: 500, body: 'oops' };
  expect(errorOf(await engine.graphql('{ who { id } }', { role: 'user' }))).toEqual({
    message: 'internal error',
    extensions: { path: '$', code: 'unexpected' },
  });
  expect(errorOf(await engine.graphql('{ who { id } }'))).toMatchObject({
    extensions: {
      internal: {
        error: 'expecting 2xx or 4xx status code, but found 500',
        request: { url: '{{HOOK}}/who' },
        response: { status: 500, body: 'oops' },
      },
    },
  });
  reply = { status: 201, body: 'no json' };
  expect(errorOf(await engine.graphql('{ who { id } }'))).toMatchObject({
    message: 'not a valid json response from webhook',
  });
});

test('a webhook that exceeds its timeout fails', async () => {
  reply = { body: { id: 1 }, afterMs: 3000 };
  const definition = { handler: '{{HOOK}}/slow', type: 'query', output_type: 'Who', timeout: 1 };
  await must('create_action', { name: 'slow', definition });
  expect(errorOf(await engine.graphql('{ slow { id } }'))).toMatchObject({
    message: 'http exception when calling webhook',
    extensions: { internal: { error: 'no answer in 1 s' } },
  });
  await must('drop_action', { name: 'slow' });
});

test('headers come from the metadata, and from the client if they are forwarded, but never its secret', async () => {
  reply = { body: { id: 1 } };
  const headers = [
    { name: 'X-Key', value_from_env: 'KEY' },
    { name: 'X-Both', value: 'ours' },
  ];
  const forwarding = { forward_client_headers: true, ignored_client_headers: ['x-ignored'], headers };
  await must('update_action', {
    name: 'count',
    definition: { ...ACTIONS.count, handler: '{{HOOK}}/count', ...forwarding },
  });
  reply = { body: 3 };
  const asked = { 'X-Both': 'theirs', 'X-Ignored': '1', 'X-Mine': '2', Connection: 'keep-alive' };
  expect(await engine.graphql('{ count }', { headers: asked })).toEqual({ data: { count: 3 } });
  expect(calls[0]!.headers).toMatchObject({ 'x-key': 'the key', 'x-both': 'theirs', 'x-mine': '2' });
  expect(calls[0]!.headers).not.toHaveProperty('x-ignored');
  expect(JSON.stringify(calls[0])).not.toContain(engine.adminSecret);
});

test('the headers of the metadata override those of the client if the option says so', async () => {
  const env = { HOOK: `http://127.0.0.1:${(webhook.address() as AddressInfo).port}` };
  const other = await startTestEngine({ databaseUrl: database.url, env, configuredHeaderPrecedence: true });
  const forwarding = { forward_client_headers: true, headers: [{ name: 'X-Both', value: 'ours' }] };
  const definition = { ...ACTIONS.count, handler: '{{HOOK}}/count', ...forwarding };
  await must('update_action', { name: 'count', definition });
  reply = { body: 3 };
  await expect
    .poll(() => other.graphql('{ count }', { headers: { 'X-Both': 'theirs' } }))
    .toEqual({ data: { count: 3 } });
  expect(calls.at(-1)!.headers).toMatchObject({ 'x-both': 'ours' });
  await other.close();
});

test('cookies of the webhook are sent to the client', async () => {
  reply = { body: { id: 1 }, headers: { 'set-cookie': 'a=b' } };
  const init = { method: 'POST', body: JSON.stringify({ query: '{ who { id } }' }) };
  const response = await engine.fetch('/v1/graphql', init);
  expect(response.headers.getSetCookie()).toEqual(['a=b']);
});

test('transforms change the request and the answer', async () => {
  const definition = {
    handler: '{{HOOK}}/people',
    type: 'query',
    arguments: [{ name: 'id', type: 'Int!' }],
    output_type: 'Who',
    request_transform: {
      version: 2,
      method: 'GET',
      url: '{{$base_url}}/{{$body.input.id}}',
      body: { action: 'remove' },
    },
    response_transform: { version: 2, body: { action: 'transform', template: '{"id": {{$body.key}}}' } },
  };
  await must('create_action', { name: 'person', definition });
  reply = { body: { key: 4 } };
  expect(await engine.graphql('{ person(id: 12) { id } }')).toEqual({ data: { person: { id: 4 } } });
  expect(calls).toMatchObject([{ url: '/people/12', body: null }]);
  reply = { body: {} };
  expect(errorOf(await engine.graphql('{ person(id: 12) { id } }'))).toMatchObject({
    message: 'the response transform failed',
    extensions: { internal: { error: { error_code: 'Attribute Error' } } },
  });
});

test('actions run beside tables, at the same time in queries and in order in mutations', async () => {
  reply = { body: { id: 1 } };
  expect(
    await engine.graphql('{ author_by_pk(id: 2) { name } who { id } __typename book(limit: 1) { id } }'),
  ).toEqual({
    data: { author_by_pk: { name: 'Bob' }, who: { id: 1 }, __typename: 'query_root', book: [{ id: 1 }] },
  });
  reply = { status: 400, body: { message: 'no' } };
  const failing = `mutation {
    insert_author_one(object: {id: 10, name: "X"}) { id }
    sign_up(name: "x") { id }
    delete_book(where: {}) { affected_rows }
  }`;
  expect(errorOf(await engine.graphql(failing))).toMatchObject({ message: 'no' });
  reply = { body: { id: 10 } };
  const after = 'mutation { sign_up(name: "y") { author { name } } delete_author_by_pk(id: 10) { name } }';
  expect(await engine.graphql(after)).toEqual({
    data: { sign_up: { author: { name: 'X' } }, delete_author_by_pk: { name: 'X' } },
  });
  expect(await engine.graphql('{ book_aggregate { aggregate { count } } }')).toMatchObject({
    data: { book_aggregate: { aggregate: { count: 3 } } },
  });
});

test('a type, an action or a table that does not fit is named in the error', async () => {
  const unknown = { objects: [{ name: 'Z', fields: [{ name: 'y', type: 'x_type' }] }] };
  expect(
    await engine.admin('set_custom_types', { ...TYPES, objects: [...TYPES.objects, ...unknown.objects] }),
  ).toMatchObject({
    status: 400,
    body: {
      code: 'invalid-configuration',
      error:
        'Inconsistent object: validation for the given custom types failed because the type "x_type" for field "y" in  object type "Z" does not exist',
    },
  });
  const action = { name: 'nope', definition: { handler: 'http://x', output_type: 'Nobody' } };
  expect(await engine.admin('create_action', action)).toMatchObject({
    status: 400,
    body: { error: 'Inconsistent object: in action "nope"; the output type, "Nobody", does not exist' },
  });
  const named = { name: 'insert_author', definition: { handler: 'http://x', output_type: 'Who' } };
  expect(await engine.admin('create_action', named)).toMatchObject({
    status: 500,
    body: { code: 'unexpected' },
  });
  expect(await engine.admin('set_custom_types', {})).toMatchObject({ status: 400 });
});
