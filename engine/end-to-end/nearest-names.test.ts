/** Tests that inconsistent objects list the nearest names to one that does not exist, for clients that keep track of objects only. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestEngine, type TestEngine } from '../../testing/engine.ts';
import { testDatabase } from '../../testing/world.ts';

const database = testDatabase();
let engine: TestEngine;

beforeAll(async () => {
  await database.sql(`
    create table author (id int primary key, name text);
    create table article (id int primary key, title text, author_id int references author);
    create function search_articles(word text) returns setof article language sql stable as 'select * from article';`);
  engine = await startTestEngine({ databaseUrl: database.url });
  for (const table of ['author', 'article']) await engine.admin('pg_track_table', { table });
  const using = { foreign_key_constraint_on: 'author_id' };
  await engine.admin('pg_create_object_relationship', { table: 'article', name: 'author', using });
});
afterAll(() => engine?.close());

const AT = 'default/public/article';
const select = (permission: object) => ({
  role: 'user',
  permission: { columns: ['id'], filter: {}, ...permission },
});
const manual = (remote_table: string, column_mapping: object) => ({
  name: 'writer',
  using: { manual_configuration: { remote_table, column_mapping } },
});
const CASES: readonly (readonly [string, string, object, readonly string[]])[] = [
  ['a column of a list', `select_permission/${AT}/user`, select({ columns: ['id', 'titel'] }), ['title']],
  [
    'a column of a filter',
    `select_permission/${AT}/user`,
    select({ filter: { authorId: { _eq: 1 } } }),
    ['author_id', 'author'],
  ],
  [
    'a relationship of a filter',
    `select_permission/${AT}/user`,
    select({ filter: { autor: { id: { _eq: 1 } } } }),
    ['author'],
  ],
  [
    'a column behind a relationship',
    `select_permission/${AT}/user`,
    select({ filter: { author: { nam: { _eq: 'a' } } } }),
    ['name'],
  ],
  ['an operator', `select_permission/${AT}/user`, select({ filter: { id: { _equals: 1 } } }), ['_eq']],
  [
    'a table of _exists',
    `select_permission/${AT}/user`,
    select({ filter: { _exists: { _table: 'autor', _where: {} } } }),
    ['author'],
  ],
  [
    'a column that is compared',
    `select_permission/${AT}/user`,
    select({ filter: { id: { _ceq: ['author_i'] } } }),
    ['author_id'],
  ],
  [
    'a column of a preset',
    `insert_permission/${AT}/user`,
    { role: 'user', permission: { columns: ['id'], check: {}, set: { tittle: 'a' } } },
    ['title'],
  ],
  [
    'a table of a relationship',
    `object_relationship/${AT}/writer`,
    manual('authors', { author_id: 'id' }),
    ['author'],
  ],
  [
    'a column of a relationship',
    `object_relationship/${AT}/writer`,
    manual('author', { autor_id: 'id' }),
    ['author_id'],
  ],
  [
    'a function',
    'function/default/public/search_article',
    { function: 'search_article' },
    ['search_articles'],
  ],
  ['a table of the database', 'table/default/public/authors', { table: 'authors' }, ['author']],
];

test.each(CASES)('%s', async (_, key, definition, expected) => {
  const put = [{ key, definition }];
  const patched = await engine.admin('patch_metadata', {
    put,
    allow_inconsistent_metadata: true,
    include_keys: true,
  });
  expect(patched).toMatchObject({ status: 200 });
  const [found] = (patched.body as { inconsistent_objects: { key: string; nearest?: string[] }[] })
    .inconsistent_objects;
  expect(found).toMatchObject({ key, nearest: expect.arrayContaining([expected[0]]) });
  expect(found!.nearest).toEqual(expect.arrayContaining([...expected]));
  expect(found!.nearest![0]).toBe(expected[0]);
  // Other clients get what the specification says, without the list.
  const { body } = await engine.admin('get_inconsistent_metadata', {});
  expect(JSON.stringify(body)).not.toContain('nearest');
  const refused = await engine.admin('patch_metadata', { put });
  expect(JSON.stringify(refused.body)).not.toContain('nearest');
  await engine.admin('drop_inconsistent_metadata', {});
});

test('nothing is listed for a name that resembles none', async () => {
  const put = [{ key: `select_permission/${AT}/user`, definition: select({ columns: ['zzzzzz'] }) }];
  const { body } = await engine.admin('patch_metadata', {
    put,
    allow_inconsistent_metadata: true,
    include_keys: true,
  });
  expect(body).toMatchObject({ inconsistent_objects: [{ key: put[0]!.key }] });
  expect(JSON.stringify(body)).not.toContain('nearest');
  await engine.admin('drop_inconsistent_metadata', {});
});

test('an object with several errors lists all of them, the first as the reason', async () => {
  const permission = {
    columns: ['titel', 'id', 'bodi'],
    filter: { _or: [{ idd: { _eq: 1 } }, { id: { _equals: 1, _gt: 2 } }] },
  };
  const put = [{ key: `select_permission/${AT}/user`, definition: select(permission) }];
  const options = { allow_inconsistent_metadata: true, include_keys: true };
  const { body } = await engine.admin('patch_metadata', { put, ...options });
  const filter = ['permission', 'filter', '_or'];
  expect(body).toMatchObject({
    inconsistent_objects: [
      {
        reason: expect.stringContaining('column "titel" does not exist'),
        path: ['permission', 'columns', 0],
        nearest: ['title'],
        more: [
          { reason: 'column "bodi" does not exist', path: ['permission', 'columns', 2] },
          { reason: expect.stringContaining('idd'), path: [...filter, 0, 'idd'], nearest: ['id'] },
          { reason: expect.stringContaining('_equals'), path: [...filter, 1, 'id', '_equals'] },
        ],
      },
    ],
  });
  const refused = await engine.admin('patch_metadata', { put });
  expect(JSON.stringify(refused.body)).not.toContain('"more"');
  await engine.admin('drop_inconsistent_metadata', {});
});
