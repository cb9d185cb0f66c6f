import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { type AdminTestEngine, op, startTestEngine } from '../admin/testing/engine.ts';
import { openProxy } from '../wire/testing/proxy.ts';
import { EngineState } from './state.ts';

let engine: AdminTestEngine;
let others: AdminTestEngine[];

beforeEach(async () => {
  engine = await startTestEngine();
  others = [];
  await engine.must(op('run_sql', { sql: 'create table author (id int primary key, name text)' }));
});
afterEach(async () => {
  await Promise.all(others.map((other) => other.close()));
  await engine.close();
});

/** Another replica on the same metadata database. */
async function startReplica(options: Parameters<typeof startTestEngine>[0] = {}): Promise<AdminTestEngine> {
  const replica = await startTestEngine(options, engine);
  others.push(replica);
  return replica;
}

const trackedIn = ({ state }: AdminTestEngine) => [
  ...(state.snapshot().model.sources.get('default')?.tables.keys() ?? []),
];
const AUTHOR = '["public","author"]';

const source = (name: string, url: unknown) => ({
  name,
  kind: 'postgres',
  configuration: { connection_info: { database_url: url } },
  tables: [],
});

describe('the first start', () => {
  test('creates a default source without a secret', async () => {
    expect(engine.state.snapshot().metadata.sources).toEqual([
      source('default', { from_env: 'ENGINE_GRAPHQL_DATABASE_URL' }),
    ]);
    expect(engine.events).toContainEqual({ kind: 'migrated', versions: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11] });
    const stored = await engine.database.sql(
      'select string_agg(content::text, null) as text from pergola.whole',
    );
    expect(stored[0]?.['text']).not.toContain('postgres://');
  });

  test('by several replicas at once produces one document', async () => {
    await engine.database.sql('drop schema pergola cascade');
    const replicas = await Promise.all([startReplica(), startReplica(), startReplica()]);
    const versions = new Set(replicas.map(({ state }) => state.snapshot().resourceVersion));
    const ids = new Set(replicas.map(({ state }) => state.snapshot().id));
    for (const { state } of replicas) await state.refresh();
    expect(ids.size).toBe(1);
    expect(replicas.map(({ state }) => state.snapshot().resourceVersion)).toEqual([2, 2, 2]);
    expect(versions.size).toBeLessThanOrEqual(2);
  });

  test('without a database URL has no source', async () => {
    await engine.database.sql('drop schema pergola cascade');
    const bare = await startReplica({ hasDatabaseUrl: false });
    expect(bare.state.snapshot().metadata).toEqual({ version: 3, sources: [] });
  });
});

describe('a metadata database that has lost its tables', () => {
  test.each(['drop schema pergola cascade', 'drop table pergola.metadata cascade'])(
    '%s: writes say so',
    async (sql) => {
      await engine.database.sql(sql);
      expect(await engine.metadata(op('pg_track_table', { table: 'author' }))).toMatchObject({
        status: 500,
        body: { code: 'unexpected', error: expect.stringContaining('the schema pergola are gone') },
      });
    },
  );
});

describe('a later start', () => {
  test('loads the stored document, and creates no source again after all were dropped', async () => {
    await engine.must(op('track_table', 'author'));
    expect(trackedIn(await startReplica())).toEqual([AUTHOR]);
    await engine.must(op('pg_drop_source', { name: 'default', cascade: true }));
    expect((await startReplica()).state.snapshot().metadata.sources).toEqual([]);
  });

  test('continues without an unreachable source', async () => {
    await engine.must(op('track_table', 'author'));
    const down = source('down', 'postgres://someone:hunter2@127.0.0.1:1/none');
    const unset = source('unset', { from_env: 'NOT_SET_ANYWHERE' });
    const { metadata } = engine.state.snapshot();
    const args = {
      metadata: { ...metadata, sources: [...metadata.sources, down, unset] },
      allow_inconsistent_metadata: true,
    };
    await engine.must({ ...op('replace_metadata', args), version: 2 });
    const replica = await startReplica();
    expect(trackedIn(replica)).toEqual([AUTHOR]);
    expect(replica.state.snapshot().inconsistencies.map(({ key }) => key)).toEqual([
      'source/down',
      'source/unset',
    ]);
    expect(replica.events.filter(({ kind }) => kind === 'source unreachable')).toHaveLength(2);
    expect(
      JSON.stringify([replica.events, replica.state.snapshot().inconsistencies.map(({ reason }) => reason)]),
    ).not.toContain('hunter2');
  });

  test('reports that it waits for the metadata database, and ends with a clear error', async () => {
    const events: unknown[] = [];
    const state = new EngineState({
      metadataDatabaseUrl: 'postgres://someone:hunter2@127.0.0.1:1/meta',
      env: {},
      hasDatabaseUrl: false,
      stringifyNumericTypes: false,
      startTimeoutMs: 300,
      report: (event) => events.push(event),
    });
    await expect(state.start()).rejects.toThrow(
      /cannot reach the metadata database 127\.0\.0\.1:1\/meta: .*ECONNREFUSED/,
    );
    expect(events).toContainEqual(
      expect.objectContaining({ kind: 'metadata database unreachable', attempt: 1 }),
    );
    await state.close(AbortSignal.timeout(10_000));
  });
});

describe('replicas', () => {
  const soon = (check: () => void) => vi.waitFor(check, { timeout: 1000, interval: 5 });

  test('see each other’s changes within a second', async () => {
    const replica = await startReplica();
    await engine.must(op('track_table', 'author'));
    await soon(() => expect(trackedIn(replica)).toEqual([AUTHOR]));
    expect(replica.state.snapshot().resourceVersion).toBe(engine.state.snapshot().resourceVersion);
  });

  test('see changes by polling if notifications do not arrive', async () => {
    const replica = await startReplica({ pollIntervalMs: 100 });
    await engine.database.sql(
      `update pergola.metadata set resource_version = resource_version + 1;
       insert into pergola.whole (part, resource_version, content, bytes)
       select 'operator_state', resource_version, '{"by": "hand"}', 14 from pergola.metadata`,
    );
    await soon(() => expect(replica.state.snapshot().catalogStates.operator).toEqual({ by: 'hand' }));
  });

  test('see columns created through the other replica although the document is the same', async () => {
    await engine.must(op('track_table', 'author'));
    const replica = await startReplica();
    const { resourceVersion } = engine.state.snapshot();
    await engine.must(op('run_sql', { sql: 'alter table author add column email text' }));
    await soon(() =>
      expect(
        replica.state.snapshot().model.sources.get('default')?.tables.get(AUTHOR)?.columnByName.has('email'),
      ).toBe(true),
    );
    expect(replica.state.snapshot().resourceVersion).toBe(resourceVersion);
  });

  test('know a table that the other replica tracked and that is newer than their catalog', async () => {
    const replica = await startReplica();
    await engine.database.sql('create table newcomer (id int primary key)');
    await engine.must(op('track_table', 'newcomer'));
    await soon(() => expect(trackedIn(replica)).toEqual(['["public","newcomer"]']));
  });

  test('follow a change that needs rows of a source which is silent', async () => {
    const colour = { schema: 'public', name: 'colour' };
    await engine.must(op('run_sql', { sql: `create table colour (name text primary key)` }));
    await engine.must(op('run_sql', { sql: `insert into colour values ('red')` }));
    await engine.must(op('track_table', colour));
    const proxy = await openProxy(engine.database.url);
    const env = { ENGINE_GRAPHQL_DATABASE_URL: proxy.url };
    const replica = await startReplica({ env, introspectionTimeoutMs: 200, sourceCheckIntervalMs: 50 });
    proxy.isSilent = true;
    await engine.must(op('set_table_is_enum', { table: colour, is_enum: true }));
    const { resourceVersion } = engine.state.snapshot();
    await vi.waitFor(() => expect(replica.state.snapshot().resourceVersion).toBe(resourceVersion), 10_000);
    expect(replica.state.snapshot().inconsistencies.map(({ key }) => key)).toEqual(['source/default']);
    proxy.isSilent = false;
    await vi.waitFor(() => expect(trackedIn(replica)).toEqual(['["public","colour"]']), 10_000);
    await proxy.close();
  });

  test('that load a rename only with a changed value know the new name', async () => {
    const valueKeys = () => [{ id: 'one', secret: 'a-key-of-named-values-in-this-test' }];
    const [writer, replica] = [await startReplica({ valueKeys }), await startReplica({ valueKeys })];
    await writer.must(op('track_table', 'author'));
    const permission = { columns: ['name'], filter: {} };
    await writer.must(op('create_select_permission', { table: 'author', role: 'user', permission }));
    await replica.state.refresh();
    const { state } = replica;
    // A request that changes the document is running, so the value is applied to the document again once it has ended.
    const running = Promise.withResolvers<void>();
    const ended = state.exclusively(() => running.promise);
    await writer.must(op('set_values', { values: [{ name: 'team/token', value: 'text' }] }));
    await soon(() => expect(state.values.list()).toHaveLength(1));
    // The notification of the next change comes late.
    const before = await state.gateway.store.versions();
    const versions = vi.spyOn(state.gateway.store, 'versions').mockResolvedValue(before);
    await writer.must(op('run_sql', { sql: 'alter table author rename column name to title' }));
    running.resolve();
    await ended;
    await state.exclusively(async () => {});
    versions.mockRestore();
    const { resourceVersion, inconsistencies } = state.snapshot();
    expect([resourceVersion, inconsistencies]).toEqual([writer.state.snapshot().resourceVersion, []]);
  });

  test('publish no document between two renames that follow each other', async () => {
    await engine.must(op('track_table', 'author'));
    const permission = { columns: ['name'], filter: {} };
    await engine.must(op('create_select_permission', { table: 'author', role: 'user', permission }));
    const replica = await startReplica();
    const version = () => engine.state.snapshot().resourceVersion;
    await soon(() => expect(replica.state.snapshot().resourceVersion).toBe(version()));
    const { gateway } = replica.state;
    const introspect = gateway.introspect.bind(gateway);
    const renamedAgain = Promise.withResolvers<void>();
    vi.spyOn(gateway, 'introspect').mockImplementationOnce(async (source) => {
      await engine.must(op('run_sql', { sql: 'alter table author rename column title to label' }));
      renamedAgain.resolve();
      return introspect(source);
    });
    await engine.must(op('run_sql', { sql: 'alter table author rename column name to title' }));
    await renamedAgain.promise;
    // Not a question of time: a busy machine may need more than a second.
    await vi.waitFor(() => expect(replica.state.snapshot().resourceVersion).toBe(version()), 10_000);
    expect(replica.events.filter((event) => 'inconsistencies' in event && event.inconsistencies > 0)).toEqual(
      [],
    );
  });

  test('that change the document concurrently lose no change', async () => {
    const replica = await startReplica();
    const names = Array.from({ length: 10 }, (_, i) => `t${i}`);
    await engine.must(
      op('run_sql', { sql: names.map((name) => `create table ${name} (id int primary key);`).join('') }),
    );
    const answers = await Promise.all(
      names.map((name, i) => (i % 2 ? engine : replica).query(op('track_table', name))),
    );
    expect(answers.map(({ status }) => status)).toEqual(names.map(() => 200));
    const stored = await engine.state.gateway.store.load();
    expect(stored.document.sources[0]?.tables.map(({ table }) => table.name).sort()).toEqual(names);
  });

  test('that write on the same version: one succeeds, the other gets a conflict', async () => {
    const replica = await startReplica();
    const { resourceVersion } = engine.state.snapshot();
    const answers = await Promise.all(
      [engine, replica].map((each, i) =>
        each.metadata({
          ...op('create_query_collection', { name: `c${i}`, definition: { queries: [] } }),
          resource_version: resourceVersion,
        }),
      ),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409]);
    expect((await engine.state.gateway.store.load()).document.query_collections).toHaveLength(1);
  });

  test('accept a version that was just written through the other replica', async () => {
    const replica = await startReplica();
    await engine.must(op('track_table', 'author'));
    const { resourceVersion } = engine.state.snapshot();
    const untrack = { ...op('untrack_table', { table: 'author' }), resource_version: resourceVersion };
    expect(await replica.query(untrack)).toMatchObject({ status: 200 });
  });

  test('reconnect when their LISTEN connection is cut', async () => {
    const replica = await startReplica();
    await engine.database.sql(
      `select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'pergola watch'`,
    );
    await soon(() => expect(replica.events.some(({ kind }) => kind === 'watch interrupted')).toBe(true));
    await engine.must(op('track_table', 'author'));
    await vi.waitFor(() => expect(trackedIn(replica)).toEqual([AUTHOR]), { timeout: 3000, interval: 10 });
  });
});

test('a request that took a snapshot keeps it while the next is published', async () => {
  const before = engine.state.snapshot();
  await engine.must(op('track_table', 'author'));
  expect(before.model.sources.get('default')?.tables.size).toBe(0);
  expect(engine.state.snapshot()).not.toBe(before);
});

test('rebuild introspects every source again', async () => {
  await engine.must(op('track_table', 'author'));
  await engine.database.sql('alter table author add column born int');
  await engine.state.rebuild();
  expect(
    engine.state.snapshot().model.sources.get('default')?.tables.get(AUTHOR)?.columnByName.has('born'),
  ).toBe(true);
});

describe('sources', () => {
  const onOther = async () => {
    const other = await startTestEngine();
    others.push(other);
    await other.database.sql('create table book (id int primary key)');
    return other.database.url;
  };

  test('are introspected when they are added, and their pools are closed when they are removed', async () => {
    const url = await onOther();
    await engine.must(op('pg_add_source', source('second', url)));
    await engine.must(op('track_table', { source: 'second', table: 'book' }));
    expect(await engine.sql('select count(*) from book', { source: 'second' })).toMatchObject({
      body: { result: [['count'], ['0']] },
    });
    await engine.must(op('pg_drop_source', { name: 'second', cascade: true }));
    expect(() => engine.state.sources.get('second')).toThrow();
  });

  test('are checked by a dry run without a change to the pool in use', async () => {
    const url = await onOther();
    await engine.must(op('track_table', 'author'));
    const { metadata } = engine.state.snapshot();
    const moved = {
      ...metadata,
      sources: [{ ...metadata.sources[0]!, ...source('default', url), tables: metadata.sources[0]!.tables }],
    };
    const args = { metadata: moved, allow_inconsistent_metadata: true, dry_run: true, include_keys: true };
    expect(await engine.metadata({ ...op('replace_metadata', args), version: 2 })).toMatchObject({
      body: { is_consistent: false, inconsistent_objects: [{ key: 'table/default/public/author' }] },
    });
    expect(await engine.sql('select count(*) from author')).toMatchObject({ status: 200 });
    expect(trackedIn(engine)).toEqual([AUTHOR]);
  });

  test('that are unreachable are refused, and nothing changes', async () => {
    const before = engine.state.snapshot();
    const { status } = await engine.query(
      op('pg_add_source', source('down', 'postgres://x@127.0.0.1:1/none')),
    );
    expect(status).toBeGreaterThanOrEqual(400);
    expect(engine.state.snapshot()).toBe(before);
  });

  test('in another database: SQL that fails at its commit rolls back the metadata', async () => {
    const url = await onOther();
    await engine.must(op('pg_add_source', source('second', url)));
    await engine.must(op('track_table', { source: 'second', table: 'book' }));
    const before = engine.state.snapshot().metadata;
    const sql = `alter table book rename to tome; alter table tome add column n int unique deferrable initially deferred;
      insert into tome values (1, 1), (2, 1)`;
    expect(await engine.sql(sql, { source: 'second' })).toMatchObject({
      status: 400,
      body: { code: 'postgres-error' },
    });
    expect((await engine.state.gateway.store.load()).document).toEqual(before);
    expect(engine.state.snapshot().metadata).toEqual(before);
    expect(await engine.sql('select count(*) from book', { source: 'second' })).toMatchObject({
      status: 200,
    });
  });
});
