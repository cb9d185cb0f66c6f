/** An event whose trigger becomes invalid while a poll takes the event: it waits for the repair, as events do that are created afterwards. */
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest';
import { TestWebhook } from '../../testing/webhook.ts';
import { testDatabase } from '../../testing/world.ts';
import { type Database, openDatabase } from '../database/pool.ts';
import { graceOf } from '../limits/grace.ts';
import type { Model } from '../resolve/model/model.ts';
import type { OutboundContext } from '../webhook/outbound.ts';
import { DeliverySlots, slotLimits } from './delivery-slots.ts';
import { eventFeeds } from './event-feed.ts';
import { createLog, logManualEvent } from './event-log.ts';
import { Worker } from './worker.ts';

const TRIGGER = 'told';

const source = testDatabase();
let database: Database;
let webhook: TestWebhook<object>;
beforeAll(async () => {
  database = openDatabase(source.url);
  await database.transaction({}, createLog);
  await database.transaction({}, (client) =>
    logManualEvent(client, TRIGGER, { schema: 'public', name: 'row' }, { payload: 1, session: {} }),
  );
  webhook = await TestWebhook.start();
});
afterAll(async () => {
  webhook.close();
  await database.close();
});

/** The part of a model that feeds read. */
function modelOf(isHeld: boolean): Model {
  const trigger = {
    name: TRIGGER,
    webhook: { url: webhook.url, headers: [], timeoutSeconds: 60 },
    retries: { most: 0, intervalSeconds: 1 },
    isHeld,
  };
  const eventTriggers = new Map([[TRIGGER, trigger]]);
  return { sources: new Map([['default', { name: 'default', eventTriggers }]]) } as unknown as Model;
}

test('it is released, not delivered and not counted as an attempt', async () => {
  let model = modelOf(false);
  const outbound = { variables: {}, headers: {}, headerPrefix: 'x-engine-' } as unknown as OutboundContext;
  const context = { databases: { get: () => database }, outbound };
  const observed: object[] = [];
  const worker = new Worker({
    feeds: () => eventFeeds(() => model, context),
    intervalMs: 0,
    batchSize: 10,
    slots: new DeliverySlots(slotLimits(10, 10, 10)),
    observe: (observation) => observed.push(observation),
  });
  onTestFinished(() => worker.close(graceOf(0)));
  const queries = vi.spyOn(database, 'query');
  worker.poll();
  model = modelOf(true);
  await vi.waitFor(() => expect(queries).toHaveBeenCalledTimes(2));
  const state = 'select locked, tries, delivered, error from pergola.event_log';
  await vi.waitFor(async () =>
    expect(await source.sql(state)).toEqual([{ locked: null, tries: 0, delivered: false, error: false }]),
  );
  expect([webhook.received, observed]).toEqual([[], []]);
});
