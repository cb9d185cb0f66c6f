/** What options change: maintenance mode, replicas, null in variables, the header prefix that lets clients of the reference engine
 *  work unmodified, and the session as settings of Postgres.
 *  Rules: docs/reference/behaviour/configuration.md, docs/reference/behaviour/mutations.md. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestEngine, type TestEngine } from '../../testing/engine.ts';
import { testDatabase } from '../../testing/world.ts';
import { loadOptions } from '../config/load-options.ts';
import { OPERATIONS } from '../metadata/operations.ts';

const database = testDatabase();
const replica = testDatabase();
let engine: TestEngine | undefined;

const TABLE = `
  create table note (id int primary key, place text, writer text, tags text);
  create function who() returns trigger language plpgsql as $$ begin
    new.writer = current_setting('hasura.user', true)::json->>'x-hasura-user-id';
    new.tags = current_setting('engine.user', true)::json->>'x-engine-user-id';
    return new; end $$;
  create trigger who before insert on note for each row execute function who();`;

beforeAll(async () => {
  await Promise.all([
    database.sql(`${TABLE} insert into note (id, place) values (1, 'primary')`),
    replica.sql(`${TABLE} insert into note (id, place) values (1, 'replica')`),
  ]);
  await engineWith({});
  expect((await engine!.admin('pg_track_table', { table: 'note' })).status).toBe(200);
});
afterAll(() => engine?.close());

/** Starts an engine in place of the last one, with the options of the variables. */
async function engineWith(variables: Record<string, string>): Promise<void> {
  await engine?.close();
  engine = undefined;
  const {
    serverPort: _,
    serverHost: __,
    ...options
  } = loadOptions(['--database-url', database.url], variables);
  engine = await startTestEngine({ ...options, serverPort: 0, databaseUrl: database.url });
}

test('maintenance mode refuses every operation that changes metadata, and no other', async () => {
  await engineWith({ ENGINE_GRAPHQL_ENABLE_MAINTENANCE_MODE: 'true' });
  const message = 'metadata cannot be modified in maintenance mode';
  for (const [name, { effect, endpoints }] of Object.entries(OPERATIONS)) {
    const isState = name === 'set_catalog_state' || name === 'patch_catalog_state';
    const expected = effect === 'edit' || effect === 'migration' || (effect === 'state' && !isState);
    if (effect === 'batch' || name === 'run_sql') continue;
    const { status, body } = await engine!.admin<{ error?: string; code?: string }>(
      name,
      {},
      {
        endpoint: endpoints[0]!,
      },
    );
    if (expected)
      expect([status, body], name).toEqual([500, { path: '$', error: message, code: 'unexpected' }]);
    else expect(body?.error, name).not.toBe(message);
  }
  const batch = [
    { type: 'export_metadata', args: {} },
    { type: 'clear_metadata', args: {} },
  ];
  expect(await engine!.admin('bulk', batch)).toMatchObject({ status: 500, body: { error: message } });
  expect(await engine!.admin('bulk', batch.slice(0, 1))).toMatchObject({ status: 200 });
  const sql = async (text: string) => (await engine!.admin('run_sql', { sql: text })).status;
  expect([await sql('select 1'), await sql('create table other (id int)')]).toEqual([200, 500]);
  expect(await engine!.graphql('{ note { id } }')).toEqual({ data: { note: [{ id: 1 }] } });
});

test('queries go to the replicas of --read-replica-urls, mutations to the primary', async () => {
  await engineWith({ HASURA_GRAPHQL_READ_REPLICA_URLS: replica.url });
  expect(await engine!.graphql('{ note { place } }')).toEqual({ data: { note: [{ place: 'replica' }] } });
  const update = 'mutation { update_note(where: {}, _set: {place: "primary"}) { returning { place } } }';
  expect(await engine!.graphql(update)).toMatchObject({
    data: { update_note: { returning: [{ place: 'primary' }] } },
  });
  const exported = await engine!.admin('export_metadata', {});
  expect(JSON.stringify(exported.body)).not.toContain('replica');
});

test('--null-in-nonnullable-variables accepts null where the argument is nullable', async () => {
  const request = (type: string, use: string) =>
    engine!.graphql(`query ($x: ${type}) { note(${use}) { id } }`, { variables: { x: null } });
  for (const isOn of [false, true]) {
    await engineWith({ HASURA_GRAPHQL_BACKWARDS_COMPAT_NULL_IN_NONNULLABLE_VARIABLES: String(isOn) });
    for (const [type, use] of [
      ['Int!', 'limit: $x'],
      ['[note_order_by!]!', 'order_by: $x'],
    ] as const) {
      const answer = await request(type, use);
      if (isOn) expect(answer, use).toEqual({ data: { note: [{ id: 1 }] } });
      else
        expect(answer.errors?.[0]?.message, use).toContain(
          `null value found for non-nullable type: "${type}"`,
        );
    }
    const required = await engine!.graphql('query ($x: Int!) { note_by_pk(id: $x) { id } }', {
      variables: { x: null },
    });
    expect(required.errors?.[0]?.extensions.code).toBe('validation-failed');
  }
});

test('with one switch, the CLI of the reference engine is understood', async () => {
  await engineWith({ HASURA_GRAPHQL_HEADER_PREFIX: 'x-hasura-', HASURA_GRAPHQL_ADMIN_SECRET: 'given' });
  const secret = { 'X-Hasura-Admin-Secret': engine!.adminSecret };
  const call = async (path: string, body?: object) => {
    const response = await fetch(engine!.url + path, {
      method: body ? 'POST' : 'GET',
      headers: { ...(body && { 'content-type': 'application/json' }), ...secret },
      ...(body && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    return [response.status, text.startsWith('{') || text.startsWith('[') ? JSON.parse(text) : text] as const;
  };
  const [status, version] = await call('/v1/version');
  expect([status, version]).toEqual([
    200,
    { server_type: 'ce', version: expect.stringMatching(/^v2\.\d+\.\d+/) },
  ]);
  expect(await call('/hasura/healthz')).toEqual([200, 'OK']);
  expect((await call('/v1alpha1/config'))[0]).toBe(200);
  expect(await call('/v1/query', { type: 'export_metadata', args: {} })).toMatchObject([200, { version: 3 }]);
  expect(await call('/v1/metadata', { type: 'get_catalog_state', args: {} })).toMatchObject([
    200,
    { id: expect.any(String), cli_state: {}, console_state: {} },
  ]);
  const filter = { writer: { _eq: 'X-Hasura-User-Id' } };
  const permission = {
    table: 'note',
    source: 'default',
    role: 'user',
    permission: { columns: ['id'], filter },
  };
  expect((await call('/v1/metadata', { type: 'pg_create_select_permission', args: permission }))[0]).toBe(
    200,
  );
  const [, exported] = await call('/v1/metadata', { type: 'export_metadata', args: {} });
  expect(JSON.stringify(exported)).toContain('X-Hasura-User-Id');
  const sql = { source: 'default', sql: 'select 1 as one', check_metadata_consistency: false };
  expect(await call('/v2/query', { type: 'bulk', args: [{ type: 'run_sql', args: sql }] })).toEqual([
    200,
    [{ result_type: 'TuplesOk', result: [['one'], ['1']] }],
  ]);
  const [, refused] = await call('/v1/metadata', { type: 'nothing', args: {} });
  expect(refused).toMatchObject({ code: 'parse-failed' });
});

test('a trigger reads the session under both names', async () => {
  await engineWith({});
  const insert = 'mutation { insert_note_one(object: {id: 2}) { writer tags } }';
  const headers = { 'x-engine-user-id': '42' };
  expect(await engine!.graphql(insert, { headers })).toEqual({
    data: { insert_note_one: { writer: '42', tags: '42' } },
  });
});

test('settings of connections count for sources that have none of their own', async () => {
  const isolationColumn = `isolation text default current_setting('transaction_isolation')`;
  await database.sql(`create table setting (id int primary key, ${isolationColumn})`);
  await engineWith({
    HASURA_GRAPHQL_TX_ISOLATION: 'serializable',
    HASURA_GRAPHQL_PG_CONNECTIONS: '2',
  });
  expect((await engine!.admin('pg_track_table', { table: 'setting' })).status).toBe(200);
  const levels = { own: 'repeatable-read', same: 'read-committed' };
  for (const [name, isolation_level] of Object.entries(levels)) {
    const source = {
      name,
      configuration: { connection_info: { database_url: database.url, isolation_level } },
      customization: { root_fields: { prefix: `${name}_` }, type_names: { prefix: `${name}_` } },
    };
    expect((await engine!.admin('pg_add_source', source)).status).toBe(200);
    expect((await engine!.admin('pg_track_table', { table: 'setting', source: name })).status).toBe(200);
  }
  const insert = (prefix: string, id: number) =>
    `mutation { a: ${prefix}insert_setting_one(object: {id: ${id}}) { isolation }
                b: ${prefix}insert_setting_one(object: {id: ${id + 1}}) { isolation } }`;
  const isolation = (level: string) => ({ data: { a: { isolation: level }, b: { isolation: level } } });
  expect(await engine!.graphql(insert('', 1))).toEqual(isolation('serializable'));
  expect(await engine!.graphql(insert('own_', 3))).toEqual(isolation('repeatable read'));
  expect(await engine!.graphql(insert('same_', 5))).toEqual(isolation('read committed'));
  await Promise.all(Array.from({ length: 20 }, () => engine!.graphql('{ note { id } }')));
  const [open] = await database.sql(
    `select count(*)::int from pg_stat_activity where datname = current_database()
       and application_name = 'pergola' and query ilike '%note%'`,
  );
  expect(open?.['count']).toBeLessThanOrEqual(2);
});
