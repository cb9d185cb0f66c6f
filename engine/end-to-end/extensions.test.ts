/** The extension pgcrypto in the databases of sources: created when a source is connected, and never at the cost of the source.
 *  Reference: docs/adr/0018-pgcrypto-when-a-source-connects.md. */
import { execFileSync } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { startEmbeddedPostgres } from '../../bin/embedded-postgres.ts';
import { createDatabase, type TestDatabase } from '../../testing/database.ts';
import { startTestEngine, type TestEngine } from '../../testing/engine.ts';
import { testDatabase } from '../../testing/world.ts';

type Event = { readonly kind: string; readonly [detail: string]: unknown };

const home = testDatabase();
let engine: TestEngine;
const databases: TestDatabase[] = [];
const events: Event[] = [];
const log = {
  observe: (observation: { readonly kind: string; readonly event?: unknown }) => {
    if (observation.kind === 'state') events.push(observation.event as Event);
  },
  flush: () => {},
};

beforeAll(async () => {
  engine = await startTestEngine({ databaseUrl: home.url, log });
  const server = await createDatabase();
  await server.sql(`create role ext_owner login; create role ext_reader login; create role ext_readonly login;
    alter role ext_readonly set default_transaction_read_only = on`);
  databases.push(server);
});
afterAll(async () => {
  await engine?.close();
  await Promise.all(databases.map((database) => database.drop()));
});
beforeEach(() => {
  events.length = 0;
});

const missing = () => events.filter(({ kind }) => kind === 'extension missing');

async function created(sql?: string): Promise<TestDatabase> {
  const database = await createDatabase();
  databases.push(database);
  if (sql) await database.sql(sql);
  return database;
}

function as(role: string, { url }: TestDatabase): string {
  const changed = new URL(url);
  changed.username = role;
  changed.password = '';
  return changed.href;
}

/** Returns the schema of pgcrypto in the database; null without it. */
async function schemaOf(database: Pick<TestDatabase, 'sql'>): Promise<unknown> {
  const [row] = await database.sql(
    `select nspname from pg_extension e join pg_namespace n on n.oid = extnamespace where extname = 'pgcrypto'`,
  );
  return row?.['nspname'] ?? null;
}

const connect = (name: string, database_url: string, more: object = {}, operation = 'pg_add_source') =>
  engine.admin(operation, { name, configuration: { connection_info: { database_url }, ...more } });

test('the database of --database-url has the extension once the engine has started', async () => {
  expect(await schemaOf(home)).toBe('public');
  const { body } = await engine.admin('run_sql', { sql: `select encode(digest('a', 'sha256'), 'hex')` });
  expect(body).toMatchObject({ result_type: 'TuplesOk' });
});

test('a source that is added has the extension before the answer, and no function of it is offered', async () => {
  const database = await created('create table t (id int primary key)');
  expect(await connect('added', database.url)).toEqual({ status: 200, body: { message: 'success' } });
  expect(await schemaOf(database)).toBe('public');
  const functions = await engine.admin('pg_get_source_functions', { source: 'added' });
  expect(functions.body).toEqual([]);
  const tracked = await engine.admin('pg_track_function', { source: 'added', function: 'gen_random_bytes' });
  expect(tracked.status).toBe(400);
  expect(missing()).toEqual([]);
});

test('extensions_schema names the schema, also in an update that connects elsewhere', async () => {
  const [first, second] = [await created('create schema ext'), await created('create schema "E x""t"')];
  await connect('named', first.url, { extensions_schema: 'ext' });
  expect(await schemaOf(first)).toBe('ext');
  const moved = await connect('named', second.url, { extensions_schema: 'E x"t' }, 'pg_update_source');
  expect(moved).toEqual({ status: 200, body: { message: 'success' } });
  expect(await schemaOf(second)).toBe('E x"t');
});

test('an extension in another schema stays there', async () => {
  const database = await created('create schema old; create extension pgcrypto with schema old');
  expect(await connect('other', database.url)).toEqual({ status: 200, body: { message: 'success' } });
  expect(await schemaOf(database)).toBe('old');
  expect(missing()).toEqual([]);
});

test('the owner of a database, who is no superuser, suffices', async () => {
  const database = await created();
  await database.sql(`alter schema public owner to ext_owner`);
  await database.sql(
    `do $$ begin execute format('grant create on database %I to ext_owner', current_database()); end $$`,
  );
  expect((await connect('owned', as('ext_owner', database))).body).toEqual({ message: 'success' });
  expect(await schemaOf(database)).toBe('public');
});

test('a role without the privilege gets one warning, and the source works', async () => {
  const database = await created('create table t (id int primary key); grant select on t to ext_reader');
  const { status, body } = await connect('poor', as('ext_reader', database));
  const reason = 'permission denied to create extension "pgcrypto"';
  const message = `poor: pgcrypto could not be created in the schema "public": ${reason}`;
  expect({ status, body }).toEqual({
    status: 200,
    body: {
      message: 'success',
      warnings: [{ code: 'extension-missing', message, type: 'source', name: 'source/poor' }],
    },
  });
  const track = await engine.admin('pg_track_table', { source: 'poor', table: 't' });
  expect(track.body).toEqual({ message: 'success' });
  expect(await engine.graphql('{ t { id } }')).toEqual({ data: { t: [] } });
  expect((await engine.admin('reload_metadata', {})).body).toMatchObject({ is_consistent: true });
  expect(missing()).toEqual([
    { kind: 'extension missing', extension: 'pgcrypto', source: 'poor', schema: 'public', reason },
  ]);
  expect(await schemaOf(database)).toBeNull();
});

test('a schema that does not exist is a warning, and is not created', async () => {
  const database = await created();
  const { status, body } = await connect('lost', database.url, { extensions_schema: 'nowhere' });
  expect(status).toBe(200);
  expect(body).toMatchObject({
    warnings: [{ message: expect.stringContaining('"nowhere" does not exist') }],
  });
  const schemas = await database.sql(`select from pg_namespace where nspname = 'nowhere'`);
  expect(schemas).toEqual([]);
});

test('sessions that are read-only try nothing and warn of nothing', async () => {
  const database = await created();
  expect((await connect('quiet', as('ext_readonly', database))).body).toEqual({ message: 'success' });
  expect(await schemaOf(database)).toBeNull();
  expect(missing()).toEqual([]);
});

test('a dry run, a refused request and maintenance mode create nothing', async () => {
  const database = await created();
  const { body } = await engine.admin<{ sources: object[] }>('export_metadata', {});
  const source = {
    name: 'dry',
    kind: 'postgres',
    configuration: { connection_info: { database_url: database.url } },
    tables: [],
  };
  const metadata = { ...body, sources: [...body.sources, source] };
  const dry = await engine.admin('replace_metadata', { metadata, dry_run: true }, { version: 2 });
  expect(dry.status).toBe(200);
  const refused = await engine.admin('bulk', [
    { type: 'pg_add_source', args: { name: 'dry', configuration: source.configuration } },
    { type: 'pg_track_table', args: { source: 'dry', table: 'not_there' } },
  ]);
  expect(refused.status).toBe(400);
  expect(await schemaOf(database)).toBeNull();
  const maintained = await startTestEngine({ databaseUrl: database.url, enableMaintenanceMode: true, log });
  expect(await schemaOf(database)).toBeNull();
  await maintained.close();
});

test('--metadata-database-extensions-schema counts where the source is the metadata database', async () => {
  const database = await created('create schema ext');
  const other = await startTestEngine({
    databaseUrl: database.url,
    metadataDatabaseExtensionsSchema: 'ext',
    log,
  });
  expect(await schemaOf(database)).toBe('ext');
  const elsewhere = await created('create schema ext');
  await other.admin('pg_add_source', {
    name: 'elsewhere',
    configuration: { connection_info: { database_url: elsewhere.url } },
  });
  expect(await schemaOf(elsewhere)).toBe('public');
  await other.close();
});

test('a source in the metadata database that names the schema public gets it there', async () => {
  const database = await created('create schema ext');
  const other = await startTestEngine({
    databaseUrl: (await created()).url,
    metadataDatabaseUrl: database.url,
    metadataDatabaseExtensionsSchema: 'ext',
    log,
  });
  await other.admin('pg_add_source', {
    name: 'named',
    configuration: { connection_info: { database_url: database.url }, extensions_schema: 'public' },
  });
  expect(await schemaOf(database)).toBe('public');
  await other.close();
});

test('engines that start at the same time on one database do not fail each other', async () => {
  const database = await created();
  const engines = await Promise.all(
    Array.from({ length: 4 }, () => startTestEngine({ databaseUrl: database.url, log })),
  );
  expect(await schemaOf(database)).toBe('public');
  expect(missing()).toEqual([]);
  await Promise.all(engines.map((each) => each.close()));
});

test('a standby is served without a warning', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'pergola-standby-'));
  // Servers run as another user under root.
  chmodSync(folder, 0o755);
  const server = await startEmbeddedPostgres({ folder: join(folder, 'one'), isDurable: false });
  await server.stop();
  execFileSync('touch', [join(folder, 'one', 'data', 'standby.signal')]);
  const settings = join(folder, 'one', 'data', 'postgresql.auto.conf');
  writeFileSync(settings, `primary_conninfo = 'host=127.0.0.1 port=1 user=postgres'\n`);
  const standby = await startEmbeddedPostgres({ folder: join(folder, 'one'), isDurable: false });
  try {
    expect((await connect('standby', standby.url)).body).toEqual({ message: 'success' });
    const client = new pg.Client({ connectionString: standby.url });
    await client.connect();
    const sql = async (text: string) => (await client.query(text)).rows;
    expect(await sql('select pg_is_in_recovery() as is_standby')).toEqual([{ is_standby: true }]);
    expect(await schemaOf({ sql })).toBeNull();
    await client.end();
    expect(missing()).toEqual([]);
    await engine.admin('pg_drop_source', { name: 'standby' });
  } finally {
    await standby.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}, 180_000);
