/** Reads of databases, concurrent SQL, and edits of several functions, through admin requests. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type AdminTestEngine, op, startTestEngine } from './testing/engine.ts';

let engine: AdminTestEngine;

beforeAll(async () => {
  engine = await startTestEngine();
  await engine.must(
    op('run_sql', {
      sql: `create table author (id int primary key, name text not null default 'x');
            comment on table author is 'who writes';
            create table book (id int primary key, author_id int references author (id) , isbn text unique);
            create view prolific as select author_id from book group by 1 having count(*) > 9;
            create function twice(int) returns int stable language sql as 'select 2 * $1';
            create function find(text) returns setof author stable language sql as 'select * from author';
            create function find_book(text) returns setof book stable language sql as 'select * from book'`,
    }),
  );
  await engine.must(op('bulk', [op('track_table', 'author'), op('track_table', 'book')]));
});
afterAll(() => engine.close());

const named = (name: string) => ({ schema: 'public', name });
const read = async (type: string, args: unknown = {}) => (await engine.metadata(op(type, args))).body;

test('tables and functions of a database are listed, tracked or not', async () => {
  expect(await read('pg_get_source_tables')).toEqual([named('author'), named('book'), named('prolific')]);
  expect(await read('pg_get_source_functions')).toEqual([named('find'), named('find_book'), named('twice')]);
  expect(await read('pg_get_source_tables', { source: 'nowhere' })).toMatchObject({ code: 'not-exists' });
});

test('a table that another client has just created is listed', async () => {
  await engine.database.sql('create table fresh (id int)');
  expect(await read('pg_get_source_tables')).toContainEqual(named('fresh'));
  await engine.database.sql('drop table fresh');
});

test('columns and keys of a table are listed', async () => {
  expect(await read('pg_get_table_info', { table: 'book' })).toEqual({
    ...named('book'),
    type: 'table',
    description: null,
    columns: ['id', 'author_id', 'isbn'].map((name) => ({
      name,
      type: name === 'isbn' ? 'text' : 'int4',
      nullable: name !== 'id',
      has_default: false,
      is_generated: false,
      description: null,
    })),
    primary_key: ['id'],
    unique_keys: [{ name: 'book_isbn_key', columns: ['isbn'] }],
    foreign_keys: [
      {
        name: 'book_author_id_fkey',
        columns: ['author_id'],
        foreign_table: named('author'),
        foreign_columns: ['id'],
      },
    ],
    insertable: true,
    updatable: true,
    deletable: true,
  });
  expect(await read('pg_get_table_info', { table: 'nobody' })).toMatchObject({ code: 'not-exists' });
});

test('the query of a view is returned, and a table has none', async () => {
  const view = (await read('pg_get_viewdef_info', { view: 'prolific' })) as { definition: string };
  expect(view).toMatchObject(named('prolific'));
  expect(view.definition).toMatch(/SELECT (book\.)?author_id\s+FROM book/);
  expect(await read('pg_get_viewdef_info', { view: 'author' })).toMatchObject({
    code: 'not-supported',
    error: 'author is no view',
  });
});

test('foreign keys between tracked tables suggest relationships that do not exist yet', async () => {
  const near = { table: named('book'), columns: ['author_id'], constraint_name: 'book_author_id_fkey' };
  const far = { table: named('author'), columns: ['id'] };
  const [object, array] = [
    { type: 'object', from: near, to: far },
    { type: 'array', from: far, to: near },
  ];
  expect(await read('pg_suggest_relationships')).toEqual({ relationships: [object, array] });
  expect(await read('pg_suggest_relationships', { tables: ['author'] })).toEqual({ relationships: [] });
  const using = { foreign_key_constraint_on: 'author_id' };
  await engine.must(op('create_object_relationship', { table: 'book', name: 'writer', using }));
  expect(await read('pg_suggest_relationships', { omit_tracked: true })).toEqual({ relationships: [array] });
  expect(await read('pg_suggest_relationships')).toEqual({ relationships: [object, array] });
});

test('the state of this replica is dumped', async () => {
  expect(await read('dump_internal_state')).toMatchObject({
    id: expect.any(String),
    resource_version: engine.state.snapshot().resourceVersion,
    sources: [{ name: 'default', tables: 3, tracked_tables: ['author', 'book'] }],
    inconsistent_objects: [],
  });
  expect(await read('list_source_kinds')).toMatchObject({
    sources: ['postgres', 'citus', 'cockroach', 'alloy'].map((kind) => ({ kind, available: true })),
  });
});

test('concurrent_bulk runs read-only SQL concurrently, and answers in order', async () => {
  const sleep = (seconds: number) =>
    op('run_sql', { read_only: true, sql: `select pg_sleep(${seconds}), clock_timestamp()` });
  const body = op('concurrent_bulk', [sleep(1.5), sleep(0.1)]);
  const answers = (await engine.send(body, '/v2/query')).body as { result: string[][] }[];
  const [slow, quick] = answers.map(({ result }) => Date.parse(result[1]![1]!));
  expect(slow! - quick!).toBeGreaterThan(0);
});

test('concurrent_bulk refuses a request with anything that could write, and runs none of it', async () => {
  const reading = op('run_sql', { read_only: true, sql: 'select 1' });
  for (const writing of [
    op('run_sql', { sql: 'select 1' }),
    op('insert', { table: 'author', objects: [] }),
  ]) {
    expect(await engine.send(op('concurrent_bulk', [reading, writing]), '/v2/query')).toEqual({
      status: 400,
      body: {
        path: '$.args[1]',
        error: 'Only read-only queries are allowed in a concurrent_bulk',
        code: 'bad-request',
      },
    });
  }
});

test('missing objects are refused by name', async () => {
  for (const asked of [op('get_source_kind_capabilities', { name: 'postgres' })]) {
    expect(await engine.metadata(asked)).toMatchObject({
      status: 400,
      body: { code: 'not-supported', path: '$.args' },
    });
  }
});

test('trusted hosts, metrics and federation are part of the document', async () => {
  const host = { host: 'a.example', suffix: '8443', permissions: ['self-signed'] };
  const metadata = () => engine.state.snapshot().metadata;
  await engine.must(op('add_host_to_tls_allowlist', host));
  expect(metadata().network).toEqual({ tls_allowlist: [host] });
  expect(await engine.query(op('add_host_to_tls_allowlist', host))).toMatchObject({
    body: { code: 'already-exists' },
  });
  await engine.must(op('drop_host_from_tls_allowlist', { host: 'a.example', suffix: '8443' }));
  expect(metadata().network).toBeUndefined();
  expect(await engine.query(op('drop_host_from_tls_allowlist', { host: 'a.example' }))).toMatchObject({
    body: { code: 'not-exists' },
  });
  await engine.must(op('set_metrics_config', { analyze_query_variables: true }));
  expect(metadata().metrics_config).toEqual({ analyze_query_variables: true });
  await engine.must(op('remove_metrics_config'));
  expect(metadata().metrics_config).toBeUndefined();
  const federate = (config: unknown) =>
    op('set_apollo_federation_config', { table: 'author', apollo_federation_config: config });
  await engine.must(federate({ enable: 'v1' }));
  expect(metadata().sources[0]?.tables[0]).toMatchObject({ apollo_federation_config: { enable: 'v1' } });
  await engine.must(federate(null));
  expect(metadata().sources[0]?.tables[0]).not.toHaveProperty('apollo_federation_config');
});

test.each([
  ['reload_sources', ['default', 'x'], 'source with name "x" does not exist'],
  ['recreate_event_triggers', ['default', 'x'], 'source with name "x" does not exist'],
  ['reload_remote_schemas', ['x'], 'remote schema with name "x" does not exist'],
])('%s cannot name one that is missing', async (list, names, error) => {
  expect(await engine.metadata(op('reload_metadata', { [list]: names }))).toMatchObject({
    status: 400,
    body: { path: `$.args.${list}`, code: 'not-exists', error },
  });
});
