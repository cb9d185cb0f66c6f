/** A project of the reference is applied when the engine starts with its folders: migrations of each source, then the metadata, each once.
 *  Rule: docs/guides/migrations.md, "At the start of the engine". */
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createDatabase, type TestDatabase } from '../../testing/database.ts';
import { startTestEngine, type TestEngine, type TestEngineOptions } from '../../testing/engine.ts';
import { loadOptions } from '../config/load-options.ts';

let database: TestDatabase;
let archive: TestDatabase;
let project: string;
const engines: TestEngine[] = [];

beforeEach(async () => {
  [database, archive] = [await createDatabase(), await createDatabase()];
  project = mkdtempSync(join(tmpdir(), 'pergola-project-'));
  for (const [file, text] of Object.entries(FILES)) write(file, text);
});
afterEach(async () => {
  for (const engine of engines.splice(0)) await engine.close();
  await Promise.all([database.drop(), archive.drop()]);
});

const write = (file: string, text: string) => {
  mkdirSync(dirname(join(project, file)), { recursive: true });
  writeFileSync(join(project, file), text);
};
const start = async (options: Partial<TestEngineOptions> = {}) => {
  const engine = await startTestEngine({
    databaseUrl: database.url,
    migrationsDir: join(project, 'migrations'),
    metadataDir: join(project, 'metadata'),
    env: { MAIN_URL: database.url, ARCHIVE_URL: archive.url },
    ...options,
  });
  engines.push(engine);
  return engine;
};
const source = (name: string, variable: string) =>
  `- name: ${name}\n  kind: postgres\n  configuration:\n    connection_info:\n      database_url:\n        from_env: ${variable}\n  tables: "!include ${name}/tables/tables.yaml"\n`;
const FILES = {
  'metadata/version.yaml': 'version: 3\n',
  'metadata/databases/databases.yaml': source('default', 'MAIN_URL') + source('archive', 'ARCHIVE_URL'),
  'metadata/databases/default/tables/tables.yaml': '- "!include public_note.yaml"\n',
  'metadata/databases/default/tables/public_note.yaml': 'table:\n  name: note\n  schema: public\n',
  'metadata/databases/archive/tables/tables.yaml': '- "!include public_old.yaml"\n',
  'metadata/databases/archive/tables/public_old.yaml': 'table:\n  name: old\n  schema: public\n',
  'migrations/default/1600000000001_note/up.sql': 'create table note (id int primary key);',
  'migrations/default/1600000000001_note/down.sql': 'drop table note;',
  'migrations/default/1600000000002_rows/up.sql': 'insert into note values (1);',
  'migrations/archive/1600000000003_old/up.sql': 'create table old (id int); insert into old values (7);',
};
const QUERY = '{ note { id } old { id } }';
const DATA = { data: { note: [{ id: 1 }], old: [{ id: 7 }] } };
const stateOf = async (engine: TestEngine) =>
  ((await engine.admin('get_catalog_state', {})).body as { cli_state: unknown }).cli_state;

test('both folders are applied, each migration once, and the record of the command line has them', async () => {
  const first = await start();
  expect(await first.graphql(QUERY)).toEqual(DATA);
  expect(await stateOf(first)).toMatchObject({
    migrations: {
      default: { '1600000000001': false, '1600000000002': false },
      archive: { '1600000000003': false },
    },
  });
  expect(await (await start()).graphql(QUERY)).toEqual(DATA);
  write('migrations/default/1600000000004_more/up.sql', 'insert into note values (2);');
  expect(await (await start()).graphql('{ note { id } }')).toEqual({
    data: { note: [{ id: 1 }, { id: 2 }] },
  });
});

test('replicas that start together run each migration once', async () => {
  for (const replica of await Promise.all([start(), start(), start()])) {
    expect(await replica.graphql(QUERY)).toEqual(DATA);
  }
});

test('versions in the record of the command line count as applied', async () => {
  const before = await start({ migrationsDir: undefined, metadataDir: undefined });
  await database.sql('create table note (id int primary key); insert into note values (1)');
  const migrations = { default: { '1600000000001': false, '1600000000002': false } };
  await before.admin('set_catalog_state', { type: 'cli', state: { migrations } });
  expect(await (await start()).graphql(QUERY)).toEqual(DATA);
});

test('a migration that fails, or is for no source, prevents the start, and nothing is declared', async () => {
  write('migrations/default/1600000000005_wrong/up.sql', 'create table wrong (id nonsense);');
  await expect(start()).rejects.toThrow(/migrations of source default: [\s\S]*nonsense/);
  write('migrations/default/1600000000005_wrong/up.sql', 'select 1;');
  write('migrations/other/1_a/up.sql', 'select 1;');
  await expect(start()).rejects.toThrow('the metadata has no source other');
  const plain = await start({ migrationsDir: undefined, metadataDir: undefined });
  const { body } = await plain.admin<{ sources: { tables: unknown[] }[] }>('export_metadata', {});
  expect(body.sources.flatMap(({ tables }) => tables)).toEqual([]);
  await expect(start({ migrationsDir: join(project, 'nowhere') })).rejects.toThrow('there is no folder');
});

test('a folder without sources is for the database of a variable', async () => {
  write('flat/1_note/up.sql', 'create table note (id int primary key);');
  const engine = await start({
    migrationsDir: join(project, 'flat'),
    metadataDir: undefined,
    migrationsDatabaseEnvVar: 'ARCHIVE_URL',
  });
  expect(await archive.sql('select count(*)::int from note')).toEqual([{ count: 0 }]);
  expect(await database.sql(`select to_regclass('note') as found`)).toEqual([{ found: null }]);
  expect(await engine.graphql('{ __typename }')).toEqual({ data: { __typename: 'query_root' } });
});

test('the variables are those of the reference', () => {
  const options = loadOptions([], {
    HASURA_GRAPHQL_DATABASE_URL: 'postgres://x',
    HASURA_GRAPHQL_MIGRATIONS_DIR: '/hasura-migrations',
    HASURA_GRAPHQL_METADATA_DIR: '/hasura-metadata',
    HASURA_GRAPHQL_MIGRATIONS_DATABASE_ENV_VAR: 'PG_URL',
  });
  expect(options).toMatchObject({
    migrationsDir: '/hasura-migrations',
    metadataDir: '/hasura-metadata',
    migrationsDatabaseEnvVar: 'PG_URL',
  });
});
