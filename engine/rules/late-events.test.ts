/** One-off events whose time has passed: how late × the tolerance → delivered at once, or dead and never delivered. Rule:
 *  docs/reference/behaviour/scheduled-triggers.md. */
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { TestWebhook } from '../../testing/webhook.ts';
import { adminOutcome, type RuleWorld, startWorld } from './testing/rules.ts';

type Body = { readonly payload: unknown; readonly scheduled_time: string };

let webhook: TestWebhook<Body>;
let world: RuleWorld;
beforeAll(async () => {
  webhook = await TestWebhook.start();
  world = await startWorld({
    sql: 'select 1',
    tables: [],
    options: { env: { HOOK: webhook.url }, eventsFetchInterval: 30 },
  });
});
afterAll(async () => {
  await world?.close();
  webhook?.close();
});

const HOUR = 3600;
const MINUTE = 60;
/** Six hours: the default. */
const DEFAULT = 6 * HOUR;
const SECONDS_LATE = [1, MINUTE, DEFAULT - MINUTE, DEFAULT + MINUTE, 48 * HOUR, 10 * 365 * 24 * HOUR];
const TOLERANCES = [undefined, MINUTE / 2, DEFAULT, 100 * HOUR, 1_000_000_000];

describe.each(TOLERANCES)('with a tolerance of %s seconds', (tolerance) => {
  test.each(SECONDS_LATE)('an event that is %i seconds late', async (late) => {
    const isDelivered = late < (tolerance ?? DEFAULT);
    const payload = { late, tolerance: tolerance ?? null };
    const time = new Date(Date.now() - late * 1000).toISOString();
    const outcome = (await adminOutcome(world.engine, 'create_scheduled_event', {
      webhook: '{{HOOK}}/late',
      schedule_at: time,
      payload,
      ...(tolerance === undefined ? {} : { retry_conf: { tolerance_seconds: tolerance } }),
    })) as { data: { event_id: string } };
    const { event_id } = outcome.data;
    const event = async () => {
      const { data } = (await adminOutcome(world.engine, 'get_scheduled_events', { type: 'one_off' })) as {
        data: { events: { id: string; status: string; tries: number }[] };
      };
      return data.events.find(({ id }) => id === event_id);
    };
    await vi.waitFor(
      async () => expect(await event()).toMatchObject({ status: isDelivered ? 'delivered' : 'dead' }),
      { timeout: 15_000, interval: 20 },
    );
    const received = webhook.received.filter(
      ({ body }) => JSON.stringify(body.payload) === JSON.stringify(payload),
    );
    expect(received).toHaveLength(isDelivered ? 1 : 0);
    expect(await event()).toMatchObject({ tries: isDelivered ? 1 : 0 });
    if (isDelivered) expect(new Date(received[0]!.body.scheduled_time)).toEqual(new Date(time));
  });
});
