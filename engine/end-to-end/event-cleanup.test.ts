/** Tests the cleanup of the log of an event trigger on the schedule of its `cleanup_config`, unless that is paused. */
import { beforeEach, expect, test, vi } from 'vitest';
import { testWorld } from '../../testing/world.ts';
import type { Observation } from '../observe/observation.ts';

let observed: Observation[] = [];

const soon = <T>(body: () => T) => vi.waitFor(body, { timeout: 15_000, interval: 20 });
const CLEANUP = { schedule: '59 3 1 1 *', clear_older_than: 24, batch_size: 2 };
const create = (cleanup: object, name = 'tidy') =>
  engine.must('pg_create_event_trigger', {
    name,
    table: 'author',
    webhook: 'http://127.0.0.1:1',
    enable_manual: true,
    cleanup_config: { ...CLEANUP, ...cleanup },
  });
const times = () => database.sql('select type, trigger_name, schedule from pergola.scheduled_event');
const comeDue = () => database.sql('update pergola.scheduled_event set scheduled_time = now()');
const left = async (table: 'event_log' | 'event_invocation_log') => {
  const rows = await database.sql(`select trigger_name from pergola.${table} order by created_at`);
  return rows.map((row) => row['trigger_name']);
};
/** Three events delivered long ago, one of yesterday that still waits, one delivered just now, and one of another
 *  trigger. */
const logEvents = () =>
  database.sql(`
    with made as (
      insert into pergola.event_log (schema_name, table_name, trigger_name, payload, delivered, created_at)
      values ('public', 'author', 'tidy', '1', true, now() - interval '3 days'),
             ('public', 'author', 'tidy', '2', true, now() - interval '3 days'),
             ('public', 'author', 'tidy', '3', true, now() - interval '2 days'),
             ('public', 'author', 'tidy', '5', true, now()),
             ('public', 'author', 'other', '6', true, now() - interval '2 days')
      returning id, trigger_name, created_at)
    insert into pergola.event_invocation_log (trigger_name, event_id, request, response, created_at)
    select trigger_name, id, '{}', '{}', created_at from made`);

const { database, engine } = testWorld('', () => ({
  eventsFetchInterval: 30,
  log: { observe: (observation) => void observed.push(observation), flush: () => {} },
}));
beforeEach(async () => {
  await engine.must('clear_metadata', {});
  await database.sql('drop table if exists author; create table author (id int primary key)');
  await engine.must('pg_track_table', { table: 'author' });
  const log = await database.sql(`select to_regclass('pergola.event_log') as log`);
  if (log[0]?.['log']) await database.sql('truncate pergola.event_log, pergola.event_invocation_log');
  observed = [];
});

test('finished events of sufficient age are deleted on schedule, in batches', async () => {
  await create({});
  expect(await times()).toEqual([{ type: 'cleanup', trigger_name: 'tidy', schedule: CLEANUP.schedule }]);
  await logEvents();
  await comeDue();
  await soon(() =>
    expect(observed).toContainEqual({
      kind: 'state',
      event: { kind: 'events cleaned up', source: 'default', trigger: 'tidy', deleted: 3 },
    }),
  );
  expect(await left('event_log')).toEqual(['other', 'tidy']);
  expect(await left('event_invocation_log')).toHaveLength(5);
  await soon(async () => expect(await times()).toEqual([]));
});

test('the invocation logs of deleted events are deleted too, if configured', async () => {
  await create({ clean_invocation_logs: true });
  await logEvents();
  await comeDue();
  await soon(async () => expect(await left('event_invocation_log')).toEqual(['other', 'tidy']));
});

test('a batch that exceeds its timeout fails and is reported', async () => {
  await create({ timeout: 1 });
  await logEvents();
  await database.sql(
    `create function slow() returns trigger language plpgsql as 'begin perform pg_sleep(3); return old; end'`,
  );
  await database.sql(
    'create trigger slow before delete on pergola.event_log for each row execute function slow()',
  );
  try {
    await comeDue();
    await soon(() =>
      expect(observed).toContainEqual({
        kind: 'state',
        event: {
          kind: 'cleanup of events interrupted',
          source: 'default',
          trigger: 'tidy',
          reason: expect.stringContaining('statement timeout'),
        },
      }),
    );
  } finally {
    await database.sql('drop function slow cascade');
  }
  expect(await left('event_log')).toHaveLength(5);
});

test('a paused cleanup is not scheduled until it is resumed, by source or by name', async () => {
  await create({});
  await create({ paused: true }, 'other');
  const named = { event_triggers: [{ event_triggers: ['tidy'] }] };
  await engine.must('pause_event_trigger_cleanups', named);
  expect(await times()).toEqual([]);
  const paused = await engine.must('export_metadata', {});
  expect(paused).toMatchObject({
    sources: [
      { tables: [{ event_triggers: [{ name: 'other' }, { cleanup_config: { ...CLEANUP, paused: true } }] }] },
    ],
  });
  await engine.must('resume_event_trigger_cleanups', { event_triggers: { sources: ['default'] } });
  expect((await times()).map((row) => row['trigger_name']).toSorted()).toEqual(['other', 'tidy']);
  await engine.must('pause_event_trigger_cleanups', { event_triggers: { sources: '*' } });
  expect(await times()).toEqual([]);
});

test('pausing an unknown trigger is refused, and so is an invalid schedule', async () => {
  await engine.must('pg_create_event_trigger', {
    name: 'bare',
    table: 'author',
    webhook: 'http://127.0.0.1:1',
    enable_manual: true,
  });
  const pause = async (event_triggers: unknown) => {
    const { status, body } = await engine.admin<{ code: string }>('pause_event_trigger_cleanups', {
      event_triggers,
    });
    return [status, body.code];
  };
  expect(await pause([{ event_triggers: ['bare'] }])).toEqual([400, 'not-exists']);
  expect(await pause([{ event_triggers: ['none'] }])).toEqual([400, 'not-exists']);
  expect(await pause({ sources: ['none'] })).toEqual([400, 'not-exists']);
  expect(await pause({ sources: [] })).toEqual([400, 'parse-failed']);
  const odd = { name: 'odd', table: 'author', webhook: 'http://127.0.0.1:1', enable_manual: true };
  const refused = await engine.admin('pg_create_event_trigger', {
    ...odd,
    cleanup_config: { ...CLEANUP, schedule: 'x' },
  });
  expect(refused).toMatchObject({ status: 400, body: { code: 'invalid-configuration' } });
});
