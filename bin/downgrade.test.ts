/** Tests that a database of release 0.3.0 is read by this engine without a loss, and that `pergola rollback --to-release` leads back.
 *  In: engine/store/testing/release-0.3.0.sql, which the engine of that release wrote. */
import { readFileSync } from 'node:fs';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createDatabase, type TestDatabase } from '../testing/database.ts';
import { startTestEngine, type TestEngine } from '../testing/engine.ts';
import { runCommand } from '../testing/output.ts';
import { run } from './rollback.ts';

const EARLIER = readFileSync(new URL('../engine/store/testing/release-0.3.0.sql', import.meta.url), 'utf8');

let database: TestDatabase;
let engine: TestEngine | undefined;

const start = async () => {
  engine = await startTestEngine({ databaseUrl: database.url });
  return engine;
};
const stop = async () => {
  await engine?.close();
  engine = undefined;
};
const goBack = (...argv: string[]) =>
  runCommand(run, ['--database-url', database.url, '--to-release', '0.3.0', ...argv]);

/** Returns the columns and constraints of the metadata database's tables. */
const tables = async () => [
  await database.sql(`select table_name, column_name, data_type, is_nullable, column_default from information_schema.columns
    where table_schema = 'pergola' and table_name not like 'event%' order by 1, 2`),
  await database.sql(`select conrelid::regclass::text as owner, conname, pg_get_constraintdef(oid) as definition from pg_constraint
    where connamespace = 'pergola'::regnamespace and conrelid::regclass::text not like '%.event%' order by 1, 2`),
];

/** Returns the rows that an engine does not change by itself. Both engines complete open intents, and plan events of cron triggers. */
const rows = async () => {
  const of = async (sql: string) => (await database.sql(sql)).map(({ row }) => row);
  const found: Record<string, unknown> = {};
  for (const table of ['action_call', 'change', 'revision', 'event_log', 'event_invocation_log']) {
    found[table] = await of(`select to_jsonb(t) as row from pergola.${table} t order by 1`);
  }
  found['metadata'] = await of(
    `select to_jsonb(t) - '{resource_version,catalog_version,state_version}'::text[] as row from pergola.metadata t`,
  );
  found['scheduled'] = await of(
    `select to_jsonb(t) as row from pergola.scheduled_event t where type = 'one_off' order by 1`,
  );
  found['whole'] = await of(
    'select to_jsonb(t) as row from pergola.whole t where resource_version <= 14 order by 1',
  );
  return found;
};

const including = (earlier: Record<string, unknown>) =>
  Object.fromEntries(
    Object.entries(earlier).map(([name, of]) => [name, expect.arrayContaining(of as unknown[])]),
  );

beforeEach(async () => {
  database = await createDatabase();
  await database.sql(EARLIER);
});
afterEach(async () => {
  await stop();
  await database.drop();
});

test('the database of 0.3.0 has every object and row after an upgrade, and its tables again after the way back', async () => {
  const [tablesBefore, rowsBefore] = [await tables(), await rows()];
  await start();
  const { body } = await engine!.admin<Record<string, unknown>>('export_metadata', {});
  expect(Object.keys(body).toSorted()).toMatchInlineSnapshot(`
    [
      "actions",
      "allowlist",
      "cron_triggers",
      "custom_types",
      "inherited_roles",
      "query_collections",
      "rest_endpoints",
      "sources",
      "version",
    ]
  `);
  const inconsistent = await engine!.admin('get_inconsistent_metadata', {});
  expect(inconsistent.body).toMatchObject({ is_consistent: true });
  const asked = await engine!.graphql('{ author { id books { title } } }');
  expect(asked).toEqual({ data: { author: [] } });
  const events = () => database.sql('select id from pergola.event_log');
  const eventsBefore = (await events()).length;
  await database.sql(`insert into author values (7, 'a'); insert into book values (7, 7, 'b')`);
  expect(await events()).toHaveLength(eventsBefore + 1);
  await stop();

  // The request was counted.
  expect(await goBack('--discard')).toEqual({
    code: 0,
    err: '',
    out: 'deleted: 1 days of counted operations\nthe metadata database is that of release 0.3.0\n',
  });
  expect(await tables()).toEqual(tablesBefore);
  expect(await rows()).toEqual(including(rowsBefore));
  expect((await database.sql('select max(version)::int as newest from pergola.migration'))[0]).toEqual({
    newest: 6,
  });
  const again = await goBack();
  expect(again).toMatchObject({ code: 1, err: expect.stringContaining('is that of release 0.3.0') });

  await start();
  expect((await engine!.admin('export_metadata', {})).body).toEqual(body);
});

test('rows that 0.3.0 cannot hold are named, and deleted with --discard only', async () => {
  await start();
  await stop();
  await database.sql(`
    insert into pergola.value (name, version, key_id, sealed) values ('TOKEN', 1, 'k', '\\x00');
    insert into pergola.uncounted_usage values ('2026-01-01', 'reader', 7);
    insert into pergola.scheduled_event (type, trigger_name, scheduled_time) values ('declared', 'once', now());`);
  const refused = await goBack();
  expect(refused).toMatchObject({ code: 1, out: '' });
  for (const what of ['1 named values', '1 days of uncounted', '1 events of ScheduledEvents', '--discard']) {
    expect(refused.err).toContain(what);
  }
  expect((await database.sql('select max(version)::int as newest from pergola.migration'))[0]).toEqual({
    newest: 11,
  });
  const done = await goBack('--discard');
  expect(done).toMatchObject({ code: 0, err: '' });
  expect(done.out).toContain('deleted: 1 named values\n');
});

test('metadata that 0.3.0 cannot read is named by its path, and never deleted', async () => {
  await start();
  const { status } = await engine!.admin('create_cron_trigger', {
    name: 'hourly',
    webhook: 'http://127.0.0.1:9/hourly',
    schedule: '0 * * * *',
    timezone: 'Europe/Vienna',
    payload: { from_value: 'is data' },
    include_in_metadata: true,
  });
  expect(status).toBe(200);
  await stop();
  const refused = await goBack('--discard');
  expect(refused).toMatchObject({ code: 1, out: '' });
  expect(refused.err).toContain(
    'cannot hold: cron_triggers[1].timezone of the metadata; nothing was changed',
  );
  await start();
  await engine!.admin('delete_cron_trigger', { name: 'hourly' });
  await stop();
  expect(await goBack()).toMatchObject({ code: 0, err: '' });
});

test('a running engine is not left without its tables', async () => {
  await start();
  const refused = await goBack();
  expect(refused).toMatchObject({ code: 1, err: expect.stringContaining('stop them first') });
  expect((await engine!.graphql('{ author { id } }')).errors).toBeUndefined();
});

test.each([[['--to-release', '0.2.0']], [['--to-release', '0.3.0', '41']], [['--discard']]])(
  '%j is refused with a hint',
  async (argv) => {
    const { code, err } = await runCommand(run, ['--database-url', database.url, ...argv]);
    expect(code).toBe(2);
    expect(err).toContain('pergola rollback --help');
  },
);
