/** Tests GraphQL over real WebSockets to a real engine: both sub-protocols, permissions, and live queries that
 *  change.
 *  Not here: the state machine (protocol.test.ts). */
import { connect } from 'node:net';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { createDatabase, type TestDatabase } from '../../../testing/database.ts';
import { startTestEngine, type TestEngine } from '../../../testing/engine.ts';
import { openSocket, type TestSocket } from '../../../testing/websocket.ts';

const SCHEMA = `
  create table note (id int primary key, owner text not null, body text not null);
  insert into note values (1, 'ann', 'one'), (2, 'bob', 'two');`;

let database: TestDatabase;
let engine: TestEngine;

beforeAll(async () => {
  database = await createDatabase();
  engine = await startTestEngine({
    databaseUrl: database.url,
    liveQueriesMultiplexedRefetchInterval: 50,
    websocketConnectionInitTimeout: 1,
    corsDomain: 'https://app.example.com',
  });
  await engine.admin('run_sql', { sql: SCHEMA });
  await engine.admin('pg_track_table', { table: 'note' });
  await permit('ann-or-bob');
});

afterAll(async () => {
  await engine?.close();
  await database?.drop();
});

const permit = (role: string, columns: readonly string[] = ['id', 'body']) =>
  engine.admin('pg_create_select_permission', {
    table: 'note',
    role,
    permission: { columns, filter: { owner: { _eq: 'X-Engine-User-Id' } } },
  });

const sql = (text: string) => engine.admin('run_sql', { sql: text });
const NOTES = 'subscription { note(order_by: { id: asc }) { id body } }';
const PROTOCOLS = ['graphql-transport-ws', 'graphql-ws'] as const;
const WORDS = {
  'graphql-transport-ws': { start: 'subscribe', stop: 'complete', next: 'next' },
  'graphql-ws': { start: 'start', stop: 'stop', next: 'data' },
};

async function open(
  protocol: string | null,
  headers: Record<string, string | string[]> = {},
  url = engine.url,
) {
  const socket = await openSocket(url, protocol, headers);
  onTestFinished(() => socket.socket.terminate());
  return socket;
}

/** Opens an initialised socket, as a role or as the administrator. */
async function ready(
  protocol: (typeof PROTOCOLS)[number] = 'graphql-transport-ws',
  headers: Record<string, string> = {},
): Promise<TestSocket> {
  const socket = await open(protocol);
  const all = { 'X-Engine-Admin-Secret': engine.adminSecret, ...headers };
  socket.send({ type: 'connection_init', payload: { headers: all } });
  expect(await socket.next()).toEqual({ type: 'connection_ack' });
  return socket;
}

const as = (user: string, role = 'ann-or-bob') => ({ 'x-engine-role': role, 'x-engine-user-id': user });

function subscribe(socket: TestSocket, query: string, id = '1', variables?: unknown): void {
  const { start } = WORDS[socket.protocol as 'graphql-ws'];
  socket.send({ type: start, id, payload: { query, variables } });
}

test.each(PROTOCOLS)('%s: a query answers once and completes', async (protocol) => {
  const socket = await ready(protocol);
  subscribe(socket, '{ note(where: { id: { _eq: 1 } }) { body } }');
  const payload = { data: { note: [{ body: 'one' }] } };
  expect(await socket.next()).toEqual({ type: WORDS[protocol].next, id: '1', payload });
  expect(await socket.next()).toEqual({ type: 'complete', id: '1' });
});

test('without a sub-protocol the older one is used', async () => {
  const socket = await open(null);
  socket.send({
    type: 'connection_init',
    payload: { headers: { 'x-engine-admin-secret': engine.adminSecret } },
  });
  socket.send({ type: 'start', id: 'q', payload: { query: '{ __typename }' } });
  expect((await socket.next()).type).toBe('connection_ack');
  expect(await socket.next()).toEqual({
    type: 'data',
    id: 'q',
    payload: { data: { __typename: 'query_root' } },
  });
});

test.each(PROTOCOLS)('%s: a mutation writes', async (protocol) => {
  const socket = await ready(protocol);
  subscribe(socket, 'mutation { update_note_by_pk(pk_columns: {id: 2}, _set: {body: "two"}) { body } }');
  expect(await socket.next()).toMatchObject({ payload: { data: { update_note_by_pk: { body: 'two' } } } });
});

test('an invalid operation gets an error message, in the form of its protocol', async () => {
  const error = {
    message: "field 'nothing' not found in type: 'query_root'",
    extensions: { code: 'validation-failed', path: '$.selectionSet.nothing' },
  };
  const newer = await ready('graphql-transport-ws');
  subscribe(newer, '{ nothing }');
  expect(await newer.next()).toEqual({ type: 'error', id: '1', payload: [error] });
  const older = await ready('graphql-ws');
  subscribe(older, '{ nothing }');
  expect(await older.next()).toEqual({ type: 'error', id: '1', payload: { errors: [error] } });
  expect(await older.next()).toEqual({ type: 'complete', id: '1' });
  subscribe(older, '{ note_by_pk(id: 1) { id } }', '2');
  expect(await older.next()).toMatchObject({ id: '2', payload: { data: {} } });
});

test('an error while running is a result with errors', async () => {
  const socket = await ready();
  subscribe(socket, 'mutation { insert_note_one(object: { id: 1, owner: "x", body: "" }) { id } }');
  expect(await socket.next()).toMatchObject({
    type: 'next',
    payload: { errors: [{ extensions: { code: 'constraint-violation' } }] },
  });
  expect((await socket.next()).type).toBe('complete');
});

test.each(PROTOCOLS)('%s: a live query sends changes, and nothing without a change', async (protocol) => {
  await sql("delete from note where owner = 'live'");
  const query = 'subscription ($o: String!) { note(where: { owner: { _eq: $o } }) { body } }';
  const socket = await ready(protocol);
  subscribe(socket, query, 'live', { o: 'live' });
  expect(await socket.next()).toEqual({
    type: WORDS[protocol].next,
    id: 'live',
    payload: { data: { note: [] } },
  });
  expect(await socket.during(200)).toEqual([]);
  await sql("insert into note values (10, 'live', 'new')");
  expect(await socket.next()).toMatchObject({ id: 'live', payload: { data: { note: [{ body: 'new' }] } } });
  socket.send({ type: WORDS[protocol].stop, id: 'live' });
  await socket.during(50);
  await sql("update note set body = 'newer' where id = 10");
  expect(await socket.during(200)).toEqual([]);
});

test('each session sees its own rows, although all share a statement', async () => {
  const [ann, bob] = [await ready('graphql-ws', as('ann')), await ready('graphql-ws', as('bob'))];
  subscribe(ann, NOTES);
  subscribe(bob, NOTES);
  expect((await ann.next()).payload).toEqual({ data: { note: [{ id: 1, body: 'one' }] } });
  expect((await bob.next()).payload).toEqual({ data: { note: [{ id: 2, body: 'two' }] } });
  await sql("insert into note values (20, 'ann', 'hers')");
  expect((await ann.next()).payload).toMatchObject({ data: { note: [{ id: 1 }, { id: 20 }] } });
  expect(await bob.during(200)).toEqual([]);
});

test('a role without the permission, the column or the session variable gets an error', async () => {
  const stranger = await ready('graphql-transport-ws', as('ann', 'stranger'));
  subscribe(stranger, NOTES);
  expect(await stranger.next()).toMatchObject({
    type: 'error',
    payload: [{ message: 'no subscriptions exist' }],
  });
  const ann = await ready('graphql-transport-ws', as('ann'));
  subscribe(ann, 'subscription { note { owner } }');
  expect(await ann.next()).toMatchObject({
    type: 'error',
    payload: [{ message: "field 'owner' not found in type: 'note'" }],
  });
  const nobody = await ready('graphql-transport-ws', { 'x-engine-role': 'ann-or-bob' });
  subscribe(nobody, NOTES);
  expect(await nobody.next()).toMatchObject({
    type: 'error',
    payload: [{ message: 'missing session variable: "x-engine-user-id"' }],
  });
});

test('a live query ends when its permission is dropped, and never pushes under the old one', async () => {
  await permit('passing');
  const socket = await ready('graphql-transport-ws', as('bob', 'passing'));
  subscribe(socket, NOTES);
  expect((await socket.next()).type).toBe('next');
  await engine.admin('pg_drop_select_permission', { table: 'note', role: 'passing' });
  await sql("insert into note values (30, 'bob', 'secret')");
  expect(await socket.next()).toMatchObject({ type: 'error', id: '1' });
  expect(await socket.during(150)).toEqual([]);
  await sql('delete from note where id = 30');
});

test('a live query goes on under a changed permission, with what that permission allows', async () => {
  await permit('changing');
  const socket = await ready('graphql-transport-ws', as('bob', 'changing'));
  subscribe(socket, NOTES);
  expect((await socket.next()).payload).toMatchObject({ data: { note: [{ id: 2 }] } });
  await engine.admin('bulk', [
    { type: 'pg_drop_select_permission', args: { table: 'note', role: 'changing' } },
    {
      type: 'pg_create_select_permission',
      args: {
        table: 'note',
        role: 'changing',
        permission: { columns: ['id', 'body'], filter: { id: { _eq: 1 } } },
      },
    },
  ]);
  expect((await socket.next()).payload).toMatchObject({ data: { note: [{ id: 1 }] } });
});

test('a change that does not concern a live query sends nothing', async () => {
  const socket = await ready();
  subscribe(socket, 'subscription { note_by_pk(id: 1) { id } }');
  await socket.next();
  await permit('someone-else');
  expect(await socket.during(200)).toEqual([]);
});

test('a failing poll is reported once, and the live query recovers', async () => {
  await sql(`create table divisor (n int); insert into divisor values (1);
    create view fragile as select 6 / n as id from divisor`);
  await engine.admin('pg_track_table', { table: 'fragile' });
  const socket = await ready();
  subscribe(socket, 'subscription { fragile { id } }');
  await socket.next();
  await database.sql('update divisor set n = 0');
  expect(await socket.next()).toMatchObject({ type: 'next', payload: { errors: [{}] } });
  expect(await socket.during(200)).toEqual([]);
  await database.sql('update divisor set n = 2');
  expect((await socket.next()).payload).toEqual({ data: { fragile: [{ id: 3 }] } });
});

test('a live query whose table is gone ends with the error that a new one would get', async () => {
  await sql('create table passing (id int primary key)');
  await engine.admin('pg_track_table', { table: 'passing' });
  const socket = await ready();
  subscribe(socket, 'subscription { passing { id } }');
  await socket.next();
  await database.sql('drop table passing');
  const message = "field 'passing' not found in type: 'subscription_root'";
  expect(await socket.next()).toMatchObject({ type: 'error', payload: [{ message }] });
});

test('a client that does not read gets only the latest result of a live query', async () => {
  const socket = await ready();
  await sql("insert into note values (40, 'big', '')");
  subscribe(socket, 'subscription { note_by_pk(id: 40) { body } }');
  await socket.next();
  socket.socket.pause();
  const changes = 5;
  for (let i = 1; i <= changes; i++) {
    await sql(`update note set body = repeat('x', 8000000) || '${i}' where id = 40`);
    await socket.during(150);
  }
  socket.socket.resume();
  const told: string[] = [];
  while (told.at(-1) !== String(changes)) {
    const message = JSON.stringify(await socket.next(15_000));
    told.push(message.match(/(\d)"}+$/)?.[1] ?? '');
  }
  // How much the socket buffers hold depends on the system, but it is not everything.
  expect(told.length).toBeLessThan(changes);
  await sql('delete from note where id = 40');
});

test('a subscription selects one root field', async () => {
  const socket = await ready();
  subscribe(socket, 'subscription { a: note { id } b: note { id } }');
  const message = 'subscriptions must select one top level field';
  expect(await socket.next()).toMatchObject({ type: 'error', payload: [{ message }] });
  subscribe(socket, 'subscription @_multiple_top_level_fields { a: note { id } b: __typename }', '2');
  expect(await socket.next()).toMatchObject({ payload: { data: { b: 'subscription_root' } } });
});

test('a subscription over HTTP is refused', async () => {
  const { errors } = await engine.graphql(NOTES);
  expect(errors?.[0]?.message).toBe('subscriptions are not supported over HTTP, use websockets instead');
});

test.each(PROTOCOLS)(
  '%s: without the secret, or with a wrong one, the connection closes',
  async (protocol) => {
    for (const headers of [{}, { 'x-engine-admin-secret': 'guess' }]) {
      const socket = await open(protocol);
      socket.send({ type: 'connection_init', payload: { headers } });
      subscribe(socket, '{ note { id } }');
      expect((await socket.closed).code).toBe(4400);
      const told = await socket.during(0);
      expect(told.map(({ type }) => type)).toEqual(protocol === 'graphql-ws' ? ['connection_error'] : []);
    }
  },
);

test('headers of init override those of the handshake', async () => {
  const secret = { 'x-engine-admin-secret': engine.adminSecret };
  const socket = await open('graphql-transport-ws', { ...secret, ...as('bob') });
  socket.send({
    type: 'connection_init',
    payload: { headers: { 'X-Engine-User-Id': 'bob', 'X-Engine-Role': 'none' } },
  });
  expect((await socket.next()).type).toBe('connection_ack');
  subscribe(socket, '{ note { id } }');
  expect((await socket.next()).type).toBe('error');
});

test('the last of two session headers of the handshake counts', async () => {
  const socket = await open('graphql-transport-ws', {
    'x-engine-admin-secret': engine.adminSecret,
    'x-engine-role': 'ann-or-bob',
    'x-engine-user-id': ['ann', 'bob'],
  });
  socket.send({ type: 'connection_init' });
  expect(await socket.next()).toEqual({ type: 'connection_ack' });
  subscribe(socket, '{ note { id } }');
  expect((await socket.next()).payload).toEqual({ data: { note: [{ id: 2 }] } });
});

test('an operation before init closes the connection in the newer protocol, and gets an error in the older one', async () => {
  const newer = await open('graphql-transport-ws');
  subscribe(newer, '{ note { id } }');
  expect((await newer.closed).code).toBe(4401);
  const older = await open('graphql-ws');
  subscribe(older, '{ note { id } }');
  expect(await older.next()).toMatchObject({
    type: 'error',
    id: '1',
    payload: { errors: [{ extensions: { code: 'start-failed' } }] },
  });
});

test('a silent connection is closed, and so is one with an invalid message', async () => {
  const silent = await open('graphql-transport-ws');
  const garbled = await ready();
  garbled.send('no json');
  expect(await garbled.closed).toMatchObject({ code: 4400 });
  expect(await silent.closed).toMatchObject({ code: 4408 });
});

test('an id in use closes with 4409, and an ended one may be used again', async () => {
  const socket = await ready();
  subscribe(socket, '{ note_by_pk(id: 1) { id } }', 'same');
  await socket.next();
  await socket.next();
  subscribe(socket, NOTES, 'same');
  expect((await socket.next()).type).toBe('next');
  subscribe(socket, NOTES, 'same');
  expect((await socket.closed).code).toBe(4409);
});

test('the handshake refuses an origin that may not call, and another path', async () => {
  const attempt = (headers: Record<string, string>) => open('graphql-ws', headers);
  await expect(attempt({ origin: 'https://evil.example.com' })).rejects.toThrow('400');
  await expect(attempt({ origin: 'https://app.example.com' })).resolves.toBeDefined();
  await expect(open('graphql-ws', {}, `${engine.url}/elsewhere`)).rejects.toThrow('404');
});

test('a request with another upgrade is answered over HTTP/1.1', async () => {
  const { port } = new URL(engine.url);
  const socket = connect(Number(port), '127.0.0.1');
  socket.write(`GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: Upgrade, close\r\nUpgrade: h2c\r\n\r\n`);
  const [chunk] = (await socket.take(1).toArray()) as [Buffer];
  expect(String(chunk)).toMatch(/^HTTP\/1\.1 200/);
});

test('a stopping engine lets a mutation answer, and then closes the connection', async () => {
  const other = await startTestEngine({ databaseUrl: database.url, adminSecret: engine.adminSecret });
  const socket = await open(
    'graphql-transport-ws',
    { 'x-engine-admin-secret': engine.adminSecret },
    other.url,
  );
  socket.send({ type: 'connection_init' });
  await socket.next();
  subscribe(socket, NOTES, 'live');
  await socket.next();
  const locked = database.sql('begin; lock table note; select pg_sleep(0.3); commit');
  await socket.during(50);
  subscribe(socket, 'mutation { insert_note_one(object: {id: 90, owner: "x", body: ""}) { id } }', 'write');
  await socket.during(50);
  const closing = other.close();
  expect(await socket.next()).toMatchObject({ id: 'write', payload: { data: {} } });
  expect((await socket.closed).code).toBe(1001);
  await Promise.all([closing, locked]);
});
