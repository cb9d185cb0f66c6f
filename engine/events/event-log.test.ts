/** Records of attempts in the log of a source: what happens at the same time is written together, and nothing waits for another event. */
import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { testDatabase } from '../../testing/world.ts';
import { type Database, openDatabase } from '../database/pool.ts';
import { createLog, type LoggedEvent, logManualEvent, recordAttempt, takeEvents } from './event-log.ts';
import type { RetryDecision } from './retry.ts';

const TRIGGER = 'told';
const TABLE = { schema: 'public', name: 'row' };
const attempt = { status: 200, retryAfterSeconds: null, request: { text: '\0 " \\' }, response: [null] };
const DELIVERED = { kind: 'delivered' } as const;

const source = testDatabase();
let database: Database;

beforeAll(async () => {
  database = openDatabase(source.url);
  await database.transaction({}, createLog);
});
afterAll(() => database.close());
beforeEach(async () => {
  await source.sql('truncate pergola.event_log, pergola.event_invocation_log');
  vi.spyOn(database, 'query');
});

async function taken(count: number): Promise<readonly LoggedEvent[]> {
  await database.transaction({}, async (client) => {
    for (let i = 0; i < count; i++) await logManualEvent(client, TRIGGER, TABLE, { payload: i, session: {} });
  });
  const triggers = [{ trigger: TRIGGER, free: count, host: '', freeForHost: count }];
  const all = { triggers, most: count, leaseSeconds: 60, takesInterrupted: false };
  const events = await takeEvents(database, all);
  vi.mocked(database.query).mockClear();
  return events;
}
/** The number of statements that recorded attempts. */
const statements = () => vi.mocked(database.query).mock.calls.length;
const record = (event: LoggedEvent, decision: RetryDecision = DELIVERED) =>
  recordAttempt(database, { event, attempt, decision });
const states = () =>
  source.sql(`select tries, locked is not null as locked, delivered, error,
    round(extract(epoch from next_retry_at - now())) > 50 as later, count(i.id)::int as invocations
    from pergola.event_log e left join pergola.event_invocation_log i on i.event_id = e.id group by e.id order by e.created_at, e.id`);

test.each([
  ['delivered', DELIVERED, { delivered: true }],
  ['failed', { kind: 'failed' }, { error: true }],
  ['again', { kind: 'again', afterSeconds: 60 }, { later: true }],
  ['now', { kind: 'now' }, { locked: true }],
] as const)('an event that is %s, alone and among others', async (_, decision, state) => {
  const events = await taken(4);
  await record(events[0]!, decision);
  await Promise.all(events.slice(1).map((event) => record(event, decision)));
  const nothing = { tries: 1, locked: false, delivered: false, error: false, invocations: 1 };
  const later = decision.kind === 'again' ? true : null;
  expect(await states()).toEqual(Array(4).fill({ ...nothing, ...state, later }));
  const logged = await source.sql('select status, request, response from pergola.event_invocation_log');
  expect(logged).toEqual(Array(4).fill({ status: 200, request: attempt.request, response: [null] }));
  expect(statements()).toBe(2);
});

test('attempts that end while others are recorded are recorded together', async () => {
  const events = await taken(250);
  await Promise.all(events.map((event) => record(event)));
  expect(statements()).toBeLessThanOrEqual(3);
  expect(await source.sql('select count(*)::int from pergola.event_log where delivered')).toEqual([
    { count: 250 },
  ]);
});

test('an event that another session has locked delays no other one', async () => {
  const events = await taken(20);
  const locked = Promise.withResolvers<void>();
  const release = Promise.withResolvers<void>();
  const holding = database.transaction({}, async (client) => {
    await client.query('select from pergola.event_log where id = $1 for update', [events[3]!.id]);
    locked.resolve();
    await release.promise;
  });
  await locked.promise;
  let isRecorded = false;
  const waiting = record(events[3]!).then(() => {
    isRecorded = true;
  });
  await Promise.all(events.filter((_, i) => i !== 3).map((event) => record(event)));
  expect(isRecorded).toBe(false);
  release.resolve();
  await Promise.all([waiting, holding]);
  expect(await source.sql('select count(*)::int from pergola.event_log where delivered')).toEqual([
    { count: 20 },
  ]);
});

test('an event that was deleted meanwhile is no failure, and has no record', async () => {
  const events = await taken(3);
  await source.sql('delete from pergola.event_log where id = $1', [events[1]!.id]);
  await Promise.all(events.map((event) => record(event)));
  expect(await states()).toHaveLength(2);
  expect(await source.sql('select event_id::text as id from pergola.event_invocation_log')).toHaveLength(2);
});

test('an attempt that cannot be recorded fails alone', async () => {
  const events = await taken(5);
  const wrong = { ...events[2]!, trigger: 'a\0b' };
  const results = await Promise.allSettled([...events.slice(0, 2), wrong].map((event) => record(event)));
  expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'rejected']);
  expect(await source.sql('select count(*)::int from pergola.event_log where delivered')).toEqual([
    { count: 2 },
  ]);
});
