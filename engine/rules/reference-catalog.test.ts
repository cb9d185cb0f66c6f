/** The schema `hdb_catalog` of an engine with `--compatibility reference`: views of event logs and scheduled events, written where the reference
 *  allows it, and never taken for that of a reference engine.
 *  Rule: docs/reference/behaviour/event-triggers.md, "hdb_catalog". */
import pg from 'pg';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createDatabase, type TestDatabase } from '../../testing/database.ts';
import { startTestEngine, type TestEngine, type TestEngineOptions } from '../../testing/engine.ts';
import { TestWebhook } from '../../testing/webhook.ts';
import { readForeignCatalog, readForeignCliState } from '../store/foreign-catalog.ts';

let database: TestDatabase;
let hook: TestWebhook<unknown>;
const engines: TestEngine[] = [];
beforeEach(async () => {
  database = await createDatabase();
  hook = await TestWebhook.start();
  await database.sql('create table note (id int primary key, body text)');
});
afterEach(async () => {
  for (const engine of engines.splice(0)) await engine.close();
  await hook.close();
  await database.drop();
});
const start = async (options: Partial<TestEngineOptions> = {}) => {
  const engine = await startTestEngine({
    databaseUrl: database.url,
    compatibility: 'reference',
    eventsFetchInterval: 100,
    ...options,
  });
  engines.push(engine);
  return engine;
};
const eventually = async (check: () => Promise<void>) => {
  const end = Date.now() + 30_000;
  for (;;) {
    try {
      return await check();
    } catch (error) {
      if (Date.now() > end) throw error;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }
};

test('without the switch there is no such schema', async () => {
  await start({ compatibility: 'safe' });
  expect(await database.sql(`select to_regnamespace('hdb_catalog') as found`)).toEqual([{ found: null }]);
});

test('SQL of a project finds the event log before there is a trigger, and every replica may create it', async () => {
  await Promise.all([start(), start()]);
  await start();
  await database.sql(`create view failed as select * from hdb_catalog.event_log where error and not archived;
    create view answers as select l.id, i.status from hdb_catalog.event_log l
      join hdb_catalog.event_invocation_logs i on i.event_id = l.id`);
  expect(await database.sql('select * from failed')).toEqual([]);
});

test('the event log has the events and their deliveries; an event is sent again by an update, and can be deleted', async () => {
  const engine = await start();
  await engine.admin('pg_track_table', { table: 'note' });
  const trigger = { name: 'noted', table: 'note', webhook: hook.url, insert: { columns: '*' } };
  await engine.must('pg_create_event_trigger', trigger);
  await database.sql(`insert into note values (1, 'a')`);
  const log = `select trigger_name, delivered, payload -> 'data' -> 'new' ->> 'body' as body, pg_typeof(id)::text as id
    from hdb_catalog.event_log`;
  await eventually(async () =>
    expect(await database.sql(log)).toEqual([
      { trigger_name: 'noted', delivered: true, body: 'a', id: 'text' },
    ]),
  );
  const deliveries = 'select count(*)::int from hdb_catalog.event_invocation_logs where status = 200';
  expect(await database.sql(deliveries)).toEqual([{ count: 1 }]);
  await database.sql('update hdb_catalog.event_log set delivered = false, tries = 0');
  await eventually(async () => expect(await database.sql(deliveries)).toEqual([{ count: 2 }]));
  await database.sql('delete from hdb_catalog.event_log where delivered');
  expect(await database.sql('select * from pergola.event_log')).toEqual([]);
});

test('a one-off event that SQL inserts is delivered as one of the API is, with nulls and numbers of its payload', async () => {
  await start();
  await database.sql(`insert into hdb_catalog.hdb_scheduled_events (webhook_conf, scheduled_time, payload, header_conf, comment)
    values (to_json('${hook.url}'::text), now(), '{"a": null, "b": [1.50]}', '[{"name": "x-a", "value": "b"}]', 'by SQL')`);
  const events = `select status, comment, payload::text, webhook_conf #>> '{}' as url from hdb_catalog.hdb_scheduled_events`;
  await eventually(async () =>
    expect(await database.sql(events)).toEqual([
      { status: 'delivered', comment: 'by SQL', payload: '{"a": null, "b": [1.50]}', url: hook.url },
    ]),
  );
  expect(
    await database.sql(
      'select status from hdb_catalog.hdb_scheduled_event_invocation_logs where event_id in (select id from hdb_catalog.hdb_scheduled_events)',
    ),
  ).toEqual([{ status: 200 }]);
  await database.sql('delete from hdb_catalog.hdb_scheduled_events');
  expect(await database.sql('select * from pergola.scheduled_event')).toEqual([]);
});

test.each([
  [`'5', now()`, 'webhook_conf is a URL'],
  [`null, now()`, 'webhook_conf is a URL'],
  [`'"http://x"', null`, 'scheduled_time a time'],
])('an event of %s is refused', async (values, message) => {
  await start();
  const insert = `insert into hdb_catalog.hdb_scheduled_events (webhook_conf, scheduled_time) values (${values})`;
  await expect(database.sql(insert)).rejects.toThrow(message);
});

test('a cron trigger has its events there', async () => {
  const engine = await start();
  const trigger = { name: 'hourly', webhook: hook.url, schedule: '0 * * * *', include_in_metadata: true };
  await engine.must('create_cron_trigger', trigger);
  await eventually(async () => {
    const [{ count }] = (await database.sql(
      `select count(*)::int from hdb_catalog.hdb_cron_events where trigger_name = 'hourly' and status = 'scheduled'`,
    )) as [{ count: number }];
    expect(count).toBeGreaterThan(0);
  });
  expect(await database.sql('select * from hdb_catalog.hdb_action_log')).toEqual([]);
});

test('it is not taken for the catalog of a reference engine', async () => {
  await start();
  await expect(readForeignCatalog(database.url)).rejects.toThrow(
    'the database has no schema hdb_catalog with metadata',
  );
  const client = new pg.Client(database.url);
  await client.connect();
  expect((await readForeignCliState(client)) ?? {}).toEqual({});
  await client.end();
});

test('the schema of a reference engine is left as it is', async () => {
  await database.sql('create schema hdb_catalog; create table hdb_catalog.event_log (id text)');
  const engine = await start();
  expect(await engine.graphql('{ __typename }')).toEqual({ data: { __typename: 'query_root' } });
  expect(
    await database.sql(
      `select relname, relkind::text from pg_class where relnamespace = 'hdb_catalog'::regnamespace`,
    ),
  ).toEqual([{ relname: 'event_log', relkind: 'r' }]);
});
