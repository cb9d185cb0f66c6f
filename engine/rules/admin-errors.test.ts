/** Errors of admin operations on objects: code, path and message. The cases are generated from tables of situations, for the endpoints
 *  that offer the operation.
 *  Rules: docs/reference/behaviour/metadata-api.md, "Query collections", "Replacing the document"; docs/reference/behaviour/errors.md. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { adminOutcome, graphqlOutcome, type RuleWorld, startWorld } from './testing/rules.ts';

const SQL = `
  create table author (id int primary key, name text unique, shape point);
  create table article (id int primary key, author_id int references author, title text);
  create table "order lines" (id int primary key, note text, author_id int references author);
  create function full_name(a author) returns text language sql stable as $$ select a.name $$;
  create function nothing() returns text language sql stable as $$ select '' $$;
`;

let world: RuleWorld;
beforeAll(async () => {
  world = await startWorld({
    sql: SQL,
    tables: ['author', 'article', 'order lines'],
    operations: [
      [
        'pg_add_computed_field',
        { table: 'author', name: 'full_name', definition: { function: 'full_name' } },
      ],
      [
        'create_query_collection',
        { name: 'c', definition: { queries: [{ name: 'q', query: '{ author { id } }' }] } },
      ],
      ['create_query_collection', { name: 'free', definition: { queries: [] } }],
      ['add_collection_to_allowlist', { collection: 'c' }],
      [
        'pg_create_object_relationship',
        { table: 'article', name: 'writer', using: { foreign_key_constraint_on: 'author_id' } },
      ],
    ],
  });
});
afterAll(() => world.close());

type Endpoint = '/v1/query' | '/v1/metadata';
const ENDPOINTS = ['/v1/query', '/v1/metadata'] as const;
const on = (endpoint: Endpoint, type: string, args: unknown, version = 1) =>
  adminOutcome(world.engine, type, args, { endpoint, version });

describe('a scope is refused at its place', () => {
  const SCOPES: readonly (readonly [scope: unknown, message: string])[] = [
    [{ global: true, roles: ['a'] }, 'roles are not allowed when global is true'],
    [{ global: true, roles: [] }, 'roles are not allowed when global is true'],
    [{ global: false }, 'key "roles" not found'],
    [{ global: false, roles: null }, 'key "roles" not found'],
    [{ global: false, roles: [] }, 'parsing NonEmpty failed, unexpected empty list'],
    [{ global: false, roles: ['a', 'a'] }, 'duplicate roles are not allowed'],
    [{ roles: ['a'] }, 'key "global" not found'],
  ];
  const cases = SCOPES.flatMap(([scope, message]) =>
    ['add_collection_to_allowlist', 'update_scope_of_collection_in_allowlist'].flatMap((type) =>
      ENDPOINTS.map((endpoint) => [type, scope, endpoint, message] as const),
    ),
  );
  test.each(cases)('%s %j at %s', async (type, scope, endpoint, message) => {
    const isEmptyList = Array.isArray((scope as { roles?: unknown }).roles) && message.includes('empty list');
    const path = `${endpoint === '/v1/query' ? '$.scope' : '$.args.scope'}${isEmptyList ? '.roles' : ''}`;
    expect(await on(endpoint, type, { collection: 'c', scope })).toEqual({
      code: 'parse-failed',
      path,
      message,
    });
  });
});

describe.each(ENDPOINTS)('collections at %s', (endpoint) => {
  const missing = (path: string) => ({
    code: 'not-exists',
    path,
    message: 'query collection with name "x" does not exist',
  });
  const taken = (path: string) => ({
    code: 'already-exists',
    path,
    message: 'query collection with name "c" already exists',
  });
  test.each([
    ['create_query_collection', { name: 'c', definition: { queries: [] } }, taken('$.args.name')],
    [
      'create_query_collection',
      {
        name: 'n',
        definition: {
          queries: [
            { name: 'q', query: 'a' },
            { name: 'q', query: 'b' },
          ],
        },
      },
      {
        code: 'not-supported',
        path: '$.args.definition.queries',
        message: 'found duplicate query names "q"',
      },
    ],
    ['rename_query_collection', { name: 'x', new_name: 'y' }, missing('$.args')],
    ['rename_query_collection', { name: 'free', new_name: 'c' }, taken('$.args.new_name')],
    ['drop_query_collection', { collection: 'x', cascade: true }, missing('$.args.collection')],
    [
      'drop_query_collection',
      { collection: 'c', cascade: false },
      {
        code: 'dependency-error',
        path: '$.args.collection',
        message: 'query collection with name "c" is present in allowlist; cannot proceed to drop',
      },
    ],
    ['add_query_to_collection', { collection_name: 'x', query_name: 'q', query: 'a' }, missing('$.args')],
    [
      'add_query_to_collection',
      { collection_name: 'c', query_name: 'q', query: 'a' },
      {
        code: 'already-exists',
        path: '$.args',
        message: 'query with name "q" already exists in collection "c"',
      },
    ],
    ['drop_query_from_collection', { collection_name: 'x', query_name: 'q' }, missing('$.args')],
    [
      'drop_query_from_collection',
      { collection_name: 'c', query_name: 'x' },
      { code: 'not-found', path: '$.args', message: 'query with name "x" not found in collection "c"' },
    ],
    ['add_collection_to_allowlist', { collection: 'x' }, missing('$.args.collection')],
    ['drop_collection_from_allowlist', { collection: 'x' }, missing('$.args.collection')],
    [
      'drop_collection_from_allowlist',
      { collection: 'free' },
      { code: 'not-exists', path: '$.args', message: 'collection "free" doesn\'t exist in the allowlist' },
    ],
    [
      'update_scope_of_collection_in_allowlist',
      { collection: 'x', scope: { global: true } },
      missing('$.args.collection'),
    ],
    [
      'update_scope_of_collection_in_allowlist',
      { collection: 'free', scope: { global: true } },
      { code: 'not-found', path: '$.args', message: 'collection "free" doesn\'t exist in the allowlist' },
    ],
  ])('%s %j', async (type, args, expected) => {
    expect(await on(endpoint, type, args)).toEqual(expected);
  });

  test.each([
    [undefined, { global: true }],
    [{ global: true }, { global: true }],
    [
      { global: false, roles: ['b', 'a'] },
      { global: false, roles: ['b', 'a'] },
    ],
  ])('a collection that is allowed with scope %j is exported with %j', async (scope, exported) => {
    await on(endpoint, 'add_collection_to_allowlist', { collection: 'free', ...(scope && { scope }) });
    const { data } = (await on(endpoint, 'export_metadata', {})) as {
      readonly data: { readonly allowlist: readonly object[] };
    };
    expect(data.allowlist).toEqual([
      { collection: 'c', scope: { global: true } },
      { collection: 'free', scope: exported },
    ]);
    await on(endpoint, 'drop_collection_from_allowlist', { collection: 'free' });
  });

  test.each([undefined, { global: true }, { global: false, roles: ['a'] }])(
    'allowing again with scope %j changes nothing',
    async (scope) => {
      const before = await on(endpoint, 'export_metadata', {});
      const message =
        'collection "c" already exists in the allowlist, scope ignored; to change scope, use update_scope_of_collection_in_allowlist';
      expect(await on(endpoint, 'add_collection_to_allowlist', { collection: 'c', scope })).toEqual({
        data: { message },
      });
      expect(await on(endpoint, 'export_metadata', {})).toEqual(before);
    },
  );
});

describe.each([
  ['/v1/query', ''],
  ['/v1/metadata', 'pg_'],
] as const)('computed fields at %s', (endpoint, prefix) => {
  const noTable = 'table "x" does not exist in source: default';
  const noField = 'computed field "x" does not exist';
  test.each([
    [
      'add_computed_field',
      { table: 'x', name: 'n', definition: { function: 'full_name' } },
      '$.args.table',
      noTable,
    ],
    ['drop_computed_field', { table: 'x', name: 'full_name' }, '$.args.table', noTable],
    ['drop_computed_field', { table: 'author', name: 'x' }, '$.args.name', noField],
  ])('%s %j', async (type, args, path, message) => {
    expect(await on(endpoint, prefix + type, args)).toEqual({ code: 'not-exists', path, message });
  });

  const inField = (name: string) => `Inconsistent object: in table "author": in computed field "${name}": `;
  const added = (name: string) => `the computed field "${name}" cannot be added to table "author" because `;
  test.each([
    ['name', 'full_name', {}, 'Inconsistent object: field definition conflicts with postgres column'],
    ['n', 'nowhere', {}, `${inField('n')}no such function exists: "nowhere"`],
    [
      'n',
      'full_name',
      { table_argument: 'x' },
      `${inField('n')}${added('n')}"x" is not an input argument of the function "full_name"`,
    ],
    ['n', 'nothing', {}, `${inField('n')}${added('n')}the function "nothing" has no input arguments`],
  ])('a computed field %s of the function %s with %j', async (name, fn, more, message) => {
    const args = { table: 'author', name, definition: { function: fn, ...more } };
    expect(await on(endpoint, `${prefix}add_computed_field`, args)).toEqual({
      code: 'invalid-configuration',
      path: '$.args',
      message,
    });
  });

  test('a permission with a computed field that does not exist', async () => {
    const permission = { columns: [], computed_fields: ['x'], filter: {} };
    expect(
      await on(endpoint, `${prefix}create_select_permission`, { table: 'author', role: 'new', permission }),
    ).toEqual({
      code: 'invalid-configuration',
      path: '$.args',
      message:
        'Inconsistent object: in table "author": in permission for role "new": computed field "x" does not exist',
    });
  });
});

describe('a document that declares an object twice', () => {
  const table = { table: { schema: 'public', name: 'author' } };
  const filter = { role: 'u', permission: { filter: {} } };
  const source = {
    name: 'default',
    kind: 'postgres',
    configuration: { connection_info: { database_url: { from_env: 'X' } } },
  };
  const withTables = (...tables: object[]) => ({ version: 3, sources: [{ ...source, tables }] });
  test.each([
    [
      'sources',
      {
        version: 3,
        sources: [
          { ...source, tables: [] },
          { ...source, tables: [] },
        ],
      },
    ],
    ['tables', withTables(table, table)],
    ['delete permissions', withTables({ ...table, delete_permissions: [filter, filter] })],
    [
      'remote schemas',
      {
        version: 3,
        sources: [],
        remote_schemas: ['a', 'a'].map((name) => ({ name, definition: { url: 'http://a' } })),
      },
    ],
    [
      'query collections',
      {
        version: 3,
        sources: [],
        query_collections: ['a', 'a'].map((name) => ({ name, definition: { queries: [] } })),
      },
    ],
  ])('%s', async (kind, metadata) => {
    const message = expect.stringContaining(`multiple declarations exist for the following ${kind}`);
    expect(await on('/v1/metadata', 'replace_metadata', { metadata }, 2)).toEqual({
      code: 'parse-failed',
      path: '$.args.metadata',
      message,
    });
    expect(await on('/v1/metadata', 'replace_metadata', metadata)).toEqual({
      code: 'parse-failed',
      path: '$.args',
      message,
    });
    expect(await on('/v1/query', 'replace_metadata', { metadata }, 2)).toEqual({
      code: 'already-exists',
      path: '$.args.metadata',
      message,
    });
  });
});

describe('a document without tables and sources', () => {
  const wrapped = { metadata: { version: 3, sources: [] } };
  test.each(ENDPOINTS)('does not replace another one at %s', async (endpoint) => {
    const before = await on(endpoint, 'export_metadata', {});
    const missing = { code: 'parse-failed', message: 'key "tables" not found' };
    for (const document of [{}, null, wrapped, { version: 1 }, { version: 2, functions: [] }]) {
      expect(await on(endpoint, 'replace_metadata', document)).toEqual({ ...missing, path: '$.args' });
      expect(await on(endpoint, 'replace_metadata', { metadata: document ?? {} }, 2)).toEqual({
        ...missing,
        path: '$.args.metadata',
      });
    }
    expect(await on(endpoint, 'export_metadata', {})).toEqual(before);
  });
});

describe('operations on rows', () => {
  const row = { id: 1, name: 'a' };
  const base = { table: 'author', objects: [row] };
  test.each([
    [
      'insert',
      { ...base, on_conflict: { action: 'update', constraint_on: ['x'] } },
      'not-exists',
      '$.args.on_conflict.constraint_on[0]',
    ],
    [
      'insert',
      { ...base, on_conflict: { action: 'ignore', constraint_on: ['id', 'x'] } },
      'not-exists',
      '$.args.on_conflict.constraint_on[1]',
    ],
    [
      'insert',
      { ...base, on_conflict: { action: 'update', constraint: 'x' } },
      'unexpected',
      '$.args.on_conflict.constraint',
    ],
    ['insert', { ...base, on_conflict: { action: 'update' } }, 'unexpected-payload', '$.args.on_conflict'],
    [
      'insert',
      { ...base, on_conflict: { action: 'update', constraint_on: ['x'] }, returning: ['y'] },
      'not-exists',
      '$.args.returning[0]',
    ],
    ['insert', { ...base, objects: [{ x: 1 }], returning: ['y'] }, 'not-exists', '$.args.returning[0]'],
    [
      'insert',
      { ...base, objects: [], on_conflict: { action: 'update' } },
      'unexpected-payload',
      '$.args.objects',
    ],
    [
      'update',
      { table: 'author', where: { x: 1 }, $set: { name: 'b' }, returning: ['y'] },
      'not-exists',
      '$.args.returning[0]',
    ],
    ['update', { table: 'author', where: {}, returning: ['y'] }, 'not-exists', '$.args.returning[0]'],
    ['delete', { table: 'author', where: { x: 1 }, returning: ['y'] }, 'not-exists', '$.args.returning[0]'],
    ['select', { table: 'author', columns: ['id'], limit: '1' }, 'parse-failed', '$.limit'],
    ['select', { table: 'author', columns: ['id'], offset: 1.5 }, 'parse-failed', '$.offset'],
    ['select', { table: 'author', columns: ['id'], limit: -1 }, 'not-supported', '$.args.limit'],
    [
      'select',
      { table: 'author', columns: ['id'], where: { id: { $cast: { text: { $eq: '1' } } } } },
      'unexpected-payload',
      '$.args.where.id["$cast"]',
    ],
  ])('%s %j', async (type, args, code, path) => {
    expect(await on('/v1/query', type, args)).toMatchObject({ code, path });
  });
  test('a forbidden cast names both types', async () => {
    const where = { id: { $cast: { geometry: {} } } };
    const { message } = (await on('/v1/query', 'select', { table: 'author', columns: ['id'], where })) as {
      message: string;
    };
    expect(message).toBe('cannot cast column of type "int4" to type "geometry"');
  });
});

describe('a table whose name is no GraphQL name', () => {
  const table = 'order lines';
  const rows = [{ id: 1, note: 'a', author_id: null }];
  test('is in no schema', async () => {
    const { data } = (await graphqlOutcome(
      world.engine,
      '{ __schema { types { name } queryType { fields { name } } mutationType { fields { name } } } }',
    )) as { data: unknown };
    expect(JSON.stringify(data)).not.toMatch(/order.lines/);
    expect(await on('/v1/metadata', 'get_inconsistent_metadata', {})).toEqual({
      data: { is_consistent: true, inconsistent_objects: [] },
    });
  });
  test.each(['/v1/query', '/v2/query'] as const)(
    'has rows to insert, read, count, update and delete at %s',
    async (endpoint) => {
      const run = (type: string, args: object) =>
        adminOutcome(world.engine, type, { table, ...args }, { endpoint });
      expect(await run('insert', { objects: rows, returning: ['id'] })).toEqual({
        data: { affected_rows: 1, returning: [{ id: 1 }] },
      });
      expect(await run('select', { columns: ['*'] })).toEqual({ data: rows });
      expect(await run('count', {})).toEqual({ data: { count: 1 } });
      expect(await run('update', { where: { id: 1 }, $set: { note: 'b' } })).toMatchObject({
        data: { affected_rows: 1 },
      });
      expect(await run('delete', { where: { note: 'b' } })).toMatchObject({ data: { affected_rows: 1 } });
    },
  );
  test('has permissions, which its rows follow, and event triggers', async () => {
    const permission = { columns: ['id'], filter: { note: 'a' } };
    expect(await on('/v1/metadata', 'pg_create_select_permission', { table, role: 'u', permission })).toEqual(
      { data: { message: 'success' } },
    );
    await adminOutcome(
      world.engine,
      'insert',
      { table, objects: [...rows, { id: 2, note: 'b' }] },
      { endpoint: '/v2/query' },
    );
    const asUser = { endpoint: '/v2/query', headers: { 'x-engine-role': 'u' } } as const;
    expect(await adminOutcome(world.engine, 'select', { table, columns: ['*'] }, asUser)).toEqual({
      data: [{ id: 1 }],
    });
    expect(await adminOutcome(world.engine, 'select', { table, columns: ['note'] }, asUser)).toMatchObject({
      code: 'permission-denied',
    });
    const trigger = { table, name: 'lines', webhook: 'http://127.0.0.1:1', insert: { columns: '*' } };
    expect(await on('/v1/metadata', 'pg_create_event_trigger', trigger)).toEqual({
      data: { message: 'success' },
    });
  });
  test('may be the target of a relationship, which no schema has', async () => {
    const using = { foreign_key_constraint_on: { table, column: 'author_id' } };
    expect(
      await on('/v1/metadata', 'pg_create_array_relationship', { table: 'author', name: 'lines', using }),
    ).toEqual({ data: { message: 'success' } });
    expect(await graphqlOutcome(world.engine, '{ author { lines { id } } }')).toMatchObject({
      code: 'validation-failed',
    });
  });
  test('joins the schemas with a custom name', async () => {
    const customize = (configuration: object) =>
      on('/v1/metadata', 'pg_set_table_customization', { table, configuration });
    expect(await customize({ custom_name: 'line' })).toEqual({ data: { message: 'success' } });
    expect(await graphqlOutcome(world.engine, '{ line(where: { id: { _eq: 1 } }) { id } }')).toEqual({
      data: { line: [{ id: 1 }] },
    });
    await customize({});
    expect(await graphqlOutcome(world.engine, '{ line { id } }')).toMatchObject({
      code: 'validation-failed',
    });
  });
});

describe('an operation that makes objects inconsistent', () => {
  test('fails with the reason of the object that it changes', async () => {
    const using = { foreign_key_constraint_on: 'title' };
    expect(
      await on('/v1/metadata', 'pg_create_object_relationship', { table: 'article', name: 'x', using }),
    ).toMatchObject({
      code: 'invalid-configuration',
      path: '$.args',
    });
  });
  test('fails with that reason also when others that do not depend on it become inconsistent', async () => {
    const type = (name: string, of: string) => ({ name, fields: [{ name: 'id', type: of }] });
    const action = { handler: 'http://127.0.0.1:1', output_type: 'Given' };
    await on('/v1/metadata', 'set_custom_types', { objects: [type('Given', 'Int')] });
    await on('/v1/metadata', 'create_action', { name: 'act', definition: action });
    expect(await on('/v1/metadata', 'set_custom_types', { objects: [type('Other', 'Missing')] })).toEqual({
      code: 'invalid-configuration',
      path: '$.args',
      message: expect.stringContaining(
        'the type "Missing" for field "id" in  object type "Other" does not exist',
      ),
    });
  });
  test.each([
    ['/v1/query', 'set_table_customization'],
    ['/v1/metadata', 'pg_set_table_customization'],
  ] as const)('at %s fails without one when only others are', async (endpoint, type) => {
    const configuration = { column_config: { title: { custom_name: 'writer' } } };
    expect(await on(endpoint, type, { table: 'article', configuration })).toEqual({
      code: 'unexpected',
      path: '$.args',
      message: 'cannot continue due to new inconsistent metadata',
    });
  });
});
