/** Tests what the engine reports about its sources while their databases fail, come back and change outside the
 *  engine: /v1alpha1/config, get_inconsistent_metadata, /healthz and the answers to clients. */
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { createDatabase, type TestDatabase } from '../../testing/database.ts';
import { startTestEngine, type TestEngine } from '../../testing/engine.ts';
import { openProxy } from '../wire/testing/proxy.ts';

const SCHEMA = `
  create table author (id int primary key, name text);
  create table book (id int primary key, author_id int references author);
  create view shelf as select id from book;
  create function shout(a author) returns text language sql stable as 'select upper(a.name)';
  insert into author values (1, 'Ann');
`;

type Report = {
  readonly is_consistent: boolean;
  readonly inconsistent_objects: readonly { readonly key: string; readonly reason: string }[];
};
type Config = { readonly resource_version: number; readonly state_version: string };

let home: TestDatabase;
let data: TestDatabase;
let proxy: Awaited<ReturnType<typeof openProxy>>;
let engine: TestEngine;

beforeEach(async () => {
  [home, data] = await Promise.all([createDatabase(), createDatabase()]);
  await data.sql(SCHEMA);
  proxy = await openProxy(data.url);
  // The periodic check is an hour away, so it notices nothing in these tests.
  engine = await startTestEngine({ databaseUrl: home.url, sourceCheckInterval: 3600 });
  const configuration = { connection_info: { database_url: proxy.url } };
  await engine.admin('pg_add_source', { name: 'data', configuration });
  for (const name of ['author', 'book', 'shelf']) {
    await engine.admin('pg_track_table', { source: 'data', table: name });
  }
  const shout = { name: 'shout', definition: { function: 'shout' } };
  await engine.admin('pg_add_computed_field', { source: 'data', table: 'author', ...shout });
});
afterEach(async () => {
  await engine.close();
  await proxy.close();
  await Promise.all([home.drop(), data.drop()]);
});

const checked = async (): Promise<Config> =>
  (await engine.fetch('/v1alpha1/config?check_sources=true')).json() as never;
const unchecked = async (): Promise<Config> => (await engine.fetch('/v1alpha1/config')).json() as never;
const report = async () =>
  (await engine.admin<Report>('get_inconsistent_metadata', { include_keys: true })).body;
const wrong = async () => (await report()).inconsistent_objects.map(({ key }) => key);
const eventually = (look: () => Promise<void>) => vi.waitFor(look, { timeout: 10_000, interval: 100 });

describe('a database that fails', () => {
  test('makes its source inconsistent, keeps its schema, and is consistent once it is back', async () => {
    const before = await checked();
    expect(await report()).toEqual({ is_consistent: true, inconsistent_objects: [] });
    await proxy.close();
    await eventually(async () => {
      const now = await checked();
      expect(now.resource_version).toBe(before.resource_version);
      expect(now.state_version).not.toBe(before.state_version);
      expect(await report()).toMatchObject({
        is_consistent: false,
        inconsistent_objects: [{ key: 'source/data', reason: expect.stringContaining('connection error') }],
      });
    });
    expect(await (await engine.fetch('/healthz')).text()).toContain('inconsistent');
    expect((await engine.fetch('/healthz?strict=true')).status).toBe(500);
    const { errors } = await engine.graphql('{ author { name } }');
    expect(errors?.[0]?.extensions.code).toBe('postgres-error');
    proxy = await openProxy(data.url, Number(new URL(proxy.url).port));
    await eventually(async () => {
      expect((await checked()).state_version).toBe(before.state_version);
    });
    expect(await report()).toEqual({ is_consistent: true, inconsistent_objects: [] });
    expect(await engine.graphql('{ author { name shout } }')).toEqual({
      data: { author: [{ name: 'Ann', shout: 'ANN' }] },
    });
  });

  test('silently, with all connections open, is noticed as well', async () => {
    const before = await checked();
    proxy.isSilent = true;
    await eventually(async () => {
      await checked();
      expect(await wrong()).toEqual(['source/data']);
    });
    proxy.isSilent = false;
    await eventually(async () => expect((await checked()).state_version).toBe(before.state_version));
  }, 90_000);

  test("is noticed when a client's request fails, before the next check", async () => {
    await proxy.close();
    await engine.graphql('{ author { name } }');
    await eventually(async () => expect(await wrong()).toEqual(['source/data']));
  });

  test('does not prevent changes to other sources', async () => {
    await home.sql('create table here (id int primary key)');
    await proxy.close();
    await eventually(async () => {
      await checked();
      expect(await wrong()).toEqual(['source/data']);
    });
    await engine.must('pg_track_table', { source: 'default', table: 'here' });
    const edit = { role: 'reader', permission: { columns: ['id'], filter: {} } };
    const put = { key: 'select_permission/data/public/author/reader', definition: edit };
    const args = { put: [put], remove: [], allow_inconsistent_metadata: true, include_keys: true };
    const patched = await engine.admin<Report>('patch_metadata', args);
    expect(patched.body.inconsistent_objects.map(({ key }) => key)).toEqual(['source/data']);
  });

  test('without a connection left for the check is not unreachable', async () => {
    const configuration = {
      connection_info: { database_url: proxy.url, pool_settings: { max_connections: 1 } },
    };
    await engine.admin('pg_update_source', { name: 'data', configuration });
    await data.sql(
      'create function nap() returns setof author language sql volatile as $$ select pg_sleep(5); select * from author $$',
    );
    await engine.admin('pg_track_function', {
      source: 'data',
      function: 'nap',
      configuration: { exposed_as: 'mutation' },
    });
    const slow = engine.graphql('mutation { nap { id } }');
    await new Promise((resolve) => setTimeout(resolve, 300));
    await checked();
    expect(await wrong()).toEqual([]);
    await slow;
  }, 90_000);
});

/** How a database refuses the role of the engine, and how it accepts it again. */
const REFUSALS: readonly (readonly [what: string, refuse: string, undo: string])[] = [
  [
    'accepts no connections',
    'alter database $db allow_connections false',
    'alter database $db allow_connections true',
  ],
  [
    'takes the right to connect away',
    'revoke connect on database $db from public',
    'grant connect on database $db to public',
  ],
  ['does not let the role log in', 'alter role $role nologin', 'alter role $role login'],
];

describe('a database that refuses the engine', () => {
  let role: string;
  beforeEach(async () => {
    role = `refused_${Math.random().toString(36).slice(2)}`;
    await data.sql(`create role ${role} login password 'x'; grant all on schema public to ${role};
      grant all on all tables in schema public to ${role}`);
    const url = new URL(data.url);
    [url.username, url.password] = [role, 'x'];
    const configuration = { connection_info: { database_url: url.href } };
    await engine.admin('pg_update_source', { name: 'data', configuration });
  });
  afterEach(async () => {
    await engine.admin('pg_drop_source', { name: 'data', cascade: true });
    await data.sql(`drop owned by ${role}; drop role ${role}`);
  });

  test.each(REFUSALS)(
    'because it %s makes its source inconsistent until it accepts the engine',
    async (_, refuse, undo) => {
      const name = new URL(data.url).pathname.slice(1);
      const run = (sql: string) => home.sql(sql.replace('$db', name).replace('$role', role));
      expect(await wrong()).toEqual([]);
      await run(
        `${refuse}; select pg_terminate_backend(pid) from pg_stat_activity where datname = '${name}'`,
      );
      await eventually(async () => {
        await checked();
        expect(await wrong()).toEqual(['source/data']);
      });
      await run(undo);
      await eventually(async () => {
        await checked();
        expect(await wrong()).toEqual([]);
      });
    },
  );
});

test('a database without a free connection is not unreachable', async () => {
  const role = `narrow_${Math.random().toString(36).slice(2)}`;
  await data.sql(`create role ${role} login password 'x' connection limit 1; grant all on schema public to ${role};
    grant all on all tables in schema public to ${role}`);
  const url = new URL(data.url);
  [url.username, url.password] = [role, 'x'];
  await engine.admin('pg_update_source', {
    name: 'data',
    configuration: { connection_info: { database_url: url.href, pool_settings: { max_connections: 1 } } },
  });
  expect(await wrong()).toEqual([]);
  const sleep = 'select pg_sleep(5)';
  const slow = engine.admin('run_sql', { source: 'data', sql: sleep, read_only: true });
  await vi.waitFor(async () => {
    const found = await home.sql(
      `select from pg_stat_activity where query like '%${sleep}%' and usename = '${role}'`,
    );
    expect(found).toHaveLength(1);
  });
  await checked();
  expect(await wrong()).toEqual([]);
  await slow;
  await engine.admin('pg_drop_source', { name: 'data', cascade: true });
  await data.sql(`drop owned by ${role}; drop role ${role}`);
}, 90_000);

/** DDL outside the engine: the resulting inconsistency, and the DDL that resolves it. */
const CHANGES: readonly (readonly [name: string, change: string, wrong: readonly string[], undo: string])[] =
  [
    [
      'a table is dropped',
      'alter table author rename to writer',
      ['table/data/public/author'],
      'alter table writer rename to author',
    ],
    [
      'a column of a permission is dropped',
      'alter table author rename name to title',
      ['select_permission/data/public/author/reader'],
      'alter table author rename title to name',
    ],
    [
      'a view is dropped',
      'alter view shelf rename to shelves',
      ['table/data/public/shelf'],
      'alter view shelves rename to shelf',
    ],
    [
      'a foreign key is dropped',
      'alter table book drop constraint book_author_id_fkey',
      ['object_relationship/data/public/book/author'],
      'alter table book add foreign key (author_id) references author',
    ],
    [
      'a function of a computed field is dropped',
      'alter function shout rename to cry',
      ['computed_field/data/public/author/shout'],
      'alter function cry rename to shout',
    ],
  ];

describe('a change of a tracked object outside the engine', () => {
  beforeEach(async () => {
    const permission = { columns: ['id', 'name'], filter: {} };
    const table = { source: 'data', table: 'author' };
    await engine.admin('pg_create_select_permission', { ...table, role: 'reader', permission });
    const using = { foreign_key_constraint_on: 'author_id' };
    await engine.admin('pg_create_object_relationship', {
      source: 'data',
      table: 'book',
      name: 'author',
      using,
    });
    expect(await report()).toEqual({ is_consistent: true, inconsistent_objects: [] });
  });

  test.each(CHANGES)('%s', async (_, change, expected, undo) => {
    const before = await checked();
    await data.sql(change);
    await eventually(async () => {
      expect((await checked()).state_version).not.toBe(before.state_version);
      expect(await wrong()).toEqual(expect.arrayContaining([...expected]));
    });
    await data.sql(undo);
    await eventually(async () => expect((await checked()).state_version).toBe(before.state_version));
    expect((await checked()).resource_version).toBe(before.resource_version);
  });

  test("is noticed when a client's request fails", async () => {
    await data.sql('alter table author rename to writer');
    await engine.graphql('{ author { name } }');
    await eventually(async () => expect(await wrong()).toContain('table/data/public/author'));
  });

  test('of an untracked object is ignored', async () => {
    const before = await unchecked();
    await data.sql('create table other (id int); create index on author (name)');
    await checked();
    await checked();
    expect(await unchecked()).toEqual(before);
  });
});

test('without the interval nothing is checked until a statement fails as if a table had changed', async () => {
  await engine.close();
  engine = await startTestEngine({ databaseUrl: home.url, sourceCheckInterval: 0 });
  const before = await checked();
  await data.sql('drop table author cascade');
  expect((await checked()).state_version).toBe(before.state_version);
  await engine.graphql('{ author { name } }');
  expect((await checked()).state_version).not.toBe(before.state_version);
});
