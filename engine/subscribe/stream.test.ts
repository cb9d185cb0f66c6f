/** Streaming subscriptions over real sockets: batches in order, ties, late rows, permissions, changes of metadata. */
import { beforeAll, beforeEach, expect, onTestFinished, test } from 'vitest';
import { openSession, type TestSocket } from '../../testing/websocket.ts';
import { testWorld } from '../../testing/world.ts';

const sql = (text: string) => engine.admin('run_sql', { sql: text });

const { engine } = testWorld('', () => ({ streamingQueriesMultiplexedRefetchInterval: 30 }));

beforeAll(async () => {
  await sql('create table event (id int primary key, owner text, rank int, at timestamptz, body text)');
  await engine.admin('pg_track_table', { table: 'event' });
  await permit('reader', { columns: ['id', 'rank'], filter: { owner: { _eq: 'X-Engine-User-Id' } } });
  await permit('watcher', { columns: ['id'], filter: {}, subscription_root_fields: ['select'] });
  await permit('blind', { columns: [], filter: {} });
  await permit('brief', { columns: ['id'], filter: {}, limit: 1 });
});

beforeEach(async () => {
  await sql(`truncate event; insert into event values
    (1, 'ann', 10, '2024-01-01T00:00:00.000001Z', 'a'), (2, 'bob', 20, '2024-01-01T00:00:00.000002Z', 'b'),
    (3, 'ann', 20, '2024-01-02', 'c'), (4, 'ann', 20, null, 'd'), (5, 'bob', 30, '2024-01-03', null)`);
});

const permit = (role: string, permission: object) =>
  engine.admin('pg_create_select_permission', { table: 'event', role, permission });

/** A stream, and the batches that come: their rows. */
async function stream(query: string, { headers = {}, variables = {} } = {}) {
  const socket = await openSession(engine, headers);
  onTestFinished(() => socket.socket.terminate());
  socket.send({ type: 'subscribe', id: '1', payload: { query, variables } });
  return { socket, batch: () => batchOf(socket) };
}

async function batchOf(socket: TestSocket): Promise<unknown> {
  const { payload } = (await socket.next()) as { payload: { data?: object } };
  return payload.data ? Object.values(payload.data)[0] : payload;
}

const ids = (...all: number[]) => all.map((id) => ({ id }));
const BY_ID = `subscription ($size: Int = 2, $from: Int = 0) {
  event_stream(cursor: { initial_value: { id: $from } }, batch_size: $size) { id } }`;

test('rows come in batches, in the order of the cursor, and then those that are added', async () => {
  const { batch } = await stream(BY_ID);
  expect([await batch(), await batch(), await batch()]).toEqual([ids(1, 2), ids(3, 4), ids(5)]);
  await sql("insert into event values (7, 'ann')");
  expect(await batch()).toEqual(ids(7));
  await sql("insert into event values (8, 'ann')");
  expect(await batch()).toEqual(ids(8));
});

test('the initial value is excluded, and a descending cursor goes down from it', async () => {
  const { batch } = await stream(`subscription {
    event_stream(cursor: [{ initial_value: { id: 4 }, ordering: DESC }], batch_size: 2) { id } }`);
  expect([await batch(), await batch()]).toEqual([ids(3, 2), ids(1)]);
});

test('rows of equal value are in one batch, and those without a value in none', async () => {
  const { batch } = await stream(`subscription {
    event_stream(cursor: { initial_value: { rank: 0 } }, batch_size: 2) { id rank } }`);
  const first = (await batch()) as { id: number; rank: number }[];
  expect(first.map(({ rank }) => rank)).toEqual([10, 20, 20, 20]);
  expect(first.map(({ id }) => id).sort()).toEqual([1, 2, 3, 4]);
  expect(await batch()).toEqual([{ id: 5, rank: 30 }]);
  await sql("insert into event values (6, 'ann', null), (7, 'ann', 31)");
  expect(await batch()).toEqual([{ id: 7, rank: 31 }]);
});

test('a cursor is as exact as its column: microseconds are not lost', async () => {
  const { batch } = await stream(
    `subscription ($from: timestamptz!) {
      event_stream(cursor: { initial_value: { at: $from } }, batch_size: 1) { id } }`,
    { variables: { from: '2020-01-01' } },
  );
  expect([await batch(), await batch(), await batch()]).toEqual([ids(1), ids(2), ids(3)]);
});

test('conditions and columns are those of a query', async () => {
  const { batch } = await stream(`subscription {
    all: event_stream(cursor: { initial_value: { id: 0 } }, batch_size: 9, where: { body: { _is_null: false } }) {
      body id } }`);
  expect(await batch()).toEqual([1, 2, 3, 4].map((id) => ({ body: 'abcd'[id - 1], id })));
});

test('a role is sent its own rows, and sees no column it may not read', async () => {
  const headers = { 'x-engine-role': 'reader', 'x-engine-user-id': 'ann' };
  const { batch } = await stream(BY_ID, { headers });
  expect([await batch(), await batch()]).toEqual([ids(1, 3), ids(4)]);
  await sql("insert into event values (6, 'bob'), (7, 'ann')");
  expect(await batch()).toEqual(ids(7));
  const hidden = await stream(
    'subscription { event_stream(cursor: { initial_value: { body: "" } }, batch_size: 1) { id } }',
    { headers },
  );
  expect(await hidden.batch()).toMatchObject([
    { message: "field 'body' not found in type: 'event_stream_cursor_value_input'" },
  ]);
});

test.each(['watcher', 'blind'])('%s may not stream', async (role) => {
  const { batch } = await stream(BY_ID, { headers: { 'x-engine-role': role } });
  expect(await batch()).toMatchObject([{ extensions: { code: 'validation-failed' } }]);
});

test("no batch is larger than the role's limit, and nothing is left out for it", async () => {
  const { batch } = await stream(BY_ID, { headers: { 'x-engine-role': 'brief' } });
  expect([await batch(), await batch(), await batch()]).toEqual([ids(1), ids(2), ids(3)]);
});

test('streams that stand at different places do not disturb each other', async () => {
  const [first, second] = [await stream(BY_ID), await stream(BY_ID, { variables: { from: 3 } })];
  expect(await second.batch()).toEqual(ids(4, 5));
  expect([await first.batch(), await first.batch()]).toEqual([ids(1, 2), ids(3, 4)]);
  expect(await first.batch()).toEqual(ids(5));
  await sql("insert into event values (9, 'ann')");
  expect([await first.batch(), await second.batch()]).toEqual([ids(9), ids(9)]);
});

test('it goes on from where it stands when the metadata changes, and ends when it may not', async () => {
  await permit('passing', { columns: ['id'], filter: {} });
  const { batch, socket } = await stream(BY_ID, {
    headers: { 'x-engine-role': 'passing' },
    variables: { size: 9 },
  });
  expect(await batch()).toEqual(ids(1, 2, 3, 4, 5));
  await permit('another', { columns: ['id'], filter: {} });
  await sql("insert into event values (6, 'ann')");
  expect(await batch()).toEqual(ids(6));
  await engine.admin('pg_drop_select_permission', { table: 'event', role: 'passing' });
  expect(await socket.next()).toMatchObject({
    type: 'error',
    payload: [{ extensions: { code: 'validation-failed' } }],
  });
  await engine.admin('pg_drop_select_permission', { table: 'event', role: 'another' });
});

test.each([
  ['{}', "missing required field 'initial_value'"],
  ['[]', 'one streaming column field is expected'],
  ['{ initial_value: { id: 1, rank: 2 } }', 'multiple column cursors are not supported yet'],
  ['{ initial_value: {} }', 'one streaming column field is expected'],
  ['{ initial_value: { id: null } }', "unexpected null value for type 'Int'"],
])('a cursor of %s is refused', async (cursor, message) => {
  const { batch } = await stream(`subscription { event_stream(cursor: ${cursor}, batch_size: 1) { id } }`);
  expect(await batch()).toMatchObject([{ message, extensions: { code: 'validation-failed' } }]);
});

test('a stream keeps no company', async () => {
  const { batch } = await stream(`subscription @_multiple_top_level_fields {
    event { id } event_stream(cursor: { initial_value: { id: 0 } }, batch_size: 1) { id } }`);
  expect(await batch()).toMatchObject([{ message: 'subscriptions must select one top level field' }]);
});

test('a client that does not read is sent no more than it has room for, and then everything', async () => {
  await sql(
    `insert into event select i, 'ann', i, null, repeat('x', 1000000) from generate_series(10, 59) i`,
  );
  const { socket, batch } = await stream(
    `subscription { event_stream(cursor: { initial_value: { id: 9 } }, batch_size: 1) { id body } }`,
  );
  socket.socket.pause();
  await new Promise((resolve) => setTimeout(resolve, 1000));
  socket.socket.resume();
  const received = [];
  for (let i = 10; i < 60; i += 1) received.push(((await batch()) as { id: number }[])[0]!.id);
  expect(received).toEqual(Array.from({ length: 50 }, (_, i) => i + 10));
});
