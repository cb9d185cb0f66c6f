/** Tests which event triggers can be created and replaced, and the errors of operations on events.
 *  Reference: docs/reference/behaviour/event-triggers.md. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { adminOutcome, type RuleWorld, startWorld } from './testing/rules.ts';

const GOOD = { name: 'fresh', table: 'note', webhook: 'http://127.0.0.1:1', insert: { columns: '*' } };
const OPERATIONS = ['insert', 'update', 'delete'] as const;

let world: RuleWorld;
beforeAll(async () => {
  world = await startWorld({
    sql: 'create table note (id int primary key, text text); create table page (id int primary key)',
    tables: ['note', 'page'],
    operations: [
      ['pg_create_event_trigger', { ...GOOD, name: 'known' }],
      ['pg_create_event_trigger', { ...GOOD, name: 'manual', enable_manual: true }],
    ],
  });
});
afterAll(() => world?.close());

/** Performs an operation on both endpoints and expects the same. The older one knows it without `pg_`. */
async function both(operation: string, args: object, expected: object): Promise<void> {
  expect(await adminOutcome(world.engine, `pg_${operation}`, args)).toEqual(expected);
  expect(await adminOutcome(world.engine, operation, args, { endpoint: '/v1/query' })).toEqual(expected);
}
/** Arguments that do not parse: the path leaves `args` out. */
const unparsed = (message: string, path = '$') => ({ code: 'parse-failed', path, message });
const refused = (code: string, message: string) => ({ code, path: '$.args', message });

// ── create_event_trigger ──

const NAMES: readonly (readonly [name: string, isLegal: boolean])[] = [
  ...['a', 'A1', 'a-b_c', 'x'.repeat(42)].map((name) => [name, true] as const),
  ...['1a', '_a', '-a', 'a b', 'a"b', 'é', 'a.b', `x${'é'.repeat(3)}`].map((name) => [name, false] as const),
];
test.each(NAMES)('the name %j is legal: %s', async (name, isLegal) => {
  if (!isLegal) {
    const message = 'only alphanumeric and underscore and hyphens allowed for name';
    return both('create_event_trigger', { ...GOOD, name }, unparsed(message));
  }
  const created = await adminOutcome(world.engine, 'pg_create_event_trigger', { ...GOOD, name });
  expect(created).toEqual({ data: { message: 'success' } });
  await adminOutcome(world.engine, 'pg_delete_event_trigger', { name });
});

test.each(NAMES)(
  'a document may have the name %j, with a warning unless it is legal: %s',
  async (name, isLegal) => {
    const { engine } = world;
    const { body: before } = await engine.admin<{ sources: { tables: { event_triggers?: object[] }[] }[] }>(
      'export_metadata',
      {},
    );
    const metadata = structuredClone(before);
    const { name: _name, table: _table, insert, ...settings } = GOOD;
    metadata.sources[0]!.tables[1]!.event_triggers = [{ ...settings, name, definition: { insert } }];
    const replace = (args: object) => engine.admin('replace_metadata', args, { version: 2 });
    const warning = {
      code: 'illegal-event-trigger-name',
      message: expect.stringMatching(/^The event trigger with name ".+" may not work as expected, /),
      type: 'event_trigger',
      name: `event_trigger ${name} in table page in source default`,
    };
    const report = { is_consistent: true, inconsistent_objects: [] };
    if (!isLegal) {
      expect(await replace({ metadata, allow_warnings: false })).toMatchObject({
        status: 400,
        body: { code: 'metadata-warnings', path: '$.args', internal: [warning] },
      });
    }
    expect((await replace({ metadata })).body).toEqual(isLegal ? report : { ...report, warnings: [warning] });
    // The trigger is not new any more.
    expect((await replace({ metadata, allow_warnings: false })).body).toEqual(report);
    await replace({ metadata: before });
  },
);

test('a name has at most 42 characters', async () => {
  const message = 'event trigger name can be at most 42 characters';
  await both('create_event_trigger', { ...GOOD, name: 'x'.repeat(43) }, unparsed(message));
});

test.each([{}, { enable_manual: false }, { insert: null }, { update: null, enable_manual: null }])(
  'a trigger needs an operation: %j',
  async (args) => {
    const { insert: _, ...rest } = GOOD;
    const message = 'atleast one amongst insert/update/delete/enable_manual spec must be provided';
    await both('create_event_trigger', { ...rest, ...args }, unparsed(message));
  },
);

test('a trigger has one webhook', async () => {
  const { webhook, ...rest } = GOOD;
  await both('create_event_trigger', rest, unparsed('must provide webhook or webhook_from_env'));
  const two = { ...GOOD, webhook, webhook_from_env: 'HOOK' };
  await both(
    'create_event_trigger',
    two,
    unparsed('only one of webhook or webhook_from_env should be given'),
  );
});

test.each(OPERATIONS)('%s: lists of columns are not empty, and their columns exist', async (operation) => {
  const { insert: _, ...rest } = GOOD;
  const create = (spec: object, expected: object) =>
    both('create_event_trigger', { ...rest, [operation]: spec }, expected);
  await create({ columns: [] }, unparsed('found empty column specification'));
  await create({ columns: '*', payload: [] }, unparsed('found empty payload specification'));
  for (const columns of [['gone'], ['id', 'gone']]) {
    const message = 'column "gone" does not exist';
    expect(
      await adminOutcome(world.engine, 'pg_create_event_trigger', { ...rest, [operation]: { columns } }),
    ).toEqual(refused('not-exists', message));
  }
  const wrong = await adminOutcome(world.engine, 'pg_create_event_trigger', {
    ...rest,
    [operation]: { columns: 'id' },
  });
  expect(wrong).toMatchObject({ code: 'parse-failed', path: `$.${operation}.columns` });
});

test('a replaced trigger exists and is of the same table; a new one has a name of its own', async () => {
  const missing = refused('not-exists', 'event trigger "fresh" does not exist');
  await both('create_event_trigger', { ...GOOD, replace: true }, missing);
  const elsewhere = { ...GOOD, name: 'known', table: 'page', replace: true };
  const moved = refused('not-supported', 'cannot replace table or schema for trigger');
  await both('create_event_trigger', elsewhere, moved);
  for (const table of ['note', 'page']) {
    const taken = refused('already-exists', 'Event trigger with name "known" already exists');
    await both('create_event_trigger', { ...GOOD, name: 'known', table }, taken);
  }
  const replaced = { ...GOOD, name: 'known', update: { columns: ['text'] }, replace: true };
  await both('create_event_trigger', replaced, { data: { message: 'success' } });
});

// ── the other operations ──

const ID = '00000000-0000-4000-8000-000000000000';

test.each(['delete_event_trigger', 'invoke_event_trigger', 'get_event_logs', 'get_event_invocation_logs'])(
  '%s: an unknown trigger or source is refused',
  async (operation) => {
    const args = { name: 'gone', payload: {} };
    await both(operation, args, refused('not-exists', 'event trigger "gone" does not exist'));
    const nowhere = refused('not-exists', 'source with name "nowhere" does not exist');
    await both(operation, { ...args, name: 'known', source: 'nowhere' }, nowhere);
  },
);

test.each([ID, 'no-uuid', ''])('the event %j is not found', async (id) => {
  await both('redeliver_event', { event_id: id }, refused('not-exists', 'event not found'));
  const missing = refused('not-exists', `event id ${id} does not exist`);
  await both('get_event_by_id', { event_id: id }, missing);
});

test('a trigger is invoked if it allows that', async () => {
  const args = { name: 'known', payload: {} };
  const automatic = refused('not-supported', 'manual mode is not enabled for event trigger');
  await both('invoke_event_trigger', args, automatic);
  const { data } = (await adminOutcome(world.engine, 'pg_invoke_event_trigger', {
    ...args,
    name: 'manual',
  })) as { data: { event_id: string } };
  expect(data).toEqual({ event_id: expect.any(String) });
  const found = await adminOutcome(world.engine, 'pg_get_event_by_id', { event_id: data.event_id });
  expect(found).toMatchObject({ data: { event: { id: data.event_id, trigger_name: 'manual' } } });
});

test.each([
  ['status', 'done'],
  ['limit', -1],
  ['limit', 'x'],
  ['offset', 1.5],
  ['name', 1],
])('get_event_logs: %s %j does not parse', async (key, value) => {
  const args = { name: 'known', [key]: value };
  const outcome = await adminOutcome(world.engine, 'pg_get_event_logs', args);
  expect(outcome).toMatchObject({ code: 'parse-failed', path: `$.${key}` });
});

test.each(['pause', 'resume'])('%s: a trigger has a cleanup configuration', async (verb) => {
  const toggle = (event_triggers: unknown) =>
    adminOutcome(world.engine, `${verb}_event_trigger_cleanups`, { event_triggers });
  expect(await toggle([{ event_triggers: ['gone'] }])).toEqual(
    refused('not-exists', 'event trigger "gone" does not exist'),
  );
  expect(await toggle([{ event_triggers: ['known'] }])).toEqual(
    refused('not-exists', 'cleanup config does not exist for known'),
  );
  expect(await toggle({ sources: '*' })).toEqual({ data: { message: 'success' } });
  for (const wrong of ['*', [], { sources: [] }, { sources: 'default' }]) {
    expect(await toggle(wrong)).toMatchObject({ code: 'parse-failed' });
  }
});
