/** Nested updates and deletes from request to rows: which rows they reach, who may do what, and how they fail.
 *  Twins of schema/update.ts, plan/update.ts and sql/update.ts, asked of a real Postgres. */
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { openWorld, type World } from './testing/world.ts';

const SCHEMA = `
  drop schema public cascade;
  create schema public;
  create table author (id int primary key, name text, owner int);
  create table article (
    id int primary key, title text, rank int check (rank < 100), author_id int references author on delete cascade,
    owner int, hidden boolean not null default false, editor text);
  create table tag (article_id int references article on delete cascade, label text);
  create table place (a int, b bigint, name text, primary key (a, b));
  create table visit (id int primary key, a bigint, b int, note text);
  insert into author values (1, 'Ada', 1), (2, 'Bo', 2), (3, 'Cy', 1);
  insert into article values (1, 'A', 1, 1, 1), (2, 'B', 2, 1, 2), (3, 'C', 3, 2, 1), (4, 'D', 4, 3, 1);
  insert into article values (5, 'E', 5, 1, 1, true);
  insert into tag values (1, 'x'), (2, 'y'), (3, 'z');
  insert into place values (1, 1, 'p'), (1, 2, 'q'), (2, 1, 'r'), (2, 2, 's');
  insert into visit values (1, 1, 1, ''), (2, 1, 2, ''), (3, 2, 1, ''), (4, 2, 2, '');`;

const table = (name: string) => ({ schema: 'public', name });
const own = { owner: { _eq: 'X-Engine-User-Id' } };
const back = (to: string, column: string) => ({
  foreign_key_constraint_on: { table: table(to), column },
});
const permission = (role: string, rest: object) => ({ role, permission: rest });
const TABLES = [
  {
    table: table('author'),
    array_relationships: [{ name: 'articles', using: back('article', 'author_id') }],
    select_permissions: [
      permission('user', { columns: ['id', 'name'], filter: {} }),
      permission('reader', { columns: ['id', 'name'], filter: own }),
    ],
    update_permissions: [
      permission('user', { columns: ['name'], filter: own }),
      permission('reader', { columns: ['name'], filter: {} }),
    ],
  },
  {
    table: table('article'),
    object_relationships: [{ name: 'author', using: { foreign_key_constraint_on: 'author_id' } }],
    array_relationships: [{ name: 'tags', using: back('tag', 'article_id') }],
    select_permissions: [
      permission('user', { columns: ['id', 'title', 'rank'], filter: { hidden: { _eq: false } } }),
      permission('reader', { columns: ['id', 'title', 'rank'], filter: {} }),
    ],
    update_permissions: [
      permission('user', {
        columns: ['title', 'rank'],
        filter: own,
        check: { rank: { _lt: 50 } },
        set: { editor: 'X-Engine-User-Id' },
      }),
      permission('reader', { columns: ['title'], filter: {}, backend_only: true }),
    ],
    delete_permissions: [permission('user', { filter: own }), permission('reader', { filter: {} })],
  },
  { table: table('tag'), select_permissions: [permission('user', { columns: ['label'], filter: {} })] },
  {
    table: table('place'),
    array_relationships: [
      {
        name: 'visits',
        using: { manual_configuration: { remote_table: table('visit'), column_mapping: { a: 'a', b: 'b' } } },
      },
    ],
  },
  { table: table('visit') },
];

let world: World;
const admin = { role: 'admin' };

beforeAll(async () => {
  const options = { stringifyNumericTypes: false, features: ['nested_updates'] as const };
  world = await openWorld(SCHEMA, { tables: TABLES }, options);
});
afterAll(() => world.close());
beforeEach(() => world.reset());

const rows = (query: string) => world.source.sql(query);
const ids = async (query: string) => (await rows(query)).map((row) => (row as { id: number }).id);
const refusal = async (...asked: Parameters<World['ask']>) => {
  const { errors } = await world.ask(...asked);
  return errors?.map(({ message, extensions }) => [extensions.code, extensions.path, message])[0];
};
const update = (related: string, where = '{}') =>
  `mutation { update_author(where: ${where}, _set: { name: "N" }, _related: ${related}) { affected_rows } }`;
const affected = (count: number) => ({ data: { update_author: { affected_rows: count } } });

test('only rows related to updated ones are deleted and updated, and all are counted', async () => {
  const related = `{ articles: { update: [{ where: {}, _inc: { rank: 10 } }],
    delete: [{ where: { rank: { _eq: 1 } } }] } }`;
  expect(await world.ask(update(related, '{ id: { _eq: 1 } }'), {}, admin)).toEqual(affected(4));
  const left = await rows('select id, rank from article order by id');
  expect(left.map((row) => Object.values(row as object))).toEqual([
    [2, 12],
    [3, 3],
    [4, 4],
    [5, 15],
  ]);
});

test('an update of no column reaches nothing, and is refused where rows hang on it', async () => {
  const nested =
    '{ articles: { update: [{ where: {}, _set: {} }], delete: [{ where: { id: { _eq: 1 } } }] } }';
  expect(await world.ask(update(nested, '{ id: { _eq: 1 } }'), {}, admin)).toEqual(affected(2));
  const bare = (related: string) => update(related).replace('name: "N"', '');
  expect(await world.ask(bare('{}'), {}, admin)).toEqual(affected(0));
  expect((await refusal(bare(nested), {}, admin))?.[2]).toMatch(/^at least any one of .* is expected$/);
});

test('the answer of an update by key shows what came of the related rows', async () => {
  const query = `mutation { update_author_by_pk(pk_columns: { id: 2 }, _set: { name: "N" }, _related: {
    articles: { update: [{ where: {}, _set: { title: "T" },
      _related: { tags: { update: [{ where: {}, _set: { label: "L" } }] } } }] }
  }) { name articles { title tags { label } } } }`;
  const articles = [{ title: 'T', tags: [{ label: 'L' }] }];
  expect(await world.ask(query, {}, admin)).toEqual({
    data: { update_author_by_pk: { name: 'N', articles } },
  });
  expect(await rows(`select * from tag where label = 'L'`)).toHaveLength(1);
  expect(await world.ask(query.replace('id: 2', 'id: 9'), {}, admin)).toEqual({
    data: { update_author_by_pk: null },
  });
});

test('several updates, each with related rows, take their values from variables', async () => {
  const query = `mutation ($updates: [author_updates!]!) { update_author_many(updates: $updates) { affected_rows } }`;
  const one = (id: number, title: string) => ({
    where: { id: { _eq: id } },
    _set: { name: title },
    _related: { articles: { update: [{ where: {}, _set: { title } }] } },
  });
  const asked = await world.ask(query, { updates: [one(2, 'two'), one(3, 'three')] }, admin);
  expect(asked).toEqual({ data: { update_author_many: [{ affected_rows: 2 }, { affected_rows: 2 }] } });
  expect(await ids(`select id from article where title in ('two', 'three') order by id`)).toEqual([3, 4]);
});

test('an object relationship leads to the row that belongs to the new values', async () => {
  const query = `mutation { update_article_by_pk(pk_columns: { id: 4 }, _set: { author_id: 2 }, _related: {
    author: { update: [{ where: {}, _set: { name: "new" } }] } }) { id } }`;
  await world.ask(query, {}, admin);
  expect(await ids(`select id from author where name = 'new'`)).toEqual([2]);
});

test('keys of several columns are compared together, whatever their types', async () => {
  const query = `mutation { update_place(where: { name: { _in: ["q", "r"] } }, _set: { name: "n" }, _related: {
    visits: { update: [{ where: {}, _set: { note: "n" } }] } }) { affected_rows } }`;
  expect(await world.ask(query, {}, admin)).toEqual({ data: { update_place: { affected_rows: 4 } } });
  expect(await ids(`select id from visit where note = 'n' order by id`)).toEqual([2, 3]);
});

test('a role reaches only rows it may write and read, through rows it may update and read', async () => {
  const related = '{ articles: { update: [{ where: {}, _inc: { rank: 10 } }] } }';
  // Authors 1 and 3, articles 1 and 4: 2 is not theirs, 3 is of an author that is not, 5 is hidden.
  expect(await world.ask(update(related))).toEqual(affected(4));
  expect(await ids('select id from article where rank > 10 order by id')).toEqual([1, 4]);
  expect(await ids(`select id from article where editor = '1' order by id`)).toEqual([1, 4]);
  expect(await world.ask(update('{ articles: { delete: [{ where: {} }] } }'))).toEqual(affected(4));
  expect(await ids('select id from article order by id')).toEqual([2, 3, 5]);
});

test('rows are not reached through updated rows the role may not read', async () => {
  const related = '{ articles: { delete: [{ where: {} }] } }';
  expect(await world.ask(update(related), {}, { role: 'reader' })).toEqual(affected(3 + 4));
  expect(await ids('select id from article')).toEqual([3]);
});

test('a relationship, and each write through it, is there only where the role has the permission', async () => {
  const tags = '{ articles: { update: [{ where: {}, _set: { title: "T" }, _related: { tags: {} } }] } }';
  expect(await refusal(update(tags))).toEqual([
    'validation-failed',
    '$.selectionSet.update_author.args._related.articles.update[0]._related.tags',
    "field 'tags' not found in type: 'article_related_input'",
  ]);
  const behind = '{ articles: { update: [{ where: {}, _set: { title: "T" } }] } }';
  expect((await refusal(update(behind), {}, { role: 'reader' }))?.[0]).toBe('validation-failed');
  expect(await ids(`select id from article where title = 'T'`)).toEqual([]);
});

test('a failed check names its place, and nothing is written', async () => {
  const related =
    '{ articles: { update: [{ where: {}, _inc: { rank: 1 } }, { where: {}, _set: { rank: 60 } }] } }';
  expect(await refusal(update(related))).toEqual([
    'permission-error',
    '$.selectionSet.update_author.args._related.articles.update[1]',
    'check constraint of an insert/update permission has failed',
  ]);
  expect(await ids(`select id from author where name = 'N'`)).toEqual([]);
  expect(await ids('select id from article where rank > 5')).toEqual([]);
});

test('what Postgres refuses names its place, and nothing is written', async () => {
  const related = '{ articles: { update: [{ where: {}, _set: { rank: 100 } }] } }';
  const [code, path] = (await refusal(update(related), {}, admin))!;
  expect([code, path]).toEqual([
    'constraint-violation',
    '$.selectionSet.update_author.args._related.articles.update[0]',
  ]);
  expect(await ids(`select id from author where name = 'N'`)).toEqual([]);
});

test('a nested update of nothing is refused at its place', async () => {
  const asked = await refusal(update('{ articles: { update: [{ where: {} }] } }'), {}, admin);
  expect(asked?.slice(0, 2)).toEqual([
    'validation-failed',
    '$.selectionSet.update_author.args._related.articles.update[0]',
  ]);
});

test('without the feature the argument is not there', async () => {
  const plain = await openWorld(SCHEMA, { tables: TABLES });
  const { errors } = await plain.ask(update('{ articles: { delete: [{ where: {} }] } }'), {}, admin);
  await plain.close();
  expect(errors?.[0]?.extensions.code).toBe('validation-failed');
});

test('an update of no row affects none, whatever it is nested with', async () => {
  const query = update('{ articles: { delete: [{ where: {} }] } }', '{ id: { _eq: 9 } }');
  expect(await world.ask(query, {}, admin)).toEqual(affected(0));
});
