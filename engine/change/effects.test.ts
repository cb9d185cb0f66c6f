/** The effects that a dry run reports: access per permission, access of requests, and the schema of each role. What counts as a change of
 *  requests is in request-effects.test.ts. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type AdminTestEngine, op, startTestEngine } from '../admin/testing/engine.ts';
import { cachedPlan } from '../execute/plan-cache.ts';
import { roleSchema } from '../schema/role-schemas.ts';
import type { Effects } from './effects.ts';

let engine: AdminTestEngine;

const READER = 'select_permission/default/public/author/reader';
const reader = (columns: readonly string[], filter: object = {}) => ({
  key: READER,
  definition: { role: 'reader', permission: { columns, filter } },
});

beforeAll(async () => {
  engine = await startTestEngine();
  await engine.must(op('run_sql', { sql: 'create table author (id int, name text, born int)' }));
  await engine.must(op('track_table', 'author'));
  await engine.must(op('patch_metadata', { put: [reader(['id', 'name'], { born: { _gt: 1900 } })] }));
});
afterAll(() => engine.close());

async function effects(type: string, args: object, of = engine): Promise<Effects> {
  const version = type === 'replace_metadata' ? { version: 2 } : {};
  const answer = await of.must({
    ...op(type, { ...args, dry_run: true, include_effects: true }),
    ...version,
  });
  return (answer as { readonly effects: Effects }).effects;
}

test('a patch: the permission reaches more rows and fewer columns, and a field is gone', async () => {
  const found = await effects('patch_metadata', { put: [reader(['id'])] });
  expect(found).toMatchObject({
    access: [
      {
        key: READER,
        role: 'reader',
        verdict: 'other',
        parts: [
          { name: 'columns', verdict: 'narrower' },
          { name: 'filter', verdict: 'wider' },
        ],
      },
    ],
    is_complete: true,
  });
  expect(found.schemas.map(({ role }) => role)).toEqual(['reader']);
  expect(found.schemas[0]!.changes).toContainEqual({
    severity: 'breaking',
    type: 'FIELD_REMOVED',
    description: 'Field author.name was removed.',
  });
});

test('removing the table removes its permissions', async () => {
  const found = await effects('patch_metadata', { remove: ['table/default/public/author'] });
  expect(found.access).toMatchObject([{ key: READER, change: 'revoked' }]);
  expect(found.schemas).toMatchObject([{ role: 'reader', breaking: 1, changes: [{ type: 'ROLE_REMOVED' }] }]);
});

test('a replacement and a rollback report the same', async () => {
  const { resource_version, metadata } = (await engine.must({
    ...op('export_metadata', {}),
    version: 2,
  })) as { resource_version: number; metadata: object };
  expect(await effects('replace_metadata', { metadata })).toEqual({
    access: [],
    schemas: [],
    is_complete: true,
    usage: null,
  });
  await engine.must(op('patch_metadata', { put: [reader(['id'])] }));
  const back = await effects('rollback_metadata', { resource_version });
  expect(back.access).toMatchObject([{ key: READER, verdict: 'other' }]);
  expect(back.schemas).toMatchObject([{ role: 'reader', breaking: 0 }]);
});

test('a change of permissions compares the roles that have them or inherit them, and other changes every role', async () => {
  const select = (role: string, columns: readonly string[]) => ({
    key: `select_permission/default/public/author/${role}`,
    definition: { role, permission: { columns, filter: {} } },
  });
  const inherits = (role_name: string, ...role_set: readonly string[]) => ({
    key: `inherited_role/${role_name}`,
    definition: { role_name, role_set },
  });
  const put = [
    ...['one', 'two'].map((role) => select(role, ['id', 'name', 'born'])),
    // Each comes before its parent.
    ...[
      inherits('a-last', 'b-last'),
      inherits('b-last', 'c-last'),
      inherits('c-last', 'child'),
      inherits('child', 'one'),
      inherits('other', 'two'),
    ],
  ];
  await engine.must(op('patch_metadata', { put }));
  const broken = async (args: object) =>
    (await effects('patch_metadata', args)).schemas
      .filter(({ breaking }) => breaking > 0)
      .map(({ role }) => role);
  expect(await broken({ put: [select('one', ['id', 'name'])] })).toEqual([
    'a-last',
    'b-last',
    'c-last',
    'child',
    'one',
  ]);
  expect(await broken({ put: [select('one', ['id']), select('two', ['id'])] })).toEqual([
    'a-last',
    'b-last',
    'c-last',
    'child',
    'one',
    'other',
    'two',
  ]);
  const table = {
    table: { schema: 'public', name: 'author' },
    configuration: { column_config: { name: { custom_name: 'called' } } },
  };
  const every = await broken({ put: [{ key: 'table/default/public/author', definition: table }] });
  expect(every).toEqual(expect.arrayContaining(['one', 'two', 'child', 'other']));
  await engine.must(op('patch_metadata', { remove: put.map(({ key }) => key) }));
});

describe('what no permission says', () => {
  const query = (text: string) => ({
    key: 'query_collection/common',
    definition: { name: 'common', definition: { queries: [{ name: 'authors', query: text }] } },
  });
  const entry = { key: 'allowlist/common', definition: { collection: 'common', scope: { global: true } } };
  const endpoint = (url = 'authors') => ({
    key: 'rest_endpoint/authors',
    definition: {
      name: 'authors',
      url,
      methods: ['GET'],
      definition: { query: { collection_name: 'common', query_name: 'authors' } },
    },
  });
  const limits = { key: 'api_limits', definition: { depth_limit: { global: 3 } } };

  test('is of endpoints and limits, and of the allow list where the engine enforces it', async () => {
    const put = [query('{ author { id } }'), entry, endpoint(), limits];
    const found = await effects('patch_metadata', { put });
    expect(found.access.map(({ role, change, operation, on }) => [role, change, operation, on])).toEqual([
      [null, 'changed', 'send', 'requests'],
      [null, 'granted', 'request', 'authors'],
    ]);
    expect(found.schemas).toEqual([]);
    const enforcing = await startTestEngine({ enableAllowlist: true });
    try {
      await enforcing.must(op('run_sql', { sql: 'create table author (id int, name text)' }));
      await enforcing.must(op('track_table', 'author'));
      const { access } = await effects('patch_metadata', { put }, enforcing);
      expect(access).toMatchObject([
        { key: 'api_limits' },
        {
          key: 'query_collection/common',
          role: null,
          change: 'granted',
          operation: 'run',
          on: 'common.authors',
        },
        { key: 'rest_endpoint/authors' },
      ]);
      await enforcing.must(op('patch_metadata', { put }));
      const changed = await effects(
        'patch_metadata',
        { put: [query('{ author { name } }'), endpoint('people')], remove: ['api_limits'] },
        enforcing,
      );
      expect(changed.access).toMatchObject([
        { operation: 'send', verdict: 'wider', parts: [{ name: 'depth', before: '3', after: 'no limit' }] },
        { operation: 'run', change: 'changed', verdict: 'other', parts: [{ after: '{author{name}}' }] },
        {
          operation: 'request',
          change: 'changed',
          parts: [
            { name: 'url', before: 'authors', after: 'people' },
            { name: 'query', verdict: 'other', before: '{author{id}}' },
          ],
        },
      ]);
    } finally {
      await enforcing.close();
    }
  });

  test('is of a function that needs no permission, until it has one', async () => {
    const sql =
      "create function everyone() returns setof author language sql stable as 'select * from author'";
    await engine.must(op('run_sql', { sql }));
    const tracked = {
      key: 'function/default/public/everyone',
      definition: { function: { schema: 'public', name: 'everyone' } },
    };
    const allowed = (role: string) => ({
      key: `function_permission/default/public/everyone/${role}`,
      definition: { role },
    });
    const open = { key: tracked.key, role: null, on: 'public.everyone', operation: 'call' };
    expect((await effects('patch_metadata', { put: [tracked] })).access).toMatchObject([
      { ...open, change: 'granted' },
    ]);
    await engine.must(op('patch_metadata', { put: [tracked] }));
    expect((await effects('patch_metadata', { put: [allowed('reader')] })).access).toMatchObject([
      { role: 'reader', change: 'granted' },
      { ...open, except: ['reader'], change: 'revoked' },
    ]);
    await engine.must(op('patch_metadata', { put: [allowed('reader')] }));
    const last = await effects('patch_metadata', { remove: [allowed('reader').key] });
    expect(last.access).toMatchObject([
      { role: 'reader', change: 'revoked' },
      { ...open, except: ['reader'], change: 'granted' },
    ]);
    await engine.must(op('patch_metadata', { remove: [tracked.key] }));
  });

  test('is of the roles that inherit', async () => {
    const staff = { key: 'inherited_role/staff', definition: { role_name: 'staff', role_set: ['reader'] } };
    await engine.must(op('patch_metadata', { put: [staff] }));
    const { access } = await effects('patch_metadata', { put: [reader(['id', 'name'])] });
    expect(access).toMatchObject([
      { role: 'reader', verdict: 'wider' },
      {
        role: 'staff',
        verdict: 'wider',
        is_inherited: true,
        parts: [{ name: 'columns', after: 'id, name' }],
      },
    ]);
    await engine.must(op('patch_metadata', { remove: [staff.key] }));
  });
});

test('a permission that uses a changed object, and another database, are reported', async () => {
  const query = (code: string) => ({
    key: 'native_query/default/old_authors',
    definition: { root_field_name: 'old_authors', returns: 'author_row', code },
  });
  const model = {
    key: 'logical_model/default/author_row',
    definition: { name: 'author_row', fields: [{ name: 'id', type: 'integer' }] },
  };
  const key = 'logical_model_permission/default/author_row/reader';
  const permission = { key, definition: { role: 'reader', permission: { columns: ['id'], filter: {} } } };
  await engine.must(
    op('patch_metadata', { put: [model, permission, query('select id from author where born < 1900')] }),
  );
  const { access, schemas } = await effects('patch_metadata', { put: [query('select id from author')] });
  expect(access).toEqual([
    {
      ...{ key, role: 'reader', on: 'author_row', operation: 'select', change: 'changed', verdict: 'other' },
      is_indirect: true,
      parts: [
        {
          ...{ name: 'code', verdict: 'other', before: null },
          after: 'the native query old_authors has another text or other arguments',
        },
      ],
    },
  ]);
  expect(schemas).toEqual([]);
  const { metadata } = engine.state.snapshot();
  const { name, kind, configuration } = metadata.sources[0]!;
  const url = { ...configuration.connection_info, database_url: { from_env: 'NOWHERE' } };
  const source = {
    key: `source/${name}`,
    definition: { name, kind, configuration: { ...configuration, connection_info: url } },
  };
  const moved = await effects('patch_metadata', { put: [source], allow_inconsistent_metadata: true });
  expect(moved.access).toContainEqual({
    ...{ key: source.key, role: null, on: name, operation: 'connect', change: 'changed', verdict: 'other' },
    parts: [{ name: 'address', verdict: 'other', before: null, after: 'another' }],
  });
  await engine.must(op('patch_metadata', { remove: [query('').key, key, model.key] }));
});

test('nothing is stored, and without the option there are no effects', async () => {
  const before = engine.state.snapshot().resourceVersion;
  await effects('patch_metadata', { remove: [READER] });
  expect(engine.state.snapshot().resourceVersion).toBe(before);
  const plain = await engine.must(op('patch_metadata', { remove: [READER], dry_run: true }));
  expect(plain).not.toHaveProperty('effects');
});

test('a request that is no dry run is refused, and writes nothing', async () => {
  const before = engine.state.snapshot().resourceVersion;
  const answer = await engine.query(op('patch_metadata', { remove: [READER], include_effects: true }));
  expect(answer).toMatchObject({
    status: 400,
    body: {
      code: 'parse-failed',
      path: '$.args.include_effects',
      error: 'include_effects needs dry_run: true',
    },
  });
  expect(engine.state.snapshot().resourceVersion).toBe(before);
});

describe('operations of clients', () => {
  let counting: AdminTestEngine;

  beforeAll(async () => {
    counting = await startTestEngine({ fieldUsageDays: 30 });
    const many = Array.from({ length: 120 }, (_, i) => `c${i} int`).join(', ');
    await counting.must(op('run_sql', { sql: `create table author (id int, name text, born int, ${many})` }));
    await counting.must(op('track_table', 'author'));
    await counting.must(op('patch_metadata', { put: [reader(['id', 'name', 'born'])] }));
  });
  afterAll(() => counting?.close());

  const requests = (query: string, client: string, times = 1, role = 'reader') => {
    const { model } = counting.state.snapshot();
    const { usage } = cachedPlan(roleSchema(model, role, false), { query });
    for (let i = 0; i < times; i++) counting.state.fieldUsage.count(usage!, client, null);
  };
  const usersOf = (found: Effects, description: string) =>
    found.schemas[0]!.changes.find((change) => change.description === description);
  const today = () => new Date().toISOString().slice(0, 10);

  test('are listed under the breaking change that affects them, and under no other', async () => {
    requests('query Names { author { name } }', 'web', 3);
    requests('query Names { author { name } }', 'ios');
    requests('{ author(where: {born: {_eq: 1}}) { id } }', '');
    const found = await effects('patch_metadata', { put: [reader(['id', 'born'])] }, counting);
    expect(usersOf(found, 'Field author.name was removed.')).toEqual({
      severity: 'breaking',
      type: 'FIELD_REMOVED',
      description: 'Field author.name was removed.',
      used_by_count: 2,
      used_by: [
        { operation: 'Names', client: 'web', requests: 3, last_day: today() },
        { operation: 'Names', client: 'ios', requests: 1, last_day: today() },
      ],
    });
    // The argument `where` still exists, and nobody gives it a name.
    expect(usersOf(found, 'Field author_bool_exp.name was removed.')).toMatchObject({ used_by_count: 0 });
    expect(found).toMatchObject({
      usage: { days: 30, since: today() },
      schemas: [{ role: 'reader', uncounted: 0 }],
    });
    const inUse = found.schemas[0]!.changes.filter(({ used_by_count = 0 }) => used_by_count > 0);
    expect(inUse.length).toBe(found.schemas[0]!.breaking_in_use);
    expect(found.schemas[0]!.breaking).toBeGreaterThan(inUse.length);
    const others = await effects('patch_metadata', { put: [reader(['id', 'name'])] }, counting);
    expect(usersOf(others, 'Field author_bool_exp.born was removed.')).toMatchObject({
      used_by: [{ operation: null, client: null, requests: 1 }],
    });
    expect(usersOf(others, 'Field author.born was removed.')).toMatchObject({ used_by_count: 0 });
  });

  test('all of the role are listed when it is gone, and none of another role', async () => {
    requests('query Admins { author { name } }', 'console', 1, 'admin');
    const found = await effects('patch_metadata', { remove: [READER] }, counting);
    const [gone] = found.schemas[0]!.changes;
    expect(gone).toMatchObject({ type: 'ROLE_REMOVED', used_by_count: 3 });
    expect(gone!.used_by!.map(({ client }) => client)).toEqual(['web', null, 'ios']);
  });

  test('have the sum of their requests over the days that are kept, and the last day', async () => {
    const copy = `insert into pergola.operation_usage select day - $1::int, role, operation, client, coordinate_set, requests
      from pergola.operation_usage where client = 'ios' and day = (now() at time zone 'utc')::date`;
    for (const age of [1, 29, 30]) await counting.database.sql(copy.replace('$1', String(age)));
    const found = await effects('patch_metadata', { put: [reader(['id', 'born'])] }, counting);
    expect(usersOf(found, 'Field author.name was removed.')).toMatchObject({
      used_by: [
        { client: 'ios', requests: 3, last_day: today() },
        { client: 'web', requests: 3 },
      ],
    });
  });

  test('what they use comes first, also among more changes than are listed', async () => {
    const columns = Array.from({ length: 120 }, (_, i) => `c${i}`);
    await counting.must(op('patch_metadata', { put: [reader(['id', ...columns])] }));
    requests('query Last { author { c119 } }', 'web');
    const found = await effects('patch_metadata', { put: [reader(['id'])] }, counting);
    expect(found.schemas[0]!.changes).toHaveLength(200);
    expect(found.schemas[0]!.breaking).toBeGreaterThan(200);
    const first = found.schemas[0]!.changes.slice(0, found.schemas[0]!.breaking_in_use);
    expect(first.map(({ description }) => description)).toContain('Field author.c119 was removed.');
    expect(first.every(({ used_by_count }) => used_by_count === 1)).toBe(true);
  });

  test('beyond the limits are said with the role', async () => {
    requests('query More { author { id } }', 'web');
    await counting.database.sql(
      `insert into pergola.uncounted_usage values ((now() at time zone 'utc')::date, 'reader', 7), ('2000-01-01', 'reader', 1)`,
    );
    const found = await effects('patch_metadata', { put: [reader(['id'])] }, counting);
    expect(found.schemas[0]).toMatchObject({ role: 'reader', uncounted: 7 });
  });
});

describe('an operation that a change breaks is listed, and one that stays valid is not', () => {
  let counting: AdminTestEngine;
  const key = (kind: string, table: string) => `${kind}_permission/default/public/${table}/reader`;
  const select = (table: string, columns: readonly string[], rest: object = {}) => ({
    key: key('select', table),
    definition: { role: 'reader', permission: { columns, filter: {}, ...rest } },
  });
  const insert = (columns: readonly string[]) => ({
    key: key('insert', 'book'),
    definition: { role: 'reader', permission: { columns, check: {} } },
  });
  const BASE = [
    select('author', ['id', 'name', 'born']),
    select('book', ['id', 'title', 'author_id', 'status'], { allow_aggregations: true }),
    select('status', ['value']),
    insert(['id', 'title', 'author_id', 'status']),
  ];
  const OPERATIONS: readonly (readonly [query: string, variables?: Readonly<Record<string, unknown>>])[] = [
    ['{ author { id } }'],
    ['{ author { name } }'],
    ['{ author(where: {born: {_gt: 1}}) { id } }'],
    ['query ($w: author_bool_exp) { author(where: $w) { id } }', { w: { _or: [{ name: { _eq: 'x' } }] } }],
    ['query ($w: author_bool_exp) { author(where: $w) { id } }', { w: { id: { _eq: 1 } } }],
    ['query ($o: [author_order_by!]) { author(order_by: $o) { id } }', { o: [{ born: 'asc' }] }],
    ['query ($o: author_order_by!) { author(order_by: [$o]) { id } }', { o: { id: 'desc' } }],
    ['{ author(distinct_on: name, order_by: {name: asc}) { id } }'],
    ['query ($d: [author_select_column!]) { author(distinct_on: $d) { id } }', { d: ['born'] }],
    ['{ book { author { ...A } } } fragment A on author { born }'],
    ['{ book { ... on book { author { id } } } }'],
    ['{ author { books(limit: 1) { title } } }'],
    ['{ author { books_aggregate { aggregate { count } } } }'],
    ['{ book_aggregate { aggregate { max { title } } } }'],
    ['{ book(where: {status: {_eq: open}}) { id } }'],
    ['query ($s: status_enum!) { book(where: {status: {_eq: $s}}) { id } }', { s: 'open' }],
    ['query ($s: [status_enum!]) { book(where: {status: {_in: $s}}) { id } }', { s: [] }],
    ['mutation { insert_book_one(object: {id: 1, title: "x"}) { id } }'],
    [
      'mutation ($o: [book_insert_input!]!) { insert_book(objects: $o) { affected_rows } }',
      { o: [{ id: 1 }] },
    ],
    [
      'mutation ($o: [book_insert_input!]!) { insert_book(objects: $o) { affected_rows } }',
      { o: [{ id: 2, status: 'open' }] },
    ],
    ['subscription { author_stream(batch_size: 1, cursor: {initial_value: {born: 1}}) { id } }'],
    ['{ __schema { queryType { name } } }'],
  ];

  beforeAll(async () => {
    counting = await startTestEngine({ fieldUsageDays: 30 });
    const sql = `create table author (id int primary key, name text, born int);
      create table status (value text primary key);
      insert into status values ('open'), ('closed');
      create table book (id int primary key, title text, author_id int references author, status text references status)`;
    await counting.must(op('run_sql', { sql }));
    for (const table of ['author', 'status', 'book']) await counting.must(op('track_table', table));
    await counting.must(op('set_table_is_enum', { table: 'status', is_enum: true }));
    const using = (foreign_key_constraint_on: unknown) => ({ foreign_key_constraint_on });
    const author = { table: 'book', name: 'author', using: using('author_id') };
    await counting.must(op('create_object_relationship', author));
    const books = { table: 'author', name: 'books', using: using({ table: 'book', column: 'author_id' }) };
    await counting.must(op('create_array_relationship', books));
    await counting.must(op('patch_metadata', { put: BASE }));
    OPERATIONS.forEach((_, i) => {
      const { usage } = planned(i);
      counting.state.fieldUsage.count(usage!, `client ${i}`, null);
    });
  });
  afterAll(() => counting?.close());

  function planned(i: number) {
    const [query, variables = {}] = OPERATIONS[i]!;
    const role = roleSchema(counting.state.snapshot().model, 'reader', false);
    return cachedPlan(role, { query, variables });
  }

  function isValid(i: number): boolean {
    try {
      planned(i);
      return true;
    } catch {
      return false;
    }
  }

  test.each([
    ['a column less', { put: [select('author', ['id', 'born'])] }],
    ['another column less', { put: [select('author', ['id', 'name'])] }],
    ['two columns less', { put: [select('author', ['id']), select('book', ['id', 'author_id', 'status'])] }],
    ['no aggregations', { put: [select('book', ['id', 'title', 'author_id', 'status'])] }],
    ['no inserts', { remove: [key('insert', 'book')] }],
    ['a column less in inserts', { put: [insert(['id', 'title', 'author_id'])] }],
    ['no authors', { remove: [key('select', 'author')] }],
    ['no books', { remove: [key('select', 'book'), key('insert', 'book')] }],
    ['no relationship', { remove: ['object_relationship/default/public/book/author'] }],
    [
      'no streams of authors',
      { put: [select('author', ['id', 'name', 'born'], { subscription_root_fields: [] })] },
    ],
    ['nothing', { put: [select('author', ['id', 'name', 'born'], { limit: 5 })] }],
    ['no permission', { remove: BASE.map((permission) => permission.key) }],
  ])('%s', async (name, patch) => {
    const found = await effects('patch_metadata', patch, counting);
    const listed = new Set(
      found.schemas
        .flatMap(({ changes }) => changes.flatMap(({ used_by = [] }) => used_by))
        .map(({ client }) => client),
    );
    const numbers = OPERATIONS.map((_, i) => i);
    const { resourceVersion } = counting.state.snapshot();
    expect(numbers.filter((i) => !isValid(i))).toEqual([]);
    await counting.must(op('patch_metadata', patch));
    const broken = numbers.filter((i) => !isValid(i));
    await counting.must(op('rollback_metadata', { resource_version: resourceVersion }));
    const affected = numbers.filter((i) => listed.has(`client ${i}`));
    if (name === 'no permission') {
      expect(found.schemas[0]!.changes[0]!.used_by_count).toBe(OPERATIONS.length);
      expect(affected).toHaveLength(20);
    } else expect(affected).toEqual(broken);
    if (name !== 'nothing') expect(broken.length).toBeGreaterThan(0);
  });
});
