/** The specification's list of operations and its table of states, row by row, on /v1/query: each is done once, from the state it
 *  needs, with the answer and the state after it. Not here: errors (specified-errors.test.ts). Spec: "Operation list", "States and transitions". */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type RemoteService, startRemote } from '../../testing/remote.ts';
import { findOperation } from '../metadata/operations.ts';
import { type AdminTestEngine, op, startTestEngine } from './testing/engine.ts';

let engine: AdminTestEngine;
let service: RemoteService;
/** The document of an engine that has just started. */
let empty: unknown;

beforeAll(async () => {
  service = await startRemote('type Query { far: String }');
  engine = await startTestEngine({ env: { REMOTE: service.url }, enableAllowlist: true });
  await engine.must(
    op('run_sql', {
      sql: `create table author (id int primary key, name text);
            create table article (id int primary key, author_id int references author (id));
            create table mood (value text primary key, comment text);
            insert into mood values ('glad', null);
            create function find(search text) returns setof author stable language sql as 'select * from author';
            create function label(a author) returns text stable language sql as 'select a.name'`,
    }),
  );
});
afterAll(async () => {
  await engine.close();
  await service.close();
});
beforeEach(async () => {
  empty ??= await engine.must(op('export_metadata'));
  await engine.must(op('replace_metadata', empty));
});

type Operation = { readonly type: string; readonly args: unknown; readonly version?: number };
type Row = {
  readonly version?: number;
  /** What must have been done before. */
  readonly after?: readonly Operation[];
  readonly args: unknown;
  readonly answer?: unknown;
};

const SUCCESS = { message: 'success' };
const name = (table: string) => ({ schema: 'public', name: table });
const author = op('track_table', name('author'));
const article = op('track_table', name('article'));
const relationship = op('create_object_relationship', {
  table: name('article'),
  name: 'author',
  using: { foreign_key_constraint_on: 'author_id' },
});
const rules = {
  insert: { check: {} },
  select: { columns: '*', filter: {} },
  update: { columns: ['name'], filter: {} },
  delete: { filter: {} },
};
const ofUser = { table: name('author'), role: 'user' };
const permit = (type: keyof typeof rules) =>
  op(`create_${type}_permission`, { ...ofUser, permission: rules[type], comment: 'why' });
const computed = op('add_computed_field', {
  table: name('author'),
  name: 'label',
  definition: { function: name('label') },
});
const find = op('track_function', name('find'));
const collection = op('create_query_collection', { name: 'c', definition: { queries: [] } });
const query = op('add_query_to_collection', {
  collection_name: 'c',
  query_name: 'q',
  query: 'query { author { id } }',
});
const trigger = op('create_event_trigger', {
  table: name('author'),
  name: 'told',
  webhook: 'http://127.0.0.1:9',
  insert: { columns: '*' },
  enable_manual: true,
});
const remote = op('add_remote_schema', { name: 'far', definition: { url: '{{REMOTE}}' } });
const allowed = op('add_collection_to_allowlist', { collection: 'c' });

/** Type → the forms of its request, one for each version the specification lists. */
const ROWS: Readonly<Record<string, readonly Row[]>> = {
  bulk: [{ args: [author, article], answer: [SUCCESS, SUCCESS] }],
  run_sql: [
    { args: { sql: 'select 1 as one' }, answer: { result_type: 'TuplesOk', result: [['one'], ['1']] } },
    { args: { sql: 'set local work_mem = 4096' }, answer: { result_type: 'CommandOk', result: null } },
  ],
  track_table: [
    { args: name('author') },
    { version: 2, args: { table: name('author'), configuration: { custom_name: 'Writer' } } },
  ],
  set_table_custom_fields: [
    { version: 2, after: [author], args: { table: name('author'), custom_column_names: { name: 'title' } } },
  ],
  set_table_customization: [
    { after: [author], args: { table: name('author'), configuration: { identifier: 'Writer' } } },
  ],
  set_table_is_enum: [
    { after: [op('track_table', name('mood'))], args: { table: name('mood'), is_enum: true } },
  ],
  untrack_table: [{ after: [author], args: { table: name('author'), cascade: true } }],
  track_function: [
    { after: [author], args: name('find') },
    {
      version: 2,
      after: [author],
      args: { function: name('find'), configuration: { custom_name: 'search' } },
    },
  ],
  untrack_function: [{ after: [author, find], args: name('find') }],
  create_object_relationship: [{ after: [author, article], args: relationship.args }],
  create_array_relationship: [
    {
      after: [author, article],
      args: {
        table: name('author'),
        name: 'articles',
        using: { foreign_key_constraint_on: { table: name('article'), column: 'author_id' } },
      },
    },
  ],
  drop_relationship: [
    { after: [author, article, relationship], args: { table: name('article'), relationship: 'author' } },
    { after: [author, article, relationship], args: { table: name('article'), name: 'author' } },
  ],
  rename_relationship: [
    {
      after: [author, article, relationship],
      args: { table: name('article'), name: 'author', new_name: 'writer' },
    },
  ],
  set_relationship_comment: [
    {
      after: [author, article, relationship],
      args: { table: name('article'), name: 'author', comment: 'who wrote it' },
    },
  ],
  add_computed_field: [{ after: [author], args: computed.args }],
  drop_computed_field: [{ after: [author, computed], args: { table: name('author'), name: 'label' } }],
  ...Object.fromEntries(
    (['insert', 'select', 'update', 'delete'] as const).flatMap((type) => [
      [`create_${type}_permission`, [{ after: [author], args: permit(type).args }]],
      [`drop_${type}_permission`, [{ after: [author, permit(type)], args: ofUser }]],
    ]),
  ),
  set_permission_comment: [
    { after: [author, permit('select')], args: { ...ofUser, type: 'select', comment: null } },
  ],
  export_metadata: [{ after: [author], args: {}, answer: expect.objectContaining({ version: 3 }) }],
  reload_metadata: [
    { args: {}, answer: { is_consistent: true, message: 'success' } },
    { args: { reload_remote_schemas: false }, answer: { is_consistent: true, message: 'success' } },
  ],
  clear_metadata: [{ after: [author], args: {} }],
  get_inconsistent_metadata: [{ args: {}, answer: [] }],
  drop_inconsistent_metadata: [{ args: {} }],
  replace_metadata: [
    { args: { version: 3, sources: [] } },
    {
      version: 2,
      args: { metadata: { version: 3, sources: [] } },
      answer: { is_consistent: true, inconsistent_objects: [] },
    },
  ],
  create_query_collection: [{ args: collection.args }],
  drop_query_collection: [{ after: [collection], args: { collection: 'c', cascade: false } }],
  add_query_to_collection: [{ after: [author, collection], args: query.args }],
  drop_query_from_collection: [
    { after: [author, collection, query], args: { collection_name: 'c', query_name: 'q' } },
  ],
  add_collection_to_allowlist: [{ after: [collection], args: allowed.args }],
  drop_collection_from_allowlist: [{ after: [collection, allowed], args: { collection: 'c' } }],
  create_event_trigger: [
    { after: [author], args: trigger.args },
    { after: [author, trigger], args: { ...(trigger.args as object), replace: true } },
  ],
  invoke_event_trigger: [
    {
      after: [author, trigger],
      args: { name: 'told', payload: {} },
      answer: { event_id: expect.any(String) },
    },
  ],
  delete_event_trigger: [{ after: [author, trigger], args: { name: 'told' } }],
  add_remote_schema: [{ args: remote.args }],
  remove_remote_schema: [{ after: [remote], args: { name: 'far' } }],
  reload_remote_schema: [{ after: [remote], args: { name: 'far' } }],
};

/** The specification's list: 43 types, some in two versions. */
const LISTED: readonly (readonly [type: string, version: number])[] = [
  ...Object.entries(ROWS).flatMap(([type, rows]) => rows.map(({ version }) => [type, version ?? 1] as const)),
];

const cases = Object.entries(ROWS).flatMap(([type, rows]) =>
  rows.map((row, index) => [`${type}, version ${row.version ?? 1}, form ${index + 1}`, type, row] as const),
);

describe('an operation of the specification is performed', () => {
  test.each(cases)('%s', async (_label, type, { version, after = [], args, answer = SUCCESS }) => {
    for (const before of after) await engine.must(before);
    const request = version === undefined ? op(type, args) : { ...op(type, args), version };
    expect(await engine.query(request)).toEqual({ status: 200, body: answer });
  });

  test('/v1/query supports every type and version', () => {
    const unknown = LISTED.filter(([type, version]) => !findOperation(type, version, '/v1/query'));
    expect(unknown).toEqual([]);
    expect(Object.keys(ROWS)).toHaveLength(43);
  });
});

describe('a transition of the specification', () => {
  const tracked = () => [...engine.state.snapshot().model.sources.get('default')!.tables.keys()];
  const functions = () => engine.state.snapshot().metadata.sources[0]?.functions ?? [];
  const AUTHOR = '["public","author"]';
  const ARTICLE = '["public","article"]';

  test('an untracked table is tracked by track_table', async () => {
    await engine.must(author);
    expect(tracked()).toEqual([AUTHOR]);
  });

  test('a tracked table is unchanged when it is tracked again', async () => {
    await engine.must(author);
    const before = engine.state.snapshot().metadata;
    expect(await engine.query(author)).toMatchObject({ status: 400, body: { code: 'already-tracked' } });
    expect(engine.state.snapshot().metadata).toEqual(before);
  });

  test('a table without dependents is untracked by untrack_table', async () => {
    await engine.must(op('bulk', [author, article]));
    await engine.must(op('untrack_table', { table: name('author') }));
    expect(tracked()).toEqual([ARTICLE]);
  });

  test('a table with dependents is untracked with cascade, which drops them, and not without', async () => {
    await engine.must(op('bulk', [author, article, relationship]));
    expect(await engine.query(op('untrack_table', { table: name('author') }))).toMatchObject({
      status: 400,
      body: { code: 'dependency-error' },
    });
    expect(tracked()).toEqual([AUTHOR, ARTICLE]);
    await engine.must(op('untrack_table', { table: name('author'), cascade: true }));
    expect(engine.state.snapshot().metadata.sources[0]?.tables).toEqual([{ table: name('article') }]);
  });

  test('a function is tracked by track_function and untracked by untrack_function', async () => {
    await engine.must(op('bulk', [author, find]));
    expect(functions()).toHaveLength(1);
    await engine.must(op('untrack_function', name('find')));
    expect(functions()).toHaveLength(0);
  });

  test('a tracked table has the enum flag that set_table_is_enum says', async () => {
    await engine.must(op('track_table', name('mood')));
    const flag = () => engine.state.snapshot().metadata.sources[0]?.tables[0]?.is_enum ?? false;
    for (const is_enum of [true, false]) {
      await engine.must(op('set_table_is_enum', { table: name('mood'), is_enum }));
      expect(flag()).toBe(is_enum);
    }
    expect(
      await engine.query(op('set_table_is_enum', { table: name('author'), is_enum: true })),
    ).toMatchObject({ status: 400, body: { code: 'not-exists' } });
  });

  test('a remote schema is present after add_remote_schema, as it is now after reload, absent after remove', async () => {
    const upstream = () => engine.state.snapshot().model.remoteSchemas.get('far')?.schema;
    const fields = () => {
      const query = upstream()?.types.get('Query');
      return query?.kind === 'object' ? query.fields.map((field) => field.name) : [];
    };
    await engine.must(remote);
    expect(fields()).toEqual(['far']);
    service.serve('type Query { further: String }');
    await engine.must(op('reload_remote_schema', { name: 'far' }));
    expect(fields()).toEqual(['further']);
    await engine.must(op('remove_remote_schema', { name: 'far' }));
    expect(upstream()).toBeUndefined();
    service.serve('type Query { far: String }');
  });

  test('metadata with inconsistent objects is consistent after drop_inconsistent_metadata', async () => {
    const source = engine.state.snapshot().metadata.sources[0];
    const tables = [{ table: name('author') }, { table: name('nobody') }];
    const metadata = { version: 3, sources: [{ ...source, tables }] };
    await engine.must(op('replace_metadata', { metadata, allow_inconsistent_metadata: true }));
    expect(await engine.must(op('get_inconsistent_metadata'))).toMatchObject([{ type: 'table' }]);
    await engine.must(op('drop_inconsistent_metadata'));
    expect(await engine.must(op('get_inconsistent_metadata'))).toEqual([]);
    expect(tracked()).toEqual([AUTHOR]);
  });

  test('any metadata is empty after clear_metadata', async () => {
    await engine.must(op('bulk', [author, article, relationship, collection, allowed]));
    await engine.must(op('clear_metadata'));
    const { sources, ...rest } = engine.state.snapshot().metadata;
    expect(rest).toEqual({ version: 3 });
    expect(sources).toMatchObject([{ name: 'default', tables: [] }]);
  });

  test('replace_metadata replaces the document, and accepts inconsistent objects only if that is allowed', async () => {
    await engine.must(author);
    const source = engine.state.snapshot().metadata.sources[0];
    const replaced = (table: string) => ({
      version: 3,
      sources: [{ ...source, tables: [{ table: name(table) }] }],
    });
    expect(await engine.query(op('replace_metadata', replaced('nobody')))).toMatchObject({
      status: 400,
      body: { internal: [{ type: 'table', reason: expect.any(String), definition: name('nobody') }] },
    });
    expect(tracked()).toEqual([AUTHOR]);
    await engine.must(op('replace_metadata', replaced('article')));
    expect(tracked()).toEqual([ARTICLE]);
    const args = { metadata: replaced('nobody'), allow_inconsistent_metadata: true };
    expect(await engine.must(op('replace_metadata', args))).toMatchObject({
      is_consistent: false,
      inconsistent_objects: [{ definition: name('nobody') }],
    });
  });
});
