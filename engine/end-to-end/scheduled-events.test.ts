/** Tests scheduled events of whole engines: webhooks are called on time, with retries, once, and never when it is too
 *  late; future events follow the metadata. Times are changed in the database, so that the tests need not wait for
 *  minutes. */
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { startTestEngine, type TestEngine } from '../../testing/engine.ts';
import { TestWebhook } from '../../testing/webhook.ts';
import { testDatabase } from '../../testing/world.ts';

const database = testDatabase();
let engine: TestEngine;
let webhook: TestWebhook<Record<string, unknown>>;

const start = (more: Partial<Parameters<typeof startTestEngine>[0]> = {}) =>
  startTestEngine({
    databaseUrl: database.url,
    env: { HOOK: webhook.url, TOKEN: 'secret' },
    eventsFetchInterval: 30,
    ...more,
  });
const soon = <T>(body: () => T) => vi.waitFor(body, { timeout: 15_000, interval: 20 });
const must = async (type: string, args: object, from: TestEngine = engine) => {
  const answer = await from.admin(type, args);
  expect(answer).toMatchObject({ status: 200 });
  return answer.body as Record<string, unknown>;
};
const refusal = async (type: string, args: object) => {
  const { status, body } = await engine.admin<{ code: string; path: string; error: string }>(type, args);
  expect(status).toBe(400);
  return body;
};
const YEARLY = {
  name: 'yearly',
  schedule: '59 3 1 1 *',
  webhook: '{{HOOK}}/yearly',
  include_in_metadata: true,
};
const createCron = (args: object = {}) => must('create_cron_trigger', { ...YEARLY, ...args });
const createEvent = (args: object = {}) =>
  must('create_scheduled_event', { webhook: '{{HOOK}}/once', schedule_at: '2026-01-31T12:00:00Z', ...args });
/** Accepts events however late. */
const LATE = { retry_conf: { tolerance_seconds: 1_000_000_000 } };
const eventsOf = async (trigger: string, more: object = {}) => {
  const { events } = await must('get_scheduled_events', { type: 'cron', trigger_name: trigger, ...more });
  return events as readonly { id: string; status: string; tries: number; scheduled_time: string }[];
};
/** Returns the events of a cron trigger that may have been deleted. */
const rowsOf = (trigger: string) =>
  database.sql(`select status, tries from pergola.scheduled_event where trigger_name = '${trigger}'`);
const once = async (more: object = {}) => {
  const { events } = await must('get_scheduled_events', { type: 'one_off', ...more });
  return events as readonly { id: string; status: string; tries: number }[];
};
/** Makes the next event of a cron trigger due now. */
const comeDue = (trigger: string, since = '0 s') =>
  database.sql(
    `update pergola.scheduled_event set scheduled_time = now() - '${since}'::interval
      where id = (select id from pergola.scheduled_event
                   where trigger_name = '${trigger}' and status = 'scheduled' order by scheduled_time limit 1)
     returning id`,
  );

beforeAll(async () => {
  webhook = await TestWebhook.start();
  engine = await start();
});
afterAll(async () => {
  await engine.close();
  webhook.close();
});
beforeEach(async () => {
  webhook.reset();
  await must('clear_metadata', {});
  await database.sql('truncate pergola.scheduled_event cascade');
});

test('an event is delivered once at its time, with its payload and id', async () => {
  const { event_id: id } = await createEvent({ payload: { a: [1] }, comment: 'why', ...LATE });
  await soon(async () => expect(await once()).toMatchObject([{ id, status: 'delivered', tries: 1 }]));
  expect(webhook.received).toMatchObject([
    { path: '/once', headers: { 'content-type': 'application/json' } },
  ]);
  expect(webhook.received[0]?.body).toEqual({
    id,
    scheduled_time: '2026-01-31T12:00:00Z',
    created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
    payload: { a: [1] },
    comment: 'why',
  });
});

test('a future event waits, and can be deleted', async () => {
  const { event_id: id } = await createEvent({ schedule_at: '2999-01-01 02:00:00+02:00' });
  const later = await createEvent({ schedule_at: '2999-01-02T00:00:00Z' });
  expect(await once()).toMatchObject([
    { id, status: 'scheduled', tries: 0, scheduled_time: '2999-01-01T00:00:00Z', next_retry_at: null },
    { id: later['event_id'] },
  ]);
  expect(await refusal('delete_scheduled_event', { type: 'cron', event_id: id })).toMatchObject({
    code: 'not-exists',
    path: '$.args',
  });
  await must('delete_scheduled_event', { type: 'one_off', event_id: id });
  expect(await once()).toMatchObject([{ id: later['event_id'] }]);
  expect(webhook.received).toEqual([]);
});

test('an invalid time is refused with its path', async () => {
  for (const at of ['tomorrow', '2026-01-31', '2026-01-31T12:00:00', '2026-02-30T00:00:00Z', 'infinity']) {
    expect(await refusal('create_scheduled_event', { webhook: webhook.url, schedule_at: at })).toMatchObject({
      code: 'parse-failed',
      path: '$.args.schedule_at',
    });
  }
  expect(await once()).toEqual([]);
});

test('an event of a failed request is not created', async () => {
  const items = [
    { type: 'create_scheduled_event', args: { webhook: webhook.url, schedule_at: '2999-01-01T00:00:00Z' } },
    { type: 'delete_cron_trigger', args: { name: 'none' } },
  ];
  expect(await refusal('bulk', items)).toMatchObject({ code: 'not-exists', path: '$.args[1].args' });
  expect(await once()).toEqual([]);
});

test('the result of creating an event has all its fields', async () => {
  const request_transform = { version: 2, method: 'PUT' };
  await createEvent({
    schedule_at: '2999-01-01T00:00:00Z',
    payload: 7,
    headers: [{ name: 'X-Token', value_from_env: 'TOKEN' }],
    retry_conf: { num_retries: 3 },
    request_transform,
  });
  const [event] = await once();
  expect(event).toMatchObject({
    webhook_conf: '{{HOOK}}/once',
    payload: 7,
    header_conf: [{ name: 'X-Token', value_from_env: 'TOKEN' }],
    retry_conf: {
      num_retries: 3,
      retry_interval_seconds: 10,
      timeout_seconds: 60,
      tolerance_seconds: 21_600,
    },
    comment: null,
    request_transform,
    response_transform: null,
  });
});

test('a cron trigger has a hundred future events, each delivered at its time', async () => {
  await createCron({ payload: { foo: 'baz' }, comment: 'new year' });
  const waiting = await eventsOf('yearly');
  expect(waiting).toHaveLength(100);
  expect(new Set(waiting.map(({ scheduled_time: time }) => time.slice(4)))).toEqual(
    new Set(['-01-01T03:59:00Z']),
  );
  await comeDue('yearly');
  await soon(() => expect(webhook.received).toHaveLength(1));
  expect(webhook.received[0]).toMatchObject({
    path: '/yearly',
    body: { id: waiting[0]?.id, name: 'yearly', payload: { foo: 'baz' }, comment: 'new year' },
  });
  await soon(async () =>
    expect(await eventsOf('yearly', { status: ['delivered'] })).toMatchObject([{ id: waiting[0]?.id }]),
  );
});

test('a failed delivery is retried as often as the trigger says, and every attempt is logged', async () => {
  webhook.reply = () => ({ status: webhook.received.length < 3 ? 500 : 204 });
  await createCron({ retry_conf: { num_retries: 5, retry_interval_seconds: 0 } });
  const [{ id }] = (await comeDue('yearly')) as unknown as [{ id: string }];
  await soon(async () =>
    expect(await eventsOf('yearly', { status: ['delivered'] })).toMatchObject([{ tries: 3 }]),
  );
  const all = await must('get_scheduled_event_invocations', {
    type: 'cron',
    trigger_name: 'yearly',
    get_rows_count: true,
  });
  expect(all).toMatchObject({ count: 3, invocations: [{ status: 204 }, { status: 500 }, { status: 500 }] });
  const page = await must('get_scheduled_event_invocations', {
    type: 'cron',
    event_id: id,
    limit: 1,
    offset: 1,
  });
  expect(page).toEqual({
    invocations: [
      {
        id: expect.any(String),
        event_id: id,
        status: 500,
        request: { payload: webhook.received[1]?.body, headers: [], version: '1' },
        response: expect.objectContaining({ type: 'webhook_response' }),
        created_at: expect.stringMatching(/Z$/),
      },
    ],
  });
});

test('a webhook that never succeeds fails the event, and Retry-After delays the retry', async () => {
  webhook.reply = () => ({ status: 503, headers: { 'retry-after': '1' } });
  await createEvent(LATE);
  await soon(async () => expect(await once()).toMatchObject([{ status: 'error', tries: 2 }]));
  expect(webhook.received).toHaveLength(2);
});

test('an event later than its tolerance is not delivered', async () => {
  await createCron({ retry_conf: { tolerance_seconds: 60 } });
  await comeDue('yearly', '2 min');
  await soon(async () => expect(await eventsOf('yearly', { status: ['dead'] })).toHaveLength(1));
  await comeDue('yearly', '30 s');
  await soon(() => expect(webhook.received).toHaveLength(1));
  expect(await eventsOf('yearly', { status: ['dead'] })).toMatchObject([{ tries: 0 }]);
});

test('headers come from the environment and are not logged; requests are transformed', async () => {
  await createCron({
    webhook: { from_env: 'HOOK' },
    headers: [{ name: 'X-Token', value_from_env: 'TOKEN' }],
    request_transform: {
      version: 2,
      url: '{{$base_url}}/else',
      body: { action: 'transform', template: '{{ $body.name }}' },
    },
  });
  await comeDue('yearly');
  await soon(() =>
    expect(webhook.received).toMatchObject([
      { path: '/else', headers: { 'x-token': 'secret' }, body: 'yearly' },
    ]),
  );
  const logged = await soon(async () => {
    const log = await must('get_scheduled_event_invocations', { type: 'cron', trigger_name: 'yearly' });
    expect(log['invocations']).toHaveLength(1);
    return JSON.stringify(log);
  });
  expect(logged).toContain('value_from_env');
  expect(logged).not.toContain('secret');
});

test("an unset variable is refused, and the engine's own variables are never sent", async () => {
  const unset = [{ name: 'X-A', value_from_env: 'NOWHERE' }];
  for (const type of ['create_scheduled_event', 'create_cron_trigger']) {
    const args = { ...YEARLY, webhook: webhook.url, schedule_at: '2999-01-01T00:00:00Z', headers: unset };
    const refused = await refusal(type, args);
    expect(refused).toMatchObject({ code: 'invalid-configuration' });
    expect(JSON.stringify(refused)).toContain('NOWHERE');
  }
  const stolen = [{ name: 'X-A', value_from_env: 'ENGINE_GRAPHQL_ADMIN_SECRET' }];
  for (const type of ['create_scheduled_event', 'create_cron_trigger']) {
    const args = { ...YEARLY, webhook: webhook.url, schedule_at: '2999-01-01T00:00:00Z', headers: stolen };
    expect(await refusal(type, args)).toMatchObject({ code: 'parse-failed' });
  }
});

test('an invalid schedule is refused; in a document only its trigger is inconsistent', async () => {
  expect(await refusal('create_cron_trigger', { ...YEARLY, schedule: '61 * * * *' })).toMatchObject({
    code: 'parse-failed',
    path: '$.args.schedule',
  });
  const metadata = {
    version: 3,
    sources: [],
    cron_triggers: [YEARLY, { ...YEARLY, name: 'odd', schedule: 'x' }],
  };
  const args = { allow_inconsistent_metadata: true, metadata };
  const report = await engine.admin('replace_metadata', args, { version: 2 });
  expect(report.body).toMatchObject({
    is_consistent: false,
    inconsistent_objects: [{ type: 'cron_trigger', name: 'cron_trigger odd' }],
  });
  expect(await eventsOf('yearly')).toHaveLength(100);
  expect(await eventsOf('odd')).toEqual([]);
});

test('a name is in use until its trigger is deleted', async () => {
  await createCron();
  expect(await refusal('create_cron_trigger', YEARLY)).toEqual({
    code: 'already-exists',
    error: 'cron trigger with name: yearly already exists',
    path: '$.args',
  });
  await createCron({ schedule: '0 0 1 * *', replace: true });
  const times = (await eventsOf('yearly')).map(({ scheduled_time: time }) => time.slice(8));
  expect(times).toHaveLength(100);
  expect(new Set(times)).toEqual(new Set(['01T00:00:00Z']));
  await must('delete_cron_trigger', { name: 'yearly' });
  expect(await refusal('delete_cron_trigger', { name: 'yearly' })).toMatchObject({ code: 'not-exists' });
  expect(await rowsOf('yearly')).toEqual([]);
});

test('a trigger keeps its events when anything but its schedule changes', async () => {
  await createCron();
  const before = await eventsOf('yearly');
  await createCron({ webhook: '{{HOOK}}/other', replace: true });
  expect(await eventsOf('yearly')).toEqual(before);
  await comeDue('yearly');
  await soon(() => expect(webhook.received).toMatchObject([{ path: '/other' }]));
});

test('a delivery in progress finishes when its trigger is deleted, and an event with retries left is dead', async () => {
  webhook.reply = () => ({ status: 500 });
  await createCron({ retry_conf: { num_retries: 1, retry_interval_seconds: 3600 } });
  await comeDue('yearly');
  await soon(async () => expect((await eventsOf('yearly', { limit: 1 }))[0]).toMatchObject({ tries: 1 }));
  await must('delete_cron_trigger', { name: 'yearly' });
  expect(await rowsOf('yearly')).toEqual([{ status: 'dead', tries: 1 }]);
});

test('pages, states and counts of events', async () => {
  await createCron();
  const all = await eventsOf('yearly');
  await database.sql(`update pergola.scheduled_event set status = 'error' where id = '${all[1]?.id}'`);
  expect(await eventsOf('yearly', { limit: 2, offset: 1 })).toMatchObject([
    { id: all[1]?.id },
    { id: all[2]?.id },
  ]);
  const some = await must('get_scheduled_events', {
    type: 'cron',
    trigger_name: 'yearly',
    status: ['error', 'dead'],
    get_rows_count: true,
    limit: 0,
  });
  expect(some).toEqual({ events: [], count: 1 });
  expect(await once()).toEqual([]);
  expect(await refusal('get_scheduled_events', { type: 'cron' })).toMatchObject({ code: 'parse-failed' });
  expect(await refusal('get_scheduled_events', { type: 'x' })).toMatchObject({ code: 'parse-failed' });
});

test('a trigger with include_in_metadata false is not exported, and a replacement of the metadata keeps it', async () => {
  await createCron();
  await createCron({ name: 'hidden', include_in_metadata: false });
  const exported = await must('export_metadata', {});
  expect(exported['cron_triggers']).toEqual([YEARLY]);
  await must('replace_metadata', { ...exported, cron_triggers: [] });
  const { cron_triggers: left } = await must('get_cron_triggers', {});
  expect(left).toEqual([
    {
      ...YEARLY,
      name: 'hidden',
      include_in_metadata: false,
      headers: [],
      retry_conf: {
        num_retries: 0,
        retry_interval_seconds: 10,
        timeout_seconds: 60,
        tolerance_seconds: 21_600,
      },
    },
  ]);
  expect(await rowsOf('yearly')).toEqual([]);
  expect(await eventsOf('hidden')).toHaveLength(100);
  await must('clear_metadata', {});
  expect(await rowsOf('hidden')).toEqual([]);
});

test('two replicas deliver every event once', async () => {
  const other = await start();
  onTestFinished(() => other.close());
  await Promise.all(
    Array.from({ length: 30 }, (_, i) =>
      must(
        'create_scheduled_event',
        { webhook: webhook.url, schedule_at: '2026-01-31T12:00:00Z', payload: i, ...LATE },
        i % 2 ? other : engine,
      ),
    ),
  );
  await soon(async () => expect(await once({ status: ['delivered'] })).toHaveLength(30));
  expect(webhook.received.map(({ body }) => Number(body['payload'])).toSorted((a, b) => a - b)).toEqual([
    ...Array(30).keys(),
  ]);
});

test('a replica delivers events of a trigger that another one created', async () => {
  const quiet = await start({ eventsFetchInterval: 0 });
  onTestFinished(() => quiet.close());
  await must('create_cron_trigger', YEARLY, quiet);
  await comeDue('yearly');
  await soon(() => expect(webhook.received).toHaveLength(1));
});

test('another engine delivers the events of an engine that is gone', async () => {
  await createEvent({ schedule_at: '2999-01-01T00:00:00Z', ...LATE });
  await database.sql(`update pergola.scheduled_event set scheduled_time = now(), status = 'locked',
    lease_ends_at = now() + interval '1 hour'`);
  await new Promise((resolve) => setTimeout(resolve, 200));
  expect(webhook.received).toEqual([]);
  await database.sql(`update pergola.scheduled_event set lease_ends_at = now() - interval '1 second'`);
  // The attempt of the engine that is gone counts.
  await soon(async () => expect(await once()).toMatchObject([{ status: 'delivered', tries: 2 }]));
});

test('a stopping engine releases the events whose webhook has not answered in time', async () => {
  const gate = Promise.withResolvers<void>();
  webhook.open = gate.promise;
  onTestFinished(() => gate.resolve());
  await must('clear_metadata', {});
  await engine.close();
  const stopping = await start({ gracefulShutdownTimeout: 0 });
  await must(
    'create_scheduled_event',
    { webhook: webhook.url, schedule_at: '2026-01-31T12:00:00Z', ...LATE },
    stopping,
  );
  await soon(() => expect(webhook.received).toHaveLength(1));
  await stopping.close();
  expect(await database.sql('select status, lease_ends_at from pergola.scheduled_event')).toEqual([
    { status: 'scheduled', lease_ends_at: null },
  ]);
  gate.resolve();
  engine = await start();
  await soon(async () => expect(await once()).toMatchObject([{ status: 'delivered' }]));
});

test('a starting engine creates missing events, and deletes those of unknown triggers', async () => {
  await createCron();
  await engine.close();
  await database.sql(`update pergola.scheduled_event set trigger_name = 'gone'`);
  engine = await start();
  await soon(async () => expect(await eventsOf('yearly')).toHaveLength(100));
  expect(await rowsOf('gone')).toEqual([]);
});
