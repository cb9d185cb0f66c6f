/** Tests the OpenAPI descriptions of endpoints with every kind of variable and result by a validator and a linter. Reference:
 *  docs/reference/behaviour/endpoints.md. */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestEngine, type TestEngine } from '../engine.ts';
import { testDatabase } from '../world.ts';

const database = testDatabase();
let engine: TestEngine;

const QUERIES = {
  list: '{ book(order_by: {id: asc}) { id key title price kind author { name books { title } } } }',
  one: 'query ($key: uuid!, $kind: String) { book(where: {key: {_eq: $key}, kind: {_eq: $kind}}) { ...f } } fragment f on book { id }',
  search: `query ($where: book_bool_exp!, $order: [book_order_by!], $limit: Int = 10, $price: numeric = 1) {
    book(where: $where, order_by: $order, limit: $limit) { id }
    cheap: book(where: {price: {_lt: $price}}) { id }
    book_aggregate { aggregate { count max { id } } } }`,
  add: 'mutation ($books: [book_insert_input!]!) { insert_book(objects: $books) { affected_rows returning { id } } }',
  lost: 'query ($v: lost) { book { id nowhere } }',
};

const ENDPOINTS = [
  ['list of books', 'books', ['GET'], 'list'],
  ['one', 'books/:key', ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'], 'one'],
  ['search', 'search', ['GET', 'POST'], 'search'],
  ['add', 'books', ['POST'], 'add'],
] as const;

beforeAll(async () => {
  await database.sql(
    `create table author (id int primary key, name text not null);
     create table book (id serial primary key, key uuid not null, title text not null, price numeric, kind text,
       author_id int not null references author);`,
  );
  engine = await startTestEngine({ databaseUrl: database.url, headerPrefix: 'x-hasura-' });
  await engine.must('pg_track_tables', { tables: [{ table: 'author' }, { table: 'book' }] });
  const author = { table: 'book', name: 'author', using: { foreign_key_constraint_on: 'author_id' } };
  await engine.must('pg_create_object_relationship', author);
  const using = { foreign_key_constraint_on: { table: 'book', column: 'author_id' } };
  await engine.must('pg_create_array_relationship', { table: 'author', name: 'books', using });
  const queries = Object.entries(QUERIES).map(([name, query]) => ({ name, query }));
  await engine.must('create_query_collection', {
    name: 'stored',
    definition: { queries: queries.filter(({ name }) => name !== 'lost') },
  });
  for (const [name, url, methods, query_name] of ENDPOINTS) {
    const definition = { query: { collection_name: 'stored', query_name } };
    await engine.must('create_rest_endpoint', {
      name,
      url,
      methods,
      definition,
      comment: `The endpoint ${name}.`,
    });
  }
});

afterAll(() => engine?.close());

async function report(): Promise<Record<string, { valid: string[]; problems: string[] }>> {
  const env = { ...process.env, ENGINE_URL: engine.url, ENGINE_SECRET: engine.adminSecret };
  const program = join(import.meta.dirname, 'openapi.mjs');
  const { stdout } = await promisify(execFile)(process.execPath, [program], {
    cwd: import.meta.dirname,
    env,
  });
  return JSON.parse(stdout);
}

test('both OpenAPI descriptions are valid, and the one for generators passes a linter', async () => {
  const { wire, linted } = await report();
  expect([wire!.valid, linted]).toEqual([[], { valid: [], problems: [] }]);
  // The linter works: it reports missing ids in the other description.
  expect(wire!.problems).toContainEqual(expect.stringMatching(/^operation-operationId: /));
  const { paths } = (await (await engine.fetch('/api/openapi.json')).json()) as { paths: object };
  expect(Object.keys(paths)).toEqual(['/api/rest/books', '/api/rest/books/{key}', '/api/rest/search']);
});

test('both OpenAPI descriptions remain valid with an endpoint whose query is inconsistent', async () => {
  const { body } = await engine.admin<Record<string, unknown>>('export_metadata', {});
  const [collection] = body['query_collections'] as { definition: { queries: object[] } }[];
  collection!.definition.queries.push({ name: 'lost', query: QUERIES.lost });
  const definition = { query: { collection_name: 'stored', query_name: 'lost' } };
  (body['rest_endpoints'] as object[]).push({ name: 'lost', url: 'lost', methods: ['GET'], definition });
  const args = { allow_inconsistent_metadata: true, metadata: body };
  expect((await engine.admin('replace_metadata', args, { version: 2 })).body).toMatchObject({
    is_consistent: false,
  });
  const { wire, linted } = await report();
  expect([wire!.valid, linted]).toEqual([[], { valid: [], problems: [] }]);
  const described = (await (await engine.fetch('/api/swagger/json')).json()) as {
    info: { description: string };
    paths: object;
  };
  expect(described.info.description.split('\n').slice(1)).toEqual([
    '',
    'Endpoint "lost":',
    "- ⚠️ $.book.nowhere: field 'nowhere' not found in object 'book'",
    "- ⚠️ $.v: type 'lost' not found in the schema",
  ]);
  expect(described.paths).toHaveProperty(['/api/rest/lost']);
});
