/** Tests subscriptions to remote schemas end to end: both sub-protocols, the headers the service receives, roles and
 *  presets, names, lost connections. */
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { startTestEngine } from '../../testing/engine.ts';
import { type RemotePeer, type RemoteService, startRemote } from '../../testing/remote.ts';
import { openSession, openSocket } from '../../testing/websocket.ts';
import { testWorld } from '../../testing/world.ts';

const SDL = `
  type Tick { n: Int! at: String secret: String }
  type Query { now: Tick }
  type Subscription { ticks(owner: String, from: Int = 0): Tick strict: Int! }`;

let remote: RemoteService;
let peers: RemotePeer[];
const observed: unknown[] = [];
const add = (definition: object = {}) =>
  engine.admin('add_remote_schema', { name: 'clock', definition: { url: remote.url, ...definition } });

afterAll(() => remote?.close());

const { database, engine } = testWorld(
  async (database) => {
    await database.sql('create table author (id int primary key); create table ticks (n int primary key)');
    remote = await startRemote(SDL);
  },
  () => ({
    liveQueriesMultiplexedRefetchInterval: 50,
    enabledApis: ['metadata', 'graphql', 'metrics'],
    log: { observe: (observation) => void observed.push(observation), flush: () => {} },
  }),
);
beforeEach(async () => {
  peers = [];
  await engine.admin('clear_metadata', {});
  remote.takeSockets('graphql-transport-ws', (peer) => peers.push(peer));
});

/** Opens a client and subscribes. */
async function subscribe(query: string, { headers = {}, variables = {} } = {}) {
  const client = await openSession(engine, headers);
  onTestFinished(() => client.socket.terminate());
  client.send({ type: 'subscribe', id: 'a', payload: { query, variables } });
  return client;
}

/** Returns the service's side of the latest subscription, once it has arrived. */
async function asked(start = 'subscribe') {
  for (let i = 0; peers.length === 0 && i < 500; i++) await sleep(5);
  const peer = peers.at(-1)!;
  const init = await peer.next();
  peer.send({ type: 'connection_ack' });
  const begun = (await peer.next()) as { type: string; id: string; payload: { query: string } };
  expect([init.type, begun.type]).toEqual(['connection_init', start]);
  return {
    ...peer,
    init,
    begun,
    result: (payload: unknown) => peer.send({ type: 'next', id: '1', payload }),
  };
}

const tick = (n: number) => ({ data: { ticks: { n } } });
const next = (payload: unknown) => ({ type: 'next', id: 'a', payload });

describe('a subscription to a remote schema', () => {
  beforeEach(() => add());

  test('is forwarded with its variables, and every event is sent when it arrives', async () => {
    const client = await subscribe('subscription T($from: Int) { t: ticks(from: $from) { n at } }', {
      variables: { from: 3 },
    });
    const service = await asked();
    expect(service.begun.payload).toEqual({
      query: 'subscription T($from:Int){t:ticks(from:$from){n at}}',
      variables: { from: 3 },
      operationName: 'T',
    });
    const texts: string[] = [];
    client.socket.on('message', (data) => texts.push(String(data)));
    service.send('{"payload":{"data":{"t":{"n":1,"at":"\u00e9"}}},"id":"1","type":"next"}');
    expect(await client.next()).toEqual(next({ data: { t: { n: 1, at: 'é' } } }));
    service.send('{"type":"next","id":"1","payload":{"data":{"t":{"n":12345678901234567890,"at":null}}}}');
    await client.next();
    expect(texts.at(-1)).toContain('12345678901234567890');
    service.send({ type: 'complete', id: '1' });
    expect(await client.next()).toEqual({ type: 'complete', id: 'a' });
    await service.closed;
  });

  test('sends the session in the handshake and in the first message', async () => {
    await subscribe('subscription { ticks { n } }', { headers: { 'x-engine-user-id': '7' } });
    const { headers, init } = await asked();
    const told = { 'x-engine-role': 'admin', 'x-engine-user-id': '7' };
    expect(headers).toMatchObject(told);
    expect(init.payload).toMatchObject({ headers: told });
    expect(JSON.stringify([headers, init])).not.toContain(engine.adminSecret);
  });

  test('is counted, and its start is reported like any request', async () => {
    const count = async () => /^pergola_remote_subscriptions (\d+)$/m.exec(await metrics())?.[1];
    const metrics = async () => (await engine.fetch('/v1/metrics')).text();
    observed.length = 0;
    const client = await subscribe('subscription { ticks { n } }');
    await asked();
    await expect.poll(count).toBe('1');
    const called = { kind: 'webhook called', purpose: 'remote-schema', url: remote.url, method: 'GET' };
    await expect.poll(() => observed).toContainEqual(expect.objectContaining({ ...called, status: 101 }));
    client.socket.terminate();
    await expect.poll(count).toBe('0');
    observed.length = 0;
    await subscribe('subscription { ticks { n } }');
    await expect.poll(() => peers.length).toBe(2);
    peers[1]!.socket.close(4403, 'Forbidden');
    const failure = expect.stringContaining('Forbidden');
    await expect
      .poll(() => observed)
      .toContainEqual(expect.objectContaining({ ...called, status: null, failure }));
  });

  test('ends at the service when the client ends it or disconnects', async () => {
    const client = await subscribe('subscription { ticks { n } }');
    const first = await asked();
    client.send({ type: 'complete', id: 'a' });
    expect(await first.next()).toEqual({ type: 'complete', id: '1' });
    await first.closed;
    client.send({ type: 'subscribe', id: 'b', payload: { query: 'subscription { ticks { n } }' } });
    await expect.poll(() => peers.length).toBe(2);
    const second = await asked();
    client.socket.terminate();
    await second.closed;
  });

  test('has its pings answered', async () => {
    await subscribe('subscription { ticks { n } }');
    const service = await asked();
    service.send({ type: 'ping' });
    expect(await service.next()).toEqual({ type: 'pong' });
  });

  test('may contain errors, and goes on after an event with errors', async () => {
    const client = await subscribe('subscription { ticks { n } }');
    const service = await asked();
    const error = { message: 'skipped', path: ['ticks'], extensions: { code: 'X' } };
    service.result({ data: { ticks: null }, errors: [error] });
    expect(await client.next()).toEqual(next({ data: null, errors: [error] }));
    service.result(tick(2));
    expect(await client.next()).toEqual(next(tick(2)));
  });

  test('ends with the errors of the service when the service refuses it', async () => {
    const client = await subscribe('subscription { ticks { n } }');
    const service = await asked();
    service.send({ type: 'error', id: '1', payload: [{ message: 'not today' }] });
    expect(await client.next()).toEqual({ type: 'error', id: 'a', payload: [{ message: 'not today' }] });
    client.send({ type: 'subscribe', id: 'a', payload: { query: '{ author { id } }' } });
    expect(await client.next()).toMatchObject({ type: 'error' });
  });

  test.each<[string, string, (peer: RemotePeer) => void]>([
    ['closes', 'The connection was closed (4401) go away', ({ socket }) => socket.close(4401, 'go away')],
    ['is cut off', 'The connection was closed (1006)', ({ socket }) => socket.terminate()],
    ['talks nonsense', 'A message is not of the protocol', ({ send }) => send('hello')],
    ['sends bytes', 'A message is not of the protocol', ({ socket }) => socket.send(Buffer.from('{}'))],
    ['says what nobody knows', 'A message is not of the protocol', ({ send }) => send({ type: 'quit' })],
  ])('of which the service %s ends with an error at its path', async (_, message, misbehave) => {
    const client = await subscribe('subscription { ticks { n } }');
    misbehave(await asked());
    expect(await client.next()).toEqual({
      type: 'error',
      id: 'a',
      payload: [
        {
          message: `HTTP exception occurred while sending the request to "${remote.url}"`,
          path: ['ticks'],
          extensions: {
            code: 'remote-schema-error',
            path: '$.selectionSet.ticks',
            internal: { type: 'http_exception', message },
          },
        },
      ],
    });
  });

  test.each([
    ['[]', 'it is no object'],
    ['{"data":{"ticks":[1]}}', null],
    ['{"data":{}}', null],
    ['{}', 'there is no data'],
  ])('whose event is %s', async (payload, reason) => {
    const client = await subscribe('subscription { ticks { n } }');
    const service = await asked();
    service.send(`{"type":"next","id":"1","payload":${payload}}`);
    const told = [
      { extensions: { code: 'remote-schema-error', path: '$.selectionSet.ticks' }, path: ['ticks'] },
    ];
    expect(await client.next()).toMatchObject(
      reason === null
        ? next({ data: { ticks: null }, errors: told })
        : { type: 'error', payload: [{ ...told[0], message: expect.stringContaining(reason) }] },
    );
  });

  test('is refused over HTTP, and beside other fields', async () => {
    expect(await engine.graphql('subscription { ticks { n } }')).toMatchObject({
      errors: [{ message: 'subscription to remote server is not supported' }],
    });
    await engine.admin('pg_track_table', { table: 'author' });
    for (const more of ['author { id }', 'strict']) {
      const client = await subscribe(`subscription @_multiple_top_level_fields { ticks { n } ${more} }`);
      expect(await client.next()).toMatchObject({
        payload: [{ message: 'subscriptions must select one top level field' }],
      });
    }
  });

  test('is as slow as its client: nothing is lost, and the service waits', async () => {
    const client = await subscribe('subscription { ticks { n at } }');
    const service = await asked();
    client.socket.pause();
    const at = 'x'.repeat(1_000_000);
    for (let n = 0; n < 24; n++) service.result({ data: { ticks: { n, at } } });
    await sleep(500);
    expect(service.socket.bufferedAmount).toBeGreaterThan(5_000_000);
    client.socket.resume();
    for (let n = 0; n < 24; n++)
      expect(await client.next()).toMatchObject({ payload: { data: { ticks: { n } } } });
  });

  test('goes on when the metadata changes, and ends when its field is removed', async () => {
    const client = await subscribe('subscription { ticks { n } }');
    const service = await asked();
    await engine.admin('pg_track_table', { table: 'author' });
    service.result(tick(1));
    expect(await client.next()).toEqual(next(tick(1)));
    await engine.admin('remove_remote_schema', { name: 'clock' });
    expect(await client.next()).toMatchObject({
      type: 'error',
      payload: [{ extensions: { code: 'validation-failed' } }],
    });
    await service.closed;
    expect(peers).toHaveLength(1);
  });
});

test('whose field has become that of a table ends, and may start again', async () => {
  await add();
  const client = await subscribe('subscription { ticks { n } }');
  await asked();
  await engine.admin('bulk', [
    { type: 'remove_remote_schema', args: { name: 'clock' } },
    { type: 'pg_track_table', args: { table: 'ticks' } },
  ]);
  const message = 'the subscription means something else since the metadata has changed';
  expect(await client.next()).toMatchObject({ type: 'error', payload: [{ message }] });
  client.send({ type: 'subscribe', id: 'a', payload: { query: 'subscription { ticks { n } }' } });
  expect(await client.next()).toEqual(next({ data: { ticks: [] } }));
});

test('reports a service that does not answer in time', async () => {
  await add({ timeout_seconds: 1 });
  const client = await subscribe('subscription { ticks { n } }');
  expect(await client.next()).toMatchObject({
    type: 'error',
    payload: [{ path: ['ticks'], extensions: { internal: { message: 'Response timeout' } } }],
  });
});

test('reports a service without WebSockets', async () => {
  remote.takeSockets('another protocol', () => {});
  await add();
  const client = await subscribe('subscription { ticks { n } }');
  expect(await client.next()).toMatchObject({ payload: [{ extensions: { code: 'remote-schema-error' } }] });
});

test('reports a lost connection, and a service that cannot be reached', async () => {
  await add({ url: remote.url });
  const client = await subscribe('subscription { ticks { n } }');
  await asked();
  const { url } = remote;
  await remote.close();
  expect(await client.next()).toMatchObject({ type: 'error' });
  const again = await subscribe('subscription { ticks { n } }');
  expect(await again.next()).toMatchObject({
    payload: [{ extensions: { internal: { message: expect.stringContaining('ECONNREFUSED') } } }],
  });
  remote = await startRemote(SDL);
  expect(remote.url).not.toBe(url);
});

test('speaks the older sub-protocol with a service that has only that', async () => {
  remote.takeSockets('graphql-ws', (peer) => peers.push(peer));
  await add();
  const client = await subscribe('subscription { ticks { n } }');
  const service = await asked('start');
  service.send({ type: 'ka' });
  service.send({ type: 'data', id: '1', payload: tick(1) });
  expect(await client.next()).toEqual(next(tick(1)));
  client.send({ type: 'complete', id: 'a' });
  expect(await service.next()).toEqual({ type: 'stop', id: '1' });
  const refused = await subscribe('subscription { ticks { n } }');
  await expect.poll(() => peers.length).toBe(2);
  (await asked('start')).send({ type: 'error', id: '1', payload: { message: 'older' } });
  expect(await refused.next()).toMatchObject({ type: 'error', payload: [{ message: 'older' }] });
});

test('has customized names: namespace, types and fields, also in errors', async () => {
  await add({
    customization: {
      root_fields_namespace: 'clock',
      type_names: { prefix: 'C' },
      field_names: [{ parent_type: 'Tick', prefix: 'its_' }],
    },
  });
  const client = await subscribe('subscription { clock { ticks { __typename its_n } } }');
  const service = await asked();
  expect(service.begun.payload.query).toBe('subscription{ticks{__typename its_n:n}}');
  service.result({ data: { ticks: { __typename: 'Tick', its_n: 1 } } });
  const data = { clock: { ticks: { __typename: 'CTick', its_n: 1 } } };
  expect(await client.next()).toEqual(next({ data }));
  service.result({ data: null, errors: [{ message: 'x', path: ['ticks'] }] });
  expect(await client.next()).toEqual(
    next({ data: null, errors: [{ message: 'x', path: ['clock', 'ticks'] }] }),
  );
});

test('follows the permission of the role, with its presets, whatever the client sends', async () => {
  await add();
  const schema = `type Tick { n: Int! } type Query { now: Tick }
    type Subscription { ticks(owner: String @preset(value: "x-engine-user-id")): Tick }`;
  await engine.admin('add_remote_schema_permissions', {
    remote_schema: 'clock',
    role: 'user',
    definition: { schema },
  });
  const as = (role: string) => ({ headers: { 'x-engine-role': role, 'x-engine-user-id': '7' } });
  const client = await subscribe('subscription { ticks { n } }', as('user'));
  const { begun } = await asked();
  expect(begun.payload).toMatchObject({ variables: { _1: '7' } });
  expect(begun.payload.query).toContain('ticks(owner:$_1)');
  client.socket.terminate();
  for (const [role, query] of [
    ['user', 'subscription { ticks { secret } }'],
    ['user', 'subscription { ticks(owner: "8") { n } }'],
    ['user', 'subscription { strict }'],
    ['stranger', 'subscription { ticks { n } }'],
  ] as const) {
    const refused = await subscribe(query, as(role));
    expect(await refused.next()).toMatchObject({
      type: 'error',
      payload: [{ extensions: { code: 'validation-failed' } }],
    });
  }
  expect(peers).toHaveLength(1);
});

test('of a role that loses its permission ends before the next event', async () => {
  await add();
  const definition = {
    schema: 'type Tick { n: Int! } type Query { now: Tick } type Subscription { ticks: Tick }',
  };
  await engine.admin('add_remote_schema_permissions', { remote_schema: 'clock', role: 'user', definition });
  const client = await subscribe('subscription { ticks { n } }', { headers: { 'x-engine-role': 'user' } });
  const service = await asked();
  await engine.admin('drop_remote_schema_permissions', { remote_schema: 'clock', role: 'user' });
  service.result(tick(1));
  expect(await client.next()).toMatchObject({
    type: 'error',
    payload: [{ extensions: { code: 'validation-failed' } }],
  });
  await service.closed;
});

test('forwards client headers if the metadata says so, which its own headers override', async () => {
  await add({ forward_client_headers: true, headers: [{ name: 'X-Key', value: 'ours' }] });
  await subscribe('subscription { ticks { n } }', {
    headers: { authorization: 'Bearer me', 'x-key': 'theirs' },
  });
  const { headers } = await asked();
  expect(headers).toMatchObject({ authorization: 'Bearer me', 'x-key': 'ours' });
  expect(headers['x-engine-admin-secret']).toBeUndefined();
});

test('counts against the limits, and ends when its client does not read', async () => {
  await add();
  const limits = {
    maxSubscriptionsPerConnection: 1,
    maxQueuedBytes: 128 * 1024,
    adminSecret: engine.adminSecret,
  };
  const limited = await startTestEngine({ databaseUrl: database.url, ...limits });
  onTestFinished(() => limited.close());
  const client = await openSocket(limited.url, 'graphql-transport-ws');
  client.send({
    type: 'connection_init',
    payload: { headers: { 'x-engine-admin-secret': engine.adminSecret } },
  });
  await client.next();
  const begin = (id: string) =>
    client.send({ type: 'subscribe', id, payload: { query: 'subscription { ticks { n at } }' } });
  begin('a');
  const first = await asked();
  begin('b');
  expect(await client.next()).toMatchObject({
    id: 'b',
    type: 'error',
    payload: [{ extensions: { code: 'subscription-limit-exceeded' } }],
  });
  first.send({ type: 'complete', id: '1' });
  expect(await client.next()).toEqual({ type: 'complete', id: 'a' });
  await first.closed;
  begin('c');
  await expect.poll(() => peers.length).toBe(2);
  const second = await asked();
  client.socket.pause();
  const event = { data: { ticks: { n: 1, at: 'x'.repeat(1_000_000) } } };
  for (let i = 0; i < 30; i++) second.result(event);
  await second.closed;
  client.socket.resume();
  await client.closed;
}, 90_000);
