/** Tests event triggers of whole engines: changed rows are delivered to webhooks with the session that changed them,
 *  retried until they succeed, and delivered once. */
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { startTestEngine, type TestEngine } from '../../testing/engine.ts';
import { TestWebhook } from '../../testing/webhook.ts';
import { testDatabase } from '../../testing/world.ts';

type Delivery = {
  readonly id: string;
  readonly created_at: string;
  readonly trigger: { readonly name: string };
  readonly event: { readonly op: string; readonly data: unknown; readonly session_variables: unknown };
  readonly delivery_info: unknown;
};

const database = testDatabase();
let engine: TestEngine;
let webhook: TestWebhook<Delivery>;

const start = (env: Record<string, string> = {}) =>
  startTestEngine({
    databaseUrl: database.url,
    env: { HOOK: webhook.url, TOKEN: 'secret', ...env },
    eventsFetchInterval: 30,
  });
const soon = <T>(body: () => T) => vi.waitFor(body, { timeout: 15_000, interval: 20 });
const create = (args: object) =>
  engine.must('pg_create_event_trigger', { table: 'author', webhook: '{{HOOK}}', ...args });
const all = { insert: { columns: '*' }, update: { columns: '*' }, delete: { columns: '*' } };
const data = () => webhook.received.map(({ body }) => [body.event.op, body.event.data]);
const waiting = async () => {
  const rows = await database.sql(
    'select count(*)::int as n from pergola.event_log where not delivered and not error',
  );
  return rows[0]?.['n'];
};

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
  await engine.must('clear_metadata', {});
  const log = await database.sql(`select to_regclass('pergola.event_log') as log`);
  if (log[0]?.['log']) await database.sql('truncate pergola.event_log, pergola.event_invocation_log');
  await database.sql(`drop table if exists author cascade; drop table if exists writer cascade;
    create table author (id bigint primary key, name text, note json)`);
  await engine.must('pg_track_table', { table: 'author' });
});

test('inserts, updates and deletes through GraphQL are delivered with their session', async () => {
  await create({ name: 'all', ...all });
  const permission = { check: {}, columns: '*' };
  await engine.must('pg_create_insert_permission', { table: 'author', role: 'user', permission });
  await engine.graphql('mutation { insert_author(objects: {id: 1, name: "Ada"}) { affected_rows } }', {
    role: 'user',
    headers: { 'x-engine-user-id': '7' },
  });
  await soon(() => expect(webhook.received).toHaveLength(1));
  expect(webhook.received[0]?.body).toEqual({
    id: expect.stringMatching(/^[0-9a-f-]{36}$/),
    created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
    table: { schema: 'public', name: 'author' },
    trigger: { name: 'all' },
    event: {
      op: 'INSERT',
      data: { old: null, new: { id: 1, name: 'Ada', note: null } },
      session_variables: { 'x-engine-role': 'user', 'x-engine-user-id': '7' },
      trace_context: null,
    },
    delivery_info: { current_retry: 0, max_retries: 0 },
  });
  await engine.graphql('mutation { update_author(where: {}, _set: {name: "Bob"}) { affected_rows } }');
  await soon(() => expect(webhook.received).toHaveLength(2));
  await engine.graphql('mutation { delete_author(where: {}) { affected_rows } }');
  await soon(() => expect(webhook.received).toHaveLength(3));
  expect(data().slice(1)).toEqual([
    ['UPDATE', { old: { id: 1, name: 'Ada', note: null }, new: { id: 1, name: 'Bob', note: null } }],
    ['DELETE', { old: { id: 1, name: 'Bob', note: null }, new: null }],
  ]);
  expect(webhook.received[2]?.body.event.session_variables).toEqual({ 'x-engine-role': 'admin' });
});

test('changes by plain SQL have no session', async () => {
  await create({ name: 'all', ...all });
  await database.sql(`insert into author values (1, 'Ada')`);
  await soon(() => expect(webhook.received).toHaveLength(1));
  expect(webhook.received[0]?.body.event.session_variables).toBeNull();
});

test('all digits of a bigint are sent', async () => {
  await create({ name: 'all', ...all });
  await database.sql(`insert into author values (9007199254740993, 'Ada')`);
  const logs = await soon(async () => {
    const response = await engine.fetch('/v1/metadata', {
      method: 'POST',
      body: JSON.stringify({ type: 'pg_get_event_logs', args: { name: 'all' } }),
    });
    const text = await response.text();
    expect(text).toContain('"delivered":true');
    return text;
  });
  expect(logs).toContain('"id":9007199254740993');
});

test('an update is delivered when a watched column changes, also one of a type without equality', async () => {
  await create({ name: 'some', update: { columns: ['note'], payload: ['id'] } });
  await database.sql(`insert into author values (1, 'Ada', '{"a": 1}')`);
  await database.sql(`update author set name = 'Bob'`);
  await database.sql(`update author set note = '{"a": 1}'`);
  await database.sql(`update author set note = '{"a": 2}'`);
  await soon(() => expect(webhook.received).toHaveLength(1));
  expect(data()).toEqual([['UPDATE', { old: { id: 1 }, new: { id: 1 } }]]);
  expect(
    await database.sql(`select payload from pergola.event_log where trigger_name = 'some'`),
  ).toHaveLength(1);
});

test('names of tables and columns may contain any characters', async () => {
  await database.sql(`create table "o'\\"" ("a""'\\ $body$" int)`.replace('\\""', '\\"""'));
  const table = { schema: 'public', name: `o'\\"` };
  await engine.must('pg_track_table', { table, configuration: { custom_name: 'odd' } });
  await create({ table, name: 'odd', insert: { columns: '*', payload: [`a"'\\ $body$`] } });
  await database.sql(`insert into "o'\\""" values (1)`);
  await soon(() => expect(webhook.received).toHaveLength(1));
  expect(webhook.received[0]?.body).toMatchObject({ table, trigger: { name: 'odd' } });
  expect(data()).toEqual([['INSERT', { old: null, new: { [`a"'\\ $body$`]: 1 } }]]);
  await engine.must('clear_metadata', {});
  await database.sql(`drop table "o'\\"""`);
});

test('a failed delivery is retried as often as the trigger says', async () => {
  webhook.reply = () => ({ status: webhook.received.length < 3 ? 500 : 204 });
  await create({ name: 'all', ...all, retry_conf: { num_retries: 5, interval_sec: 0 } });
  await database.sql(`insert into author values (1, 'Ada')`);
  await soon(async () => expect(await waiting()).toBe(0));
  expect(webhook.received.map(({ body }) => body.delivery_info)).toEqual([
    { current_retry: 0, max_retries: 5 },
    { current_retry: 1, max_retries: 5 },
    { current_retry: 2, max_retries: 5 },
  ]);
  const invocations = await engine.must('pg_get_event_invocation_logs', { name: 'all' });
  expect(invocations).toMatchObject([{ status: 204 }, { status: 500 }, { status: 500 }]);
});

test('an event fails after its last retry, and can be redelivered manually', async () => {
  webhook.reply = () => ({ status: 500 });
  await create({ name: 'all', ...all, retry_conf: { num_retries: 1, interval_sec: 0 } });
  await database.sql(`insert into author values (1, 'Ada')`);
  await soon(async () => expect(await waiting()).toBe(0));
  expect(webhook.received).toHaveLength(2);
  const [event] = (await engine.must('pg_get_event_logs', {
    name: 'all',
    status: 'processed',
  })) as unknown as {
    id: string;
  }[];
  expect(event).toMatchObject({ error: true, delivered: false, tries: 2, trigger_name: 'all' });
  const inState = async (status: string) =>
    ((await engine.must('pg_get_event_logs', { name: 'all', status })) as unknown as unknown[]).length;
  const counts = () => Promise.all(['pending', 'delivered', 'failed', 'archived'].map(inState));
  expect(await counts()).toEqual([0, 0, 1, 0]);
  webhook.reply = () => ({ status: 200 });
  await engine.must('pg_redeliver_event', { event_id: event?.id });
  await soon(() => expect(webhook.received).toHaveLength(3));
  await soon(async () => expect(await waiting()).toBe(0));
  const known = await engine.must('pg_get_event_by_id', { event_id: event?.id });
  expect(known).toMatchObject({ event: { delivered: true, error: false, tries: 1 } });
  expect(known['invocations']).toHaveLength(3);
  expect(await counts()).toEqual([0, 1, 0, 0]);
  await database.sql('update pergola.event_log set archived = true');
  expect(await counts()).toEqual([0, 0, 0, 1]);
});

test('Retry-After is followed, even after the last retry', async () => {
  webhook.reply = () => ({ status: 503, headers: { 'retry-after': '1' } });
  await create({ name: 'all', ...all });
  await database.sql(`insert into author values (1, 'Ada')`);
  await soon(async () => expect(await waiting()).toBe(0));
  expect(webhook.received).toHaveLength(2);
});

test('headers come from the metadata and the environment, and transforms change the request', async () => {
  await create({
    name: 'all',
    ...all,
    webhook: undefined,
    webhook_from_env: 'HOOK',
    headers: [
      { name: 'X-Plain', value: 'a' },
      { name: 'X-Token', value_from_env: 'TOKEN' },
    ],
    request_transform: {
      version: 2,
      url: '{{$base_url}}/else',
      body: { action: 'transform', template: '{{ $body.event.data.new }}' },
    },
  });
  await database.sql(`insert into author values (1, 'Ada')`);
  await soon(() => expect(webhook.received).toHaveLength(1));
  expect(webhook.received[0]).toMatchObject({
    path: '/else',
    headers: { 'x-plain': 'a', 'x-token': 'secret', 'content-type': 'application/json' },
    body: { id: 1, name: 'Ada', note: null },
  });
  expect(webhook.received[0]?.headers['user-agent']).toBeUndefined();
  const logs = await soon(async () => {
    const text = JSON.stringify(await engine.must('pg_get_event_invocation_logs', { name: 'all' }));
    expect(text).toContain('value_from_env');
    return text;
  });
  expect(logs).not.toContain('secret');
});

test('an unset variable pauses the trigger: rows are captured, and their events wait without a delivery', async () => {
  const trigger = { table: 'author', name: 'all', ...all, webhook: '{{NOWHERE}}' };
  const refused = await engine.admin('pg_create_event_trigger', trigger);
  expect(refused).toMatchObject({ status: 400, body: { code: 'invalid-configuration' } });
  expect(JSON.stringify(refused.body)).toContain('NOWHERE');
  await create({ ...trigger, webhook: webhook.url });
  const { metadata } = (await engine.must('export_metadata', {})) as { metadata?: object };
  const text = JSON.stringify(metadata ?? (await engine.must('export_metadata', {})));
  const held = JSON.parse(text.replace(`"${webhook.url}"`, '"{{NOWHERE}}"'));
  await engine.must('replace_metadata', { allow_inconsistent_metadata: true, metadata: held });
  expect(await engine.must('get_inconsistent_metadata', {})).toMatchObject({
    inconsistent_objects: [
      { type: 'event_trigger', reason: expect.stringContaining('"NOWHERE" is not set') },
    ],
  });
  await database.sql(`insert into author values (1, 'Ada')`);
  expect(await waiting()).toBe(1);
  const other = await start({ NOWHERE: webhook.url });
  onTestFinished(() => other.close());
  await soon(() => expect(webhook.received).toHaveLength(1));
  expect(webhook.received[0]?.body.delivery_info).toMatchObject({ current_retry: 0 });
  const { body } = await other.admin('get_inconsistent_metadata', {});
  expect(body).toMatchObject({ is_consistent: true });
});

test('events can be created manually if the trigger allows it', async () => {
  await create({ name: 'manual', enable_manual: true });
  await create({ name: 'other', ...all });
  const { event_id: id } = await engine.must('pg_invoke_event_trigger', {
    name: 'manual',
    payload: { a: 1 },
  });
  await soon(() => expect(webhook.received).toHaveLength(1));
  expect(webhook.received[0]?.body).toMatchObject({
    id,
    event: { op: 'MANUAL', data: { old: null, new: { a: 1 } } },
  });
  const refused = await engine.admin('pg_invoke_event_trigger', { name: 'other', payload: {} });
  expect(refused).toMatchObject({ status: 400, body: { code: 'not-supported' } });
  const unknown = await engine.admin('pg_invoke_event_trigger', { name: 'none', payload: {} });
  expect(unknown).toMatchObject({ status: 400, body: { code: 'not-exists' } });
});

test('two replicas deliver every event once', async () => {
  await create({ name: 'all', ...all });
  const other = await start();
  onTestFinished(() => other.close());
  await database.sql(`insert into author select i, 'x' from generate_series(1, 150) i`);
  await soon(async () => expect(await waiting()).toBe(0));
  const ids = webhook.received.map(({ body }) => body.id);
  expect(ids).toHaveLength(150);
  expect(new Set(ids).size).toBe(150);
});

test('a stopping engine releases the events it could not finish', async () => {
  await create({ name: 'all', ...all });
  const gate = Promise.withResolvers<void>();
  webhook.open = gate.promise;
  await engine.close();
  engine = await startTestEngine({
    databaseUrl: database.url,
    env: { HOOK: webhook.url },
    eventsFetchInterval: 30,
    gracefulShutdownTimeout: 0,
  });
  await database.sql(`insert into author values (1, 'Ada')`);
  await soon(() => expect(webhook.received).toHaveLength(1));
  await engine.close();
  expect(await database.sql('select locked from pergola.event_log where not delivered')).toEqual([
    { locked: null },
  ]);
  gate.resolve();
  engine = await start();
  await soon(() => expect(webhook.received).toHaveLength(2));
  await soon(async () => expect(await waiting()).toBe(0));
});

test('another engine delivers the events of an engine that is gone', async () => {
  await create({ name: 'all', ...all, retry_conf: { timeout_sec: 1 } });
  await database.sql(`begin; insert into author values (1, 'Ada');
    update pergola.event_log set locked = now() - interval '1 hour' where trigger_name = 'all' and not delivered; commit`);
  await soon(() => expect(webhook.received).toHaveLength(1));
});

test('a replaced trigger has the new settings, and a deleted one delivers nothing', async () => {
  await create({ name: 'all', ...all });
  expect(
    await engine.admin('pg_create_event_trigger', {
      table: 'author',
      name: 'all',
      webhook: webhook.url,
      ...all,
    }),
  ).toMatchObject({
    status: 400,
    body: { code: 'already-exists', error: 'Event trigger with name "all" already exists' },
  });
  await create({ name: 'all', delete: { columns: '*' }, replace: true });
  await database.sql(`insert into author values (1, 'Ada'); delete from author`);
  await soon(() => expect(webhook.received).toHaveLength(1));
  expect(webhook.received[0]?.body.event.op).toBe('DELETE');
  await engine.must('pg_delete_event_trigger', { name: 'all' });
  expect(await database.sql(`select 1 from pg_trigger where tgname like 'pergola_%'`)).toEqual([]);
  expect(await engine.admin('pg_delete_event_trigger', { name: 'all' })).toMatchObject({
    status: 400,
    body: { code: 'not-exists' },
  });
  await database.sql(`insert into author values (2, 'Bob')`);
});

test('a trigger that does not fit its table is refused', async () => {
  const bad = { table: 'author', webhook: webhook.url, name: 'bad' };
  const refused = async (args: object) =>
    (await engine.admin('pg_create_event_trigger', { ...bad, ...args })).body;
  const headers = [{ name: 'a', value_from_env: 'ENGINE_GRAPHQL_ADMIN_SECRET' }];
  expect(await refused({ ...all, headers })).toMatchObject({
    error: expect.stringContaining('env variables starting with "ENGINE_GRAPHQL_" are not allowed'),
  });
});

test('renamed columns are followed; watched columns cannot be dropped without cascade', async () => {
  await create({ name: 'some', update: { columns: ['name'], payload: ['id', 'name'] } });
  await engine.must('run_sql', {
    sql: 'alter table author rename name to title; alter table author rename to writer',
  });
  await database.sql(`insert into writer values (1, 'a'); update writer set title = 'b'`);
  await soon(() => expect(webhook.received).toHaveLength(1));
  expect(webhook.received[0]?.body).toMatchObject({
    table: { name: 'writer' },
    event: { data: { old: { id: 1, title: 'a' }, new: { id: 1, title: 'b' } } },
  });
  const refused = await engine.admin('run_sql', { sql: 'alter table writer drop column title' });
  expect(refused).toMatchObject({ status: 400, body: { code: 'dependency-error' } });
  await engine.must('run_sql', { sql: 'alter table writer drop column note' });
  await engine.must('run_sql', { sql: 'alter table writer drop column title', cascade: true });
  expect(await database.sql(`select 1 from pg_trigger where tgname like 'pergola_%'`)).toEqual([]);
});

test('triggers are added and removed with their table and the metadata', async () => {
  await create({ name: 'all', ...all });
  const metadata = await engine.must('export_metadata', {});
  const triggers = async () =>
    (await database.sql(`select 1 from pg_trigger where tgname like 'pergola_%'`)).length;
  expect(await triggers()).toBe(3);
  await engine.must('pg_untrack_table', { table: 'author' });
  expect(await triggers()).toBe(0);
  await engine.must('replace_metadata', metadata);
  expect(await triggers()).toBe(3);
  await database.sql(`drop function pergola."all_INSERT" cascade`);
  await engine.must('reload_metadata', { recreate_event_triggers: true });
  expect(await triggers()).toBe(3);
  await engine.must('run_sql', { sql: 'drop table author' });
  const left = await database.sql(`select 1 from pg_proc where pronamespace = 'pergola'::regnamespace`);
  expect(left).toEqual([]);
});

test('events of a role without privileges on the log are written too', async () => {
  await create({ name: 'all', ...all });
  await database.sql(`do $$ begin create role event_writer; exception when duplicate_object then null; end $$;
    grant usage on schema public to event_writer; grant insert on author to event_writer;
    begin; set local role event_writer; insert into author values (1, 'Ada'); commit`);
  await soon(() => expect(webhook.received).toHaveLength(1));
  await database.sql('revoke all on author from event_writer; revoke all on schema public from event_writer');
});

test('finished events are deleted by age', async () => {
  await create({ name: 'all', ...all });
  await database.sql(`insert into author values (1, 'Ada'), (2, 'Bob')`);
  await soon(async () => expect(await waiting()).toBe(0));
  await database.sql(`update pergola.event_log set created_at = now() - interval '3 hours'
    where trigger_name = 'all' and payload #>> '{data,new,name}' = 'Ada'`);
  const args = { event_trigger_name: 'all', source: 'default', clear_older_than: 2, batch_size: 1 };
  await engine.must('cleanup_event_trigger_logs', { ...args, clean_invocation_logs: true });
  expect(await engine.must('pg_get_event_logs', { name: 'all' })).toMatchObject([
    { payload: { data: { new: { name: 'Bob' } } } },
  ]);
  expect(await engine.must('pg_get_event_invocation_logs', { name: 'all' })).toHaveLength(1);
});
