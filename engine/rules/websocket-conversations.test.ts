/** Conversations over WebSockets: each sub-protocol at each path, with every message of a client in every phase, and errors of queries, mutations
 *  and subscriptions. Reference: docs/reference/behaviour/subscriptions.md. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Message, openSocket, type TestSocket } from '../../testing/websocket.ts';
import { type RuleWorld, startWorld } from './testing/rules.ts';

let world: RuleWorld;

beforeAll(async () => {
  const permission = { columns: ['id'], filter: { id: { _lt: 3 } } };
  world = await startWorld({
    sql: 'create table note (id int primary key, body text); insert into note values (1), (2), (3)',
    tables: ['note'],
    operations: [['pg_create_select_permission', { table: 'note', role: 'reader', permission }]],
    options: {
      adminInternalErrors: false,
      websocketConnectionInitTimeout: 1,
      liveQueriesMultiplexedRefetchInterval: 100,
    },
  });
});

afterAll(() => world?.close());

/** The words of each sub-protocol. No header means the older one. */
const PROTOCOLS = [
  { name: 'graphql-transport-ws', isNewer: true, start: 'subscribe', stop: 'complete', data: 'next' },
  { name: 'graphql-ws', isNewer: false, start: 'start', stop: 'stop', data: 'data' },
  { name: null, isNewer: false, start: 'start', stop: 'stop', data: 'data' },
] as const;

const PATHS = ['/v1/graphql', '/v1alpha1/graphql', '/v1beta1/relay'] as const;

const CASES = PROTOCOLS.flatMap((protocol) => PATHS.map((path) => ({ ...protocol, path })));

type Case = (typeof CASES)[number];

type Refused = { readonly message: string; readonly path: string; readonly code: string };

/** An error as a path encodes it. */
function encoded({ path }: Case, { message, ...extensions }: Refused): object {
  return path === '/v1alpha1/graphql' ? { ...extensions, error: message } : { message, extensions };
}

/** The messages for an operation that could not start. */
function failed(given: Case, error: Refused, id = '1'): readonly Message[] {
  const one = encoded(given, error);
  const list = given.isNewer ? [one] : { errors: [one] };
  const payload = given.path === '/v1alpha1/graphql' ? one : list;
  return [{ type: 'error', id, payload }, ...(given.isNewer ? [] : [{ type: 'complete', id }])];
}

const startFailed = (message: string): Refused => ({ message, path: '$', code: 'start-failed' });

const open = ({ name, path }: Case) => openSocket(world.engine.url, name, {}, path);
const headers = (role = 'admin') => ({
  'x-engine-admin-secret': world.engine.adminSecret,
  'x-engine-role': role,
});

async function ready(given: Case, role = 'admin'): Promise<TestSocket> {
  const socket = await open(given);
  socket.send({ type: 'connection_init', payload: { headers: headers(role) } });
  expect(await socket.next()).toEqual({ type: 'connection_ack' });
  return socket;
}

function run(socket: TestSocket, { start }: Case, query: string, id = '1', more: object = {}): void {
  socket.send({ type: start, id, payload: { query, ...more } });
}

async function take(socket: TestSocket, count: number): Promise<readonly Message[]> {
  const messages: Message[] = [];
  for (let i = 0; i < count; i++) messages.push(await socket.next());
  return messages;
}

const ROWS = { '/v1/graphql': 'note', '/v1alpha1/graphql': 'note', '/v1beta1/relay': 'note_connection' };

describe.each(CASES)('$name at $path', (given) => {
  const root = ROWS[given.path];
  const selection = given.path === '/v1beta1/relay' ? '{ edges { node { id } } }' : '{ id }';

  test('a query has one result and completes; a mutation too', async () => {
    const socket = await ready(given);
    run(socket, given, '{ __typename }');
    expect(await take(socket, 2)).toEqual([
      { type: given.data, id: '1', payload: { data: { __typename: 'query_root' } } },
      { type: 'complete', id: '1' },
    ]);
    // The id is free again.
    run(socket, given, 'mutation { update_note(where: {id: {_lt: 0}}, _set: {body: ""}) { affected_rows } }');
    expect(await take(socket, 2)).toEqual([
      { type: given.data, id: '1', payload: { data: { update_note: { affected_rows: 0 } } } },
      { type: 'complete', id: '1' },
    ]);
    socket.close();
  });

  test('the operation name and variables select what runs', async () => {
    const socket = await ready(given);
    const query = `query a { __typename } query b($on: Boolean!) { b: __typename @include(if: $on) }`;
    run(socket, given, query, 'x', { operationName: 'b', variables: { on: true } });
    expect((await socket.next()).payload).toEqual({ data: { b: 'query_root' } });
    socket.close();
  });

  test.each([
    [
      'an unknown field',
      '{ nowhere }',
      {
        message: "field 'nowhere' not found in type: 'query_root'",
        path: '$.selectionSet.nowhere',
        code: 'validation-failed',
      },
    ],
    ['no GraphQL', '{', { message: 'not a valid graphql query', path: '$.query', code: 'validation-failed' }],
    [
      'two roots of a subscription',
      `subscription { a: ${root} ${selection} b: ${root} ${selection} }`,
      { message: 'subscriptions must select one top level field', path: '$', code: 'validation-failed' },
    ],
  ])('%s fails before it runs', async (_, query, error) => {
    const socket = await ready(given);
    run(socket, given, query);
    expect(await take(socket, given.isNewer ? 1 : 2)).toEqual(failed(given, error));
    // The connection lives on.
    run(socket, given, '{ __typename }', '2');
    expect((await socket.next()).id).toBe('2');
    socket.close();
  });

  test('an error of the database is in a result', async () => {
    const socket = await ready(given);
    run(socket, given, 'mutation { insert_note(objects: [{id: 1}]) { affected_rows } }');
    const error = {
      message: 'Uniqueness violation. duplicate key value violates unique constraint "note_pkey"',
      path: '$.selectionSet.insert_note.args.objects',
      code: 'constraint-violation',
    };
    expect(await take(socket, 2)).toEqual([
      { type: given.data, id: '1', payload: { data: null, errors: [encoded(given, error)] } },
      { type: 'complete', id: '1' },
    ]);
    socket.close();
  });

  test('a role is refused what it may not see, in subscriptions too', async () => {
    const socket = await ready(given, 'reader');
    run(socket, given, `subscription { ${root} ${selection} }`);
    const { type, payload } = await socket.next();
    expect([type, JSON.stringify(payload).match(/"id"/g)?.length]).toEqual([given.data, 2]);
    socket.send({ type: given.stop, id: '1' });
    run(socket, given, 'subscription { note_aggregate { aggregate { count } } }', '2');
    const error = {
      message: "field 'note_aggregate' not found in type: 'subscription_root'",
      path: '$.selectionSet.note_aggregate',
      code: 'validation-failed',
    };
    expect(await take(socket, given.isNewer ? 1 : 2)).toEqual(failed(given, error, '2'));
    socket.close();
  });

  test('an id in use closes the connection in the newer protocol, and fails the operation in the older one', async () => {
    const socket = await ready(given);
    run(socket, given, `subscription { ${root} ${selection} }`);
    await socket.next();
    run(socket, given, '{ __typename }');
    if (given.isNewer) {
      expect(await socket.closed).toEqual({ code: 4409, reason: 'Subscriber for 1 already exists' });
      return;
    }
    const error = startFailed('an operation already exists with this id: 1');
    expect(await take(socket, 2)).toEqual(failed(given, error));
    socket.send({ type: 'stop', id: '1' });
    run(socket, given, '{ __typename }');
    expect((await socket.next()).type).toBe('data');
    socket.close();
  });

  test('a start before init', async () => {
    const socket = await open(given);
    run(socket, given, '{ __typename }');
    const reason = 'start received before the connection is initialised';
    if (given.isNewer) expect(await socket.closed).toEqual({ code: 4401, reason });
    else expect(await take(socket, 2)).toEqual(failed(given, startFailed(reason)));
    socket.close();
  });

  test.each([
    ['an unknown type', '{"type":"lost"}', 'Error in $: unexpected type for ClientMessage: lost'],
    [
      'the type of the other protocol',
      given.isNewer ? '{"type":"start"}' : '{"type":"subscribe"}',
      'Error in $',
    ],
    ['no JSON', '{', ''],
    ['a list', '[]', ''],
    ['no type', '{}', ''],
    ['no id', `{"type":"${given.start}"}`, ''],
    ['no payload', `{"type":"${given.start}","id":"1"}`, 'Error in $: key "payload" not found'],
    ['an id that is no text', `{"type":"${given.stop}","id":1}`, ''],
  ])('%s is reported, or closes the connection', async (_, text, detail) => {
    for (const socket of [await open(given), await ready(given)]) {
      socket.send(text);
      const reason = expect.stringContaining(`parsing ClientMessage failed: ${detail}`);
      if (given.isNewer) expect(await socket.closed).toEqual({ code: 4400, reason });
      else expect(await socket.next()).toEqual({ type: 'connection_error', payload: reason });
      socket.close();
    }
  });

  test.each([
    ['a wrong secret', { headers: { 'x-engine-admin-secret': 'wrong' } }, 'invalid'],
    ['no headers', {}, 'required'],
    ['no payload', undefined, 'required'],
    ['null', null, 'required'],
  ])('init with %s is refused', async (_, payload, part) => {
    const socket = await open(given);
    socket.send({ type: 'connection_init', payload });
    const { code, reason } = await socket.closed;
    expect([code, reason]).toEqual([4400, expect.stringContaining(part)]);
    const messages = await socket.during(0);
    if (given.isNewer) {
      expect([messages, reason]).toEqual([[], expect.stringMatching(/^Connection initialization failed: /)]);
    } else expect(messages).toEqual([{ type: 'connection_error', payload: reason }]);
  });

  test('init twice', async () => {
    const socket = await ready(given);
    socket.send({ type: 'connection_init', payload: { headers: headers() } });
    const reason = 'Too many initialisation requests';
    if (given.isNewer) expect(await socket.closed).toEqual({ code: 4429, reason });
    else expect(await socket.next()).toEqual({ type: 'connection_error', payload: reason });
    socket.close();
  });
});

test.each(PROTOCOLS)('$name: without init in time the connection is closed', async ({ name }) => {
  const socket = await openSocket(world.engine.url, name);
  expect(await socket.closed).toEqual({ code: 4408, reason: 'Connection initialisation timeout' });
});

test('the client of the newer protocol may ping and pong at any time; the older one may terminate', async () => {
  const newer = await openSocket(world.engine.url, 'graphql-transport-ws');
  newer.send({ type: 'ping', payload: { any: 1 } });
  expect((await newer.next()).type).toBe('pong');
  newer.send({ type: 'pong' });
  newer.close();
  const older = await openSocket(world.engine.url, 'graphql-ws');
  older.send({ type: 'connection_terminate' });
  expect((await older.closed).code).toBe(1000);
});

test('a handshake at another path is refused', async () => {
  await expect(openSocket(world.engine.url, 'graphql-ws', {}, '/v1/lost')).rejects.toThrow('404');
});
