/** Deliveries of several triggers of whole engines, one of which hangs or has a long backlog: the others do not wait for it. */
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { testWorld } from '../../testing/world.ts';

/** Counts of deliveries, by path of the webhook. */
let told: Map<string, number>;
let hanging: ServerResponse[] = [];
const hooks = [0, 1, 2].map(() =>
  createServer((request, response) => {
    told.set(request.url!, (told.get(request.url!) ?? 0) + 1);
    request.resume();
    if (request.url!.startsWith('/hang')) hanging.push(response);
    else response.end('{}');
  }),
);
/** Hosts count by their ports. */
let urls: string[];

/** Far less than the 60 seconds after which a webhook that hangs is given up, and enough for a busy machine. */
const within = <T>(body: () => T) => vi.waitFor(body, { timeout: 14_000, interval: 20 });
const make = (name: string, webhook: string) =>
  engine.must('pg_create_event_trigger', {
    name,
    table: name,
    webhook,
    insert: { columns: '*' },
    retry_conf: { timeout_sec: 60 },
  });

afterAll(async () => {
  for (const response of hanging) response.destroy();
  for (const hook of hooks) hook.close();
});

const { database, engine } = testWorld(
  async () => {
    for (const hook of hooks) await new Promise<void>((done) => hook.listen(0, '127.0.0.1', done));
    urls = hooks.map((hook) => `http://127.0.0.1:${(hook.address() as AddressInfo).port}`);
  },
  () => ({
    eventsFetchInterval: 100,
    gracefulShutdownTimeout: 0,
    enabledApis: ['metadata', 'graphql', 'metrics'],
  }),
);
beforeEach(async () => {
  await engine.must('clear_metadata', {});
  const log = await database.sql(`select to_regclass('pergola.event_log') as log`);
  if (log[0]?.['log']) await database.sql('truncate pergola.event_log, pergola.event_invocation_log');
  for (const response of hanging) response.destroy();
  hanging = [];
  told = new Map();
  const tables = ['slow', 'slower', 'quick'];
  for (const table of tables) {
    await database.sql(
      `drop table if exists ${table} cascade; create table ${table} (id bigint primary key)`,
    );
    await engine.must('pg_track_table', { table });
  }
});

test('a webhook that hangs, with 10,000 events waiting, delays no other trigger', async () => {
  await make('slow', `${urls[0]}/hang`);
  await make('quick', `${urls[1]}/quick`);
  await database.sql('insert into slow select generate_series(1, 10000)');
  await within(() => expect(told.get('/hang')).toBe(25));
  await database.sql('insert into quick select generate_series(1, 200)');
  await within(() => expect(told.get('/quick')).toBe(200));
  expect(told.get('/hang')).toBe(25);
  // Deliveries to the quick webhook may still be recorded as done.
  const metrics = async () => (await engine.fetch('/v1/metrics')).text();
  await expect.poll(metrics, { timeout: 5000 }).toContain('pergola_events_full_triggers{kind="row"} 1');
  await expect.poll(metrics, { timeout: 5000 }).toContain('pergola_events_in_flight{kind="row"} 25');
});

test('several triggers of a hanging host share the slots of the host', async () => {
  await make('slow', `${urls[0]}/hang/1`);
  await make('slower', `${urls[0]}/hang/2`);
  await make('quick', `${urls[1]}/quick`);
  for (const table of ['slow', 'slower'])
    await database.sql(`insert into ${table} select generate_series(1, 500)`);
  await within(() => expect(hanging).toHaveLength(50));
  await database.sql('insert into quick values (1)');
  await within(() => expect(told.get('/quick')).toBe(1));
  expect(hanging).toHaveLength(50);
});

test('a long backlog of one trigger is delivered in turn with the events of another', async () => {
  await make('slow', `${urls[0]}/a`);
  await make('quick', `${urls[1]}/b`);
  await database.sql('insert into slow select generate_series(1, 10000)');
  await within(() => expect(told.get('/a')).toBeGreaterThan(0));
  await database.sql('insert into quick select generate_series(1, 20)');
  await within(() => expect(told.get('/b')).toBe(20));
  expect(told.get('/a')).toBeLessThan(10_000);
});

test('hanging row events delay no scheduled event, and neither does a hanging one-off event', async () => {
  await make('slow', `${urls[0]}/hang/row`);
  await database.sql('insert into slow select generate_series(1, 500)');
  const once = (webhook: string) =>
    engine.must('create_scheduled_event', { webhook, schedule_at: new Date().toISOString(), payload: {} });
  await once(`${urls[1]}/hang/once`);
  // As clients would make them, one after the other.
  await database.sql(
    `insert into pergola.scheduled_event (type, definition, scheduled_time)
     select 'one_off', definition, scheduled_time from pergola.scheduled_event, generate_series(1, 2000)
      where type = 'one_off'`,
  );
  await within(() => expect(told.get('/hang/once')).toBe(25));
  await once(`${urls[2]}/once`);
  await within(() => expect(told.get('/once')).toBe(1));
  await engine.must('create_cron_trigger', {
    name: 'yearly',
    schedule: '59 3 1 1 *',
    webhook: `${urls[2]}/cron`,
    include_in_metadata: true,
  });
  onTestFinished(async () => {
    await engine.must('delete_cron_trigger', { name: 'yearly' });
    await database.sql('truncate pergola.scheduled_event cascade');
  });
  await database.sql(
    `update pergola.scheduled_event set scheduled_time = now()
      where id = (select id from pergola.scheduled_event where trigger_name = 'yearly' order by scheduled_time limit 1)`,
  );
  await within(() => expect(told.get('/cron')).toBe(1));
  expect(told.get('/hang/once')).toBe(25);
});
