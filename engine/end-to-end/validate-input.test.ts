import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { startTestEngine, type TestEngine } from '../../testing/engine.ts';
import { openSocket } from '../../testing/websocket.ts';
import { testDatabase } from '../../testing/world.ts';

type Asked = {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  readonly body: Payload;
};
type Payload = {
  readonly version: number;
  readonly role: string;
  readonly session_variables: Record<string, string>;
  readonly data: { readonly input: unknown[] };
};
type Reply = { readonly status: number; readonly body?: string; readonly delayMs?: number };

const OK: Reply = { status: 200 };
let reply: Reply = OK;
let asked: Asked[] = [];
let webhook: Server;
const database = testDatabase();
let engine: TestEngine;
let connections = 0;

beforeAll(async () => {
  webhook = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const text = Buffer.concat(chunks).toString();
    asked.push({
      text,
      path: `${request.method} ${request.url}`,
      headers: request.headers,
      body: JSON.parse(text) as Payload,
    });
    const { status, body, delayMs = 0 } = reply;
    setTimeout(() => response.writeHead(status, { location: '/elsewhere' }).end(body), delayMs);
  });
  webhook.on('connection', () => {
    connections += 1;
  });
  await new Promise<void>((resolve) => webhook.listen(0, '127.0.0.1', resolve));
  const { port } = webhook.address() as AddressInfo;
  const gone = createServer();
  await new Promise<void>((resolve) => gone.listen(0, '127.0.0.1', resolve));
  const { port: gonePort } = gone.address() as AddressInfo;
  gone.close();
  await database.sql(`
    create table author (id int primary key, name text not null, big numeric);
    create table article (id int primary key, title text, author_id int references author);`);
  engine = await startTestEngine({
    databaseUrl: database.url,
    experimentalFeatures: ['nested_updates'],
    env: {
      HOOKS: `http://127.0.0.1:${port}`,
      HOOK_KEY: 'from the environment',
      HOOKS_GONE: `http://127.0.0.1:${gonePort}`,
    },
  });
  const validate_input = (name: string, more = {}) => ({
    type: 'http',
    definition: { url: `{{HOOKS}}/${name}`, ...more },
  });
  const forwarding = {
    forward_client_headers: true,
    timeout: 1,
    headers: [
      { name: 'x-hook-key', value_from_env: 'HOOK_KEY' },
      { name: 'x-kind', value: 'fixed' },
    ],
  };
  const all = { columns: '*', filter: {} };
  const on = (table: string, type: string, permission: object, role = 'user') => ({
    type: `pg_create_${type}_permission`,
    args: { table, role, permission },
  });
  await engine.must('bulk', [
    { type: 'pg_track_table', args: { table: 'author' } },
    { type: 'pg_track_table', args: { table: 'article' } },
    on('author', 'select', all),
    on('author', 'insert', { check: {}, columns: '*', validate_input: validate_input('insert', forwarding) }),
    on('author', 'update', { ...all, validate_input: validate_input('update') }),
    on('author', 'delete', { filter: {}, validate_input: validate_input('delete') }),
    on(
      'author',
      'insert',
      {
        check: {},
        columns: '*',
        validate_input: { type: 'http', definition: { url: '{{HOOKS_GONE}}/x' } },
      },
      'alone',
    ),
    on('article', 'insert', { check: {}, columns: '*' }),
    {
      type: 'pg_create_array_relationship',
      args: {
        table: 'author',
        name: 'articles',
        using: { foreign_key_constraint_on: { table: 'article', column: 'author_id' } },
      },
    },
    {
      type: 'pg_create_object_relationship',
      args: { table: 'article', name: 'author', using: { foreign_key_constraint_on: 'author_id' } },
    },
    on('author', 'insert', { check: {}, columns: '*', validate_input: validate_input('authors') }, 'nester'),
    on(
      'article',
      'insert',
      { check: {}, columns: '*', validate_input: validate_input('articles') },
      'nester',
    ),
    on('article', 'select', all),
    on('article', 'update', { ...all, validate_input: validate_input('articles') }),
  ]);
});
afterAll(async () => {
  await engine?.close();
  webhook?.closeAllConnections();
  webhook?.close();
});
beforeEach(async () => {
  reply = OK;
  asked = [];
  await database.sql("truncate author cascade; insert into author values (1, 'Ada')");
});

const ask = (query: string, role = 'user', headers = {}, variables = {}) =>
  engine.graphql<Record<string, unknown>>(query, {
    role,
    headers: { 'x-engine-user-id': '7', ...headers },
    variables,
  });
const INSERT = 'mutation { insert_author(objects: [{id: 2, name: "Bo"}]) { affected_rows } }';
const authors = async () => (await database.sql('select id, name from author order by id')) as unknown;
const onlyAda = [{ id: 1, name: 'Ada' }];

describe('the webhook receives', () => {
  test('rows of an insert as the client wrote them, from literals and variables', async () => {
    const query = `mutation ($name: String!, $row: author_insert_input!, $none: numeric) {
      insert_author(objects: [{id: 2, name: $name, big: $none}, $row, {id: 4, name: "d", big: 12345678901234567890.10}]) {
        affected_rows } }`;
    const answer = await ask(query, 'user', {}, { name: 'Bo', row: { id: 3, name: 'Cy', big: '7' } });
    expect(answer.data).toEqual({ insert_author: { affected_rows: 3 } });
    expect(asked).toHaveLength(1);
    expect(asked[0]).toMatchObject({ path: 'POST /insert', body: { version: 1, role: 'user' } });
    expect(asked[0]!.body.session_variables).toEqual({ 'x-engine-role': 'user', 'x-engine-user-id': '7' });
    expect(asked[0]!.body.data.input).toEqual([
      { id: 2, name: 'Bo' },
      { id: 3, name: 'Cy', big: '7' },
      { id: 4, name: 'd', big: expect.any(Number) },
    ]);
    expect(asked[0]!.text).toContain('"big":12345678901234567890.10}');
  });

  test('an upsert as the insert it is, even if it updates', async () => {
    const upsert = `mutation { insert_author(objects: {id: 1, name: "Eve"},
      on_conflict: {constraint: author_pkey, update_columns: name}) { affected_rows } }`;
    reply = { status: 400, body: '{"message":"no"}' };
    expect((await ask(upsert)).errors?.[0]?.message).toBe('no');
    expect(await authors()).toEqual(onlyAda);
    reply = OK;
    expect((await ask(upsert)).data).toEqual({ insert_author: { affected_rows: 1 } });
    expect(await authors()).toEqual([{ id: 1, name: 'Eve' }]);
    const rows = ['POST /insert', [{ id: 1, name: 'Eve' }]];
    expect(asked.map(({ path, body }) => [path, body.data.input])).toEqual([rows, rows]);
  });

  test('the row of insert_one as a list of one', async () => {
    await ask('mutation { insert_author_one(object: {id: 2, name: "Bo"}) { id } }');
    expect(asked.map(({ body }) => body.data.input)).toEqual([[{ id: 2, name: 'Bo' }]]);
  });

  test('nested updates at the webhook of their own table, after the update that contains them', async () => {
    const related = '{articles: {update: [{where: {id: {_gt: 0}}, _set: {title: "T"}}]}}';
    await ask(
      `mutation { update_author(where: {}, _set: {name: "N"}, _related: ${related}) { affected_rows } }`,
    );
    const inner = { where: { id: { _gt: 0 } }, _set: { title: 'T' } };
    expect(asked.map(({ path, body }) => [path, body.data.input])).toEqual([
      ['POST /update', [{ where: {}, _set: { name: 'N' }, _related: { articles: { update: [inner] } } }]],
      ['POST /articles', [inner]],
    ]);
  });

  test('nested rows at the webhook of their own table, after those that contain them', async () => {
    const query = `mutation ($articles: [article_insert_input!]!) { insert_author(objects: [
      {id: 2, name: "Bo", articles: {data: $articles}},
      {id: 3, name: "Cy", articles: {data: {id: 12}}}]) { affected_rows } }`;
    const articles = [{ id: 10, title: 'x' }, { id: 11 }];
    await ask(query, 'nester', {}, { articles });
    const inner = { id: 12 };
    expect(asked.map(({ path, body }) => [path, body.data.input])).toEqual([
      [
        'POST /authors',
        [
          { id: 2, name: 'Bo', articles: { data: articles } },
          { id: 3, name: 'Cy', articles: { data: inner } },
        ],
      ],
      ['POST /articles', [...articles, inner]],
    ]);
    asked = [];
    reply = { status: 400, body: '{"message":"no"}' };
    const flat =
      'mutation { insert_article_one(object: {id: 20, author: {data: {id: 9, name: "no"}}}) { id } }';
    const { errors } = await ask(flat, 'user');
    expect(asked.map(({ path }) => path)).toEqual(['POST /insert']);
    expect(errors?.[0]?.message).toBe('no');
    expect(await database.sql('select 1 from author where id = 9')).toEqual([]);
  });

  test('conditions and changes of updates, and keys', async () => {
    await ask(`mutation { update_author(where: {id: {_eq: 1}}, _set: {name: "A"}) { affected_rows }
      update_author_by_pk(pk_columns: {id: 1}, _set: {name: "B"}) { id }
      update_author_many(updates: [{where: {}, _set: {name: "C"}}]) { affected_rows } }`);
    expect(asked.map(({ path, body }) => [path, body.data.input])).toEqual([
      ['POST /update', [{ where: { id: { _eq: 1 } }, _set: { name: 'A' } }]],
      ['POST /update', [{ pk_columns: { id: 1 }, _set: { name: 'B' } }]],
      ['POST /update', [{ where: {}, _set: { name: 'C' } }]],
    ]);
    expect(await authors()).toEqual([{ id: 1, name: 'C' }]);
  });

  test('conditions of deletes, and keys', async () => {
    await ask(
      'mutation { delete_author(where: {name: {_eq: "no"}}) { affected_rows } delete_author_by_pk(id: 1) { id } }',
    );
    expect(asked.map(({ path, body }) => [path, body.data.input])).toEqual([
      ['POST /delete', [{ where: { name: { _eq: 'no' } } }]],
      ['POST /delete', [{ pk_columns: { id: 1 } }]],
    ]);
    expect(await authors()).toEqual([]);
  });

  test('the values of each request with the same text', async () => {
    const query = 'mutation ($n: String!) { update_author(where: {}, _set: {name: $n}) { affected_rows } }';
    for (const n of ['x', 'y']) await ask(query, 'user', {}, { n });
    expect(asked.map(({ body }) => body.data.input)).toEqual([
      [{ where: {}, _set: { name: 'x' } }],
      [{ where: {}, _set: { name: 'y' } }],
    ]);
  });

  test('headers of the metadata, and of the client if they are forwarded, without secrets', async () => {
    await ask(INSERT, 'user', { 'X-Trace': 'abc', 'X-Kind': 'spoofed', Cookie: 'a=b' });
    const { headers } = asked[0]!;
    expect(headers).toMatchObject({
      'x-hook-key': 'from the environment',
      'x-kind': 'fixed',
      'x-trace': 'abc',
      cookie: 'a=b',
      'content-type': 'application/json',
    });
    expect(headers['x-engine-admin-secret']).toBeUndefined();
    await ask('mutation { delete_author(where: {}) { affected_rows } }', 'user', { 'X-Trace': 'abc' });
    expect(asked[1]!.headers['x-trace']).toBeUndefined();
  });

  test('nothing for no rows, for administrators, or for a table without a webhook', async () => {
    await ask('mutation { insert_author(objects: []) { affected_rows } }');
    await ask(INSERT, 'admin');
    await ask('mutation { insert_article(objects: {id: 1}) { affected_rows } }');
    expect(asked).toEqual([]);
  });

  test('writes over a WebSocket too', async () => {
    const secret = { 'x-engine-admin-secret': engine.adminSecret, 'x-engine-role': 'user', 'x-trace': 'ws' };
    const socket = await openSocket(engine.url, 'graphql-transport-ws', secret);
    socket.send({ type: 'connection_init' });
    await socket.next();
    reply = { status: 400, body: '{"message":"not over sockets"}' };
    socket.send({ type: 'subscribe', id: '1', payload: { query: INSERT } });
    expect(await socket.next()).toMatchObject({ payload: { errors: [{ message: 'not over sockets' }] } });
    expect(asked[0]!.headers['x-trace']).toBe('ws');
    socket.close();
  });

  test('requests over kept-alive connections', async () => {
    await ask('mutation { delete_author(where: {}) { affected_rows } }');
    const before = connections;
    for (let i = 0; i < 5; i++) await ask('mutation { delete_author(where: {}) { affected_rows } }');
    expect(connections).toBe(before);
  });
});

describe('its answer', () => {
  const refused = async (query = INSERT, role = 'user') => {
    const { errors } = await ask(query, role);
    expect(await authors()).toEqual(onlyAda);
    return [errors?.[0]?.extensions.code, errors?.[0]?.message];
  };

  test('400 refuses the whole request, with its message', async () => {
    reply = { status: 400, body: '{"message":"too short"}' };
    expect(await refused()).toEqual(['validation-failed', 'too short']);
    const two =
      'mutation { insert_author(objects: {id: 5, name: "e"}) { affected_rows } delete_author(where: {}) { affected_rows } }';
    expect(await refused(two)).toEqual(['validation-failed', 'too short']);
    reply = { status: 400 };
    expect(await refused()).toEqual(['validation-failed', 'the input is not valid']);
  });

  test.each([
    ['a status nobody expects', { status: 500, body: 'x' }, 'it answered with status 500'],
    ['another success', { status: 204 }, 'it answered with status 204'],
    ['a redirect', { status: 302 }, 'it answered with status 302'],
    [
      '400 without a message',
      { status: 400, body: '{"error":1}' },
      'it answered with status 400 and no message',
    ],
    ['400 that is no JSON', { status: 400, body: '<p>' }, 'it answered with status 400 and no message'],
    ['no answer in time', { status: 200, delayMs: 1500 }, 'no answer in 1 s'],
  ] satisfies [string, Reply, string][])('%s is a failure', async (_, given, reason) => {
    reply = given;
    expect(await refused()).toEqual(['unexpected', `the webhook that validates the input failed: ${reason}`]);
  });

  test('a webhook that cannot be reached allows no write', async () => {
    const prefix = 'the webhook that validates the input failed: ';
    expect(await refused(INSERT, 'alone')).toEqual(['unexpected', `${prefix}ECONNREFUSED`]);
  });
});
