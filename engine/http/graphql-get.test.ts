/** GET of a GraphQL path: queries of every client, but no request that may write or that caches could give to others. Reference:
 *  docs/reference/behaviour/endpoints.md. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createDatabase, type TestDatabase } from '../../testing/database.ts';
import { startTestEngine, type TestEngine } from '../../testing/engine.ts';

let database: TestDatabase;
let engine: TestEngine;

beforeAll(async () => {
  database = await createDatabase();
  engine = await startTestEngine({ databaseUrl: database.url, unauthorizedRole: 'anonymous' });
  await database.sql('create table note (id int primary key); insert into note values (1), (2)');
  await engine.admin('pg_track_table', { table: 'note' });
  const select = { columns: '*', filter: { id: { _eq: 1 } } };
  await engine.admin('pg_create_select_permission', { table: 'note', role: 'anonymous', permission: select });
  const insert = { columns: '*', check: {} };
  await engine.admin('pg_create_insert_permission', { table: 'note', role: 'anonymous', permission: insert });
});

afterAll(async () => {
  await engine?.close();
  await database?.drop();
});

const PATHS = ['/v1/graphql', '/v1alpha1/graphql', '/v1beta1/relay'] as const;
const TYPENAME = { data: { __typename: 'query_root' } };
const MUTATION = 'mutation { insert_note_one(object: {id: 9}) { id } }';

async function get(given: Readonly<Record<string, string>>, path: string = PATHS[0], headers = {}) {
  const response = await fetch(`${engine.url}${path}?${new URLSearchParams(given)}`, { headers });
  return { status: response.status, body: await response.json(), headers: response.headers };
}

test.each(PATHS)('%s answers a query, uncached', async (path) => {
  const { status, body, headers } = await get({ query: '{ __typename }' }, path);
  expect([status, body, headers.get('cache-control')]).toEqual([200, TYPENAME, 'no-store']);
});

test('variables, the operation name and the role of the session apply', async () => {
  const query = 'query a { __typename } query b($id: Int) { note(where: {id: {_lte: $id}}) { id } }';
  const given = { query, operationName: 'b', variables: '{"id": 2}' };
  expect((await get(given)).body).toEqual({ data: { note: [{ id: 1 }] } });
  const secret = { 'x-engine-admin-secret': engine.adminSecret };
  expect((await get(given, PATHS[0], secret)).body).toEqual({ data: { note: [{ id: 1 }, { id: 2 }] } });
  expect((await get(given, PATHS[0], { 'x-engine-admin-secret': 'wrong' })).body).toMatchObject({
    errors: [{ extensions: { code: 'access-denied' } }],
  });
});

test('a mutation is refused with 405 on every path, and writes nothing', async () => {
  for (const path of PATHS.slice(0, 2)) {
    const { status, body, headers } = await get({ query: MUTATION }, path);
    expect([status, headers.get('allow')]).toEqual([405, 'POST']);
    expect(body).toEqual({
      errors: [
        {
          message: 'Allowed methods: POST',
          extensions: { path: '$', code: 'method-not-allowed' },
        },
      ],
    });
  }
  const named = `query a { __typename } ${MUTATION.replace('mutation', 'mutation b')}`;
  expect((await get({ query: named, operationName: 'b' })).status).toBe(405);
  expect((await get({ query: named, operationName: 'a' })).body).toEqual(TYPENAME);
  expect(await database.sql('select id from note')).toHaveLength(2);
});

test.each([
  [{}, 200, { errors: [{ message: 'key "query" not found', extensions: { code: 'parse-failed' } }] }],
  [{ query: '{ __typename }', variables: '{' }, 400, { code: 'invalid-json', path: '$' }],
  [{ query: '{ __typename }', variables: '1' }, 200, { errors: [{ extensions: { path: '$.variables' } }] }],
  [{ query: '{ __typename }', extensions: '}' }, 400, { code: 'invalid-json' }],
  [{ query: '{' }, 200, { errors: [{ extensions: { code: 'validation-failed' } }] }],
  [
    { query: 'subscription { note { id } }' },
    200,
    { errors: [{ extensions: { code: 'unexpected-payload' } }] },
  ],
])('bad input %j is %i', async (given, status, body) => {
  expect(await get(given as Record<string, string>)).toMatchObject({ status, body });
});

test('other methods are refused', async () => {
  for (const method of ['PUT', 'DELETE', 'PATCH']) {
    const response = await fetch(`${engine.url}/v1/graphql`, { method });
    expect([response.status, await response.json()]).toMatchObject([
      404,
      { error: 'resource does not exist', code: 'not-found' },
    ]);
  }
});

const extensions = { persistedQuery: { version: 1, sha256Hash: 'abc' } };

test('a hash alone is answered so that clients send the text', async () => {
  const errors = [
    { message: 'PersistedQueryNotSupported', extensions: { path: '$', code: 'not-supported' } },
  ];
  expect((await get({ extensions: JSON.stringify(extensions) })).body).toEqual({ errors });
  const post = async (body: object) => {
    const headers = { 'content-type': 'application/json' };
    return (
      await engine.fetch('/v1/graphql', { method: 'POST', headers, body: JSON.stringify(body) })
    ).json();
  };
  expect(await post({ extensions })).toEqual({ errors });
  expect(await post({ extensions, query: '{ __typename }' })).toMatchObject({
    errors: [{ message: 'Automatic Persisted Queries is not enabled' }],
  });
  expect(await post({ extensions: { persistedQuery: null }, query: '{ __typename }' })).toEqual(TYPENAME);
});
