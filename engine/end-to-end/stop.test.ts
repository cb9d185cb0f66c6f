/** Tests that `pergola serve` stops while a database is silent: connections to it are accepted and stay open, and no
 *  answer arrives. Stopping in general is tested in main.test.ts. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { killAll, type Program, pergola } from '../../testing/program.ts';
import { openSocket } from '../../testing/websocket.ts';
import { testDatabase } from '../../testing/world.ts';
import { type CuttingProxy, openProxy } from '../wire/testing/proxy.ts';

const GRACE_SECONDS = 1;
/** Stopping takes three seconds at most; the rest is for busy machines. A silent database would delay it for longer
 *  (30 s for a connection, forever for an answer), so this limit detects that. */
const SOON_MS = 20_000;
const MOST_MS = 90_000;

const database = testDatabase();
let proxy: CuttingProxy;
beforeAll(async () => {
  await database.sql('create table note (id serial primary key, text text)');
  proxy = await openProxy(database.url);
});
afterAll(async () => {
  killAll();
  await proxy.close();
});

function serve(env: Record<string, string>): Program {
  const args = ['serve', '--server-port', '0', '--graceful-shutdown-timeout', String(GRACE_SECONDS)];
  return pergola(
    [...args, '--enabled-apis', 'graphql,metadata,metrics', '--events-fetch-interval', '20'],
    env,
  );
}

async function expectSoonEnded({ child, ended }: Program): Promise<void> {
  const toldAt = performance.now();
  child.kill('SIGTERM');
  expect(await ended).toBe(0);
  expect(performance.now() - toldAt).toBeLessThan(SOON_MS);
}

test('requests that wait for a silent database are cut off after the grace period', {
  timeout: MOST_MS,
}, async () => {
  const hook = await openSilentHook();
  const engine = serve({ ENGINE_GRAPHQL_DATABASE_URL: proxy.url });
  const url = await engine.serves();
  const post = (path: string, body: unknown) =>
    fetch(url + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
  const admin = async (type: string, args: unknown) =>
    expect((await post('/v1/metadata', { type, args })).status).toBe(200);
  await admin('pg_track_table', { table: 'note' });
  const insert = { columns: '*' };
  await admin('pg_create_event_trigger', { table: 'note', name: 'noted', webhook: hook.url, insert });
  const socket = await openSocket(url, 'graphql-transport-ws');
  socket.send({ type: 'connection_init' });
  await socket.next(20_000);
  socket.send({ type: 'subscribe', id: '1', payload: { query: 'subscription { note { id } }' } });
  await socket.next(20_000);
  await database.sql(`insert into note (text) values ('x')`);
  await expect.poll(hook.asked, { timeout: 20_000 }).toBe(1);

  proxy.isSilent = true;
  const answers = [
    post('/v1/graphql', { query: '{ note { id } }' }),
    post('/v1/graphql', { query: 'mutation { delete_note(where: {}) { affected_rows } }' }),
    post('/v1/metadata', { type: 'pg_untrack_table', args: { table: 'note' } }),
  ].map((answer) => expect(answer).rejects.toThrow());
  const inFlight = async () =>
    /requests_in_flight (\d+)/.exec(await (await fetch(`${url}/v1/metrics`)).text())?.[1];
  await expect.poll(inFlight, { timeout: 20_000 }).toBe(String(answers.length + 1));
  await expectSoonEnded(engine);
  await Promise.all(answers);
  expect(engine.output.stdout).toContain(`"requestsCutOff":${answers.length}`);
  expect((await socket.closed).code).toBe(1001);
});

test.each([
  ['the metadata database', () => ({ ENGINE_GRAPHQL_DATABASE_URL: proxy.url })],
  [
    'a source',
    () => ({ ENGINE_GRAPHQL_METADATA_DATABASE_URL: database.url, ENGINE_GRAPHQL_DATABASE_URL: proxy.url }),
  ],
])('an engine that starts while %s is silent stops on request', { timeout: MOST_MS }, async (_, env) => {
  proxy.isSilent = true;
  const before = proxy.accepted;
  const engine = serve(env());
  await expect.poll(() => proxy.accepted, { timeout: 20_000 }).toBeGreaterThan(before);
  await expectSoonEnded(engine);
  expect(engine.output.stderr).toBe('');
});

test('statements that run after the grace period are ended in Postgres, too', {
  timeout: MOST_MS,
}, async () => {
  proxy.isSilent = false;
  const engine = serve({ ENGINE_GRAPHQL_DATABASE_URL: database.url });
  const url = await engine.serves();
  const post = (path: string, body: unknown) =>
    fetch(url + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
  await database.sql(`create or replace function nap() returns setof note language sql stable as
    $$ select note.* from note, (select pg_sleep(600)) as slept $$`);
  await post('/v1/metadata', {
    type: 'bulk_keep_going',
    args: [
      { type: 'pg_track_table', args: { table: 'note' } },
      { type: 'pg_track_function', args: { function: 'nap' } },
    ],
  });
  const asked = [
    post('/v1/graphql', { query: '{ nap { id } }' }),
    post('/v2/query', { type: 'run_sql', args: { sql: 'select pg_sleep(601)' } }),
  ];
  const answers = asked.map((answer) => answer.catch(() => {}));
  const sleeping = async () =>
    (
      await database.sql(`select count(*)::int as n from pg_stat_activity where wait_event = 'PgSleep'
       and datname = current_database()`)
    )[0]!['n'];
  await expect.poll(sleeping, { timeout: 20_000 }).toBe(2);
  await expectSoonEnded(engine);
  await Promise.all(answers);
  await expect.poll(sleeping, { timeout: 20_000 }).toBe(0);
});

/** Opens a webhook that accepts requests and never answers. */
async function openSilentHook(): Promise<{ readonly url: string; readonly asked: () => number }> {
  let asked = 0;
  const server = createServer(() => {
    asked += 1;
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked: () => asked };
}
