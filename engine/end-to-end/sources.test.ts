/** Tests several sources in a running engine: read replicas, databases that fail and come back, poolers without
 *  sessions. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createDatabase } from '../../testing/database.ts';
import { startTestEngine, type TestEngine } from '../../testing/engine.ts';
import { openSession } from '../../testing/websocket.ts';
import { testDatabase } from '../../testing/world.ts';
import type { DatabaseUrl } from '../metadata/schema/source.ts';
import { openProxy } from '../wire/testing/proxy.ts';

const TABLE = (place: string) => `
  create table note (id serial primary key, place text not null default '${place}');
  insert into note default values`;

const primary = testDatabase();
const replica = testDatabase();
let engine: TestEngine;

beforeAll(async () => {
  await primary.sql(TABLE('primary'));
  await replica.sql(TABLE('replica'));
  engine = await startTestEngine({ databaseUrl: primary.url });
});
afterAll(() => engine?.close());

async function configure(
  info: object,
  replicas: readonly DatabaseUrl[] = [],
  name = 'default',
): Promise<void> {
  const connection = (database_url: DatabaseUrl) => ({ connection_info: { database_url, ...info } });
  const configuration = {
    ...connection(primary.url),
    read_replicas: replicas.map((url) => connection(url).connection_info),
  };
  const tables = [{ table: { schema: 'public', name: 'note' } }];
  const answer = await engine.admin(
    'replace_metadata',
    {
      metadata: { version: 3, sources: [{ name, kind: 'postgres', configuration, tables }] },
      allow_inconsistent_metadata: true,
    },
    { version: 2 },
  );
  expect(answer.status).toBe(200);
}

test('a mutation on two sources that are one database does not wait for itself', async () => {
  await configure({});
  const customization = { root_fields: { prefix: 'same_' }, type_names: { prefix: 'same_' } };
  const configuration = { connection_info: { database_url: primary.url } };
  await engine.admin('pg_add_source', { name: 'same', configuration, customization });
  await engine.admin('pg_track_table', { source: 'same', table: 'note' });
  const writes = ['update_note', 'same_update_note'].map(
    (field) => `${field}(where: {id: {_eq: 1}}, _set: {place: "both"}) { affected_rows }`,
  );
  const { errors } = await engine.graphql(`mutation { ${writes.join(' ')} }`);
  expect(errors).toMatchObject([
    {
      message: 'canceling statement due to lock timeout',
      extensions: { code: 'concurrent-update', path: '$' },
    },
  ]);
  const { data } = await engine.graphql('{ note(where: {place: {_eq: "both"}}) { id } }');
  expect(data).toEqual({ note: [] });
});

const QUERY = '{ note(limit: 1) { place } }';
const from = (place: string) => ({ data: { note: [{ place }] } });

test('queries and subscriptions use a replica, mutations and their answers the primary', async () => {
  await configure({}, [replica.url]);
  expect(await engine.graphql(QUERY)).toEqual(from('replica'));
  const written = await engine.graphql('mutation { insert_note_one(object: {}) { place } }');
  expect(written).toEqual({ data: { insert_note_one: { place: 'primary' } } });
  const socket = await openSession(engine);
  socket.send({ type: 'subscribe', id: '1', payload: { query: `subscription ${QUERY}` } });
  expect((await socket.next()).payload).toEqual(from('replica'));
  socket.close();
  await socket.closed;
});

test('a failed replica is skipped until it is back, and no request fails', async () => {
  const proxy = await openProxy(replica.url);
  await configure({}, [proxy.url]);
  expect(await engine.graphql(QUERY)).toEqual(from('replica'));
  proxy.mostBytes = 0;
  const answers = await Promise.all(Array.from({ length: 20 }, () => engine.graphql(QUERY)));
  for (const answer of answers) expect(answer).toEqual(from('primary'));
  proxy.mostBytes = Number.POSITIVE_INFINITY;
  await expect.poll(() => engine.graphql(QUERY), { timeout: 10_000, interval: 200 }).toEqual(from('replica'));
  await configure({});
  await proxy.close();
});

test('replicas are used in turn, and one without a valid URL is skipped', async () => {
  const other = await createDatabase();
  await other.sql(TABLE('other'));
  await configure({}, [replica.url, { from_env: 'NOT_SET' }, other.url]);
  const places = new Set<string>();
  for (let i = 0; i < 4; i++) {
    const { data } = await engine.graphql<{ note: { place: string }[] }>(QUERY);
    places.add(data!.note[0]!.place);
  }
  expect([...places].sort()).toEqual(['other', 'replica']);
  await configure({});
  await other.drop();
});

test('a source that is unreachable at the start affects no other, and recovers by itself', async () => {
  const own = await createDatabase();
  const proxy = await openProxy(replica.url);
  proxy.mostBytes = 0;
  const source = (name: string, database_url: string) => ({
    name,
    kind: 'postgres',
    configuration: { connection_info: { database_url } },
    customization: { root_fields: { prefix: `${name}_` }, type_names: { prefix: `${name}_` } },
    tables: [{ table: { schema: 'public', name: 'note' } }],
  });
  const other = await startTestEngine({ databaseUrl: own.url });
  const metadata = { version: 3, sources: [source('well', primary.url), source('ill', proxy.url)] };
  await other.admin('replace_metadata', { metadata, allow_inconsistent_metadata: true }, { version: 2 });
  expect((await other.graphql('{ well_note(limit: 1) { place } }')).data).toEqual({
    well_note: [{ place: 'primary' }],
  });
  expect((await other.graphql('{ ill_note { place } }')).errors?.[0]?.extensions.code).toBe(
    'validation-failed',
  );
  expect((await other.admin('get_inconsistent_metadata', {})).body).toMatchObject({ is_consistent: false });
  proxy.mostBytes = Number.POSITIVE_INFINITY;
  await expect
    .poll(() => other.graphql('{ ill_note { place } }'), { timeout: 15_000, interval: 200 })
    .toEqual({ data: { ill_note: [{ place: 'replica' }] } });
  expect((await other.admin('get_inconsistent_metadata', {})).body).toMatchObject({ is_consistent: true });
  await other.close();
  await proxy.close();
  await own.drop();
});

test.for([
  [true, true],
  [false, false],
] as const)(
  'with use_prepared_statements %s, are statements kept in a session: %s',
  async ([isOn, areKept]) => {
    await configure({ use_prepared_statements: isOn, pool_settings: { max_connections: 1 } });
    // A view, because run_sql has a session of its own. A statement is kept from its second run on.
    await primary.sql(
      'create or replace view prepared as select count(*) > 0 as is_any from pg_prepared_statements',
    );
    await engine.admin('pg_track_table', { table: 'prepared' });
    for (let i = 0; i < 4; i++) await engine.graphql('{ prepared { is_any } }');
    expect(await engine.graphql('{ prepared { is_any } }')).toEqual({
      data: { prepared: [{ is_any: areKept }] },
    });
  },
);
