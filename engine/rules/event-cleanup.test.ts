/** The operation `cleanup_event_trigger_logs` and the regular cleanup: arguments, and which events and invocation logs are deleted.
 *  Reference: docs/reference/behaviour/event-triggers.md. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { adminOutcome, type RuleWorld, startWorld } from './testing/rules.ts';

let world: RuleWorld;
beforeAll(async () => {
  const trigger = (name: string) =>
    [
      'pg_create_event_trigger',
      { name, table: 'note', webhook: 'http://127.0.0.1:9/', insert: { columns: '*' } },
    ] as const;
  world = await startWorld({
    sql: 'create table note (id int primary key)',
    tables: ['note'],
    operations: [trigger('tidy'), trigger('other')],
    options: { eventsFetchInterval: 0 },
  });
});
afterAll(() => world?.close());

/** The states of an event, and whether cleanup may delete one that is old. */
const STATES = {
  delivered: ['delivered', true],
  error: ['error', true],
  archived: ['archived', true],
  pending: [null, false],
} as const;
const HOURS_OLD = [1, 30, 60] as const;

beforeEach(async () => {
  await world.database.sql('truncate pergola.event_log, pergola.event_invocation_log');
  for (const trigger of ['tidy', 'other'])
    for (const [state, [column]] of Object.entries(STATES))
      for (const hours of HOURS_OLD) {
        await world.database.sql(
          `with event as (
             insert into pergola.event_log (schema_name, table_name, trigger_name, payload, created_at${column ? `, ${column}` : ''})
             values ('public', 'note', '${trigger}', '"${state} ${hours}"', now() - interval '${hours} hours'${column ? ', true' : ''})
             returning *)
           insert into pergola.event_invocation_log (trigger_name, event_id, request, response, created_at)
           select trigger_name, id, payload, '{}', created_at from event`,
        );
      }
});

const cleanup = (args: object) =>
  adminOutcome(world.engine, 'cleanup_event_trigger_logs', { event_trigger_name: 'tidy', ...args });
const left = async (table: 'event_log' | 'event_invocation_log', column: string) => {
  const rows = await world.database.sql(
    `select trigger_name || ' ' || (${column} #>> '{}') as event from pergola.${table} order by 1`,
  );
  return rows.map((row) => row['event']);
};
const expected = (isKept: (trigger: string, isDone: boolean, hours: number) => boolean) =>
  ['tidy', 'other']
    .flatMap((trigger) =>
      Object.entries(STATES).flatMap(([state, [, isDone]]) =>
        HOURS_OLD.filter((hours) => isKept(trigger, isDone, hours)).map(
          (hours) => `${trigger} ${state} ${hours}`,
        ),
      ),
    )
    .sort();

describe.each([0, 24, 48, 100])('older than %i hours', (hoursOld) => {
  test.each([
    ['', {}],
    [', one at a time', { batch_size: 1 }],
    [', with their invocations', { clean_invocation_logs: true }],
  ])('finished events of the trigger are deleted%s', async (_, more) => {
    expect(await cleanup({ clear_older_than: hoursOld, ...more })).toHaveProperty('data');
    const kept = expected((trigger, isDone, hours) => trigger !== 'tidy' || !isDone || hours < hoursOld);
    expect(await left('event_log', 'payload')).toEqual(kept);
    const logs = 'clean_invocation_logs' in more ? kept : expected(() => true);
    expect(await left('event_invocation_log', 'request')).toEqual(logs);
  });
});

test.each([
  ['clear_older_than', -1],
  ['clear_older_than', 'x'],
  ['clear_older_than', 1.5],
  ['clear_older_than', undefined],
  ['batch_size', 0],
  ['batch_size', 'x'],
  ['timeout', -1],
  ['timeout', 'x'],
  ['clean_invocation_logs', 'yes'],
  ['event_trigger_name', ''],
  ['event_trigger_name', 5],
])('%s %j does not parse, and nothing is deleted', async (key, value) => {
  const outcome = await cleanup({ clear_older_than: 0, [key]: value });
  expect(outcome).toMatchObject({ code: 'parse-failed' });
  expect(await left('event_log', 'payload')).toEqual(expected(() => true));
});

test('an unknown trigger, and one of another source, is refused', async () => {
  for (const args of [{ event_trigger_name: 'none' }, { source: 'none' }]) {
    expect(await cleanup({ clear_older_than: 0, ...args })).toMatchObject({ code: 'not-exists' });
  }
  expect(await left('event_log', 'payload')).toEqual(expected(() => true));
});
