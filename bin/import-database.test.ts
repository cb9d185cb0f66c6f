/** Tests `import --from-database`: it turns the catalog of a reference engine, created here from its public description, into the
 *  metadata and the migration state of an engine, or into a folder. */
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { createDatabase, type TestDatabase } from '../testing/database.ts';
import { startTestEngine, type TestEngine } from '../testing/engine.ts';
import { captureOutput } from '../testing/output.ts';
import { testDatabase } from '../testing/world.ts';
import { run as importCommand } from './import.ts';

/** The tables of the catalog, without columns that no version uses. */
const CATALOG = `
  create schema hdb_catalog;
  create table hdb_catalog.hdb_metadata (
    id integer primary key, metadata json not null, resource_version integer not null default 1);
  create table hdb_catalog.hdb_version (
    hasura_uuid uuid primary key, version text not null, upgraded_on timestamptz not null,
    cli_state jsonb not null default '{}', console_state jsonb not null default '{}');
  create table hdb_catalog.event_log (id text primary key, payload jsonb)`;
const OLDER = `
  create table hdb_catalog.schema_migrations (version bigint primary key, dirty boolean not null);
  create table hdb_catalog.migration_settings (setting text primary key, value text not null);
  insert into hdb_catalog.schema_migrations values (1600000000000, false), (1600000000001, true);
  insert into hdb_catalog.migration_settings values ('migration_mode', 'true')`;
const UUID = '6f1dc2a4-0b1c-4d5b-9a53-5a4a5a1f0c11';
const TEMPLATE = (prefix: string) => `{"by": {{$session_variables['${prefix}user-id']}}}`;
const PRESET = (prefix: string) => `type Query { me(id: Int @preset(value: "${prefix}user-id")): Int }`;

const documentOf = (prefix: string, url: string) => ({
  version: 3,
  sources: [
    {
      name: 'default',
      kind: 'postgres',
      configuration: {
        connection_info: {
          database_url: url,
          isolation_level: 'read-committed',
          use_prepared_statements: false,
        },
      },
      tables: [
        {
          table: { schema: 'public', name: 'note' },
          select_permissions: [
            {
              role: 'user',
              comment: `of ${prefix}user-id`,
              permission: { columns: ['id'], filter: { owner: { _eq: `${capitals(prefix)}User-Id` } } },
            },
          ],
          insert_permissions: [
            {
              role: 'user',
              permission: { check: {}, set: { owner: `${prefix}user-id` }, columns: ['id'] },
            },
          ],
        },
      ],
    },
  ],
  actions: [
    {
      name: 'act',
      definition: {
        handler: 'http://127.0.0.1:1',
        output_type: 'Boolean!',
        kind: 'synchronous',
        request_transform: { version: 2, body: { action: 'transform', template: TEMPLATE(prefix) } },
      },
    },
  ],
  remote_schemas: [
    {
      name: 'away',
      definition: { url: 'http://127.0.0.1:1' },
      permissions: [{ role: 'user', definition: { schema: PRESET(prefix) } }],
    },
  ],
});

function capitals(prefix: string): string {
  return prefix.replace(/(^|-)([a-z])/g, (letters) => letters.toUpperCase());
}

const database = testDatabase();
let foreign: TestDatabase;
let folder: string;
let output: ReturnType<typeof captureOutput>;
beforeAll(async () => {
  await database.sql('create table note (id int primary key, owner text)');
  folder = await mkdtemp(join(tmpdir(), 'pergola-catalog-'));
});
afterAll(async () => {
  await rm(folder, { recursive: true });
});
beforeEach(async () => {
  foreign = await createDatabase();
  output = captureOutput();
});
afterEach(async () => {
  vi.restoreAllMocks();
  await foreign.drop();
});

/** Fills the catalog with a document and migration states. */
async function fill(document: object, cli: object = {}): Promise<void> {
  await foreign.sql(CATALOG);
  const text = (value: object) => `'${JSON.stringify(value).replaceAll("'", "''")}'`;
  await foreign.sql(`insert into hdb_catalog.hdb_metadata values (1, ${text(document)}, 42);
    insert into hdb_catalog.hdb_version
    values ('${UUID}', '48', now(), ${text(cli)}, '{"telemetryNotificationShown": true}');
    insert into hdb_catalog.event_log values ('1', '{}')`);
}
const load = (...argv: string[]) => importCommand(['--from-database', foreign.url, ...argv]);
const flagsOf = (engine: TestEngine) => ['--engine', engine.url, '--admin-secret', engine.adminSecret];
const exported = async (engine: TestEngine) => (await engine.admin('export_metadata', {})).body;
const stateOf = async (engine: TestEngine) =>
  (await engine.admin<{ cli_state: unknown; console_state: unknown }>('get_catalog_state', {})).body;

test('import writes the metadata and the migration state, with session variables in the prefix of the engine', async () => {
  const cli = { migrations: { default: { '1620000000000': false } }, settings: { migration_mode: 'true' } };
  await fill(documentOf('x-hasura-', database.url), cli);
  const engine = await startTestEngine({ databaseUrl: database.url });
  expect(await load(...flagsOf(engine))).toBe(1);
  expect(output.text).toContain('away');
  expect(await load('--allow-inconsistent', ...flagsOf(engine))).toBe(0);
  expect(output.text).toContain('has the metadata of hdb_catalog, resource version 42');
  expect(output.text).toContain('Migrations applied: 1 of default.');
  const expected = documentOf('x-engine-', database.url);
  // Comments are not rewritten.
  expected.sources[0]!.tables[0]!.select_permissions[0]!.comment = 'of x-hasura-user-id';
  expect(await exported(engine)).toEqual(expected);
  expect(await stateOf(engine)).toMatchObject({
    cli_state: cli,
    console_state: { telemetryNotificationShown: true },
  });
  await database.sql(`insert into note values (1, '7'), (2, '8')`);
  const rows = await engine.graphql('{ note { id } }', {
    role: 'user',
    headers: { 'x-engine-user-id': '7' },
  });
  expect(rows).toEqual({ data: { note: [{ id: 1 }] } });
  await engine.close();
});

test('session variables keep their names when the engine has the same header prefix', async () => {
  await fill(documentOf('x-hasura-', database.url));
  const options = { databaseUrl: database.url, headerPrefix: 'x-hasura-' };
  const engine = await startTestEngine(options);
  const flags = [
    '--engine',
    engine.url,
    '--admin-secret',
    engine.adminSecret,
    '--header-prefix',
    'x-hasura-',
  ];
  expect(await load('--allow-inconsistent', ...flags)).toBe(0);
  const response = await fetch(`${engine.url}/v1/metadata`, {
    method: 'POST',
    headers: { 'x-hasura-admin-secret': engine.adminSecret },
    body: JSON.stringify({ type: 'export_metadata', args: {} }),
  });
  expect(await response.json()).toEqual(documentOf('x-hasura-', database.url));
  await engine.close();
});

test('older migration tables become the migration state unless the catalog has a current state', async () => {
  const engine = await startTestEngine({ databaseUrl: database.url });
  await fill({ version: 3, sources: [] });
  await foreign.sql(OLDER);
  const before = await exported(engine);
  expect(await load('--states-only', ...flagsOf(engine))).toBe(0);
  expect(output.text).toContain('Migrations applied: 2 of default.');
  const copied = {
    migrations: { default: { '1600000000000': false, '1600000000001': true } },
    settings: { migration_mode: 'true' },
    isStateCopyCompleted: true,
  };
  expect(await stateOf(engine)).toMatchObject({ cli_state: copied });
  expect(await exported(engine)).toEqual(before);
  const current = { migrations: { other: { '1': false } } };
  await foreign.sql(`update hdb_catalog.hdb_version set cli_state = '${JSON.stringify(current)}'`);
  expect(await load('--states-only', ...flagsOf(engine))).toBe(0);
  expect((await stateOf(engine)).cli_state).toEqual(current);
  await engine.close();
});

test('import writes a folder of resources or a metadata directory without an engine', async () => {
  const mssql = { name: 'legacy', kind: 'mssql', configuration: {}, tables: [] };
  const document = documentOf('x-hasura-', database.url);
  await fill({ ...document, sources: [...document.sources, mssql] });
  const [resources, directory] = ['resources', 'directory'].map((name) => join(folder, name));
  expect(await load('-o', resources!)).toBe(0);
  expect(output.text).toContain('source legacy is left out: sources of the kind "mssql" are not supported');
  expect(output.text).toContain('--states-only');
  const files = await readdir(resources!, { recursive: true, withFileTypes: true });
  const texts = files.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name));
  const text = (await Promise.all(texts.map((file) => readFile(file, 'utf8')))).join('');
  expect(text).toContain('X-Engine-User-Id');
  expect(text.match(/x-hasura-\S*/gi) ?? []).toEqual(['x-hasura-user-id']);
  expect(await load('-o', directory!, '--as', 'metadata')).toBe(0);
  const file = join(directory!, 'databases/default/tables/public_note.yaml');
  expect(await readFile(file, 'utf8')).toContain('_eq: X-Engine-User-Id');
});

test('older metadata documents are upgraded', async () => {
  await fill({ version: 2, tables: [{ table: 'note' }] });
  const directory = join(folder, 'older');
  expect(await load('-o', directory, '--as', 'metadata')).toBe(0);
  expect(await readFile(join(directory, 'databases/default/tables/public_note.yaml'), 'utf8')).toContain(
    'note',
  );
});

test('a database whose catalog is missing or too old is rejected with the reason', async () => {
  expect(await load('-o', join(folder, 'none'))).toBe(1);
  expect(output.text).toContain('the database has no schema hdb_catalog with metadata');
  await foreign.sql(`create schema hdb_catalog; create table hdb_catalog.hdb_version (version text);
    insert into hdb_catalog.hdb_version values ('31')`);
  expect(await load('-o', join(folder, 'none'))).toBe(1);
  expect(output.text).toContain('hdb_catalog has no document in hdb_metadata (catalog version 31)');
  expect(await importCommand([folder, '--from-database', foreign.url])).toBe(2);
  expect(await importCommand([folder, '--states-only'])).toBe(2);
});
