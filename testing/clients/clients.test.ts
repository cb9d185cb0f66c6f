/** Tests client libraries and tools with their defaults against an engine: a query, a mutation, a subscription and errors of each.
 *  Each test runs a program of this folder, which has its own package.json. The engine uses the header prefix of existing clients.
 *  Reference: docs/guides/clients.md. */
import { execFile, execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { jwtSecret } from '../../engine/config/jwt-secret.ts';
import { startTestEngine, type TestEngine } from '../engine.ts';
import { testDatabase } from '../world.ts';

const database = testDatabase();
let engine: TestEngine;

beforeAll(async () => {
  await database.sql(
    `create type kind as enum ('novel', 'essay');
     create table author (id int primary key, name text not null);
     create table book (
       id serial primary key, key uuid not null default gen_random_uuid(), title text not null, price numeric, kind kind,
       author_id int not null references author);
     insert into author values (1, 'Jane'), (2, 'Mary');
     insert into book (title, price, author_id) values ('Emma', 1.5, 1), ('Mathilda', 2, 2), ('Persuasion', null, 1);`,
  );
  engine = await startTestEngine({
    databaseUrl: database.url,
    headerPrefix: 'x-hasura-',
    liveQueriesMultiplexedRefetchInterval: 100,
  });
  await engine.must('pg_track_tables', { tables: [{ table: 'author' }, { table: 'book' }] });
  const author = { table: 'book', name: 'author', using: { foreign_key_constraint_on: 'author_id' } };
  await engine.must('pg_create_object_relationship', author);
  const using = { foreign_key_constraint_on: { table: 'book', column: 'author_id' } };
  await engine.must('pg_create_array_relationship', { table: 'author', name: 'books', using });
});

afterAll(() => engine?.close());

const FOLDER = import.meta.dirname;

/** Runs a program of this folder and returns its report. */
async function run(program: string, interpreter = process.execPath): Promise<Record<string, unknown>> {
  const env = { ...process.env, ENGINE_URL: engine.url, ENGINE_SECRET: engine.adminSecret };
  const options = { cwd: FOLDER, env, timeout: 60_000, maxBuffer: 50_000_000 };
  const { stdout } = await promisify(execFile)(interpreter, [join(FOLDER, program)], options);
  return JSON.parse(stdout.trim().split('\n').at(-1)!);
}

const unknownField = (path: string) => ({
  message: expect.stringMatching(/^field 'nowhere' not found in type: '(book|query_root)'$/),
  extensions: { code: 'validation-failed', path },
});
const NOWHERE = unknownField('$.selectionSet.book.selectionSet.nowhere');
const NO_ROOT = unknownField('$.selectionSet.nowhere');

test('Apollo Client works, with persisted queries as well', async () => {
  const jane = { __typename: 'author', id: 1, name: 'Jane' };
  const { persisted, persistedByGet, ...results } = await run('apollo.mjs');
  expect(results).toEqual({
    query: [
      { __typename: 'book', id: 1, title: 'Emma', author: jane },
      { __typename: 'book', id: 2, title: 'Mathilda', author: { ...jane, id: 2, name: 'Mary' } },
    ],
    mutation: 'by Apollo',
    subscription: expect.any(Number),
    error: { name: 'CombinedGraphQLErrors', message: expect.stringContaining('nowhere'), errors: [NOWHERE] },
    liveError: {
      name: 'CombinedGraphQLErrors',
      message: expect.stringContaining('nowhere'),
      errors: [NOWHERE],
    },
  });
  // The client sends only the hash, then the text; it does not try the hash again for the second query.
  const post = 'POST /v1/graphql';
  expect(persisted).toEqual({ counts: [1, 2], requests: [post, post, post] });
  expect(persistedByGet).toEqual({ counts: [1, 2], requests: ['GET /v1/graphql', post, post] });
});

test('urql works and sends queries as GET requests', async () => {
  expect(await run('urql.mjs')).toEqual({
    query: [
      { __typename: 'book', id: 1, title: 'Emma' },
      { __typename: 'book', id: 2, title: 'Mathilda' },
    ],
    mutation: 'by urql',
    subscription: expect.any(Number),
    error: [NOWHERE],
    requests: ['GET /v1/graphql', 'POST /v1/graphql', 'GET /v1/graphql'],
  });
});

test('graphql-ws works', async () => {
  expect(await run('graphql-ws.mjs')).toEqual({
    query: { results: [{ data: { book: [{ title: 'Emma' }] } }] },
    mutation: { results: [{ data: { insert_book_one: { title: 'again' } } }] },
    grown: 1,
    invalid: { results: [], error: [NO_ROOT] },
    twoRoots: {
      results: [],
      error: [
        {
          message: 'subscriptions must select one top level field',
          extensions: { code: 'validation-failed', path: '$' },
        },
      ],
    },
    unauthorized: { results: [], error: { code: expect.any(Number), reason: expect.any(String) } },
    pongs: true,
  });
});

test('subscriptions-transport-ws works', async () => {
  expect(await run('subscriptions-transport-ws.mjs')).toEqual({
    query: { results: [{ data: { book: [{ title: 'Emma' }] } }] },
    mutation: { results: [{ data: { insert_book_one: { title: 'by subscriptions-transport-ws' } } }] },
    subscription: { results: [{ data: { book_by_pk: { title: 'Emma' } } }] },
    // The client reports the message only.
    invalid: { results: [], error: NO_ROOT.message },
    refused: expect.any(String),
  });
});

test('relay-compiler and relay-runtime work', async () => {
  expect(await run('relay.mjs')).toEqual({
    artifacts: [
      'booksAddMutation',
      'booksFailsQuery',
      'booksNodeQuery',
      'booksPageQuery',
      'booksQuery',
      'books_list',
    ],
    titles: ['Emma', 'Mathilda'],
    node: ['book', 'string'],
    hasPage: true,
    mutation: 'by Relay',
    failed: expect.stringContaining('invalid node id'),
  });
});

test('graphql-codegen generates types from the schema', async () => {
  const { types, error } = await run('codegen.mjs');
  for (const part of ['BooksQueryVariables', 'AddBookMutation', 'LiveSubscription', 'Book_Bool_Exp']) {
    expect(types).toContain(part);
  }
  expect(error).toContain('Cannot query field "nowhere" on type "book"');
});

test('ra-data-hasura works', async () => {
  const { id, ...results } = await run('ra-data-hasura.mjs');
  expect(results).toEqual({
    list: { titles: ['Emma'], total: 1 },
    created: 'by react-admin',
    updated: 'renamed',
    many: [id],
    one: 'renamed twice',
    some: [1, 2],
    related: { ids: 1, hasTotal: true },
    deleted: true,
    deletedMany: 1,
    failed: expect.stringMatching(/null/),
  });
});

/** The Python interpreter that has gql: PERGOLA_TEST_PYTHON or `python3`; null if none has it. */
function pythonWithGql(): string | null {
  const python = process.env['PERGOLA_TEST_PYTHON'] ?? 'python3';
  try {
    execFileSync(python, ['-c', 'import gql, aiohttp, websockets'], { stdio: 'ignore' });
    return python;
  } catch {
    return null;
  }
}

const PYTHON = pythonWithGql();

test.skipIf(PYTHON === null)(
  'gql for Python works; skipped where python3 does not have gql[all]',
  async () => {
    expect(await run('gql_client.py', PYTHON!)).toEqual({
      query: { book: [{ title: 'Emma' }] },
      mutation: 'by gql',
      error: [NOWHERE],
      newer: { book_by_pk: { title: 'Emma' } },
      older: { book_by_pk: { title: 'Emma' } },
    });
  },
);

test('the code of the page of clients reads a row without a library', async () => {
  const page = readFileSync(join(FOLDER, '../../docs/guides/clients.md'), 'utf8');
  const [, code = ''] = /^```js\n([\s\S]*?)^```$/m.exec(page)!;
  // Of the engine here, the first variable is the address and the second the admin secret.
  const body = code
    .replace("'http://localhost:8080/v1/graphql'", 'url')
    .replace('authorization: `Bearer ${token}`', "'x-hasura-admin-secret': token");
  const execute = new Function(
    'url',
    'token',
    `return (async () => { ${body}; return { data, errors }; })()`,
  );
  expect(await execute(`${engine.url}/v1/graphql`, engine.adminSecret)).toEqual({
    data: { book_by_pk: { title: expect.any(String) } },
  });
});

test('the code of the guide watches on when its token has expired', async () => {
  const key = 'a secret of at least thirty-two bytes';
  const signed = await startTestEngine({
    databaseUrl: database.url,
    adminSecret: 'secret',
    jwtSecret: jwtSecret.parse(JSON.stringify({ type: 'HS256', key })),
    liveQueriesMultiplexedRefetchInterval: 100,
  });
  try {
    const env = { ...process.env, ENGINE_URL: signed.url, JWT_KEY: key };
    const options = { cwd: FOLDER, env, timeout: 60_000 };
    const { stdout } = await promisify(execFile)(process.execPath, [join(FOLDER, 'guide.mjs')], options);
    expect(JSON.parse(stdout.trim().split('\n').at(-1)!)).toEqual({
      tokens: 2,
      titles: ['Emma', 'changed'],
      errors: [],
    });
  } finally {
    await signed.close();
  }
});
