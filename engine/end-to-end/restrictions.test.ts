/** Tests that no missing option disables a declared restriction: with default options, everything the metadata can
 *  declare to restrict a role is enforced, or reported as not enforced. A member of a permission that is not in these
 *  tables fails the test. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  type GraphqlAnswer,
  replaceMetadata,
  startTestEngine,
  type TestEngine,
} from '../../testing/engine.ts';
import { type RemoteService, startRemote } from '../../testing/remote.ts';
import { testDatabase } from '../../testing/world.ts';
import { DeleteRule, InsertRule, SelectRule, UpdateRule } from '../metadata/schema/permission.ts';
import { ApiLimits } from '../metadata/schema/policy.ts';

const RULES = { select: SelectRule, insert: InsertRule, update: UpdateRule, delete: DeleteRule };
const SELECT = { columns: '*', filter: {} };
const HOOK = { type: 'http', definition: { url: 'http://127.0.0.1:9/', timeout: 1 } };

type Expected = 'refused' | object;
type Row = readonly [
  /** `kind.member`; the role has the same name. */
  restriction: string,
  rule: object,
  request: string,
  expected: Expected,
];

/** Restrictions of table permissions, by the member that declares them. */
const PERMISSIONS: readonly Row[] = [
  ['select.columns', { columns: ['id'], filter: {} }, '{ note { text } }', 'refused'],
  ['select.computed_fields', { ...SELECT, computed_fields: [] }, '{ note { loud } }', 'refused'],
  ['select.filter', { ...SELECT, filter: { id: { _eq: 1 } } }, '{ note { id } }', { note: [{ id: 1 }] }],
  ['select.limit', { ...SELECT, limit: 1 }, '{ note(order_by: {id: asc}) { id } }', { note: [{ id: 1 }] }],
  ['select.allow_aggregations', SELECT, '{ note_aggregate { aggregate { count } } }', 'refused'],
  ['select.query_root_fields', { ...SELECT, query_root_fields: [] }, '{ note { id } }', 'refused'],
  [
    'select.subscription_root_fields',
    { ...SELECT, subscription_root_fields: [] },
    '{ __schema { subscriptionType { fields { name } } } }',
    // Functions are separate root fields.
    { __schema: { subscriptionType: { fields: [{ name: 'slow' }] } } },
  ],
  [
    'insert.check',
    { check: { id: { _lt: 0 } } },
    'mutation { insert_note(objects: [{id: 9}]) { affected_rows } }',
    'refused',
  ],
  [
    'insert.columns',
    { check: {}, columns: ['id'] },
    'mutation { insert_note(objects: [{text: "a"}]) { affected_rows } }',
    'refused',
  ],
  [
    'insert.set',
    { check: {}, set: { text: 'a' } },
    'mutation { insert_note(objects: [{text: "b"}]) { affected_rows } }',
    'refused',
  ],
  [
    'insert.backend_only',
    { check: {}, backend_only: true },
    'mutation { insert_note(objects: [{id: 9}]) { affected_rows } }',
    'refused',
  ],
  [
    'insert.validate_input',
    { check: {}, validate_input: HOOK },
    'mutation { insert_note(objects: [{id: 9}]) { affected_rows } }',
    'refused',
  ],
  [
    'update.columns',
    { columns: ['text'], filter: {} },
    'mutation { update_note(where: {}, _set: {id: 9}) { affected_rows } }',
    'refused',
  ],
  [
    'update.filter',
    { columns: ['text'], filter: { id: { _lt: 0 } } },
    'mutation { update_note(where: {}, _set: {text: "a"}) { affected_rows } }',
    { update_note: { affected_rows: 0 } },
  ],
  [
    'update.check',
    { columns: ['text'], filter: {}, check: { id: { _lt: 0 } } },
    'mutation { update_note(where: {}, _set: {text: "a"}) { affected_rows } }',
    'refused',
  ],
  [
    'update.set',
    { columns: ['text'], filter: {}, set: { text: 'a' } },
    'mutation { update_note(where: {}, _set: {text: "b"}) { affected_rows } }',
    'refused',
  ],
  [
    'update.backend_only',
    { columns: ['text'], filter: {}, backend_only: true },
    'mutation { update_note(where: {}, _set: {text: "a"}) { affected_rows } }',
    'refused',
  ],
  [
    'update.validate_input',
    { columns: ['text'], filter: {}, validate_input: HOOK },
    'mutation { update_note(where: {}, _set: {text: "a"}) { affected_rows } }',
    'refused',
  ],
  [
    'delete.filter',
    { filter: { id: { _lt: 0 } } },
    'mutation { delete_note(where: {}) { affected_rows } }',
    { delete_note: { affected_rows: 0 } },
  ],
  [
    'delete.backend_only',
    { filter: {}, backend_only: true },
    'mutation { delete_note(where: {}) { affected_rows } }',
    'refused',
  ],
  [
    'delete.validate_input',
    { filter: {}, validate_input: HOOK },
    'mutation { delete_note(where: {}) { affected_rows } }',
    'refused',
  ],
];

/** Roles with other restrictions, for which `reader` may read everything otherwise. */
const OTHERS: readonly (readonly [restriction: string, role: string, request: string, expected: Expected])[] =
  [
    ['function.permissions', 'reader', '{ listed { id } }', 'refused'],
    ['function.permissions of a mutation', 'reader', 'mutation { changing { id } }', 'refused'],
    ['action.permissions', 'reader', '{ act }', 'refused'],
    ['remote_schema.permissions', 'reader', '{ hidden }', 'refused'],
    ['logical_model.select_permissions', 'reader', '{ native { id } }', 'refused'],
    ['introspection.disabled_for_roles', 'blind', '{ __schema { queryType { name } } }', 'refused'],
    ['api_limits.depth_limit', 'shallow', '{ note { again { again { id } } } }', 'refused'],
    ['api_limits.node_limit', 'small', '{ a: note { id } b: note { id } }', 'refused'],
    ['api_limits.time_limit', 'hasty', '{ slow { id } }', 'refused'],
    ['api_limits.rate_limit', 'rare', '{ note { id } }', 'refused'],
    ['api_limits.response_limit', 'brief', '{ note { id } }', 'refused'],
  ];
const READERS = ['reader', 'blind', 'shallow', 'small', 'hasty', 'rare', 'brief', 'batch'];

/** Restrictions without effect, by the key of the object that declares them. */
const REPORTED = [
  'allowlist/web',
  'api_limits',
  'delete_permission/default/public/note/admin',
  'insert_permission/default/public/note/admin',
  'introspection',
  'logical_model_permission/default/line/admin',
  'remote_schema_permission/far/admin',
  'select_permission/default/public/note/admin',
  'update_permission/default/public/note/admin',
];

const database = testDatabase();
let engine: TestEngine;
let remote: RemoteService;
const logged: unknown[] = [];

beforeAll(async () => {
  await database.sql(`
    create table note (id int, text text, up int);
    insert into note values (1, 'one', null), (2, 'two', 1);
    create function loud(note) returns text language sql stable as $$ select upper($1.text) $$;
    create function listed() returns setof note language sql stable as $$ select * from note $$;
    create function changing() returns setof note language sql volatile as $$ select * from note $$;
    create function slow() returns setof note language sql stable as
      $$ select note.* from note, pg_sleep(3) $$;`);
  remote = await startRemote('type Query { hidden: String }', { 'Query.hidden': () => 'hidden' });
  engine = await startTestEngine({
    databaseUrl: database.url,
    log: { observe: (observation) => void logged.push(observation), flush: () => {} },
  });
});
afterAll(async () => {
  await engine?.close();
  await remote?.close();
});

function permissionsOf(kind: keyof typeof RULES, isOfAdmin: boolean) {
  const declared = PERMISSIONS.filter(([name]) => name.startsWith(`${kind}.`)).map(([role, rule]) => ({
    role,
    permission: rule,
  }));
  const readers = PERMISSIONS.filter(([name]) => !name.startsWith('select.')).map(([role]) => role);
  const all = { ...SELECT, computed_fields: ['loud'], allow_aggregations: true };
  const plain = { select: SELECT, insert: { check: {} }, update: SELECT, delete: { filter: {} } }[kind];
  return [
    ...declared,
    ...(kind === 'select' ? [...readers, ...READERS].map((role) => ({ role, permission: plain })) : []),
    { role: 'free', permission: kind === 'select' ? all : plain },
    ...(isOfAdmin ? [{ role: 'admin', permission: plain }] : []),
  ];
}

/** Declares everything at once; `isReported` adds what is not enforced. */
async function declare(isReported: boolean) {
  const perRole = (role: string, value: unknown) => ({ per_role: { [role]: value } });
  const admin = isReported ? { admin: 99 } : {};
  const ofAdmin = isReported ? [{ role: 'admin', permission: { columns: '*', filter: {} } }] : [];
  const source = {
    tables: [
      {
        table: { schema: 'public', name: 'note' },
        object_relationships: [
          {
            name: 'again',
            using: {
              manual_configuration: { remote_table: 'note', column_mapping: { up: 'id' } },
            },
          },
        ],
        computed_fields: [{ name: 'loud', definition: { function: 'loud' } }],
        select_permissions: permissionsOf('select', isReported),
        insert_permissions: permissionsOf('insert', isReported),
        update_permissions: permissionsOf('update', isReported),
        delete_permissions: permissionsOf('delete', isReported),
      },
    ],
    functions: [
      { function: 'listed', permissions: [{ role: 'blind' }] },
      { function: 'changing', permissions: [{ role: 'blind' }] },
      { function: 'slow' },
    ],
    logical_models: [
      {
        name: 'line',
        fields: [{ name: 'id', type: { scalar: 'integer', nullable: true } }],
        select_permissions: [{ role: 'blind', permission: { columns: '*', filter: {} } }, ...ofAdmin],
      },
    ],
    native_queries: [
      { root_field_name: 'native', code: 'select id from note', returns: 'line', arguments: {} },
    ],
  };
  const parts = {
    actions: [
      {
        name: 'act',
        definition: { kind: 'synchronous', type: 'query', handler: remote.url, output_type: 'String' },
        permissions: [{ role: 'blind' }],
      },
    ],
    remote_schemas: [
      {
        name: 'far',
        definition: { url: remote.url },
        permissions: [
          { role: 'blind', definition: { schema: 'type Query { hidden: String }' } },
          ...(isReported ? [{ role: 'admin', definition: { schema: 'type Query { hidden: String }' } }] : []),
        ],
      },
    ],
    graphql_schema_introspection: { disabled_for_roles: ['blind', ...(isReported ? ['admin'] : [])] },
    api_limits: {
      depth_limit: { per_role: { shallow: 2, ...admin } },
      node_limit: perRole('small', 1),
      batch_limit: perRole('batch', 1),
      time_limit: perRole('hasty', 1),
      rate_limit: perRole('rare', { max_reqs_per_min: 0 }),
      response_limit: perRole('brief', 10),
    },
    query_collections: [{ name: 'web', definition: { queries: [{ name: 'q', query: '{ note { id } }' }] } }],
    ...(isReported ? { allowlist: [{ collection: 'web' }] } : {}),
  };
  return replaceMetadata<{ warnings?: { code: string; name: string }[] }>(engine, source, parts);
}

function expectRestricted({ data, errors }: GraphqlAnswer<unknown>, expected: Expected) {
  if (expected === 'refused') expect(errors, JSON.stringify(data)).toBeDefined();
  else expect(data, JSON.stringify(errors)).toEqual(expected);
}

describe('enforced', () => {
  beforeAll(async () => {
    expect(await declare(false)).toMatchObject({ status: 200, body: { is_consistent: true } });
  });

  test('the tables contain every member of a permission and of the limits', () => {
    const members = Object.entries(RULES).flatMap(([kind, { properties }]) =>
      Object.keys(properties).map((member) => `${kind}.${member}`),
    );
    expect(PERMISSIONS.map(([name]) => name).toSorted()).toEqual(members.toSorted());
    const limits = Object.keys(ApiLimits.properties).map((name) => `api_limits.${name}`);
    const named = OTHERS.map(([name]) => name).filter((name) => name.startsWith('api_limits.'));
    // Bodies with several operations have their own test; `disabled` lifts the limits.
    expect([...named, 'api_limits.batch_limit', 'api_limits.disabled'].toSorted()).toEqual(limits.toSorted());
  });

  test.each(PERMISSIONS)('%s', async (role, _, request, expected) => {
    expectRestricted(await engine.graphql(request, { role }), expected);
  });

  test.each(OTHERS)('%s', async (_, role, request, expected) => {
    expectRestricted(await engine.graphql(request, { role }), expected);
  });

  test('api_limits.batch_limit', async () => {
    const body = JSON.stringify([{ query: '{ note { id } }' }, { query: '{ note { id } }' }]);
    const headers = { 'content-type': 'application/json', 'x-engine-role': 'batch' };
    const answer = await engine.fetch('/v1/graphql', { method: 'POST', body, headers });
    expect(await answer.text()).toContain('batch-limit-exceeded');
  });

  test('the same requests are answered without restrictions', async () => {
    for (const [, , request] of PERMISSIONS) {
      expect((await engine.graphql(request, { role: 'free' })).errors, request).toBeUndefined();
    }
  });

  test('requests outside the restriction are answered', async () => {
    for (const [request, role] of [
      ['{ note { id text again { id } } }', 'reader'],
      ['{ slow { id } }', 'reader'],
      ['{ listed { id } }', 'blind'],
      ['{ native { id } }', 'blind'],
      ['{ hidden }', 'blind'],
    ] as const) {
      expect((await engine.graphql(request, { role })).errors, request).toBeUndefined();
    }
  });
});

describe('declared without effect', () => {
  test('the response warns of each object, and the request is refused if warnings are not allowed', async () => {
    expect((await declare(false)).body.warnings).toBeUndefined();
    const { status, body } = await declare(true);
    expect(status).toBe(200);
    expect(body.warnings?.map(({ code, name }) => `${code} ${name}`).toSorted()).toEqual(
      REPORTED.map((key) => `not-enforced ${key}`),
    );
    // Earlier declarations cause no second warning.
    expect((await declare(true)).body.warnings).toBeUndefined();
    await declare(false);
    const entry = { collection: 'web' };
    const put = [{ key: 'allowlist/web', definition: entry }];
    expect(await engine.admin('patch_metadata', { put, allow_warnings: false })).toMatchObject({
      status: 400,
      body: { code: 'metadata-warnings' },
    });
    expect(await engine.admin('add_collection_to_allowlist', entry)).toMatchObject({
      body: { warnings: [{ message: expect.stringContaining('--enable-allowlist') }] },
    });
  });

  test('the report with keys lists each, and the metadata is consistent', async () => {
    await declare(true);
    const { body } = await engine.admin<{ not_enforced: { key: string }[] }>('get_inconsistent_metadata', {
      include_keys: true,
    });
    expect(body).toMatchObject({ is_consistent: true, inconsistent_objects: [] });
    expect(body.not_enforced.map(({ key }) => key).toSorted()).toEqual(REPORTED);
    expect((await engine.admin('get_inconsistent_metadata', {})).body).toEqual({
      is_consistent: true,
      inconsistent_objects: [],
    });
  });

  test('the log reports them', async () => {
    await declare(false);
    logged.length = 0;
    await declare(true);
    expect(logged).toContainEqual({
      kind: 'state',
      event: {
        kind: 'restrictions not enforced',
        count: REPORTED.length,
        objects: expect.arrayContaining([expect.stringContaining('--enable-allowlist')]),
      },
    });
  });

  test('an enforced allow list is not reported', async () => {
    await declare(false);
    await engine.admin('add_collection_to_allowlist', { collection: 'web' });
    const strict = await startTestEngine({
      databaseUrl: database.url,
      adminSecret: engine.adminSecret,
      enableAllowlist: true,
    });
    const { body } = await strict.admin('get_inconsistent_metadata', { include_keys: true });
    expect(body).not.toHaveProperty('not_enforced');
    expect((await strict.graphql('{ note { text } }', { role: 'reader' })).errors).toBeDefined();
    expect((await strict.graphql('{ note { id } }', { role: 'reader' })).errors).toBeUndefined();
    await strict.close();
  });
});
