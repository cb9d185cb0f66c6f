/** Tests the arguments and errors of operations on cron triggers and scheduled events.
 *  Reference: docs/reference/behaviour/scheduled-triggers.md. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { adminOutcome, type RuleWorld, startWorld } from './testing/rules.ts';

const CRON = {
  name: 'fresh',
  webhook: 'http://127.0.0.1:1',
  schedule: '0 0 1 1 *',
  include_in_metadata: true,
};
const ONCE = { webhook: 'http://127.0.0.1:1', schedule_at: '2999-01-01T00:00:00Z' };

let world: RuleWorld;
beforeAll(async () => {
  world = await startWorld({
    sql: 'select 1',
    tables: [],
    operations: [
      ['create_cron_trigger', { ...CRON, name: 'known' }],
      ['declare_scheduled_event', { ...ONCE, name: 'known' }],
    ],
  });
});
afterAll(() => world?.close());

const perform = (type: string, args: object) => adminOutcome(world.engine, type, args);
const refused = (code: string, message: string) => ({ code, path: '$.args', message });
const GONE = refused('not-exists', 'cron trigger with name: gone does not exist');

/** Values of each argument that do not parse, by the path of the error below `args`. */
const WRONG: Readonly<Record<string, readonly unknown[]>> = {
  name: [1, null, {}],
  webhook: [1, null, [], {}],
  schedule: ['', '* * * *', '60 * * * *', '* 24 * * *', '* * 32 * *', '* * * 13 *', 'x', 5, null],
  include_in_metadata: ['true', 1, null],
  headers: [{}, 'a: b'],
  'headers[0]': [{}],
  'retry_conf.num_retries': [-1, 'x', 1.5],
  'retry_conf.retry_interval_seconds': [-1, 'x'],
  'retry_conf.timeout_seconds': [-1, 'x'],
  'retry_conf.tolerance_seconds': [-1, 'x'],
};
const WRONG_ARGUMENTS = Object.entries(WRONG).flatMap(([path, values]) =>
  values.map((value) => [path, value] as const),
);

test.each(WRONG_ARGUMENTS)('create_cron_trigger: %s %j is refused at its path', async (path, value) => {
  const outcome = await perform('create_cron_trigger', { ...CRON, ...placed(path, value) });
  expect(outcome).toMatchObject({ code: 'parse-failed', path: `$.args.${path}` });
});

test.each(WRONG_ARGUMENTS.filter(([path]) => /^(webhook|headers|retry)/.test(path)))(
  'create_scheduled_event: %s %j is refused',
  async (path, value) => {
    const outcome = await perform('create_scheduled_event', { ...ONCE, ...placed(path, value) });
    expect(outcome).toMatchObject({ code: 'parse-failed' });
  },
);

test.each(WRONG_ARGUMENTS.filter(([path]) => /^(name|webhook|headers|retry)/.test(path)))(
  'declare_scheduled_event: %s %j is refused at its path',
  async (path, value) => {
    const declared = { ...ONCE, name: 'fresh', ...placed(path, value) };
    const outcome = await perform('declare_scheduled_event', declared);
    expect(outcome).toMatchObject({ code: 'parse-failed', path: `$.args.${path}` });
  },
);

function placed(path: string, value: unknown): object {
  if (path === 'headers[0]') return { headers: [value] };
  const [head, key] = path.split('.') as [string, string?];
  return { [head]: key === undefined ? value : { [key]: value } };
}

const WRONG_TIMES = [
  'tomorrow',
  '2026-01-01',
  '2026-01-01T00:00:00',
  '2026-13-01T00:00:00Z',
  '2026-02-29T00:00:00Z',
  '2026-01-32T00:00:00Z',
  '2026-01-01T25:00:00Z',
  '2026-01-01T00:61:00Z',
  '2026-01-01T00:00:00+25:00',
  '0000-01-01T00:00:00Z',
  'infinity',
  '',
  5,
  null,
];
test.each(WRONG_TIMES)('the time %j is refused', async (time) => {
  const refusal = { code: 'parse-failed', path: '$.args.schedule_at' };
  const once = { ...ONCE, schedule_at: time };
  expect(await perform('create_scheduled_event', once)).toMatchObject(refusal);
  expect(await perform('declare_scheduled_event', { ...once, name: 'fresh' })).toMatchObject(refusal);
});

test.each([
  '2999-01-01T00:00:00Z',
  '2999-01-01 00:00:00+02:00',
  '2999-01-01T00:00Z',
  '2999-01-01T00:00:00.5Z',
  '2996-02-29T00:00:00Z',
  '2999-01-01T00:00:00+0530',
  '2999-01-01T00:00:00-11',
])('the time %j is accepted, and means what Postgres reads', async (time) => {
  const outcome = await perform('create_scheduled_event', { ...ONCE, schedule_at: time });
  expect(outcome).toEqual({ data: { message: 'success', event_id: expect.any(String) } });
  const { event_id } = (outcome as { data: { event_id: string } }).data;
  const [row] = await world.database.sql(
    `select scheduled_time = '${time}'::timestamptz as same from pergola.scheduled_event where id = '${event_id}'`,
  );
  expect(row).toEqual({ same: true });
  const declared = { ...ONCE, name: 'accepted', schedule_at: time, replace: true };
  expect(await perform('declare_scheduled_event', declared)).toEqual({ data: { message: 'success' } });
});

test('a declared event has a name of its own, unless it replaces another', async () => {
  const taken = refused('already-exists', 'scheduled event "known" is already declared');
  expect(await perform('declare_scheduled_event', { ...ONCE, name: 'known' })).toEqual(taken);
  const replaced = { ...ONCE, name: 'known', replace: true };
  expect(await perform('declare_scheduled_event', replaced)).toEqual({ data: { message: 'success' } });
  const gone = refused('not-exists', 'scheduled event "gone" is not declared');
  expect(await perform('undeclare_scheduled_event', { name: 'gone' })).toEqual(gone);
});

test('a new trigger has a name of its own, unless it replaces another', async () => {
  const taken = refused('already-exists', 'cron trigger with name: known already exists');
  expect(await perform('create_cron_trigger', { ...CRON, name: 'known' })).toEqual(taken);
  const replaced = { ...CRON, name: 'known', replace: true };
  expect(await perform('create_cron_trigger', replaced)).toEqual({ data: { message: 'success' } });
});

test('an unknown trigger is refused by every operation that names one', async () => {
  expect(await perform('delete_cron_trigger', { name: 'gone' })).toEqual(GONE);
  const cron = { type: 'cron', trigger_name: 'gone' };
  expect(await perform('get_scheduled_events', cron)).toEqual(GONE);
  expect(await perform('get_scheduled_event_invocations', cron)).toEqual(GONE);
});

test.each(['00000000-0000-4000-8000-000000000000', 'no-uuid'])('the event %j is not found', async (id) => {
  for (const type of ['cron', 'one_off', 'declared']) {
    const missing = refused('not-exists', 'event not found');
    expect(await perform('delete_scheduled_event', { type, event_id: id })).toEqual(missing);
    const args = { type, event_id: id, get_rows_count: true };
    const none = { data: { invocations: [], count: 0 } };
    expect(await perform('get_scheduled_event_invocations', args)).toEqual(none);
  }
});

test.each([
  ['type', 'daily'],
  ['status', ['done']],
  ['status', 'dead'],
  ['limit', -1],
  ['offset', 'x'],
  ['get_rows_count', 'yes'],
])('get_scheduled_events: %s %j does not parse', async (key, value) => {
  const outcome = await perform('get_scheduled_events', { type: 'one_off', [key]: value });
  expect(outcome).toMatchObject({ code: 'parse-failed' });
  expect((outcome as { path: string }).path).toContain(`$.args.${key}`);
});

test('cron triggers are listed with their defaults', async () => {
  const retry_conf = {
    num_retries: 0,
    retry_interval_seconds: 10,
    timeout_seconds: 60,
    tolerance_seconds: 21_600,
  };
  const known = { ...CRON, name: 'known', headers: [], retry_conf };
  expect(await perform('get_cron_triggers', {})).toEqual({ data: { cron_triggers: [known] } });
});
