/** Every connection of an engine is encrypted as its string and libpq's variables say: to the metadata database, its notifications, the
 *  default source, sources, replicas, members of connection sets, event logs, and those of pg_dump.
 *  Behaviour: docs/reference/behaviour/configuration.md, "Connections". */
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import pg from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { startTestEngine, type TestEngine } from '../../testing/engine.ts';
import { startTlsPostgres, type TlsPostgres } from '../../testing/tls-postgres.ts';

let server: TlsPostgres;
let folder: string;
let observer: pg.Client;
const before = { ...process.env };

beforeAll(async () => {
  server = await startTlsPostgres();
  folder = mkdtempSync(join(tmpdir(), 'pergola-database-tls-'));
  writeFileSync(join(folder, 'ca'), server.pem.ca);
  writeFileSync(join(folder, 'other'), server.pem.otherCa);
  observer = new pg.Client({ connectionString: server.url, application_name: 'observer' });
  await observer.connect();
});
beforeEach(async () => {
  for (const name of ['home', 'shop', 'near']) {
    await observer.query(`drop database if exists ${name} with (force)`);
    await observer.query(`create database ${name}`);
  }
});
afterEach(() => {
  for (const name of Object.keys(process.env)) if (name.startsWith('PG')) delete process.env[name];
  Object.assign(process.env, before);
});
afterAll(async () => {
  await observer?.end();
  await server?.close();
  rmSync(folder, { recursive: true, force: true });
});

type Seen = { readonly datname: string; readonly ssl: boolean; readonly listens: boolean };

async function connections(): Promise<readonly Seen[]> {
  const { rows } = await observer.query<Seen>(`select distinct datname, ssl, query like 'listen%' as listens
    from pg_stat_activity join pg_stat_ssl using (pid) where application_name <> 'observer' and datname is not null`);
  return rows;
}

/** Starts an engine whose sources are at the databases, and uses all of its connections. */
async function useEverything(
  url: (database: string) => string,
  env: Record<string, string>,
): Promise<TestEngine> {
  const engine = await startTestEngine({ databaseUrl: url('home'), env: { ...env, NEAR: url('near') } });
  try {
    const configuration = {
      connection_info: { database_url: url('shop') },
      read_replicas: [{ database_url: { from_env: 'NEAR' } }],
      connection_set: [{ name: 'far', connection_info: { database_url: url('near') } }],
      connection_template: {
        template:
          '{{ if ($.request.headers?["x-far"] == "1") }} {{$.connection_set.far}} {{ else }} {{$.default}} {{ end }}',
      },
    };
    const done = (type: string, args: object) => engine.must(type, args);
    await done('pg_add_source', { name: 'shop', configuration });
    const sql = 'create table if not exists item (id int primary key)';
    await done('run_sql', { source: 'shop', sql });
    const near = new pg.Client({ connectionString: server.url.replace(/\/postgres$/, '/near'), ssl: false });
    await near.connect();
    await near.query(sql);
    await near.end();
    await done('pg_track_table', { source: 'shop', table: 'item' });
    await done('pg_create_event_trigger', {
      ...{ name: 'changed', source: 'shop', table: 'item', webhook: 'http://127.0.0.1:1/' },
      insert: { columns: '*' },
    });
    for (const headers of [{}, { 'x-far': '1' }])
      expect(await engine.graphql('{ item { id } }', { headers })).toEqual({ data: { item: [] } });
    const write = 'mutation { delete_item_by_pk(id: 1) { id } }';
    expect(await engine.graphql(write)).toEqual({ data: { delete_item_by_pk: null } });
    return engine;
  } catch (error) {
    await engine.close();
    throw error;
  }
}

const where = () => new URL(server.url).port;

/** The user `secret` may only connect encrypted, so that a connection that is not would fail, too. */
const FORMS: Readonly<
  Record<string, () => readonly [(database: string) => string, Readonly<Record<string, string>>]>
> = {
  URLs: () => [
    (database) =>
      `postgres://secret@localhost:${where()}/${database}?sslmode=verify-full&sslrootcert=${join(folder, 'ca')}`,
    {},
  ],
  pairs: () => [
    (database) =>
      `host=localhost port=${where()} user=secret dbname=${database} sslmode=verify-full sslrootcert=${join(folder, 'ca')}`,
    {},
  ],
  variables: () => [
    (database) => `postgres:///${database}`,
    {
      ...{ PGHOST: 'localhost', PGPORT: where(), PGUSER: 'secret' },
      ...{ PGSSLMODE: 'verify-full', PGSSLROOTCERT: join(folder, 'ca') },
    },
  ],
};

test.each(Object.entries(FORMS))('with %s, every connection is encrypted', async (_, form) => {
  const [url, env] = form();
  Object.assign(process.env, env);
  const engine = await useEverything(url, env);
  try {
    const seen = await connections();
    expect(new Set(seen.map(({ datname }) => datname))).toEqual(new Set(['home', 'shop', 'near']));
    expect(seen.filter(({ ssl }) => !ssl)).toEqual([]);
    expect(seen.filter(({ listens }) => listens)).toEqual([{ datname: 'home', ssl: true, listens: true }]);
    // The program receives the same, as files.
    const script =
      '#!/bin/sh\nenv | grep ^PGSSL | sed "s/=.*pergola-tls-[^\\/]*/=/"; echo "$@"; cat $PGSSLROOTCERT\n';
    writeFileSync(join(folder, 'pg_dump'), script);
    chmodSync(join(folder, 'pg_dump'), 0o755);
    process.env['PATH'] = folder + delimiter + process.env['PATH'];
    const body = JSON.stringify({ opts: [], source: 'shop' });
    const dump = await (await engine.fetch('/v1alpha1/pg_dump', { method: 'POST', body })).text();
    expect(dump).toContain('PGSSLMODE=verify-full\n');
    expect(dump).toContain(server.pem.ca.trim());
    expect(dump).toContain(`host='localhost' port='${where()}' user='secret' dbname='shop'`);
  } finally {
    await engine.close();
  }
});

test('without a mode, connections are encrypted where the server can', async () => {
  const engine = await useEverything(
    (database) => `postgres://postgres@localhost:${where()}/${database}`,
    {},
  );
  expect((await connections()).filter(({ ssl }) => !ssl)).toEqual([]);
  await engine.close();
});

/** Authorities and names that do not fit, for every way in; the messages say why, and at once. */
test.each<[string, string, RegExp]>([
  ['another authority', 'localhost', /certificate/],
  ['another name', '127.0.0.1', /altnames/],
])('%s is refused for every connection', async (_, host, reason) => {
  const ca = join(folder, host === 'localhost' ? 'other' : 'ca');
  const refused = (database: string) =>
    `postgres://postgres@${host}:${where()}/${database}?sslmode=verify-full&sslrootcert=${ca}`;
  const since = performance.now();
  await expect(startTestEngine({ databaseUrl: refused('home') })).rejects.toThrow(reason);
  await expect(startTestEngine({ databaseUrl: refused('home') })).rejects.toThrow(
    `cannot reach the metadata database ${host}:${where()}/home`,
  );
  expect(performance.now() - since).toBeLessThan(10_000);
  const good = `postgres://postgres@localhost:${where()}/home`;
  const engine = await startTestEngine({ databaseUrl: good, env: { REFUSED: refused('shop') } });
  for (const database_url of [refused('shop'), { from_env: 'REFUSED' }]) {
    const answer = await engine.admin('pg_add_source', {
      name: 'refused',
      configuration: { connection_info: { database_url } },
    });
    expect(answer).toMatchObject({
      status: 400,
      body: { internal: [{ reason: expect.stringMatching(reason) }] },
    });
  }
  await engine.close();
});

test('new settings of a source are tried before they are accepted, and the old ones stay', async () => {
  const at = (database: string, query = '') => `postgres://postgres@localhost:${where()}/${database}${query}`;
  const env = { WRONG: server.pem.otherCa, NOWHERE: 'postgres://postgres@127.0.0.1:1/x' };
  const engine = await startTestEngine({ databaseUrl: at('home'), env });
  const update = async (connection_info: object, more: object = {}) => {
    return engine.admin('pg_update_source', { name: 'shop', configuration: { connection_info, ...more } });
  };
  try {
    const connection_info = { database_url: at('shop') };
    await engine.admin('pg_add_source', { name: 'shop', configuration: { connection_info } });
    const sql = 'create table item (id int primary key); insert into item values (1)';
    await engine.admin('run_sql', { source: 'shop', sql });
    await engine.admin('pg_track_table', { source: 'shop', table: 'item' });
    const verified = { sslmode: 'verify-full', sslrootcert: { from_env: 'WRONG' } };
    for (const bad of [
      { database_url: 'postgres://postgres@127.0.0.1:1/x' },
      { database_url: { from_env: 'NOWHERE' } },
      { database_url: { from_env: 'MISSING' } },
      { database_url: at('shop', '?sslmode=verify-ca') },
      { database_url: at('shop', `?sslmode=verify-full&sslrootcert=${join(folder, 'other')}`) },
      { database_url: at('shop'), ssl_configuration: verified },
    ])
      expect(await update(bad)).toMatchObject({ status: 400, body: { code: 'invalid-configuration' } });
    // Another database, without the table.
    expect(await update({ database_url: at('near') })).toMatchObject({
      status: 400,
      body: { code: 'unexpected', internal: [{ name: 'table item in source shop' }] },
    });
    const good = `?sslmode=verify-full&sslrootcert=${join(folder, 'ca')}`;
    expect(await engine.graphql('{ item { id } }')).toEqual({ data: { item: [{ id: 1 }] } });
    expect((await engine.admin('export_metadata', {})).body).toMatchObject({
      sources: expect.arrayContaining([expect.objectContaining({ configuration: { connection_info } })]),
    });
    expect(await update({ database_url: at('shop', good) })).toMatchObject({ status: 200 });
    expect(await engine.graphql('{ item { id } }')).toEqual({ data: { item: [{ id: 1 }] } });
  } finally {
    await engine.close();
  }
});
