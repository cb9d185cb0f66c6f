/** Tests the console secret: it reads what the pages of the console show, runs queries and subscriptions as a role, and changes nothing. Every
 *  operation of OPERATIONS is sent with it. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { testWorld } from '../../testing/world.ts';
import type { Endpoint, OperationDeclaration } from '../metadata/operations/row.ts';
import { namesAt, OPERATION_NAMES, OPERATIONS } from '../metadata/operations.ts';

const SECRET = 'console-secret-of-the-test';
const ENDPOINTS: readonly Endpoint[] = ['/v1/query', '/v1/metadata', '/v2/query'];
const READER = { 'x-engine-role': 'reader', 'x-engine-user-id': 'ann' };
const HIDDEN = 'the-owner-nobody-may-select';

let folder: string;
const logged: unknown[] = [];

afterAll(() => rmSync(folder, { recursive: true, force: true }));

const { database, engine } = testWorld(
  async (database) => {
    folder = mkdtempSync(join(tmpdir(), 'pergola-console-'));
    writeFileSync(join(folder, 'primary'), `${SECRET}\n`);
    await database.sql(
      `create table book (id int primary key, title text, owner text); insert into book values (1, 'One', '${HIDDEN}')`,
    );
  },
  () => ({
    consoleSecretPath: folder,
    unauthorizedRole: 'visitor',
    enabledApis: ['metadata', 'graphql', 'pgdump', 'config', 'metrics', 'developer'],
    log: { observe: (observation) => logged.push(observation), flush: () => {} },
  }),
);

beforeAll(async () => {
  const table = { schema: 'public', name: 'book' };
  await engine.admin('pg_track_table', { source: 'default', table });
  const about = { source: 'default', table, role: 'reader' };
  const filter = { _or: [{ title: { _eq: 'One' } }, { owner: { _eq: 'X-Engine-User-Id' } }] };
  await engine.admin('pg_create_select_permission', {
    ...about,
    permission: { columns: ['id', 'title'], filter },
  });
  await engine.admin('pg_create_insert_permission', { ...about, permission: { columns: '*', check: {} } });
  const query = 'mutation { insert_book(objects: [{id: 5}]) { affected_rows } }';
  const collection = { name: 'own', definition: { queries: [{ name: 'write', query }] } };
  await engine.admin('create_query_collection', collection);
  const definition = { query: { collection_name: 'own', query_name: 'write' } };
  await engine.admin('create_rest_endpoint', { name: 'write', url: 'write', methods: ['POST'], definition });
});

type Answer = {
  readonly status: number;
  // biome-ignore lint/suspicious/noExplicitAny: bodies of many endpoints
  readonly body: any;
};

async function post(path: string, body: unknown, headers: Record<string, string> = {}): Promise<Answer> {
  const response = await fetch(engine.url + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-engine-console-secret': SECRET, ...headers },
    body: JSON.stringify(body),
  });
  return { status: response.status, body: await response.json() };
}

const get = (path: string) =>
  fetch(engine.url + path, { headers: { 'x-engine-console-secret': SECRET } }).then(({ status }) => status);
const graphql = (query: string, headers: Record<string, string> = READER) =>
  post('/v1/graphql', { query }, headers).then(({ body }) => body);
const REFUSED = { code: 'access-denied', error: 'the console secret may not perform this operation' };

describe('the admin API', () => {
  test('the operations of the pages are allowed, and all of them read', () => {
    const allowed = OPERATION_NAMES.filter((name) => (OPERATIONS[name] as OperationDeclaration).isForConsole);
    expect(allowed).toEqual([
      'explain_access',
      'get_recent_activity',
      'list_subscriptions',
      'list_triggers',
      'list_metadata_revisions',
      'compare_metadata_revisions',
      'get_ownership',
      'get_permission_tests',
      'get_role_access',
      'list_objects',
      'describe_object',
      'get_field_usage',
    ]);
    expect(allowed.filter((name) => OPERATIONS[name].effect !== 'read')).toEqual([]);
  });

  test.each(OPERATION_NAMES)(
    '%s is allowed or refused by its row, by every name, in a batch and with a role',
    async (name) => {
      const { isForConsole, versions }: OperationDeclaration = OPERATIONS[name];
      for (const endpoint of ENDPOINTS) {
        for (const type of namesAt(name, endpoint)) {
          const sent = { type, args: {}, version: versions.at(-1) };
          const bodies = [sent, { type: 'bulk', args: [sent] }];
          for (const headers of [{}, { 'x-engine-role': 'reader' }] as Record<string, string>[]) {
            const answers = await Promise.all(bodies.map((body) => post(endpoint, body, headers)));
            for (const { body } of answers) {
              if (isForConsole) expect(body.error).not.toBe(REFUSED.error);
              else expect(body).toMatchObject(REFUSED);
            }
          }
        }
      }
    },
  );

  test('a batch with one operation that is refused is refused, and so are an empty and an unknown one', async () => {
    const allowed = { type: 'get_role_access', args: {} };
    const exported = { type: 'export_metadata', args: {} };
    for (const type of ['bulk', 'bulk_keep_going', 'bulk_atomic']) {
      expect((await post('/v1/metadata', { type, args: [allowed, exported] })).body).toMatchObject(REFUSED);
      expect((await post('/v1/metadata', { type, args: [] })).body).toMatchObject(REFUSED);
      expect((await post('/v1/metadata', { type, args: [allowed] })).status).toBe(200);
    }
    expect((await post('/v1/metadata', { type: 'no_such_thing', args: {} })).body).toMatchObject(REFUSED);
  });

  test('explain_access says which clauses hold, without the values of the row', async () => {
    const about = { table: 'book', role: 'reader', session_variables: { 'x-engine-user-id': 'ann' } };
    const args = { ...about, key: { id: 1 } };
    const { body } = await post('/v1/metadata', { type: 'pg_explain_access', args });
    expect(body).toMatchObject({ verdict: 'visible' });
    expect(JSON.stringify(body)).not.toContain(HIDDEN);
    expect(JSON.stringify((await engine.admin('pg_explain_access', args)).body)).toContain(HIDDEN);
    const probes = {
      where: { owner: { _like: 'the%' } },
      values: { id: 1 },
      operators: { _set: { title: 'One' } },
      on_conflict: { constraint: 'c' },
    };
    for (const [name, value] of Object.entries(probes)) {
      const probe = await post('/v1/metadata', {
        type: 'pg_explain_access',
        args: { ...args, [name]: value },
      });
      expect([name, probe.body.error]).toEqual([name, REFUSED.error]);
    }
  });
});

describe('operations', () => {
  test('queries run as a role, with its session variables', async () => {
    expect(await graphql('{ book { title } }')).toEqual({ data: { book: [{ title: 'One' }] } });
    const { errors } = await graphql('{ book { owner } }');
    expect(errors[0].message).toContain("field 'owner' not found");
  });

  test.each([
    ['no role', {}, 'x-engine-role is required'],
    ['the role admin', { 'x-engine-role': 'admin' }, 'must be a role other than admin'],
    ['an empty role', { 'x-engine-role': '' }, 'x-engine-role must not be empty'],
  ])('with %s they are refused, over HTTP and a WebSocket', async (_, headers, message) => {
    const { errors, data } = await graphql('{ book { title } }', headers as Record<string, string>);
    expect([data, errors[0].message]).toEqual([undefined, expect.stringContaining(message)]);
    expect(await overSocket('{ book { title } }', headers)).toContain(message);
    const explained = await post('/v1/graphql/explain', {
      query: { query: '{ book { id } }' },
      user: headers,
    });
    expect(explained.body.error).toContain(message);
  });

  test('mutations are refused, over HTTP, REST and a WebSocket, also to a role that may write', async () => {
    const insert = 'mutation { insert_book(objects: [{id: 7}]) { affected_rows } }';
    const message = 'the console secret may not run mutations';
    expect((await graphql(insert)).errors[0].message).toBe(message);
    const headers = READER;
    expect(await overSocket(insert, headers)).toContain(message);
    expect((await post('/api/rest/write', {}, headers)).body.error).toBe(message);
    const many = await post('/v1/graphql', [{ query: '{ book { id } }' }, { query: insert }], headers);
    expect(many.body[1].errors[0].message).toBe(message);
    expect(await database.sql('select count(*)::int from book')).toEqual([{ count: 1 }]);
  });

  test('subscriptions run as a role', async () => {
    expect(await overSocket('subscription { book { title } }', READER)).toContain('One');
  });

  test('a query is explained as a role', async () => {
    const query = { query: '{ book { title } }' };
    const { body } = await post('/v1/graphql/explain', {
      query,
      user: { 'x-engine-role': 'reader', 'x-engine-user-id': 'a' },
    });
    expect(body[0].sql).toContain('title');
  });
});

test('other endpoints of administrators are refused, except for the configuration', async () => {
  expect(await get('/v1alpha1/config')).toBe(200);
  for (const path of [
    '/api/swagger/json',
    '/api/openapi.json',
    '/v1/metrics',
    '/dev/subscriptions/extended',
    '/dev/plan_cache',
  ])
    expect([path, await get(path)]).toEqual([path, 400]);
  expect((await post('/v1alpha1/pg_dump', { opts: ['--schema-only'] })).status).toBe(400);
});

test('a wrong secret is refused, and gets neither the role of requests without credentials nor the one of the other secret', async () => {
  for (const secret of ['wrong', '', engine.adminSecret]) {
    const { errors } = await graphql('{ __typename }', {
      'x-engine-console-secret': secret,
      'x-engine-role': 'reader',
    });
    expect(errors[0]).toMatchObject({
      message: 'invalid x-engine-console-secret',
      extensions: { code: 'access-denied' },
    });
  }
  const asAdmin = await fetch(`${engine.url}/v1alpha1/config`, {
    headers: { 'x-engine-admin-secret': SECRET },
  });
  expect(asAdmin.status).toBe(401);
});

test('the secret is replaced without a restart, is no session variable, and is not logged', async () => {
  expect(JSON.stringify(logged)).not.toContain(SECRET);
  writeFileSync(join(folder, 'primary'), 'the next one');
  await expect
    .poll(() => graphql('{ book { title } }').then(({ errors }) => errors?.[0].message), { timeout: 5000 })
    .toBe('invalid x-engine-console-secret');
  const next = await graphql('{ book { title } }', {
    'x-engine-console-secret': 'the next one',
    ...READER,
  });
  expect(next.data.book).toHaveLength(1);
});

/** Sends an operation over a WebSocket and returns what the engine answers first, or why it closes the connection. */
function overSocket(query: string, headers: object): Promise<string> {
  const socket = new WebSocket(`${engine.url.replace('http', 'ws')}/v1/graphql`, 'graphql-transport-ws');
  const init = {
    type: 'connection_init',
    payload: { headers: { 'x-engine-console-secret': SECRET, ...headers } },
  };
  return new Promise((resolve) => {
    socket.on('open', () => socket.send(JSON.stringify(init)));
    socket.on('close', (_, reason) => resolve(String(reason)));
    socket.on('message', (data) => {
      const { type } = JSON.parse(String(data));
      if (type === 'connection_ack')
        socket.send(JSON.stringify({ type: 'subscribe', id: '1', payload: { query } }));
      else if (type === 'next' || type === 'error') {
        resolve(String(data));
        socket.close();
      }
    });
  });
}
