/** Tests deliveries during which an engine is killed: another engine delivers them after all others, each by itself, and gives up
 *  after a number of attempts. In: an engine process for each kind of delivery. */
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest';
import { startEngine } from '../../testing/engine-process.ts';
import { testDatabase } from '../../testing/world.ts';

const SECRET = 'kept';
const INTERRUPTED = ['a', 'b', 'c'] as const;
const LATER = ['d', 'e', 'f', 'g'] as const;

const database = testDatabase();
let url: string;
/** Requests to the webhook by the name in their payload, with the number of requests that it had not answered yet. */
let received: { readonly name: string; readonly beside: number; readonly body: string }[] = [];
let hanging: ServerResponse[] | null = [];
let open = 0;
const hook = createServer(async (request, response) => {
  const body = await text(request);
  received.push({ name: /"name":\s*"(\w)"/.exec(body)![1]!, beside: open, body });
  if (hanging) return void hanging.push(response);
  open += 1;
  await sleep(50);
  open -= 1;
  response.end('"done"');
});

const start = () =>
  startEngine({
    ...process.env,
    ENGINE_GRAPHQL_DATABASE_URL: database.url,
    ENGINE_GRAPHQL_ADMIN_SECRET: SECRET,
    ENGINE_GRAPHQL_EVENTS_FETCH_INTERVAL: '100',
    ENGINE_GRAPHQL_ASYNC_ACTIONS_FETCH_INTERVAL: '100',
  });
const soon = <T>(body: () => T) => vi.waitFor(body, { timeout: 30_000, interval: 20 });
const names = () => received.map(({ name }) => name);

beforeAll(async () => {
  await database.sql('create table note (name text primary key)');
  await new Promise<void>((done) => hook.listen(0, '127.0.0.1', done));
  url = `http://127.0.0.1:${(hook.address() as AddressInfo).port}`;
});
afterAll(async () => {
  hook.closeAllConnections();
  hook.close();
});

type Post = (path: string, body: object) => Promise<string>;

/** The kinds of deliveries: how they are declared and caused, and the statement after which their leases have ended. */
const KINDS = [
  {
    kind: 'row',
    declare: async (post: Post) => {
      await post('/v1/metadata', { type: 'pg_track_table', args: { table: 'note' } });
      const retry_conf = { timeout_sec: 60, num_retries: 0 };
      const args = { name: 'noted', table: 'note', webhook: url, insert: { columns: '*' }, retry_conf };
      await post('/v1/metadata', { type: 'pg_create_event_trigger', args });
    },
    cause: (_: Post, name: string) => database.sql(`insert into note values ('${name}')`),
    expire: `update pergola.event_log set locked = locked - interval '1 hour'`,
    tries: `select tries from pergola.event_log order by tries, created_at`,
    expectedTries: [1, 1, 1, 1, 2, 2, 2],
  },
  {
    kind: 'one-off',
    declare: async () => {},
    cause: (post: Post, name: string) => {
      const args = { webhook: url, schedule_at: new Date().toISOString(), payload: { name } };
      return post('/v1/metadata', { type: 'create_scheduled_event', args });
    },
    expire: `update pergola.scheduled_event set lease_ends_at = lease_ends_at - interval '1 hour'`,
    tries: `select tries from pergola.scheduled_event order by tries`,
    expectedTries: [1, 1, 1, 1, 2, 2, 2],
  },
  {
    kind: 'asynchronous action',
    declare: async (post: Post) => {
      const argument = { name: 'name', type: 'String!' };
      const definition = {
        ...{ kind: 'asynchronous', type: 'mutation', handler: url },
        ...{ arguments: [argument], output_type: 'String' },
      };
      await post('/v1/metadata', { type: 'create_action', args: { name: 'act', definition } });
    },
    cause: (post: Post, name: string) => post('/v1/graphql', { query: `mutation { act(name: "${name}") }` }),
    expire: `update pergola.action_call set lease_ends_at = lease_ends_at - interval '1 hour'`,
    tries: `select count(*)::int as tries from pergola.action_call where status = 'answered'`,
    expectedTries: [7],
  },
] as const;

for (const { kind, declare, cause, expire, tries, expectedTries } of KINDS) {
  test(`deliveries that an engine did not survive come last and alone: ${kind}`, async () => {
    received = [];
    hanging = [];
    let engine = await start();
    const post: Post = async (path, body) => {
      const headers = { 'content-type': 'application/json', 'x-engine-admin-secret': SECRET };
      const response = await fetch(engine.url + path, {
        method: 'POST',
        headers,
        body: JSON.stringify(body),
      });
      const text = await response.text();
      if (!response.ok || text.includes('"errors"')) throw new Error(text);
      return text;
    };
    await declare(post);
    for (const name of INTERRUPTED) await cause(post, name);
    await soon(() => expect(names().toSorted()).toEqual(INTERRUPTED));
    await engine.kill();
    hanging = null;
    received = [];
    await database.sql(expire);
    const isWithoutEngine = kind === 'row';
    if (isWithoutEngine) for (const name of LATER) await cause(post, name);
    engine = await start();
    onTestFinished(() => engine.kill());
    if (!isWithoutEngine) for (const name of LATER) await cause(post, name);
    await soon(() => expect(names().toSorted()).toEqual([...INTERRUPTED, ...LATER]));
    const interrupted = received.filter(({ name }) => INTERRUPTED.includes(name as 'a'));
    expect(interrupted.map(({ beside }) => beside)).toEqual([0, 0, 0]);
    if (isWithoutEngine) expect(names().slice(0, LATER.length).toSorted()).toEqual(LATER);
    await soon(async () => {
      const rows = await database.sql(tries);
      expect(rows.map((row) => row['tries'])).toEqual(expectedTries);
    });
  }, 120_000);
}

test('an event during whose deliveries engines ended five times is failed, and its log says so', async () => {
  hanging = null;
  received = [];
  await database.sql(
    `update pergola.event_log set delivered = false, tries = 4, locked = now() - interval '1 hour'
      where payload #>> '{data,new,name}' = 'a'`,
  );
  const engine = await start();
  onTestFinished(() => engine.kill());
  await soon(async () => {
    const [event] = await database.sql(
      `select error, tries, locked from pergola.event_log where payload #>> '{data,new,name}' = 'a'`,
    );
    expect(event).toEqual({ error: true, tries: 5, locked: null });
  });
  const [last] = await database.sql(
    `select status, response from pergola.event_invocation_log order by created_at desc limit 1`,
  );
  const message = 'the engine ended before it recorded the result';
  expect(last).toMatchObject({ status: null, response: { type: 'client_error', data: { message } } });
  expect(received).toEqual([]);
}, 60_000);
