/** Live queries and streams of many users over real sockets: asked as one statement, and nobody is told of another's rows. */
import { beforeAll, expect, onTestFinished, test } from 'vitest';
import { openSession, type TestSocket } from '../../testing/websocket.ts';
import { testWorld } from '../../testing/world.ts';

const USERS = Array.from({ length: 40 }, (_, i) => `user ${i} "quoted" {and} \\slashed`);
const sql = (text: string) => engine.admin('run_sql', { sql: text });

const { engine } = testWorld('', () => ({
  enabledApis: ['metadata', 'graphql', 'metrics'],
  metricsSecret: 'look',
  liveQueriesMultiplexedRefetchInterval: 100,
  streamingQueriesMultiplexedRefetchInterval: 100,
}));

beforeAll(async () => {
  await sql('create table note (id serial primary key, owner text not null, size int not null default 1)');
  await sql(`insert into note (owner) values ${USERS.map((user) => `('${user}')`).join(',')}`);
  await engine.admin('pg_track_table', { table: 'note' });
  const filter = { owner: { _eq: 'X-Engine-User-Id' } };
  const permission = { columns: ['id', 'owner', 'size'], filter };
  await engine.admin('pg_create_select_permission', { table: 'note', role: 'owner', permission });
});

async function subscribed(user: string, query: string, role = 'owner'): Promise<TestSocket> {
  const socket = await openSession(engine, { 'x-engine-role': role, 'x-engine-user-id': user });
  onTestFinished(() => socket.socket.terminate());
  socket.send({ type: 'subscribe', id: '1', payload: { query } });
  return socket;
}

const next = async (socket: TestSocket) =>
  ((await socket.next(20_000)).payload as { data: unknown; errors: unknown }).data;

/** Statements sent to the source since the engine began. */
async function statements(): Promise<number> {
  const response = await fetch(`${engine.url}/v1/metrics`, { headers: { authorization: 'Bearer look' } });
  const [, count] = /statement_seconds_count\{source="default"\} (\d+)/.exec(await response.text())!;
  return Number(count);
}

async function counted(body: () => Promise<unknown>): Promise<number> {
  const before = await statements();
  await body();
  return (await statements()) - before;
}

const rest = () => new Promise((resolve) => setTimeout(resolve, 1000));

test('live queries of many users are one statement a round, and each is told of its own rows alone', async () => {
  const query = 'subscription { note { owner size } }';
  const sockets = await Promise.all(USERS.map((user) => subscribed(user, query)));
  for (const [i, socket] of sockets.entries()) {
    expect(await next(socket)).toEqual({ note: [{ owner: USERS[i], size: 1 }] });
  }
  // Ten rounds; by themselves they would be four hundred statements.
  expect(await counted(rest)).toBeLessThan(100);
  await sql(`update note set size = 2 where owner like 'user 7 %'`);
  expect(await next(sockets[7]!)).toEqual({ note: [{ owner: USERS[7], size: 2 }] });
  const others = await Promise.all(sockets.map((socket) => socket.during(300)));
  expect(others.flat()).toEqual([]);
});

test('streams of many users are one statement a round, too, wherever each of them stands', async () => {
  const query = `subscription {
    note_stream(cursor: { initial_value: { id: 0 } }, batch_size: 5) { owner } }`;
  const sockets = await Promise.all(USERS.map((user) => subscribed(user, query)));
  for (const [i, socket] of sockets.entries()) {
    expect(await next(socket)).toEqual({ note_stream: [{ owner: USERS[i] }] });
  }
  expect(await counted(rest)).toBeLessThan(100);
  await sql(`insert into note (owner) select owner from note where owner like 'user 9 %'`);
  expect(await next(sockets[9]!)).toEqual({ note_stream: [{ owner: USERS[9] }] });
  const others = await Promise.all(sockets.map((socket) => socket.during(300)));
  expect(others.flat()).toEqual([]);
});

test('a value that Postgres cannot read is the failure of who has sent it, and of nobody else', async () => {
  const permission = { columns: ['owner'], filter: { size: { _gt: 'X-Engine-User-Id' } } };
  await engine.admin('pg_create_select_permission', { table: 'note', role: 'sized', permission });
  const query = 'subscription { note(limit: 1) { owner } }';
  const sockets = await Promise.all(
    ['0', '1000', 'large', '1001'].map((user) => subscribed(user, query, 'sized')),
  );
  const [few, none, unreadable, neither] = await Promise.all(sockets.map((socket) => socket.next(20_000)));
  expect(few).toMatchObject({ type: 'next', payload: { data: { note: [{}] } } });
  expect([none, neither]).toMatchObject([1, 2].map(() => ({ payload: { data: { note: [] } } })));
  expect(unreadable).toMatchObject({ payload: { errors: [{ extensions: { code: 'data-exception' } }] } });
  expect(unreadable!.payload).not.toHaveProperty('data');
});
