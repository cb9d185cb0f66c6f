/** Tests the operations on what the engine does, as the page Activity of the console uses them: the last hour, subscriptions, triggers, calls of
 *  asynchronous actions, and reads of logs that take too long. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestEngine } from '../../testing/engine.ts';
import { openSession } from '../../testing/websocket.ts';
import { testWorld } from '../../testing/world.ts';

const SECRET = 'console-secret-of-the-test';

const webhook = createServer((request, response) => {
  request.resume();
  request.on('end', () => response.writeHead(500).end('{"message": "out of order"}'));
});

afterAll(() => webhook.close());

const { database, engine } = testWorld(
  async (database) => {
    await database.sql(
      `create table book (id int primary key, title text); insert into book values (1, 'One')`,
    );
    await new Promise<void>((resolve) => webhook.listen(0, '127.0.0.1', resolve));
  },
  () => ({
    env: { HOOK: `http://127.0.0.1:${(webhook.address() as AddressInfo).port}` },
    enableConsole: true,
    consoleSecret: SECRET,
    asyncActionsFetchInterval: 50,
  }),
);

beforeAll(async () => {
  await engine.must('pg_track_table', { table: 'book' });
  const definition = { kind: 'asynchronous', output_type: 'Done', handler: '{{HOOK}}' };
  const arguments_ = [{ name: 'n', type: 'Int!' }];
  await engine.must('set_custom_types', {
    objects: [{ name: 'Done', fields: [{ name: 'id', type: 'Int' }] }],
  });
  await engine.must('create_action', { name: 'work', definition: { ...definition, arguments: arguments_ } });
  const insert = { columns: '*' };
  await engine.must('pg_create_event_trigger', {
    table: 'book',
    name: 'on_book',
    webhook: '{{HOOK}}',
    insert,
  });
  const retry_conf = {
    num_retries: 0,
    timeout_seconds: 5,
    tolerance_seconds: 600,
    retry_interval_seconds: 1,
  };
  const cron = { name: 'nightly', webhook: '{{HOOK}}', schedule: '0 3 * * *', include_in_metadata: true };
  await engine.must('create_cron_trigger', { ...cron, retry_conf });
});

/** Performs an operation with the console secret. */
async function look(type: string, args: object = {}) {
  const response = await fetch(`${engine.url}/v1/metadata`, {
    method: 'POST',
    headers: { 'x-engine-console-secret': SECRET },
    body: JSON.stringify({ type, args }),
  });
  // biome-ignore lint/suspicious/noExplicitAny: answers of many operations
  return (await response.json()) as any;
}

test('the last hour has the operations so far, by type, and the slowest by role and name', async () => {
  await engine.graphql('query Titles { book { title } }');
  await engine.graphql('{ book { id } }');
  await engine.graphql('{ nothing }');
  const { is_counting, minutes, latency, slow_operations } = await look('get_recent_activity');
  expect(is_counting).toBe(true);
  expect(minutes).toHaveLength(1);
  expect(minutes[0]).toMatchObject({
    requests: { query: 2, unknown: 1 },
    failed: 1,
    errors: { 'validation-failed': 1 },
    sources: { default: { statements: expect.any(Number), limit: 50 } },
  });
  expect(minutes[0].sources.default.statements).toBeGreaterThan(1);
  expect(latency.p50_ms).toBeGreaterThan(0);
  const slow = slow_operations.map(({ operation, fields, role }: Record<string, unknown>) => ({
    ...{ operation, fields, role },
  }));
  expect(slow).toContainEqual({ operation: 'Titles', fields: ['book'], role: 'admin' });
  expect(slow).toContainEqual({ operation: null, fields: ['book'], role: 'admin' });
  expect(JSON.stringify(slow_operations)).not.toContain('title');
});

test('metrics are counted for the console, and served only where their API is enabled', async () => {
  expect((await engine.fetch('/v1/metrics')).status).toBe(404);
  const other = await startTestEngine({ databaseUrl: database.url });
  try {
    const { body } = await other.admin('get_recent_activity', {});
    expect(body).toEqual({ is_counting: false, minutes: [], latency: null, slow_operations: [] });
  } finally {
    await other.close();
  }
});

test('subscriptions are listed by role, and their statements with what they cost', async () => {
  expect(await look('list_subscriptions')).toEqual({ subscriptions: 0, roles: [], pollers: [] });
  const socket = await openSession(engine);
  const query = 'subscription { book(where: {title: {_eq: "hidden"}}) { id } }';
  socket.send({ type: 'subscribe', id: '1', payload: { query } });
  await socket.next();
  const found = await look('list_subscriptions');
  expect(found).toMatchObject({
    subscriptions: 1,
    roles: [{ role: 'admin', subscriptions: 1 }],
    pollers: [
      { kind: 'live query', source: 'default', interval_ms: 1000, cohorts: 1, subscribers: 1, failures: 0 },
    ],
  });
  expect(found.pollers[0].runs).toBeGreaterThan(0);
  expect(found.pollers[0].mean_ms).toBeGreaterThan(0);
  expect(found.pollers[0].share).toBeGreaterThan(0);
  expect(JSON.stringify(found)).not.toContain('hidden');
  socket.close();
  await socket.closed;
});

test('triggers and asynchronous actions are listed by name', async () => {
  const table = { schema: 'public', name: 'book' };
  expect(await look('list_triggers')).toEqual({
    event_triggers: [{ source: 'default', table, name: 'on_book', operations: ['insert'], is_manual: false }],
    cron_triggers: [{ name: 'nightly', schedule: '0 3 * * *' }],
    declared_events: [],
    asynchronous_actions: [{ name: 'work' }],
  });
});

test('calls of asynchronous actions have their input and what came back, for administrators only', async () => {
  await engine.graphql('mutation { work(n: 7) }');
  type Calls = { readonly calls: readonly { readonly status: string }[] };
  const calls = async (args: object) => (await engine.admin<Calls>('list_action_calls', args)).body.calls;
  await expect.poll(async () => (await calls({}))[0]?.status).toBe('failed');
  expect(await calls({ action: 'work' })).toMatchObject([
    {
      ...{ action: 'work', status: 'failed', interruptions: 0, request: { input: { n: 7 } } },
      ...{ response: null, errors: { error: 'internal error' } },
    },
  ]);
  expect(await calls({ status: ['waiting'] })).toEqual([]);
  expect(await calls({ action: 'other' })).toEqual([]);
  expect(await calls({ offset: 1 })).toEqual([]);
  expect(await look('list_action_calls')).toMatchObject({ code: 'access-denied' });
});

test('scheduled events are listed newest first on request', async () => {
  const listed = async (newest_first: boolean) => {
    const args = { type: 'cron', trigger_name: 'nightly', newest_first, limit: 3 };
    type Events = { readonly events: readonly { readonly scheduled_time: string }[] };
    const { body } = await engine.admin<Events>('get_scheduled_events', args);
    return body.events.map(({ scheduled_time }) => scheduled_time);
  };
  await expect.poll(async () => (await listed(false)).length).toBe(3);
  expect((await listed(false)).toSorted()).toEqual(await listed(false));
  expect((await listed(true)).toSorted().toReversed()).toEqual(await listed(true));
  expect((await listed(true))[0]! > (await listed(false))[0]!).toBe(true);
  const due = { type: 'cron', trigger_name: 'nightly', newest_first: true, due_only: true };
  expect((await engine.admin('get_scheduled_events', due)).body).toEqual({ events: [] });
});

test('a log that cannot be read in ten seconds is not waited for', { timeout: 30_000 }, async () => {
  await database.sql(`insert into book values (2, 'Two')`);
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  try {
    await client.query('begin; lock table pergola.event_log, pergola.action_call in access exclusive mode');
    const answers = await Promise.all([
      engine.admin('pg_get_event_logs', { name: 'on_book' }),
      engine.admin('list_action_calls', {}),
    ]);
    for (const { status, body } of answers) {
      expect([status, body]).toMatchObject([400, { internal: { error: { status_code: '57014' } } }]);
    }
  } finally {
    await client.query('rollback');
    await client.end();
  }
});
