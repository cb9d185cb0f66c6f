/** docs/guides/databases.md: what Pergola creates in databases is what the page lists, and its SQL removes all of it. In: the page, and databases in which every feature
 *  that creates something was used. */
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createDatabase, type TestDatabase } from '../testing/database.ts';
import { type Engine, startEngine } from '../testing/engine-process.ts';

const SECRET = 'kept';
const page = readFileSync(new URL('./guides/databases.md', import.meta.url), 'utf8');

/** Everything in a database that a user or an extension did not bring along, and what else of the server the page says is left alone. */
const OBJECTS = `
  select 'schema' as kind, nspname::text as name, '' as of from pg_namespace where nspname !~ '^pg_(temp|toast)'
  union all
  select case relkind when 'v' then 'view' else 'table' end, relname, relnamespace::regnamespace::text
  from pg_class where relkind in ('r', 'p', 'v', 'm', 'f') and relnamespace not in ('pg_catalog'::regnamespace, 'information_schema'::regnamespace, 'pg_toast'::regnamespace)
  union all
  select 'function', proname, pronamespace::regnamespace::text from pg_proc p
  where pronamespace <> 'pg_catalog'::regnamespace and not exists (select from pg_depend d where d.objid = p.oid and d.deptype = 'e')
    and pronamespace <> 'information_schema'::regnamespace
  union all
  select 'trigger', tgname, tgrelid::regclass::text from pg_trigger where not tgisinternal
  union all select 'extension', extname, extnamespace::regnamespace::text from pg_extension
  union all select 'other', evtname, '' from pg_event_trigger
  union all select 'other', pubname, '' from pg_publication
  union all select 'other', slot_name, '' from pg_replication_slots where database = current_database()
  union all select 'other', array_to_string(setconfig, ','), '' from pg_db_role_setting
    where setdatabase = (select oid from pg_database where datname = current_database())
  order by 1, 3, 2`;

type Found = { readonly kind: string; readonly name: string; readonly of: string };

const databases: TestDatabase[] = [];
let before: readonly (readonly Found[])[];
let engine: Engine;
beforeAll(async () => {
  databases.push(await createDatabase(), await createDatabase());
  const [source, metadata] = databases as [TestDatabase, TestDatabase];
  await source.sql('create table note (id serial primary key, text text)');
  before = await objects();
  engine = await startEngine({
    ...process.env,
    ENGINE_GRAPHQL_DATABASE_URL: source.url,
    ENGINE_GRAPHQL_METADATA_DATABASE_URL: metadata.url,
    ENGINE_GRAPHQL_ADMIN_SECRET: SECRET,
    ENGINE_GRAPHQL_COMPATIBILITY: 'reference',
  });
  await admin('pg_track_table', { table: 'note' });
  const captured = { columns: '*' };
  const webhook = 'http://127.0.0.1:9';
  await admin('pg_create_event_trigger', {
    ...{ name: 'noted', table: 'note', webhook },
    ...{ insert: captured, update: captured, delete: captured },
  });
  await admin('create_scheduled_event', { webhook, schedule_at: '2999-01-01T00:00:00Z' });
  await admin('apply_migrations', {
    migrations: [{ name: '1_add.sql', sql: 'alter table note add column more text' }],
  });
}, 60_000);
afterAll(async () => {
  await engine?.stop();
  await Promise.all(databases.map((database) => database.drop()));
});

async function admin(type: string, args: object): Promise<void> {
  const response = await fetch(`${engine.url}/v1/metadata`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-engine-admin-secret': SECRET },
    body: JSON.stringify({ type, args }),
  });
  expect(response.status, await response.text()).toBe(200);
}

async function objects(): Promise<readonly (readonly Found[])[]> {
  return Promise.all(databases.map(async (database) => (await database.sql(OBJECTS)) as Found[]));
}

const textOf = ({ kind, name, of }: Found) => `${kind} ${of}.${name}`;

test('the page lists everything that was created', async () => {
  const known = new Set(before.flat().map(textOf));
  const created = (await objects()).flat().filter((found) => !known.has(textOf(found)));
  expect(created.length).toBeGreaterThan(20);
  const listed = page
    .replaceAll('<trigger>', 'noted')
    .replaceAll('`_UPDATE`', '`"noted_UPDATE"`')
    .replaceAll('`_DELETE`', '`"noted_DELETE"`');
  const isListed = ({ kind, name, of }: Found) => {
    if (of === 'hdb_catalog') return kind === 'view' || name === 'insert_scheduled_event';
    if (kind === 'trigger')
      return /^pergola_noted_(INSERT|UPDATE|DELETE)$/.test(name) || of.startsWith('hdb_catalog.');
    return listed.includes(`\`${name}\``) || listed.includes(`"${name}"`);
  };
  expect(created.filter((found) => !isListed(found)).map(textOf)).toEqual([]);
  expect(created.filter(({ kind }) => kind === 'other')).toEqual([]);
});

test('the page lists nothing that is not created', async () => {
  const there = new Set((await objects()).flat().map(({ name }) => name));
  const tables = /\| schema `pergola` with the tables of the metadata: ([^|]+)\|/.exec(page)![1]!;
  const named = [...tables.matchAll(/`(\w+)`/g)].map(([, name]) => name!);
  expect(named.filter((name) => !there.has(name))).toEqual([]);
  expect(named).toHaveLength(14);
});

test('connections say who they are', async () => {
  const rows = await databases[0]!.sql(
    `select distinct application_name from pg_stat_activity where datname = any($1) and application_name <> ''`,
    [databases.map(({ url }) => new URL(url).pathname.slice(1))],
  );
  expect(rows).toContainEqual({ application_name: 'pergola' });
});

test('the operation of the page removes the triggers, whatever depends on the source', async () => {
  const permission = { columns: '*', filter: {} };
  for (const role of ['a', 'b'])
    await admin('pg_create_select_permission', { table: 'note', role, permission });
  await admin('add_inherited_role', { role_name: 'both', role_set: ['a', 'b'] });
  await admin('create_query_collection', {
    ...{ name: 'kept', definition: { queries: [{ name: 'notes', query: 'query notes { note { id } }' }] } },
  });
  const [, operation] = /```json\n(.+)\n```/.exec(page)!;
  const { type, args } = JSON.parse(operation!) as { type: string; args: object };
  await admin(type, args);
  const triggers = (await objects()).flat().filter(({ kind, of }) => kind === 'trigger' && of === 'note');
  expect(triggers).toEqual([]);
});

test('the SQL of the page removes all of it', async () => {
  await engine.stop();
  const [, removal] = /```sql\n(drop schema[\s\S]*?)```/.exec(page)!;
  for (const database of databases) await database.sql(removal!);
  expect(await objects()).toEqual(before);
});
