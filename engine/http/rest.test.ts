/** Tests REST endpoints over HTTP: answers, the sources of variables, permissions, and errors of bad requests, with a
 *  real engine and a real database. Reference: docs/reference/behaviour/endpoints.md. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createDatabase, type TestDatabase } from '../../testing/database.ts';
import { startTestEngine, type TestEngine } from '../../testing/engine.ts';

let database: TestDatabase;
let engine: TestEngine;

const QUERIES = {
  all: '{ book(order_by: {id: asc}) { id title } }',
  byId: 'query ($id: Int!) { book(where: {id: {_eq: $id}}) { title } }',
  search: `query ($title: String = "Emma", $limit: Int) {
    book(limit: $limit, order_by: {id: asc}, where: {title: {_ilike: $title}}) { id }
  }`,
  out: 'query ($out: Boolean!, $first: Int) { book(limit: $first, where: {out: {_eq: $out}}) { id } }',
  any: 'query ($where: book_bool_exp = {}) { book(order_by: {id: asc}, where: $where) { id } }',
  priced: 'query ($prices: [numeric!]!) { book(order_by: {id: asc}, where: {price: {_in: $prices}}) { id } }',
  tagged: 'query ($tags: jsonb!) { book(where: {tags: {_contains: $tags}}) { id } }',
  kept: 'query @cached(ttl: 5) { book { id } }',
  negative: 'query @cached(ttl: -5) { book { id } }',
  add: 'mutation ($id: Int!, $title: String!) { insert_book_one(object: {id: $id, title: $title}) { title } }',
  live: 'subscription { book { id } }',
};

const ENDPOINTS = [
  ['books', 'all', ['GET', 'POST']],
  ['book/:id', 'byId', ['GET']],
  ['book/:id/:title', 'add', ['PUT']],
  ['add', 'add', ['POST']],
  ['any', 'any', ['GET', 'POST']],
  ['out', 'out', ['GET', 'POST']],
  ['find/:title', 'search', ['GET']],
  ['priced', 'priced', ['GET', 'POST']],
  ['tagged', 'tagged', ['GET']],
  ['kept', 'kept', ['GET', 'POST']],
  ['negative', 'negative', ['GET']],
] as const;

beforeAll(async () => {
  database = await createDatabase();
  engine = await startTestEngine({ databaseUrl: database.url });
  await database.sql(
    `create table book (id int primary key, title text, out boolean, price numeric, tags jsonb);
     insert into book values (1, 'Emma', true, 1.5, '{"a": 1}'), (2, 'a/b c', false, 2, '{}'), (3, 'secret', null, 2, null);`,
  );
  await edit('pg_track_table', { table: 'book' });
  const permission = { columns: ['id', 'title', 'out'], filter: { id: { _lt: 3 } } };
  await edit('pg_create_select_permission', { table: 'book', role: 'reader', permission });
  await edit('create_query_collection', {
    name: 'all',
    definition: { queries: Object.entries(QUERIES).map(([name, query]) => ({ name, query })) },
  });
  for (const [url, query, methods] of ENDPOINTS) expect(await create(url, query, methods)).toBe(200);
});

afterAll(async () => {
  await engine?.close();
  await database?.drop();
});

async function edit(type: string, args: unknown): Promise<void> {
  expect(await engine.admin(type, args)).toMatchObject({ status: 200 });
}

async function create(url: string, query: string, methods: readonly string[]): Promise<number> {
  const { status } = await engine.admin('create_rest_endpoint', endpoint(url, query, methods));
  return status;
}

const endpoint = (url: string, query: string, methods: readonly string[]) => ({
  name: url,
  url,
  methods,
  definition: { query: { collection_name: 'all', query_name: query } },
});

async function rest(path: string, init: RequestInit = {}) {
  const response = await engine.fetch(`/api/rest/${path}`, init);
  return { status: response.status, body: await response.json(), headers: response.headers };
}

async function answer(path: string, init: RequestInit = {}): Promise<unknown> {
  return (await rest(path, init)).body;
}

const json = (body: unknown, method = 'POST'): RequestInit => ({ method, body: JSON.stringify(body) });
const form = (body: string): RequestInit => ({
  method: 'POST',
  body,
  headers: { 'content-type': 'application/x-www-form-urlencoded' },
});
const ids = (...found: number[]) => ({ book: found.map((id) => ({ id })) });

test('the answer is the bare data', async () => {
  const { status, body, headers } = await rest('books', { headers: { 'x-request-id': 'mine' } });
  expect([status, headers.get('x-request-id'), headers.get('content-type')]).toEqual([
    200,
    'mine',
    'application/json; charset=utf-8',
  ]);
  expect(body).toEqual({
    book: [
      { id: 1, title: 'Emma' },
      { id: 2, title: 'a/b c' },
      { id: 3, title: 'secret' },
    ],
  });
});

test('a role sees only its rows and columns', async () => {
  const as = { headers: { 'x-engine-role': 'reader' } };
  expect(await answer('any', as)).toEqual(ids(1, 2));
  expect(await rest('priced?prices=2', as)).toMatchObject({
    status: 400,
    body: {
      path: '$.selectionSet.book.args.where.price',
      error: "field 'price' not found in type: 'book_bool_exp'",
      code: 'validation-failed',
    },
  });
  expect(await rest('books', { headers: { 'x-engine-role': 'stranger' } })).toMatchObject({
    status: 400,
    body: {
      path: '$.selectionSet.book',
      error: "field 'book' not found in type: 'query_root'",
      code: 'validation-failed',
    },
  });
});

test('without a secret every path is 401, whether it exists or not', async () => {
  for (const path of ['books', 'nowhere']) {
    const response = await fetch(`${engine.url}/api/rest/${path}`);
    expect([response.status, await response.json()]).toEqual([
      401,
      {
        path: '$',
        error: 'x-engine-admin-secret/x-engine-access-key required, but not found',
        code: 'access-denied',
      },
    ]);
  }
});

test.each([
  ['book/1', { book: [{ title: 'Emma' }] }],
  ['book/1?id=2', { book: [{ title: 'Emma' }] }],
  ['find/a%2Fb%20c', ids(2)],
  ['find/e%25', ids(1)],
  ['find/%25?limit=2', ids(1, 2)],
  ['find/%25?limit=', ids(1, 2, 3)],
  ['out?out', ids(1)],
  ['out?out=false', ids(2)],
  ['out?out=TRUE', ids(1)],
  ['any', ids(1, 2, 3)],
  ['any?where={"id":{"_gt":1}}', ids(2, 3)],
  ['priced?prices=2', ids(2, 3)],
  ['priced?prices=2&prices=1.5', ids(1, 2, 3)],
  ['priced?prices=[1.5]', ids(1)],
  ['tagged?tags={"a":1}', ids(1)],
])('GET %s parses its variables by their types', async (path, expected) => {
  expect(await rest(path)).toMatchObject({ status: 200, body: expected });
});

test('variables come from a JSON body of any method, or from a form', async () => {
  expect(await answer('out', json({ out: false }))).toEqual(ids(2));
  expect(await answer('out?out=true', json({ out: false, first: 1 }))).toEqual(ids(2));
  expect(await answer('priced', json({ prices: [1.5] }))).toEqual(ids(1));
  expect(await answer('out', form('out=false'))).toEqual(ids(2));
  expect(await answer('out?out=true', form('out=false'))).toEqual(ids(1));
  expect(await answer('any', { method: 'POST' })).toEqual(ids(1, 2, 3));
});

test('mutations run, and errors of the database have their status', async () => {
  expect(await answer('book/9/New', { method: 'PUT' })).toEqual({ insert_book_one: { title: 'New' } });
  expect(await rest('add', json({ id: 9, title: 'Again' }))).toMatchObject({
    status: 400,
    body: { path: '$.selectionSet.insert_book_one.args.object', code: 'constraint-violation' },
  });
  await database.sql('delete from book where id = 9');
});

const bad = (error: string, code = 'validation-failed', path = '$') => ({ path, error, code });

test.each([
  ['nowhere', {}, 404, bad('Endpoint not found', 'not-found')],
  ['', {}, 404, bad('Endpoint not found', 'not-found')],
  ['book/', {}, 404, bad('Endpoint not found', 'not-found')],
  ['books/', {}, 404, bad('Endpoint not found', 'not-found')],
  ['book/%zz', {}, 404, bad('Endpoint not found', 'not-found')],
  ['books', { method: 'DELETE' }, 405, bad('Allowed methods: GET, POST', 'method-not-allowed')],
  ['add', json({ id: 1 }), 400, bad('expecting a value for non-nullable variable: "title"')],
  ['books?x=1', {}, 400, bad('Unexpected variable x', 'bad-request')],
  ['book/one', {}, 400, bad('invalid input syntax for type integer: "one"', 'data-exception')],
  ['any', json([1]), 400, bad('expected an object', 'parse-failed')],
  ['any', { method: 'POST', body: '{' }, 400, bad('invalid json', 'invalid-json')],
] as const)('%s %o is refused', async (path, init, status, body) => {
  expect(await rest(path, init)).toMatchObject({ status, body });
});

test('only GET of a @cached query has Cache-Control', async () => {
  expect((await rest('kept')).headers.get('cache-control')).toBe('max-age=5');
  expect((await rest('negative')).headers.get('cache-control')).toBe('max-age=0');
  expect((await rest('kept', { method: 'POST' })).headers.get('cache-control')).toBeNull();
  expect((await rest('kept?x=1')).headers.get('cache-control')).toBeNull();
  expect((await rest('books')).headers.get('cache-control')).toBeNull();
});

test('a browser may send a preflight', async () => {
  const { status, headers } = await engine.fetch('/api/rest/books', {
    method: 'OPTIONS',
    headers: { origin: 'https://app.example', 'access-control-request-method': 'GET' },
  });
  expect([status, headers.get('access-control-allow-origin')]).toEqual([204, 'https://app.example']);
});

test('a dropped endpoint does not exist any more', async () => {
  expect(await create('gone', 'all', ['GET'])).toBe(200);
  expect((await rest('gone')).status).toBe(200);
  await edit('drop_rest_endpoint', { name: 'gone' });
  expect((await rest('gone')).status).toBe(404);
});

test('only administrators get a description of the endpoints', async () => {
  const response = await engine.fetch('/api/swagger/json');
  const { openapi, paths } = (await response.json()) as { openapi: string; paths: Record<string, unknown> };
  expect([response.status, openapi]).toEqual([200, '3.0.0']);
  expect(Object.keys(paths).slice(0, 3)).toEqual([
    '/api/rest/books',
    '/api/rest/book/{id}',
    '/api/rest/book/{id}/{title}',
  ]);
  const secretParameter = { name: 'x-engine-admin-secret', in: 'header' };
  expect(paths['/api/rest/find/{title}']).toMatchObject({
    get: {
      summary: 'find/:title',
      parameters: [
        secretParameter,
        { name: 'limit', in: 'query', schema: { type: 'integer' } },
        { name: 'title', in: 'path', required: true, schema: { type: 'string', default: 'Emma' } },
      ],
      responses: {
        200: { content: { 'application/json': { schema: { properties: { book: ROWS_OF_IDS } } } } },
      },
    },
  });
  expect(paths['/api/rest/priced']).toMatchObject({
    get: { parameters: [secretParameter] },
    post: { parameters: [secretParameter], requestBody: { required: true } },
  });
  const asReader = await engine.fetch('/api/swagger/json', { headers: { 'x-engine-role': 'reader' } });
  expect([asReader.status, await asReader.json()]).toMatchObject([400, { code: 'access-denied' }]);
  expect((await fetch(`${engine.url}/api/swagger/json`)).status).toBe(401);
});

const ROWS_OF_IDS = {
  type: 'array',
  items: { type: 'object', properties: { id: { type: 'integer' } } },
};
