/** The requirements of GraphQL over HTTP, each as a request and what its response must have: media types, statuses, parameters.
 *  Rule: docs/reference/behaviour/endpoints.md, "GraphQL"; GraphQL over HTTP, "Request" and "Response". */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type RuleWorld, startWorld } from './testing/rules.ts';

let world: RuleWorld;
beforeAll(async () => {
  world = await startWorld({
    sql: 'create table note (id int primary key); insert into note values (1)',
    tables: ['note'],
  });
});
afterAll(() => world?.close());

const GRAPHQL = 'application/graphql-response+json';
const JSON_TYPE = 'application/json';

type Sent = {
  readonly accept?: string | undefined;
  readonly type?: string;
  readonly body?: unknown;
  readonly text?: string;
  readonly headers?: Record<string, string>;
};
async function post(
  { accept, type = JSON_TYPE, body, text, headers }: Sent,
  secret = world.engine.adminSecret,
) {
  const response = await fetch(`${world.engine.url}/v1/graphql`, {
    method: 'POST',
    headers: {
      'content-type': type,
      'x-engine-admin-secret': secret,
      ...(accept === undefined ? {} : { accept }),
      ...headers,
    },
    body: text ?? JSON.stringify(body),
  });
  const [media, ...parameters] = response.headers.get('content-type')!.split(/; */);
  return { status: response.status, media, parameters, body: (await response.json()) as object };
}
const get = (parameters: Record<string, string>, accept: string) =>
  fetch(`${world.engine.url}/v1/graphql?${new URLSearchParams(parameters)}`, {
    headers: { accept, 'x-engine-admin-secret': world.engine.adminSecret },
  });
const TYPENAME = { query: '{ __typename }' };

test.each([
  [undefined, JSON_TYPE],
  ['*/*', JSON_TYPE],
  ['application/*', JSON_TYPE],
  [JSON_TYPE, JSON_TYPE],
  [GRAPHQL, GRAPHQL],
  [`${GRAPHQL}; charset=utf-8, ${JSON_TYPE}; charset=utf-8`, GRAPHQL],
  [`${JSON_TYPE}, ${GRAPHQL}`, GRAPHQL],
  [`${GRAPHQL}, ${JSON_TYPE};q=0.9`, GRAPHQL],
  [`${GRAPHQL};q=0.5, ${JSON_TYPE}`, JSON_TYPE],
  [`${GRAPHQL};q=0, */*`, JSON_TYPE],
  [`Application/GraphQL-Response+JSON`, GRAPHQL],
  ['text/html', JSON_TYPE],
])('Accept: %s is answered with %s in UTF-8', async (accept, media) => {
  expect(await post({ accept, body: TYPENAME })).toEqual({
    status: 200,
    media,
    parameters: ['charset=utf-8'],
    body: { data: { __typename: 'query_root' } },
  });
});

/** Requests that are not executed, and their status in the media type of GraphQL. */
const REFUSED: readonly (readonly [string, Sent, number])[] = [
  ['a document that cannot be parsed', { body: { query: '{' } }, 400],
  ['a document that is not valid', { body: { query: '{ missing }' } }, 400],
  [
    'several operations without a name',
    { body: { query: 'query A { __typename } query B { __typename }' } },
    400,
  ],
  [
    'a variable of another type',
    { body: { query: 'query ($id: Int!) { note_by_pk(id: $id) { id } }', variables: { id: 'x' } } },
    400,
  ],
  [
    'a variable that is missing',
    { body: { query: 'query ($id: Int!) { note_by_pk(id: $id) { id } }' } },
    400,
  ],
  ['no query', { body: {} }, 400],
  ['a query that is no text', { body: { query: 5 } }, 400],
  ['an operation name that is no text', { body: { ...TYPENAME, operationName: {} } }, 400],
  ['variables that are no map', { body: { ...TYPENAME, variables: 'x' } }, 400],
];

describe.each(REFUSED)('%s', (_name, sent, status) => {
  test('has its own status in the media type of GraphQL, and no data', async () => {
    const answer = await post({ ...sent, accept: GRAPHQL });
    expect(answer).toMatchObject({ status, media: GRAPHQL });
    expect(Object.keys(answer.body)).toEqual(['errors']);
  });
  test('has the status 200 in JSON', async () => {
    const answer = await post({ ...sent, accept: JSON_TYPE });
    expect(answer).toMatchObject({ status: 200, media: JSON_TYPE });
    expect(Object.keys(answer.body)).toEqual(['errors']);
  });
});

test('a body that is no JSON is 400 with errors in both media types', async () => {
  const refused = { message: 'invalid json', extensions: { path: '$', code: 'invalid-json' } };
  expect(await post({ accept: GRAPHQL, text: '{"query": ' })).toMatchObject({ status: 400, media: GRAPHQL });
  expect((await post({ accept: GRAPHQL, text: '{"query": ' })).body).toEqual({ errors: [refused] });
  expect(await post({ accept: JSON_TYPE, text: '{"query": ' })).toMatchObject({
    status: 400,
    media: JSON_TYPE,
    body: { errors: [refused] },
  });
});

test('a refused credential has its status in the media type of GraphQL', async () => {
  expect(await post({ accept: GRAPHQL, body: TYPENAME }, 'wrong')).toMatchObject({ status: 401 });
  expect(await post({ accept: JSON_TYPE, body: TYPENAME }, 'wrong')).toMatchObject({ status: 200 });
});

test('an error while rows are written has no data, and no status 200 in the media type of GraphQL', async () => {
  const body = { query: 'mutation { insert_note_one(object: {id: 1}) { id } }' };
  const answer = await post({ accept: GRAPHQL, body });
  expect(answer.status).toBeGreaterThanOrEqual(400);
  expect(Object.keys(answer.body)).toEqual(['errors']);
});

test.each([
  { operationName: null, variables: null, extensions: null },
  { operationName: 'A', variables: {}, extensions: { a: [1] } },
  { unknown: 1 },
])('parameters %j are accepted', async (parameters) => {
  for (const accept of [GRAPHQL, JSON_TYPE]) {
    const body = { query: 'query A { __typename }', ...parameters };
    expect(await post({ accept, body })).toMatchObject({ status: 200, body: { data: {} } });
  }
});

test('a body without a charset, and in UTF-8, is UTF-8', async () => {
  for (const type of [JSON_TYPE, `${JSON_TYPE}; charset=utf-8`]) {
    const { body } = await post({ type, body: { ...TYPENAME, operationName: 'ü' } });
    expect(JSON.stringify(body)).toContain('ü');
  }
});

test('GET has both media types; a mutation is 405', async () => {
  for (const accept of [GRAPHQL, JSON_TYPE]) {
    const parameters = {
      query: 'query ($a: Boolean!) { __typename @include(if: $a) }',
      variables: '{"a": true}',
    };
    const response = await get(parameters, accept);
    expect([response.status, response.headers.get('content-type')]).toEqual([
      200,
      `${accept}; charset=utf-8`,
    ]);
    const written = await get({ query: 'mutation { delete_note(where: {}) { affected_rows } }' }, accept);
    expect([written.status, written.headers.get('allow')]).toEqual([405, 'POST']);
  }
  expect(await world.database.sql('select count(*)::int from note')).toEqual([{ count: 1 }]);
});

test('a list of requests is answered as JSON', async () => {
  expect(await post({ accept: GRAPHQL, body: [TYPENAME, { query: '{' }] })).toMatchObject({
    status: 200,
    media: JSON_TYPE,
    body: [{ data: {} }, { errors: [{}] }],
  });
});
