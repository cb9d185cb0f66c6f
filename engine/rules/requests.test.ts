/** One request in its other forms: in a batch, explained, by GET, and over the older path. Each refuses what the request itself refuses, with the same
 *  code, path and message. Also introspection by role. Reference: docs/reference/behaviour/endpoints.md. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Refusal, type RuleWorld, startWorld } from './testing/rules.ts';

let world: RuleWorld;

beforeAll(async () => {
  const columns = ['id', 'title'];
  const filter = { owner: { _eq: 'X-Engine-User-Id' } };
  const closed = { columns, filter: {} };
  world = await startWorld({
    sql: `create table note (id int primary key, title text, owner text, secret text);
      insert into note values (1, 'a', 'ann', 'x'), (2, 'b', 'bob', 'y');`,
    tables: ['note'],
    operations: [
      ['pg_create_select_permission', { table: 'note', role: 'reader', permission: { columns, filter } }],
      ['pg_create_select_permission', { table: 'note', role: 'closed', permission: closed }],
      ['set_graphql_schema_introspection_options', { disabled_for_roles: ['closed'] }],
    ],
    options: { adminInternalErrors: false },
  });
});

afterAll(() => world?.close());

type Given = {
  readonly name: string;
  readonly query: unknown;
  readonly variables?: unknown;
  readonly operationName?: unknown;
  readonly role?: string;
  readonly user?: string;
};

const NOTES = '{ note(order_by: {id: asc}) { id title } }';
const BY_ID = 'query ($id: Int!) { note(where: {id: {_eq: $id}}) { id } }';

const GOOD: readonly Given[] = [
  { name: 'a query', query: NOTES },
  { name: 'a query of a role', query: NOTES, role: 'reader', user: 'ann' },
  { name: 'variables', query: BY_ID, variables: { id: 1 } },
  { name: 'one of two operations', query: `query a ${NOTES} query b { __typename }`, operationName: 'a' },
  { name: 'an empty operation name', query: NOTES, operationName: '' },
  { name: 'null for what is optional', query: NOTES, operationName: null, variables: null },
  { name: 'a fragment', query: '{ note { ...f } } fragment f on note { id }' },
];

const BAD: readonly Given[] = [
  { name: 'an unknown field', query: '{ note { nowhere } }' },
  { name: 'an unknown root', query: '{ nowhere }' },
  { name: 'a column of another role', query: '{ note { secret } }', role: 'reader', user: 'ann' },
  { name: 'an unknown role', query: NOTES, role: 'stranger' },
  { name: 'a missing session variable', query: NOTES, role: 'reader' },
  { name: 'no GraphQL', query: '{' },
  { name: 'an empty text', query: '' },
  { name: 'two operations without a name', query: 'query a { __typename } query b { __typename }' },
  { name: 'an unknown operation name', query: 'query a { __typename }', operationName: 'c' },
  { name: 'a missing variable', query: BY_ID },
  { name: 'null for a variable that must not be', query: BY_ID, variables: { id: null } },
  { name: 'a variable of a wrong kind', query: BY_ID, variables: { id: {} } },
  { name: 'a variable nobody declares', query: NOTES, variables: { id: 1 } },
  { name: 'variables that are no object', query: NOTES, variables: [1] },
  { name: 'a name that is no text', query: NOTES, operationName: 1 },
  { name: 'a query that is no text', query: 1 },
  { name: 'an unknown argument', query: '{ note(first: 1) { id } }' },
  { name: 'a cycle of fragments', query: '{ note { ...f } } fragment f on note { ...f }' },
  { name: 'introspection where it is off', query: '{ __schema { queryType { name } } }', role: 'closed' },
];

const bodyOf = ({ query, variables, operationName }: Given) => ({ query, variables, operationName });

const sessionOf = ({ role = 'admin', user }: Given) => ({
  'x-engine-role': role,
  ...(user === undefined ? {} : { 'x-engine-user-id': user }),
});

async function send(
  path: string,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): Promise<{ readonly status: number; readonly body: unknown }> {
  const response = await world.engine.fetch(path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });
  return { status: response.status, body: await response.json() };
}

/** The first error of a GraphQL response. */
function refusalOf(body: unknown): Refusal {
  const [error] = (body as { errors: { message: string; extensions: { path: string; code: string } }[] })
    .errors;
  return { message: error!.message, path: error!.extensions.path, code: error!.extensions.code };
}

const single = (given: Given, path = '/v1/graphql') => send(path, bodyOf(given), sessionOf(given));

test.each(GOOD)('$name: the same alone, in a batch, by GET and over the older path', async (given) => {
  const alone = await single(given);
  expect(alone).toMatchObject({ status: 200, body: { data: {} } });
  expect(alone.body).not.toHaveProperty('errors');
  const batch = [bodyOf(given), { query: '{ nowhere }' }, bodyOf(given)];
  const { status, body } = await send('/v1/graphql', batch, sessionOf(given));
  expect([status, body]).toEqual([200, [alone.body, { errors: [expect.anything()] }, alone.body]]);
  expect(await byGet(given)).toEqual(alone);
  expect(await single(given, '/v1alpha1/graphql')).toEqual(alone);
});

async function byGet(given: Given) {
  const texts = Object.entries(bodyOf(given)).flatMap(([name, value]) =>
    value === undefined || value === null
      ? []
      : [[name, typeof value === 'string' ? value : JSON.stringify(value)]],
  );
  const path = `/v1/graphql?${new URLSearchParams(texts as [string, string][])}`;
  const response = await world.engine.fetch(path, { headers: sessionOf(given) });
  return { status: response.status, body: await response.json() };
}

test.each(BAD)('$name: refused alike everywhere', async (given) => {
  const alone = await single(given);
  const refusal = refusalOf(alone.body);
  expect(alone).toMatchObject({ status: 200, body: { errors: [{}] } });
  expect(alone.body).not.toHaveProperty('data');
  const batch = await send('/v1/graphql', [{ query: '{ __typename }' }, bodyOf(given)], sessionOf(given));
  expect(batch).toEqual({ status: 200, body: [{ data: { __typename: 'query_root' } }, alone.body] });
  expect(await single(given, '/v1alpha1/graphql')).toEqual({ status: 400, body: alone.body });
  // A query string has texts only.
  if (typeof given.query === 'string' && typeof given.operationName !== 'number') {
    expect(await byGet(given)).toEqual(alone);
  }
  // Introspection has no statement, and is not what explain refuses.
  if (given.role === 'closed') return;
  const { status, body } = await explained(given);
  const isMalformed = refusal.code === 'parse-failed' && !refusal.path.includes('selectionSet');
  expect([status, body]).toEqual([
    400,
    {
      error: refusal.message,
      code: refusal.code,
      path: isMalformed ? refusal.path.replace('$', '$.query') : refusal.path,
    },
  ]);
});

const explained = (given: Given, more: object = {}) =>
  send('/v1/graphql/explain', { query: bodyOf(given), user: sessionOf(given), ...more });

test.each(GOOD)('$name: explained as the role would run it', async (given) => {
  const { status, body } = await explained(given);
  expect(status).toBe(200);
  expect(body).toMatchObject([{ field: 'note', sql: expect.any(String), plan: expect.any(Array) }]);
  const [{ sql }] = body as [{ sql: string }];
  expect(sql.includes('"owner"')).toBe(given.role === 'reader');
  expect(sql).not.toContain('secret');
});

test('a subscription is explained with its values', async () => {
  const query = `subscription ($id: Int!) { note(where: {id: {_eq: $id}, title: {_neq: "z"}}) { id } }`;
  const given = { name: '', query, variables: { id: 7 }, role: 'reader', user: 'ann' };
  expect(await explained(given)).toEqual({
    status: 200,
    body: {
      sql: expect.stringContaining('"owner"'),
      plan: expect.any(Array),
      variables: { session: { 'x-engine-user-id': 'ann' }, query: {}, synthetic: ['7', 'z'], cursor: {} },
    },
  });
  const stream = 'subscription { note_stream(cursor: {initial_value: {id: 5}}, batch_size: 1) { id } }';
  expect(await explained({ name: '', query: stream })).toMatchObject({
    body: { variables: { session: {}, query: {}, synthetic: [], cursor: { id: '5' } } },
  });
});

test.each([
  [
    'a mutation',
    { query: { query: 'mutation { delete_note(where: {}) { affected_rows } }' } },
    'invalid-params',
    '$',
  ],
  ['no query', {}, 'parse-failed', '$'],
  ['no object', [], 'parse-failed', '$'],
  ['a user that is no object', { query: { query: NOTES }, user: 'ann' }, 'parse-failed', '$.user'],
])('%s is not explained', async (_, body, code, path) => {
  expect(await send('/v1/graphql/explain', body)).toMatchObject({ status: 400, body: { code, path } });
  expect(await world.database.sql('select id from note')).toHaveLength(2);
});

test('only administrators may explain', async () => {
  const { status, body } = await send(
    '/v1/graphql/explain',
    { query: { query: NOTES } },
    { 'x-engine-role': 'reader' },
  );
  expect([status, body]).toMatchObject([400, { path: '$', code: 'access-denied' }]);
});

test.each(['__schema { queryType { name } }', '__type(name: "note") { name fields { name } }'])(
  'introspection by %s: of the role, or refused where it is off; __typename always works',
  async (selection) => {
    const query = `{ ${selection} }`;
    const as = (role: string) => single({ name: '', query, role });
    expect((await as('admin')).body).toMatchObject({ data: {} });
    const seen = JSON.stringify((await as('reader')).body);
    expect(seen).not.toMatch(/secret|owner/);
    expect(await as('closed')).toEqual({
      status: 200,
      body: {
        errors: [
          {
            message: 'introspection is disabled for role: "closed"',
            extensions: { path: '$', code: 'not-supported' },
          },
        ],
      },
    });
    expect(
      (await single({ name: '', query: '{ __typename note { __typename } }', role: 'closed' })).body,
    ).toEqual({
      data: { __typename: 'query_root', note: [{ __typename: 'note' }, { __typename: 'note' }] },
    });
  },
);

const HASH = { version: 1, sha256Hash: 'abc' };

/** Values of `extensions`, and what they do to a request with a text and to one without: nothing, or a refusal. */
const EXTENSIONS: readonly (readonly [
  name: string,
  value: unknown,
  withText: string | null,
  without: string,
])[] = [
  [
    'a hash',
    { persistedQuery: HASH },
    'Automatic Persisted Queries is not enabled',
    'PersistedQueryNotSupported',
  ],
  ['a hash of null', { persistedQuery: null }, null, 'key "query" not found'],
  ['another extension', { trace: true }, null, 'key "query" not found'],
  ['no extension', {}, null, 'key "query" not found'],
  ['null', null, null, 'key "query" not found'],
];

test.each(EXTENSIONS)(
  'extensions: %s, alone, in a batch and by GET',
  async (_, extensions, withText, without) => {
    for (const [text, message] of [
      [NOTES, withText],
      [undefined, without],
    ] as const) {
      const body = { query: text, extensions };
      const alone = await send('/v1/graphql', body);
      if (message === null) expect(alone.body).toEqual((await send('/v1/graphql', { query: text })).body);
      else expect(refusalOf(alone.body)).toMatchObject({ message, path: '$' });
      expect((await send('/v1/graphql', [body])).body).toEqual([alone.body]);
      const texts = {
        ...(text && { query: text }),
        ...(extensions !== null && { extensions: JSON.stringify(extensions) }),
      };
      const byQuery = await world.engine.fetch(`/v1/graphql?${new URLSearchParams(texts)}`);
      expect(await byQuery.json()).toEqual(alone.body);
    }
  },
);
