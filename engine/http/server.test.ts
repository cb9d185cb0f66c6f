/** Tests what all endpoints have in common, and the errors of bad requests: status, code, message and path, with a
 *  real engine and a real database.
 *  Not here: what operations do (admin/), what queries answer (main.test.ts). */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createDatabase, type TestDatabase } from '../../testing/database.ts';
import { startTestEngine, type TestEngine } from '../../testing/engine.ts';

let database: TestDatabase;
let engine: TestEngine;

beforeAll(async () => {
  database = await createDatabase();
  engine = await startTestEngine({
    databaseUrl: database.url,
    maxRequestBodyLength: 4096,
  });
});

afterAll(async () => {
  await engine?.close();
  await database?.drop();
});

/** Sends a request without secret and content type, unless given. */
async function send(path: string, init: RequestInit = {}) {
  const response = await fetch(engine.url + path, init);
  const text = await response.text();
  const isJson = response.headers.get('content-type')?.startsWith('application/json');
  return { status: response.status, body: isJson ? JSON.parse(text) : text, headers: response.headers };
}

const post = (path: string, body: unknown, headers: Record<string, string> = {}) =>
  send(path, { method: 'POST', body: typeof body === 'string' ? body : JSON.stringify(body), headers });
const secret = () => ({ 'x-engine-admin-secret': engine.adminSecret });
const asUser = () => ({ ...secret(), 'x-engine-role': 'user' });

const MISSING = 'x-engine-admin-secret/x-engine-access-key required, but not found';
const INVALID = 'invalid x-engine-admin-secret/x-engine-access-key';

const ADMIN_ENDPOINTS = ['/v1/query', '/v1/metadata', '/v2/query', '/v1/graphql/explain'];

test.each(ADMIN_ENDPOINTS)('%s without a secret is 401 with a plain error body', async (path) => {
  const { status, body } = await post(path, { type: 'export_metadata', args: {} });
  expect([status, body]).toEqual([401, { path: '$', error: MISSING, code: 'access-denied' }]);
});

test.each(ADMIN_ENDPOINTS)('%s with a wrong secret is 401, and does not repeat it', async (path) => {
  const { status, body } = await post(path, {}, { 'x-engine-admin-secret': 'guess' });
  expect([status, body]).toEqual([401, { path: '$', error: INVALID, code: 'access-denied' }]);
});

test.each(ADMIN_ENDPOINTS)('%s is not for other roles', async (path) => {
  const { status, body } = await post(path, { type: 'bulk', args: [], query: { query: '{a}' } }, asUser());
  expect([status, body]).toEqual([
    400,
    {
      path: expect.stringMatching(/^\$(\.args)?$/),
      error: path.endsWith('explain')
        ? 'You have to be admin to access this endpoint'
        : 'restricted access : admin only',
      code: 'access-denied',
    },
  ]);
});

/** The body of a refused request. One for GraphQL has the error in its form, too. */
const refused = (path: string, error: string, code: string) => ({
  path: '$',
  error,
  code,
  ...(path === '/v1/graphql' ? { errors: [{ message: error, extensions: { path: '$', code } }] } : {}),
});

test.each([...ADMIN_ENDPOINTS, '/v1/graphql'])('%s with a body that is no JSON is 400', async (path) => {
  for (const text of ['{"query": ', '', '{} {}']) {
    const { status, body } = await post(path, text, secret());
    expect([status, body]).toEqual([400, refused(path, 'invalid json', 'invalid-json')]);
  }
});

test.each(['/v1/metadata', '/v1/graphql'])('%s refuses a body over the limit', async (path) => {
  const { status, body } = await post(path, { query: 'x'.repeat(5000) }, secret());
  expect([status, body]).toEqual([
    413,
    refused(path, 'request body is larger than 4096 bytes', 'bad-request'),
  ]);
});

test('the content type of a body does not matter', async () => {
  const body = JSON.stringify({ type: 'export_metadata', args: {} });
  for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'nonsense']) {
    const headers = { ...secret(), 'content-type': type };
    expect((await send('/v1/metadata', { method: 'POST', body, headers })).status).toBe(200);
  }
});

test('a GraphQL request without a secret is 200 with an error and no data', async () => {
  const { status, body } = await post('/v1/graphql', { query: '{ __typename }' });
  expect([status, body]).toEqual([
    200,
    { errors: [{ message: MISSING, extensions: { path: '$', code: 'access-denied' } }] },
  ]);
});

test.each([
  ['no query', {}, '$', 'key "query" not found'],
  ['a query that is no text', { query: 1 }, '$.query', 'expected a string, but encountered a number'],
  [
    'variables that are no object',
    { query: '{a}', variables: [] },
    '$.variables',
    'expected an object, but encountered an array',
  ],
  [
    'an operation name that is no text',
    { query: '{a}', operationName: {} },
    '$.operationName',
    'expected a string, but encountered an object',
  ],
  ['no object', 'null', '$', 'expected an object, but encountered null'],
])('a GraphQL request with %s is an error with its path', async (_, request, path, message) => {
  const { status, body } = await post('/v1/graphql', request, secret());
  expect([status, body]).toEqual([
    200,
    { errors: [{ message, extensions: { path, code: 'parse-failed' } }] },
  ]);
});

test.each([
  ['no query', {}, '$', 'key "query" not found'],
  [
    'a query that is no text',
    { query: { query: 1 } },
    '$.query.query',
    'expected a string, but encountered a number',
  ],
  ['a user that is no object', { query: { query: '{a}' }, user: [] }, '$.user', 'expected an object'],
])('an explain request with %s is 400 with its path', async (_, request, path, error) => {
  const { status, body } = await post('/v1/graphql/explain', request, secret());
  expect([status, body]).toEqual([400, { path, error, code: 'parse-failed' }]);
});

test('an array of GraphQL requests is an array of answers, each with its own errors', async () => {
  const { status, body } = await post(
    '/v1/graphql',
    [{ query: '{ __typename }' }, {}, { query: '{ __typename }' }],
    secret(),
  );
  expect(status).toBe(200);
  expect(body).toHaveLength(3);
  expect(body[0]).toEqual({ data: { __typename: 'query_root' } });
  expect(body[1].errors[0].message).toBe('key "query" not found');
  expect(body[2]).toEqual(body[0]);
});

test('an unknown path is 404', async () => {
  for (const path of ['/nowhere', '/v1', '/v1/graphql/nowhere', '/*x', '/v1/*x', '/v1/:id/x', '/(x']) {
    const { status, body } = await send(path);
    expect([status, body]).toEqual([404, { path: '$', error: 'resource does not exist', code: 'not-found' }]);
  }
});

test('a known path with another method is an unknown one', async () => {
  for (const [path, error] of [
    ['/v1/query', 'No such resource exists'],
    ['/v1/metadata', 'resource does not exist'],
    ['/v1alpha1/pg_dump', 'resource does not exist'],
  ]) {
    const { status, body } = await send(path!);
    expect([status, body]).toEqual([404, { path: '$', error, code: 'not-found' }]);
  }
});

test('version and health are public', async () => {
  const version = await send('/v1/version');
  expect(version.body).toEqual({
    server_type: 'ce',
    version: expect.stringMatching(/^v2\.\d+\.\d+\+pergola\./),
  });
  expect((await send('/healthz')).body).toBe('OK');
  expect((await send('/healthz?strict=true')).body).toBe('OK');
  expect((await send('/livez')).status).toBe(200);
});

test('the config API is for administrators and contains no secret', async () => {
  const config = await send('/v1alpha1/config', { headers: secret() });
  expect(config.status).toBe(200);
  expect(config.body).toMatchObject({ is_admin_secret_set: true, is_jwt_set: false, jwt: [] });
  expect(config.body.live_queries).toEqual({ batch_size: 100, refetch_delay: 1 });
  expect(config.body.streaming_queries).toEqual({ batch_size: 100, refetch_delay: 1 });
  expect(config.body.resource_version).toEqual(expect.any(Number));
  expect(JSON.stringify(config.body)).not.toContain(engine.adminSecret);
});

test('the config API names the role of a request in a header, also where it refuses the role', async () => {
  const roleOf = async (headers: Readonly<Record<string, string>>) => {
    const { status, headers: answered } = await send('/v1alpha1/config', { headers });
    const role = answered.get('x-engine-role');
    return [status, role === null ? null : decodeURIComponent(role)];
  };
  expect(await roleOf(secret())).toEqual([200, 'admin']);
  expect(await roleOf(asUser())).toEqual([400, 'user']);
  expect(await roleOf({ ...secret(), 'x-engine-role': 'über' })).toEqual([400, 'über']);
  expect(await roleOf({})).toEqual([401, null]);
});

test.each(['/v1/graphql', '/v1/version', '/nowhere'])(
  '%s echoes the request id, or creates one',
  async (path) => {
    const method = path === '/v1/graphql' ? 'POST' : 'GET';
    const given = await send(path, { method, headers: { 'x-request-id': 'mine' } });
    expect(given.headers.get('x-request-id')).toBe('mine');
    expect((await send(path, { method })).headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/);
  },
);

test.each(['/v1/graphql', '/v1/metadata'])(
  '%s answers browsers of other origins, and their preflight',
  async (path) => {
    const origin = 'https://shop.example';
    const preflight = await send(path, {
      method: 'OPTIONS',
      headers: {
        origin,
        'access-control-request-method': 'POST',
        'access-control-request-headers': 'x-engine-role',
      },
    });
    expect(preflight.status).toBe(204);
    expect(preflight.headers.get('access-control-allow-origin')).toBe(origin);
    expect(preflight.headers.get('access-control-allow-headers')).toBe('x-engine-role');
    expect(preflight.headers.get('access-control-allow-methods')).toContain('POST');
    const answer = await post(path, {}, { ...secret(), origin });
    expect(answer.headers.get('access-control-allow-origin')).toBe(origin);
    expect(answer.headers.has('access-control-allow-credentials')).toBe(false);
  },
);

test('browsers of unlisted origins get no headers; caches keep origins apart', async () => {
  const own = await createDatabase();
  const corsDomain = 'https://*.shop.example, http://localhost:3000';
  const strict = await startTestEngine({ databaseUrl: own.url, corsDomain });
  const headersFor = async (origin: string, method = 'GET') => {
    const preflight = { 'access-control-request-method': 'GET' };
    const init = { method, headers: { origin, 'accept-encoding': 'gzip', ...preflight } };
    const { status, headers } = await fetch(`${strict.url}/v1/version`, init);
    return [status, headers.get('access-control-allow-origin'), headers.get('vary')];
  };
  const vary = 'accept-encoding, origin';
  expect(await headersFor('https://a.shop.example')).toEqual([200, 'https://a.shop.example', vary]);
  expect(await headersFor('https://evil.example')).toEqual([200, null, vary]);
  expect(await headersFor('https://a.shop.example', 'OPTIONS')).toEqual([
    204,
    'https://a.shop.example',
    vary,
  ]);
  expect(await headersFor('https://shop.example', 'OPTIONS')).toEqual([204, null, vary]);
  await strict.close();
  await own.drop();
});

test('with CORS disabled, browsers get no headers', async () => {
  const own = await createDatabase();
  const closed = await startTestEngine({ databaseUrl: own.url, disableCors: true });
  for (const method of ['GET', 'OPTIONS']) {
    const headers = { origin: 'https://shop.example', 'access-control-request-method': 'GET' };
    const answer = await fetch(`${closed.url}/v1/version`, { method, headers });
    const names = [...answer.headers.keys()];
    expect(names.filter((name) => name.startsWith('access-control-'))).toEqual([]);
  }
  await closed.close();
  await own.drop();
});

test('an API that is not enabled does not exist', async () => {
  const other = await startTestEngine({ databaseUrl: database.url, enabledApis: ['graphql'] });
  try {
    for (const path of [...ADMIN_ENDPOINTS, '/v1alpha1/config', '/']) {
      expect(
        (await other.fetch(path, { method: path.includes('config') || path === '/' ? 'GET' : 'POST' }))
          .status,
      ).toBe(404);
    }
    expect(await other.graphql('{ __typename }')).toEqual({ data: { __typename: 'query_root' } });
  } finally {
    await other.close();
  }
});

test('with another prefix, headers, metadata and messages use it', async () => {
  const own = await createDatabase();
  const other = await startTestEngine({ databaseUrl: own.url, headerPrefix: 'x-other-' });
  try {
    await other.admin('run_sql', { sql: 'create table note (id int primary key, owner text)' });
    await other.admin('pg_track_table', { table: 'note' });
    const filter = { owner: { _eq: 'X-Other-User-Id' } };
    await other.admin('pg_create_select_permission', {
      table: 'note',
      role: 'user',
      permission: { columns: ['id'], filter },
    });
    const exported = await other.admin<{ sources: { tables: { select_permissions: unknown[] }[] }[] }>(
      'export_metadata',
      {},
    );
    expect(exported.body.sources[0]!.tables[0]!.select_permissions).toMatchObject([
      { permission: { filter } },
    ]);
    const missing = await other.graphql('{ note { id } }', { role: 'user' });
    expect(missing.errors?.[0]?.message).toBe('missing session variable: "x-other-user-id"');
    const answer = await other.graphql('{ note { id } }', {
      role: 'user',
      headers: { 'x-other-user-id': 'a' },
    });
    expect(answer).toEqual({ data: { note: [] } });
    const wrong = await fetch(`${other.url}/v1/metadata`, { method: 'POST', body: '{}' });
    expect(await wrong.json()).toMatchObject({
      error: 'x-other-admin-secret/x-other-access-key required, but not found',
    });
  } finally {
    await other.close();
    await own.drop();
  }
});

test('the health of sources is public, without details for administrators', async () => {
  const own = await createDatabase();
  const other = await startTestEngine({ databaseUrl: own.url });
  try {
    const well = await fetch(`${other.url}/healthz/sources`);
    expect([well.status, await well.json()]).toMatchObject([200, { default: { status: 'OK', error: null } }]);
    const metadata = {
      version: 3,
      sources: ['default', 'broken'].map((name) => ({
        name,
        kind: 'postgres',
        tables: [],
        configuration: {
          connection_info: { database_url: name === 'broken' ? 'postgres://u:hush@127.0.0.1:1/x' : own.url },
        },
      })),
    };
    await other.admin('replace_metadata', { metadata, allow_inconsistent_metadata: true }, { version: 2 });
    const ill = await fetch(`${other.url}/healthz/sources`);
    const text = await ill.text();
    expect([ill.status, JSON.parse(text)]).toMatchObject([
      500,
      { default: { status: 'OK' }, broken: { status: 'FAILED', error: 'ECONNREFUSED' } },
    ]);
    expect(text).not.toMatch(/hush|127\.0\.0\.1/);
  } finally {
    await other.close();
    await own.drop();
  }
});
