/** The conversations of the CLI of other engines, request by request and in its order, with what it reads in each response. Any status but 200
 *  ends a command with the text of the body. The header of its secret is fixed, so the engine has the prefix `x-hasura-`.
 *  Reference: docs/reference/behaviour/metadata-api.md. */
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createDatabase } from '../../testing/database.ts';
import { testWorld } from '../../testing/world.ts';

const { database, engine } = testWorld('', () => ({ headerPrefix: 'x-hasura-' }));

beforeEach(async () => {
  await database.sql('drop schema public cascade; create schema public');
  await api('/v1/metadata', { type: 'clear_metadata', args: {} });
  // The schema was changed behind the engine's back.
  await reload();
  await api('/v1/metadata', { type: 'set_catalog_state', args: { type: 'cli', state: {} } });
});

/** Sends a request as the CLI does, and returns the body of its response, which has status 200. */
async function api<T = Record<string, unknown>>(path: string, body: object): Promise<T> {
  const { status, text } = await raw(path, body);
  expect([status, text]).toEqual([200, text]);
  return JSON.parse(text);
}

async function raw(path: string, body: object): Promise<{ readonly status: number; readonly text: string }> {
  const headers = {
    'content-type': 'application/json',
    'user-agent': 'hasura-cli',
    'X-Hasura-Admin-Secret': engine.adminSecret,
  };
  const response = await fetch(engine.url + path, { method: 'POST', headers, body: JSON.stringify(body) });
  return { status: response.status, text: await response.text() };
}

type Exported = {
  readonly version: number;
  readonly sources: readonly { name: string; kind: string; tables: object[] }[];
};
type Applied = {
  readonly is_consistent: boolean;
  readonly inconsistent_objects: readonly Record<string, unknown>[];
};
type CatalogState = { readonly id: string; readonly cli_state: CliState; readonly console_state: object };
type CliState = {
  readonly migrations?: Readonly<Record<string, Readonly<Record<string, boolean>>>>;
  readonly settings?: Readonly<Record<string, string>>;
  readonly isStateCopyCompleted?: boolean;
};

const exported = () => api<Exported>('/v1/metadata', { type: 'export_metadata', args: {} });
const catalogState = () => api<CatalogState>('/v1/metadata', { type: 'get_catalog_state', args: {} });
const replace = (metadata: object, isLenient = true) =>
  api<Applied>('/v1/metadata', {
    type: 'replace_metadata',
    version: 2,
    args: { allow_inconsistent_metadata: isLenient, metadata },
  });
const reload = () => api<Applied>('/v1/metadata', { type: 'reload_metadata', args: {} });
const inconsistencies = () => api<Applied>('/v1/metadata', { type: 'get_inconsistent_metadata', args: {} });
const setState = (state: CliState) =>
  api('/v1/metadata', { type: 'set_catalog_state', args: { type: 'cli', state } });
const runSql = (sql: string, more: object = {}) =>
  api('/v2/query', { type: 'run_sql', args: { sql, source: 'default', ...more } });

/** The requests that every connected command sends first. */
async function connect(): Promise<void> {
  for (let i = 0; i < 2; i++) {
    const version = await fetch(`${engine.url}/v1/version`);
    expect([version.status, await version.json()]).toEqual([
      200,
      { server_type: 'ce', version: expect.stringMatching(/^v2\.\d+\.\d+/) },
    ]);
  }
  const config = await engine.fetch('/v1alpha1/config');
  expect([config.status, await config.json()]).toMatchObject([200, { console_assets_dir: null }]);
  const older = await api<Exported>('/v1/query', { type: 'export_metadata', args: {} });
  expect(older).toMatchObject({ version: 3, sources: [{ name: 'default', kind: 'postgres' }] });
  expect(await catalogState()).toMatchObject({
    id: expect.stringMatching(/^[\da-f-]{36}$/),
    cli_state: expect.any(Object),
    console_state: expect.any(Object),
  });
}

/** Metadata as a project directory gives it: tables with what the CLI writes to files. */
async function project(...names: readonly string[]) {
  const { sources, ...rest } = await exported();
  const tables = names.map((name) => ({
    table: { name, schema: 'public' },
    select_permissions: [{ role: 'reader', permission: { columns: ['id'], filter: {} }, comment: '' }],
  }));
  return { ...rest, sources: sources.map((source) => ({ ...source, tables })) };
}

const AUTHORS = 'create table author (id int primary key, name text);';

test('the secret is read from its header under the configured prefix only', async () => {
  const body = JSON.stringify({ type: 'export_metadata', args: {} });
  for (const name of ['X-Hasura-Admin-Secret', 'x-hasura-admin-secret', 'X-Hasura-Access-Key']) {
    const headers = { 'content-type': 'application/json', [name]: engine.adminSecret };
    const { status } = await fetch(`${engine.url}/v1/metadata`, { method: 'POST', headers, body });
    expect([name, status]).toEqual([name, 200]);
  }
  const headers = { 'content-type': 'application/json', 'x-hasura-admin-secret': 'wrong' };
  const response = await fetch(`${engine.url}/v1/metadata`, { method: 'POST', headers, body });
  expect([response.status, await response.json()]).toMatchObject([401, { code: 'access-denied', path: '$' }]);
});

test('metadata apply, diff and export: what was applied is exported, so the difference is empty', async () => {
  await database.sql(AUTHORS);
  await connect();
  const metadata = await project('author');
  expect(await replace(metadata)).toMatchObject({ is_consistent: true, inconsistent_objects: [] });
  const first = await exported();
  expect(first).toEqual(metadata);
  expect(await replace(first)).toMatchObject({ is_consistent: true });
  expect(await exported()).toEqual(first);
});

test('metadata apply reports what is inconsistent, or refuses it with --disallow-inconsistent-metadata', async () => {
  await connect();
  const metadata = await project('lost');
  const applied = await replace(metadata);
  expect(applied.is_consistent).toBe(false);
  expect(applied.inconsistent_objects).toContainEqual({
    type: 'table',
    name: 'table lost in source default',
    reason: expect.stringMatching(/^Inconsistent object: /),
    definition: { schema: 'public', name: 'lost' },
  });
  await api('/v1/metadata', { type: 'clear_metadata', args: {} });
  const args = { allow_inconsistent_metadata: false, metadata };
  const refused = await raw('/v1/metadata', { type: 'replace_metadata', version: 2, args });
  expect([refused.status, JSON.parse(refused.text)]).toMatchObject([
    400,
    {
      path: expect.any(String),
      error: expect.any(String),
      code: expect.any(String),
      internal: expect.any(Array),
    },
  ]);
  expect((await exported()).sources[0]?.tables ?? []).toEqual([]);
});

test('metadata reload, inconsistency list, status and drop', async () => {
  await database.sql(AUTHORS);
  await connect();
  await replace(await project('author'));
  expect(await reload()).toMatchObject({ message: 'success', is_consistent: true });
  expect(await inconsistencies()).toEqual({ is_consistent: true, inconsistent_objects: [] });
  await database.sql('drop table author');
  expect(await reload()).toMatchObject({ message: 'success', is_consistent: false });
  const { inconsistent_objects: found, is_consistent } = await inconsistencies();
  expect([is_consistent, found.map(({ type }) => type)]).toEqual([false, expect.arrayContaining(['table'])]);
  for (const each of found) {
    expect(each).toMatchObject({ name: expect.any(String), reason: expect.any(String) });
    expect(each).toHaveProperty('definition');
  }
  expect(await api('/v1/metadata', { type: 'drop_inconsistent_metadata', args: {} })).toEqual({
    message: 'success',
  });
  expect(await inconsistencies()).toEqual({ is_consistent: true, inconsistent_objects: [] });
  expect((await exported()).sources[0]!.tables).toEqual([]);
});

test('metadata clear keeps the state of migrations', async () => {
  await database.sql(AUTHORS);
  await connect();
  const state = { migrations: { default: { '1600000000000': false } } };
  await setState(state);
  await replace(await project('author'));
  expect(await api('/v1/metadata', { type: 'clear_metadata', args: {} })).toEqual({ message: 'success' });
  expect(await exported()).toMatchObject({ version: 3 });
  expect((await catalogState()).cli_state).toEqual(state);
});

const VERSIONS = ['1600000000000', '1600000000001', '1600000000002'] as const;
const UP = [AUTHORS, 'alter table author add column born date;', "insert into author values (1, 'Jane');"];
const SETTINGS = { settings: { migration_mode: 'true' }, isStateCopyCompleted: true };

/** Sends what `migrate apply` sends: for each version, the state `dirty`, its SQL, and the state again. */
async function migrate(versions: readonly string[], sql: readonly string[]): Promise<void> {
  for (const [i, version] of versions.entries()) {
    const { cli_state } = await catalogState();
    const done = cli_state.migrations?.['default'] ?? {};
    await setState({ ...SETTINGS, migrations: { default: { ...done, [version]: true } } });
    expect(await runSql(sql[i]!)).toEqual({ result_type: 'CommandOk', result: null });
    await setState({ ...SETTINGS, migrations: { default: { ...done, [version]: false } } });
  }
}

test('migrate apply and status: the state says what was applied', async () => {
  await connect();
  await migrate(VERSIONS, UP);
  const applied = { '1600000000000': false, '1600000000001': false, '1600000000002': false };
  expect((await catalogState()).cli_state).toEqual({ ...SETTINGS, migrations: { default: applied } });
  expect(await database.sql('select id, name, born from author')).toEqual([
    { id: 1, name: 'Jane', born: null },
  ]);
});

test('a migration that fails is dirty, and nothing of it is in the database', async () => {
  await connect();
  await migrate(VERSIONS.slice(0, 1), UP);
  const migrations = { default: { [VERSIONS[0]]: false, [VERSIONS[1]]: true } };
  await setState({ ...SETTINGS, migrations });
  const sql = 'alter table author add column born date; select lost();';
  const { status, text } = await raw('/v2/query', { type: 'run_sql', args: { sql, source: 'default' } });
  expect([status, JSON.parse(text)]).toMatchObject([
    400,
    {
      path: '$.args',
      error: 'query execution failed',
      code: 'postgres-error',
      internal: { error: { status_code: '42883' } },
    },
  ]);
  expect((await catalogState()).cli_state.migrations).toEqual(migrations);
  await expect(database.sql('select born from author')).rejects.toThrow('does not exist');
});

test('migrate apply --down, skip and delete --server rewrite the state alone', async () => {
  await connect();
  await migrate(VERSIONS, UP);
  await runSql('delete from author;');
  const rest = { [VERSIONS[0]]: false, [VERSIONS[1]]: false };
  await setState({ ...SETTINGS, migrations: { default: rest } });
  expect((await catalogState()).cli_state.migrations).toEqual({ default: rest });
  await setState({ ...SETTINGS, migrations: { default: {} } });
  expect((await catalogState()).cli_state.migrations).toEqual({ default: {} });
  expect(await database.sql('select id from author')).toEqual([]);
});

test('migrate squash: several versions become one in the state', async () => {
  await connect();
  await migrate(VERSIONS, UP);
  await setState({ ...SETTINGS, migrations: { default: { [VERSIONS[0]]: false } } });
  const { cli_state, id } = await catalogState();
  expect(cli_state.migrations).toEqual({ default: { [VERSIONS[0]]: false } });
  // The squashed file is applied to another database, in one request.
  await database.sql('drop table author');
  await runSql(UP.join('\n'));
  expect(await database.sql('select name from author')).toEqual([{ name: 'Jane' }]);
  expect((await catalogState()).id).toBe(id);
});

test('the console keeps a state of its own', async () => {
  const console_state = { telemetryNotificationShown: true };
  await setState(SETTINGS);
  await api('/v1/metadata', { type: 'set_catalog_state', args: { type: 'console', state: console_state } });
  expect(await catalogState()).toMatchObject({ cli_state: SETTINGS, console_state });
});

test('a migration may keep metadata inconsistent, and may run outside a transaction', async () => {
  await database.sql(AUTHORS);
  await connect();
  await replace(await project('author'));
  const drop = { sql: 'alter table author drop column id;', source: 'default' };
  const refused = await raw('/v2/query', { type: 'run_sql', args: drop });
  expect([refused.status, JSON.parse(refused.text)]).toMatchObject([400, { code: 'dependency-error' }]);
  expect(await runSql(drop.sql, { check_metadata_consistency: false })).toMatchObject({
    result_type: 'CommandOk',
  });
  await runSql('alter table author add column id int;');
  const outside = { no_transaction: true };
  expect(await runSql('create index concurrently on author (name);', outside)).toMatchObject({
    result_type: 'CommandOk',
  });
});

test('seed apply: a bulk of run_sql is one transaction', async () => {
  await database.sql(AUTHORS);
  await connect();
  const seed = (sql: string) => ({ type: 'run_sql', args: { sql, source: 'default' } });
  const args = [seed("insert into author values (1, 'Jane');"), seed('select name from author;')];
  expect(await api<object[]>('/v2/query', { type: 'bulk', args })).toEqual([
    { result_type: 'CommandOk', result: null },
    { result_type: 'TuplesOk', result: [['name'], ['Jane']] },
  ]);
  const failing = [seed("insert into author values (2, 'Mary');"), seed('insert into lost values (1);')];
  const { status, text } = await raw('/v2/query', { type: 'bulk', args: failing });
  expect([status, JSON.parse(text)]).toMatchObject([400, { path: '$.args[1].args', code: 'postgres-error' }]);
  expect(await database.sql('select id from author order by id')).toEqual([{ id: 1 }]);
});

test('deploy: metadata before its tables, migrations, reload, then everything is consistent', async () => {
  await connect();
  expect(await replace(await project('author'))).toMatchObject({ is_consistent: false });
  await migrate(VERSIONS, UP);
  expect(await reload()).toMatchObject({ message: 'success', is_consistent: true });
  expect(await inconsistencies()).toEqual({ is_consistent: true, inconsistent_objects: [] });
  const seed = {
    type: 'run_sql',
    args: { sql: "insert into author values (2, 'Mary');", source: 'default' },
  };
  await api('/v2/query', { type: 'bulk', args: [seed] });
  const reader = await engine.graphql('{ author(order_by: {id: asc}) { id } }', { role: 'reader' });
  expect(reader).toEqual({ data: { author: [{ id: 1 }, { id: 2 }] } });
  const hidden = await engine.graphql('{ author { name } }', { role: 'reader' });
  expect(hidden.errors![0]!.message).toBe("field 'name' not found in type: 'author'");
});

test('migrate apply --all-databases reads the sources, and the SQL of each goes to its own', async () => {
  const other = await createDatabase();
  try {
    await connect();
    const configuration = { connection_info: { database_url: other.url } };
    await api('/v1/metadata', { type: 'pg_add_source', args: { name: 'other', configuration } });
    const { sources } = await exported();
    expect(sources.map(({ name, kind }) => [name, kind])).toEqual([
      ['default', 'postgres'],
      ['other', 'postgres'],
    ]);
    for (const { name } of sources)
      await runSql(`create table in_${name} (id int primary key);`, { source: name });
    const migrations = { default: { [VERSIONS[0]]: false }, other: { [VERSIONS[0]]: false } };
    await setState({ ...SETTINGS, migrations });
    expect((await catalogState()).cli_state.migrations).toEqual(migrations);
    expect(await other.sql('select id from in_other')).toEqual([]);
    await expect(database.sql('select id from in_other')).rejects.toThrow('does not exist');
  } finally {
    await api('/v1/metadata', { type: 'pg_drop_source', args: { name: 'other', cascade: true } });
    await other.drop();
  }
});

test('a script introspects the schema for `actions create`', async () => {
  const { data } = await api<{ data: { __schema: { queryType: object } } }>('/v1/graphql', {
    query:
      'query IntrospectionQuery { __schema { queryType { name } mutationType { name } types { name kind } } }',
  });
  expect(data.__schema.queryType).toEqual({ name: 'query_root' });
});

let path: string | undefined;
let folder: string | undefined;

afterEach(() => {
  if (path !== undefined) vi.stubEnv('PATH', path);
  if (folder) rmSync(folder, { recursive: true });
  path = folder = undefined;
});

test('migrate create --from-server receives the text of pg_dump', async () => {
  folder = mkdtempSync(join(tmpdir(), 'pg-dump-'));
  path = process.env['PATH'] ?? '';
  writeFileSync(
    join(folder, 'pg_dump'),
    '#!/bin/sh\necho "SET x = 1;"\necho "-- $*"\necho "CREATE TABLE author ();"\n',
  );
  chmodSync(join(folder, 'pg_dump'), 0o755);
  vi.stubEnv('PATH', `${folder}:${path}`);
  await connect();
  const opts = ['-O', '-x', '--schema-only', '--schema', 'public'];
  const { status, text } = await raw('/v1alpha1/pg_dump', { opts, clean_output: true, source: 'default' });
  expect([status, text]).toEqual([200, expect.stringContaining('CREATE TABLE author ();')]);
  // The comments and settings of the dump are removed, but for the one that functions need.
  expect(text).toBe('SET check_function_bodies = false;\nCREATE TABLE author ();\n');
  await setState({ ...SETTINGS, migrations: { default: { [VERSIONS[0]]: false } } });
});
