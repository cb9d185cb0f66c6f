/** Tests scheduled events that the document declares: each is delivered once, whatever happens to its declaration, its row and its
 *  replicas afterwards. Uses whole engines and a webhook. */
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { startTestEngine, type TestEngine } from '../../testing/engine.ts';
import { TestWebhook } from '../../testing/webhook.ts';
import { testDatabase } from '../../testing/world.ts';

const database = testDatabase();
let engine: TestEngine;
let webhook: TestWebhook<Record<string, unknown>>;

const start = () =>
  startTestEngine({ databaseUrl: database.url, env: { HOOK: webhook.url }, eventsFetchInterval: 30 });
const soon = <T>(body: () => T) => vi.waitFor(body, { timeout: 15_000, interval: 20 });
const must = async (type: string, args: object, from: TestEngine = engine) => {
  const { status, body } = await from.admin(type, args);
  expect({ type, status, body }).toMatchObject({ status: 200 });
  return body as Record<string, unknown>;
};
const inMs = (ms: number) => new Date(Date.now() + ms).toISOString();
const FAR = '2999-01-01T00:00:00.000Z';
const EVENT = { name: 'switch', webhook: '{{HOOK}}/once', schedule_at: FAR };
const declare = (more: object = {}, from?: TestEngine) =>
  must('declare_scheduled_event', { ...EVENT, replace: true, ...more }, from);
const events = async () =>
  (await must('get_scheduled_events', { type: 'declared' }))['events'] as readonly {
    id: string;
    status: string;
    tries: number;
    scheduled_time: string;
    trigger_name: string;
  }[];
const delivered = () =>
  soon(async () => expect((await events()).map(({ status }) => status)).toContain('delivered'));
/** Waits until the engine has fetched events several times. */
const fetched = () => new Promise((resolve) => setTimeout(resolve, 400));

beforeAll(async () => {
  webhook = await TestWebhook.start();
  engine = await start();
});
afterAll(async () => {
  await engine?.close();
  webhook.close();
});
beforeEach(async () => {
  webhook.reset();
  await must('clear_metadata', {});
  await database.sql('truncate pergola.scheduled_event, pergola.declared_event cascade');
});

test('a declared event is delivered at its time, with its name and payload', async () => {
  const at = inMs(300);
  await declare({ schedule_at: at, payload: { a: [1] }, comment: 'why' });
  expect(webhook.received).toEqual([]);
  await delivered();
  expect(Date.now()).toBeGreaterThanOrEqual(Date.parse(at));
  const [event] = await events();
  expect(webhook.received.map(({ path, body }) => [path, body])).toEqual([
    [
      '/once',
      {
        id: event!.id,
        name: 'switch',
        scheduled_time: at.replace(/\.?0*Z$/, 'Z'),
        created_at: expect.any(String),
        payload: { a: [1] },
        comment: 'why',
      },
    ],
  ]);
  const { invocations } = await must('get_scheduled_event_invocations', {
    type: 'declared',
    event_id: event!.id,
  });
  expect(invocations).toMatchObject([{ status: 200 }]);
});

test('the document contains the declaration, and an export without one has no key for it', async () => {
  expect(await must('export_metadata', {})).not.toHaveProperty('scheduled_events');
  await declare();
  const exported = await must('export_metadata', {});
  expect(exported['scheduled_events']).toEqual([EVENT]);
  await must('replace_metadata', { ...exported, scheduled_events: [] });
  expect(await events()).toEqual([]);
  await must('replace_metadata', exported);
  expect(await events()).toMatchObject([{ status: 'scheduled', trigger_name: 'switch' }]);
});

test('what is sent is the declaration at the time of the delivery', async () => {
  const at = inMs(700);
  await declare({ schedule_at: at, payload: 1 });
  const [before] = await events();
  await declare({ schedule_at: at, payload: 2, webhook: '{{HOOK}}/later' });
  await delivered();
  expect(webhook.received.map(({ path, body }) => [path, body['payload'], body['id']])).toEqual([
    ['/later', 2, before!.id],
  ]);
});

test('another time replaces an event that waits, and is a new event after the delivery', async () => {
  await declare();
  const [first] = await events();
  await declare({ schedule_at: '2998-01-01T00:00:00.000Z' });
  const moved = await events();
  expect(moved).toMatchObject([{ scheduled_time: '2998-01-01T00:00:00Z' }]);
  expect(moved[0]!.id).not.toBe(first!.id);
  await declare({ schedule_at: inMs(0) });
  await delivered();
  await declare({ schedule_at: inMs(0), payload: 'again' });
  await soon(() => expect(webhook.received.map(({ body }) => body['payload'])).toEqual([null, 'again']));
});

const AFTERWARDS: Readonly<Record<string, (at: string) => Promise<unknown>>> = {
  'is declared again with another payload': (at) => declare({ schedule_at: at, payload: 'other' }),
  'is removed and declared again': async (at) => {
    await must('undeclare_scheduled_event', { name: 'switch' });
    await declare({ schedule_at: at });
  },
  'loses its row by the operation': async (at) => {
    await must('delete_scheduled_event', { type: 'declared', event_id: (await events())[0]!.id });
    await declare({ schedule_at: at, payload: 'other' });
  },
  'loses its row by SQL, and the metadata is cleared': async (at) => {
    await database.sql("delete from pergola.scheduled_event where status = 'delivered'");
    await must('clear_metadata', {});
    await declare({ schedule_at: at });
  },
  'is declared to another replica': async (at) => {
    const other = await start();
    onTestFinished(() => other.close());
    await declare({ schedule_at: at, payload: 'other' }, other);
  },
};
test.each(Object.entries(AFTERWARDS))(
  'a delivered event that %s is not delivered again',
  async (_, change) => {
    const at = inMs(0);
    await declare({ schedule_at: at });
    await delivered();
    await change(at);
    // A replica that starts updates the upcoming events.
    const fresh = await start();
    onTestFinished(() => fresh.close());
    await fetched();
    expect(webhook.received).toHaveLength(1);
  },
);

test('an event whose declaration is removed before its time is not delivered, and is when it is declared again', async () => {
  const at = inMs(600);
  await declare({ schedule_at: at });
  await must('undeclare_scheduled_event', { name: 'switch' });
  expect(await events()).toEqual([]);
  await new Promise((resolve) => setTimeout(resolve, 900));
  expect(webhook.received).toEqual([]);
  await declare({ schedule_at: at });
  await delivered();
  expect(webhook.received).toHaveLength(1);
});

test('an event that an administrator deletes before its time is not delivered', async () => {
  const at = inMs(600);
  await declare({ schedule_at: at });
  await must('delete_scheduled_event', { type: 'declared', event_id: (await events())[0]!.id });
  await declare({ schedule_at: at, payload: 'other' });
  await new Promise((resolve) => setTimeout(resolve, 900));
  expect(webhook.received).toEqual([]);
});

test('of many replicas one delivers', async () => {
  const replicas = await Promise.all([start(), start()]);
  onTestFinished(async () => {
    await Promise.all(replicas.map((replica) => replica.close()));
  });
  await Promise.all(
    Array.from({ length: 12 }, (_, i) =>
      declare({ name: `e${i}`, schedule_at: inMs(0), payload: i }, [engine, ...replicas][i % 3]),
    ),
  );
  await soon(() => expect(webhook.received.length).toBeGreaterThanOrEqual(12));
  await fetched();
  expect(webhook.received.map(({ body }) => Number(body['payload'])).toSorted((a, b) => a - b)).toEqual([
    ...Array(12).keys(),
  ]);
});

test('an event with a time too long ago is dead', async () => {
  await declare({ schedule_at: '2020-01-01T00:00:00Z' });
  await soon(async () => expect(await events()).toMatchObject([{ status: 'dead', tries: 0 }]));
  expect(webhook.received).toEqual([]);
});

test('an event whose variable is missing waits', async () => {
  const body = (
    await engine.admin<object>('patch_metadata', {
      put: [
        {
          key: 'scheduled_event/switch',
          definition: { ...EVENT, schedule_at: inMs(0), webhook: '{{NOWHERE}}/once' },
        },
      ],
      allow_inconsistent_metadata: true,
    })
  ).body;
  expect(JSON.stringify(body)).toContain('NOWHERE');
  await fetched();
  expect(await events()).toMatchObject([{ status: 'scheduled', tries: 0 }]);
  expect(webhook.received).toEqual([]);
});
