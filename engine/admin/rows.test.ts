/** select, count, insert, update and delete of the admin API: what they answer, for whom, and what a role must not see or write. */
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { testWorld } from '../../testing/world.ts';

const SCHEMA = `
  create table author (id int primary key, name text not null, secret text, born date default '2000-01-01');
  create table article (id bigint primary key, author_id int references author, title text, votes int default 1,
    price numeric, is_published boolean not null default false, unique (author_id, title));
  create function label(a author) returns text stable language sql as 'select upper(a.name)';`;
const ROWS = `
  truncate author, article;
  insert into author values (1, 'ann', 'x'), (2, 'bob', 'y');
  insert into article values (1, 1, 'one', 1, 1.50, true), (2, 1, 'two', 2, 2, false),
    (9007199254740993, 2, 'three', 3, 0.10, true);`;

const own = { author_id: { _eq: 'X-Engine-User-Id' } };
const METADATA = {
  version: 3,
  sources: [
    {
      name: 'default',
      kind: 'postgres',
      configuration: { connection_info: { database_url: { from_env: 'ENGINE_GRAPHQL_DATABASE_URL' } } },
      tables: [
        {
          table: 'author',
          array_relationships: [
            {
              name: 'articles',
              using: { foreign_key_constraint_on: { table: 'article', column: 'author_id' } },
            },
          ],
          computed_fields: [{ name: 'label', definition: { function: 'label' } }],
          select_permissions: [
            {
              role: 'user',
              permission: {
                columns: ['id', 'name'],
                filter: {},
                computed_fields: [],
                allow_aggregations: true,
              },
            },
          ],
        },
        {
          table: 'article',
          object_relationships: [{ name: 'author', using: { foreign_key_constraint_on: 'author_id' } }],
          select_permissions: [
            {
              role: 'user',
              permission: {
                columns: ['id', 'title', 'author_id', 'is_published'],
                filter: { _or: [own, { is_published: true }] },
                limit: 2,
                allow_aggregations: true,
              },
            },
          ],
          insert_permissions: [
            {
              role: 'user',
              permission: {
                columns: ['id', 'title'],
                check: { title: { _neq: 'forbidden' } },
                set: { author_id: 'X-Engine-User-Id' },
              },
            },
          ],
          update_permissions: [
            {
              role: 'user',
              permission: { columns: ['title', 'votes'], filter: own, set: { is_published: 'false' } },
            },
          ],
          delete_permissions: [
            { role: 'user', permission: { filter: { _and: [own, { is_published: false }] } } },
          ],
        },
      ],
    },
  ],
};

const { database, engine } = testWorld(SCHEMA, (database) => ({
  env: { ENGINE_GRAPHQL_DATABASE_URL: database.url },
}));

beforeAll(async () => {
  await engine.must('replace_metadata', METADATA);
});
beforeEach(async () => {
  await database.sql(ROWS);
});

const USER = (id: number) => ({ 'x-engine-role': 'user', 'x-engine-user-id': String(id) });

/** The body, whatever the status. */
async function ask(type: string, args: object, headers: Record<string, string> = {}): Promise<unknown> {
  return (await engine.admin(type, args, { endpoint: '/v1/query', headers })).body;
}

const articles = (args: object, headers = {}) => ask('select', { table: 'article', ...args }, headers);

describe('select', () => {
  test('returns columns in the requested order, including related rows and computed fields', async () => {
    const columns = [
      'name',
      'label',
      { name: 'articles', alias: 'texts', columns: ['title'], order_by: '-id' },
    ];
    expect(await ask('select', { table: 'author', columns, order_by: '+id' })).toEqual([
      { name: 'ann', label: 'ANN', texts: [{ title: 'two' }, { title: 'one' }] },
      { name: 'bob', label: 'BOB', texts: [{ title: 'three' }] },
    ]);
  });

  test('a star selects all columns, and a nested star those of related rows', async () => {
    const where = { id: 1 };
    expect(await ask('select', { table: 'author', columns: ['*'], where })).toEqual([
      { id: 1, name: 'ann', secret: 'x', born: '2000-01-01' },
    ]);
    const [deep] = (await ask('select', { table: 'author', columns: ['*.*'], where })) as [object];
    expect(deep).toMatchObject({ name: 'ann', articles: [{ title: 'one', votes: 1 }, { title: 'two' }] });
  });

  test('the number of columns that nested stars expand to is limited', async () => {
    const stars = (levels: number) => Array.from({ length: levels }, () => '*').join('.');
    const refused = (columns: readonly unknown[]) => ask('select', { table: 'author', columns });
    const many = { code: 'validation-failed', error: 'the request selects more than 20000 fields' };
    expect(await refused(Array.from({ length: 2000 }, () => '*.*.*'))).toMatchObject(many);
    const deep = { code: 'validation-failed', error: 'the request is nested too deeply' };
    expect(await refused([stars(100_000)])).toMatchObject(deep);
    let nested: object = { name: 'articles', columns: ['id'] };
    for (let level = 0; level < 200; level++) {
      nested = { name: level % 2 === 0 ? 'author' : 'articles', columns: [nested] };
    }
    expect(await ask('select', { table: 'author', columns: [nested] })).toMatchObject(deep);
  });

  test('conditions support the operators of permissions in both spellings, and related rows', async () => {
    const asked = {
      columns: ['title'],
      where: { $or: [{ id: { $gt: 2 } }, { author: { name: { _like: 'a%' } } }] },
    };
    expect(
      await articles({ ...asked, order_by: { column: 'id', type: 'desc' }, limit: 2, offset: 1 }),
    ).toEqual([{ title: 'two' }, { title: 'one' }]);
  });

  test('every digit of a number is compared', async () => {
    const response = await engine.fetch('/v1/query', {
      method: 'POST',
      body: `{"type": "select", "args": {"table": "article", "columns": ["id", "price"],
              "where": {"id": 9007199254740993}}}`,
    });
    expect(await response.text()).toBe('[{"id":9007199254740993,"price":0.10}]');
  });

  test('rows are ordered by related rows if these are selected', async () => {
    const columns = ['id', { name: 'author', columns: ['name'] }];
    const rows = (await articles({ columns, order_by: ['-author.name', 'id'] })) as { author: object }[];
    expect(rows.map(({ author }) => author)).toEqual([{ name: 'bob' }, { name: 'ann' }, { name: 'ann' }]);
  });

  test('text that looks like a session variable is compared as text', async () => {
    const asked = { columns: ['id'], where: { title: 'X-Engine-User-Id' } };
    expect(await articles(asked, USER(1))).toEqual([]);
  });

  test.each([
    [-1, 'unexpected negative value', '$.args.limit'],
    ['1', 'parsing Int failed, expected Number, but encountered String', '$.limit'],
  ])('a limit of %j is refused', async (limit, error, path) => {
    expect(await articles({ columns: ['id'], limit })).toMatchObject({ error, path });
  });
});

/** An operation of each kind on a table. */
const OPERATIONS: readonly (readonly [string, object])[] = [
  ['select', { columns: ['id'] }],
  ['count', {}],
  ['insert', { objects: [{ id: 1 }] }],
  ['update', { $set: { id: 1 }, where: {} }],
  ['delete', { where: {} }],
];

describe('a table that is hidden from a role, one that does not exist, and one of an unknown source have the same error', () => {
  const send = async (type: string, args: object, headers: object) => {
    const { status, body } = await engine.admin(type, args, {
      endpoint: '/v1/query',
      headers: { ...headers },
    });
    const name = (args as { table: string }).table;
    return { status, text: JSON.stringify(body).replaceAll(name, 'TABLE') };
  };

  test.each(OPERATIONS)('%s', async (type, args) => {
    const stranger = { 'x-engine-role': 'stranger' };
    const hidden = await send(type, { table: 'article', ...args }, stranger);
    expect(hidden.text).toContain('"code":"permission-denied"');
    expect(await send(type, { table: 'absent', ...args }, stranger)).toEqual(hidden);
    expect(await send(type, { table: 'article', source: 'absent', ...args }, stranger)).toEqual(hidden);
    // Administrators see what is wrong.
    expect((await send(type, { table: 'absent', ...args }, {})).text).toContain('"code":"not-exists"');
  });
});

describe('a role', () => {
  test('sees only its rows and columns, up to its limit', async () => {
    expect(await articles({ columns: ['*'], order_by: 'id' }, USER(1))).toEqual([
      { id: 1, title: 'one', author_id: 1, is_published: true },
      { id: 2, title: 'two', author_id: 1, is_published: false },
    ]);
    const others = await articles({ columns: ['title'], order_by: 'id' }, USER(2));
    expect(others).toEqual([{ title: 'one' }, { title: 'three' }]);
  });

  test('sees related rows that it may select, without their masked columns', async () => {
    const asked = { table: 'author', columns: ['name', { name: 'articles', columns: ['title'] }] };
    expect(await ask('select', { ...asked, order_by: 'id' }, USER(2))).toEqual([
      { name: 'ann', articles: [{ title: 'one' }] },
      { name: 'bob', articles: [{ title: 'three' }] },
    ]);
    expect(await ask('select', { table: 'author', columns: ['*'], limit: 1 }, USER(2))).toEqual([
      { id: 1, name: 'ann' },
    ]);
  });

  test.each([
    ['a column', { columns: ['secret'] }],
    ['a condition', { columns: ['id'], where: { secret: 'x' } }],
    ['a condition on a computed field', { columns: ['id'], where: { label: 'ANN' } }],
    ['a computed field', { columns: ['label'] }],
    ['an order', { columns: ['id'], order_by: 'secret' }],
    ['a comparison', { columns: ['id'], where: { name: { $ceq: 'secret' } } }],
    ['a related row', { columns: [{ name: 'articles', columns: ['price'] }] }],
    ['a related condition', { columns: ['id'], where: { articles: { price: 1 } } }],
  ])('is refused what it may not read in %s', async (_what, asked) => {
    const body = await ask('select', { table: 'author', ...asked }, USER(1));
    expect(body).toMatchObject({ code: 'permission-denied' });
    expect(JSON.stringify(body)).not.toContain('internal');
  });

  test('learns nothing about hidden rows from a condition on related rows', async () => {
    const where = { articles: { title: 'two' } };
    expect(await ask('select', { table: 'author', columns: ['id'], where }, USER(1))).toEqual([{ id: 1 }]);
    expect(await ask('select', { table: 'author', columns: ['id'], where }, USER(2))).toEqual([]);
  });

  test('can neither select rows of another table nor perform another operation in a bulk of row operations', async () => {
    const exists = { _exists: { _table: 'author', _where: { secret: 'x' } } };
    expect(await articles({ columns: ['id'], where: exists }, USER(1))).toMatchObject({
      code: 'not-supported',
    });
    const count = { type: 'count', args: { table: 'author' } };
    const bulk = (...items: object[]) =>
      engine.admin('bulk', items, { endpoint: '/v1/query', headers: USER(1) });
    expect((await bulk(count, count)).body).toEqual([{ count: 2 }, { count: 2 }]);
    expect((await bulk(count, { type: 'run_sql', args: { sql: 'select 1' } })).body).toMatchObject({
      code: 'access-denied',
    });
  });

  test('with API limits must use GraphQL', async () => {
    await engine.admin('set_api_limits', { disabled: false, depth_limit: { global: 5 } });
    expect(await articles({ columns: ['id'] }, USER(1))).toMatchObject({ code: 'not-supported' });
    expect(await articles({ columns: ['id'], limit: 1 })).toHaveLength(1);
    await engine.admin('remove_api_limits', {});
  });
});

describe('count', () => {
  test('of the distinct values of no columns is refused', async () => {
    const error = { code: 'unexpected-payload', path: '$.args.distinct', error: "can't be empty" };
    expect(await ask('count', { table: 'article', distinct: [] })).toEqual(error);
  });

  test('counts the rows that the role may select, and distinct values', async () => {
    expect(await ask('count', { table: 'article' })).toEqual({ count: 3 });
    expect(await ask('count', { table: 'article', distinct: ['author_id'] })).toEqual({ count: 2 });
    expect(await ask('count', { table: 'article', distinct: null })).toEqual({ count: 3 });
    expect(await ask('count', { table: 'article', where: { is_published: false } }, USER(2))).toEqual({
      count: 0,
    });
  });

  test('needs a permission to select', async () => {
    expect(await ask('count', { table: 'author' }, { 'x-engine-role': 'stranger' })).toMatchObject({
      code: 'permission-denied',
      error: 'select on author for role stranger is not allowed.',
    });
  });
});

describe('insert', () => {
  const titled = (id: number, title: string) => ({ id, title });

  test('applies the role’s presets and check, and returns what the role may select', async () => {
    const args = { table: 'article', objects: [titled(5, 'five')], returning: ['id', 'author_id'] };
    expect(await ask('insert', args, USER(2))).toEqual({
      affected_rows: 1,
      returning: [{ id: 5, author_id: 2 }],
    });
    const refused = [titled(6, 'fine'), titled(7, 'forbidden')];
    expect(await ask('insert', { table: 'article', objects: refused }, USER(2))).toMatchObject({
      code: 'permission-error',
    });
    expect(await ask('count', { table: 'article' })).toEqual({ count: 4 });
  });

  test.each([
    ['a column it may not give', { id: 5, votes: 9 }, 'permission-denied'],
    ['a preset', { id: 5, author_id: 1 }, 'not-supported'],
  ])('refuses a role %s', async (_what, object, code) => {
    expect(await ask('insert', { table: 'article', objects: [object] }, USER(2))).toMatchObject({ code });
    expect(await ask('count', { table: 'article' })).toEqual({ count: 3 });
  });

  test('ignores or updates on conflict, by constraint or by columns', async () => {
    const insert = (on_conflict: object, title = 'new') =>
      ask('insert', { table: 'article', objects: [{ id: 1, author_id: 1, title }], on_conflict });
    expect(await insert({ action: 'ignore' })).toEqual({ affected_rows: 0 });
    expect(await insert({ action: 'ignore', constraint: 'article_pkey' })).toEqual({ affected_rows: 0 });
    expect(await insert({ action: 'update', constraint_on: ['id'] })).toEqual({ affected_rows: 1 });
    expect(await articles({ columns: ['title'], where: { id: 1 } })).toEqual([{ title: 'new' }]);
  });

  test('updates on conflict only the role’s own rows and permitted columns', async () => {
    const upsert = (user: number) =>
      ask(
        'insert',
        {
          table: 'article',
          objects: [titled(1, 'changed')],
          on_conflict: { action: 'update', constraint: 'article_pkey' },
        },
        USER(user),
      );
    expect(await upsert(2)).toEqual({ affected_rows: 0 });
    expect(await upsert(1)).toEqual({ affected_rows: 1 });
    const columns = ['author_id', 'title', 'is_published'];
    expect(await articles({ columns, where: { id: 1 } })).toEqual([
      { author_id: 1, title: 'changed', is_published: false },
    ]);
  });
});

describe('update', () => {
  test('sets, increments, multiplies and resets to the default', async () => {
    const changes = {
      $set: { title: 'new' },
      $inc: { votes: 5 },
      $mul: { price: 2 },
      $default: ['is_published'],
    };
    const returning = ['title', 'votes', 'price', 'is_published'];
    expect(await ask('update', { table: 'article', where: { id: 1 }, ...changes, returning })).toEqual({
      affected_rows: 1,
      returning: [{ title: 'new', votes: 6, price: 3, is_published: false }],
    });
  });

  test('changes only the role’s rows, with its presets', async () => {
    const change = {
      table: 'article',
      where: {},
      $set: { title: 'mine' },
      returning: ['id', 'is_published'],
    };
    expect(await ask('update', change, USER(2))).toEqual({
      affected_rows: 1,
      returning: [{ id: 9007199254740992, is_published: false }],
    });
    expect(await ask('count', { table: 'article', where: { title: 'mine' } })).toEqual({ count: 1 });
  });

  test.each([
    ['a column it may not write', { $set: { author_id: 2 } }, 'permission-denied'],
    ['a preset', { $set: { is_published: true } }, 'not-supported'],
    ['a column in two operators', { $set: { votes: 1 }, $inc: { votes: 1 } }, 'unexpected-payload'],
  ])('refuses a role %s', async (_what, change, code) => {
    const before = await articles({ columns: ['*'], order_by: 'id' });
    expect(await ask('update', { table: 'article', where: {}, ...change }, USER(1))).toMatchObject({ code });
    expect(await articles({ columns: ['*'], order_by: 'id' })).toEqual(before);
  });

  test('requires a condition, which may be empty', async () => {
    expect(await ask('update', { table: 'article', $set: { votes: 1 } })).toMatchObject({
      code: 'parse-failed',
    });
  });
});

test('delete removes only the role’s rows', async () => {
  const all = { table: 'article', where: {}, returning: ['title'] };
  expect(await ask('delete', all, USER(1))).toEqual({ affected_rows: 1, returning: [{ title: 'two' }] });
  expect(await ask('count', { table: 'article' })).toEqual({ count: 2 });
});

test('a bulk that tracks a table, fills it and fails leaves no change', async () => {
  const body = await ask('bulk', [
    { type: 'run_sql', args: { sql: 'create table note (id int primary key)' } },
    { type: 'track_table', args: 'note' },
    { type: 'insert', args: { table: 'note', objects: [{ id: 1 }] } },
    { type: 'insert', args: { table: 'note', objects: [{ id: 1 }] } },
  ] as unknown as object);
  expect(body).toMatchObject({ code: 'constraint-violation', path: '$.args[3].args' });
  expect(await ask('select', { table: 'note', columns: ['id'] })).toMatchObject({ code: 'not-exists' });
});
