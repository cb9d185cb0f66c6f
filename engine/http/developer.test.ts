/** Tests what administrators see of subscriptions and plans; other roles see nothing, and nobody does when the API is
 *  off. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createDatabase, type TestDatabase } from '../../testing/database.ts';
import { startTestEngine, type TestEngine } from '../../testing/engine.ts';
import { openSocket } from '../../testing/websocket.ts';

let database: TestDatabase;
let engine: TestEngine;

beforeAll(async () => {
  database = await createDatabase();
  await database.sql('create table book (id int primary key)');
  engine = await startTestEngine({
    databaseUrl: database.url,
    enabledApis: ['metadata', 'graphql', 'developer'],
  });
  await engine.admin('pg_track_table', { table: 'book' });
});
afterAll(async () => {
  await engine?.close();
  await database?.drop();
});

async function look(path: string): Promise<unknown> {
  return (await engine.fetch(path)).json();
}

async function subscribe(query: string, variables: object) {
  const socket = await openSocket(engine.url, 'graphql-transport-ws');
  const headers = { 'x-engine-admin-secret': engine.adminSecret };
  socket.send({ type: 'connection_init', payload: { headers } });
  await socket.next();
  socket.send({ type: 'subscribe', id: '1', payload: { query, variables } });
  await socket.next();
  return socket;
}

test('subscriptions with the same query share a poller, and with the same values a cohort', async () => {
  expect(await look('/dev/subscriptions')).toEqual({ subscriptions: 0, pollers: [] });
  const query = 'subscription ($id: Int!) { book(where: {id: {_eq: $id}}) { id } }';
  const sockets = [];
  for (const id of [41, 41, 42]) sockets.push(await subscribe(query, { id }));
  const poller = { source: 'default', kind: 'live query', interval_ms: 1000, subscribers: 3 };
  expect(await look('/dev/subscriptions')).toEqual({
    subscriptions: 3,
    pollers: [{ ...poller, cohorts: 2 }],
  });
  expect(await look('/dev/subscriptions/extended')).toEqual({
    subscriptions: 3,
    pollers: [
      {
        ...poller,
        statement: expect.stringContaining('"public"."book"'),
        cohorts: [
          { subscribers: 2, values: ['41'] },
          { subscribers: 1, values: ['42'] },
        ],
      },
    ],
  });
  for (const socket of sockets) socket.close();
  await Promise.all(sockets.map(({ closed }) => closed));
  await expect.poll(() => look('/dev/subscriptions')).toEqual({ subscriptions: 0, pollers: [] });
});

test('hits of the plan cache are counted', async () => {
  await engine.graphql('{ book { id } }');
  const before = (await look('/dev/plan_cache')) as { hits: number };
  await engine.graphql('{ book { id } }');
  expect(await look('/dev/plan_cache')).toMatchObject({ hits: before.hits + 1 });
});

test('only administrators have access', async () => {
  for (const path of ['/dev/subscriptions', '/dev/subscriptions/extended', '/dev/plan_cache']) {
    const asReader = await engine.fetch(path, { headers: { 'x-engine-role': 'reader' } });
    expect([asReader.status, await asReader.json()]).toMatchObject([400, { code: 'access-denied' }]);
    expect((await fetch(`${engine.url}${path}`)).status).toBe(401);
  }
});

test('the endpoints do not exist when the API is disabled', async () => {
  const other = await startTestEngine({ databaseUrl: database.url });
  expect((await other.fetch('/dev/subscriptions')).status).toBe(404);
  await other.close();
});
