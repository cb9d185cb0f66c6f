/** Nested inserts from request to rows: their order, what they answer, who may do them, and how they fail.
 *  Twins of plan/insert.ts and sql/insert.ts, asked of a real Postgres. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { planOf } from './answer.ts';
import { openWorld, type World } from './testing/world.ts';

const SCHEMA = `
  drop schema public cascade;
  create schema public;
  create table country (id serial primary key, code text unique);
  create table author (
    id serial primary key, name text unique check (name <> 'nobody'), country_id int references country,
    owner int not null default 0, secret text);
  create table article (
    id serial primary key, title text not null, author_id int references author, rank int not null default 7,
    parent_id int references article);
  create table detail (id int primary key references author, phone text);
  create table tag (article_id int references article, label text, primary key (article_id, label));
  create table diary (author_id int references author, page int);`;

const public_ = (name: string) => ({ schema: 'public', name });
const object = (name: string, using: object) => ({ name, using });
const back = (table: string, column: string) => ({
  foreign_key_constraint_on: { table: public_(table), column },
});
const insert = (role: string, columns: readonly string[], rest: object = {}) => ({
  role,
  permission: { columns, check: {}, ...rest },
});
const select = (role: string, columns: readonly string[] = ['id'], filter: object = {}) => ({
  role,
  permission: { columns, filter },
});
const TABLES = [
  { table: public_('country'), insert_permissions: [insert('hidden', ['code'])] },
  {
    table: public_('author'),
    object_relationships: [
      object('country', { foreign_key_constraint_on: 'country_id' }),
      object('detail', back('detail', 'id')),
      object('by_hand', {
        manual_configuration: {
          remote_table: public_('detail'),
          column_mapping: { id: 'id' },
          insertion_order: 'after_parent',
        },
      }),
    ],
    array_relationships: [
      object('articles', back('article', 'author_id')),
      object('diaries', back('diary', 'author_id')),
    ],
    select_permissions: [select('user', ['id', 'name'], { owner: { _eq: 'X-Engine-User-Id' } })],
    insert_permissions: [
      insert('user', ['name'], { set: { owner: 'X-Engine-User-Id' } }),
      insert('backend', ['name'], { backend_only: true }),
    ],
    update_permissions: [
      { role: 'user', permission: { columns: ['name'], filter: { owner: { _eq: 'X-Engine-User-Id' } } } },
    ],
  },
  {
    table: public_('article'),
    object_relationships: [
      object('author', { foreign_key_constraint_on: 'author_id' }),
      object('parent', { foreign_key_constraint_on: 'parent_id' }),
    ],
    array_relationships: [
      object('tags', back('tag', 'article_id')),
      object('replies', back('article', 'parent_id')),
    ],
    select_permissions: [select('user', ['id', 'title', 'author_id'])],
    insert_permissions: [
      insert('user', ['title', 'rank'], {
        check: { _and: [{ rank: { _lt: 10 } }, { author: { owner: { _eq: 'X-Engine-User-Id' } } }] },
      }),
      insert('backend', ['title']),
      insert('preset', ['title'], { set: { author_id: '1' } }),
    ],
  },
  { table: public_('detail'), insert_permissions: [insert('user', ['phone'])] },
  { table: public_('tag'), insert_permissions: [insert('preset', ['label'])] },
  { table: public_('diary'), select_permissions: [select('user', ['page'])] },
];

let world: World;
const admin = { role: 'admin' };

beforeAll(async () => {
  world = await openWorld(SCHEMA, { tables: TABLES });
});
afterAll(() => world.close());
beforeEach(() => world.reset());

const rows = (query: string) => world.source.sql(query);
const refusal = async (...asked: Parameters<World['ask']>) => {
  const { errors } = await world.ask(...asked);
  return errors?.map(({ message, extensions }) => [extensions.code, extensions.path, message])[0];
};
const noRows = async () => {
  const [counts] = await rows(`select (select count(*)::int from author) as authors,
    (select count(*)::int from article) as articles, (select count(*)::int from tag) as tags`);
  expect(counts).toEqual({ authors: 0, articles: 0, tags: 0 });
};

describe('a nested insert', () => {
  test('through object relationships writes the rows it refers to first', async () => {
    const query = `mutation { insert_article(objects: [
      { title: "A", author: { data: { name: "Ada", country: { data: { code: "gb" } } } } },
      { title: "B", author: { data: { name: "Bo" } } }, { title: "C" }
    ]) { affected_rows returning { title author { name country { code } } } } }`;
    expect(await world.ask(query, {}, admin)).toEqual({
      data: {
        insert_article: {
          affected_rows: 6,
          returning: [
            { title: 'A', author: { name: 'Ada', country: { code: 'gb' } } },
            { title: 'B', author: { name: 'Bo', country: null } },
            { title: 'C', author: null },
          ],
        },
      },
    });
  });

  test('through array relationships writes the rows that refer to it, at any depth', async () => {
    const query = `mutation ($object: author_insert_input!) { insert_author_one(object: $object) {
      name articles(order_by: { id: asc }) { title rank tags { label } } } }`;
    const object = {
      name: 'Ada',
      articles: {
        data: [
          { title: 'A', rank: 1, tags: { data: [{ label: 'x' }, { label: 'y' }] } },
          { title: 'B', tags: { data: [] } },
        ],
      },
    };
    expect(await world.ask(query, { object }, admin)).toEqual({
      data: {
        insert_author_one: {
          name: 'Ada',
          articles: [
            { title: 'A', rank: 1, tags: [{ label: 'x' }, { label: 'y' }] },
            { title: 'B', rank: 7, tags: [] },
          ],
        },
      },
    });
  });

  test.each(['detail', 'by_hand'])(
    'through the reverse one-to-one relationship %s writes it after',
    async (name) => {
      const query = `mutation { insert_author_one(object: { name: "Ada", ${name}: { data: { phone: "1" } } }) { id detail { phone } } }`;
      expect(await world.ask(query, {}, admin)).toEqual({
        data: { insert_author_one: { id: 1, detail: { phone: '1' } } },
      });
    },
  );

  test('of null or no related rows inserts the row alone', async () => {
    const query = `mutation { insert_author(objects: [
      { name: "Ada", articles: null, country: null }, { name: "Bo", articles: { data: [] } }]) { affected_rows } }`;
    expect(await world.ask(query, {}, admin)).toEqual({ data: { insert_author: { affected_rows: 2 } } });
  });

  test('of a table into itself goes object by object, depth first', async () => {
    const query = `mutation { insert_article(objects: [{ title: "1", replies: { data: [
      { title: "2", replies: { data: [{ title: "3" }] } }, { title: "4" }] } }]) { affected_rows } }`;
    expect(await world.ask(query, {}, admin)).toEqual({ data: { insert_article: { affected_rows: 4 } } });
    expect(await rows('select id, title, parent_id from article order by id')).toEqual([
      { id: 1, title: '1', parent_id: null },
      { id: 2, title: '2', parent_id: 1 },
      { id: 3, title: '3', parent_id: 2 },
      { id: 4, title: '4', parent_id: 1 },
    ]);
  });

  test('takes other values the next time', async () => {
    const query = `mutation ($objects: [author_insert_input!]!) { insert_author(objects: $objects) { affected_rows } }`;
    const objects = (from: string) =>
      [1, 2, 3].map((n) => ({ name: `${from}${n}`, articles: { data: [{ title: `${from}${n}` }] } }));
    for (const from of ['a', 'b', 'c']) {
      expect(await world.ask(query, { objects: objects(from) }, admin)).toEqual({
        data: { insert_author: { affected_rows: 6 } },
      });
    }
    expect(
      await rows(
        'select count(*)::int as n from article join author on author.name = article.title and author.id = author_id',
      ),
    ).toEqual([{ n: 9 }]);
  });
});

describe('an upsert', () => {
  const upsert = (update: string) => `mutation { insert_article(objects: [{ title: "A", author: {
    data: { name: "Ada" }, on_conflict: { constraint: author_name_key, update_columns: [${update}] } } }])
    { affected_rows returning { author { id } } } }`;

  test('of the row referred to takes the one that was there', async () => {
    await rows(`insert into author (id, name) values (50, 'Ada')`);
    expect(await world.ask(upsert('name'), {}, admin)).toEqual({
      data: { insert_article: { affected_rows: 2, returning: [{ author: { id: 50 } }] } },
    });
  });

  test('that does nothing leaves nothing to refer to', async () => {
    await rows(`insert into author (id, name) values (50, 'Ada')`);
    expect(await refusal(upsert(''), {}, admin)).toEqual([
      'not-supported',
      '$.selectionSet.insert_article.args.objects[0].author',
      'cannot proceed to insert object relation "author" since insert to table "author" affects zero rows',
    ]);
    expect(await rows('select * from article')).toEqual([]);
  });

  test('that does nothing to the row itself leaves the others nothing to refer to', async () => {
    await rows(`insert into author (id, name) values (50, 'Ada')`);
    const query = (
      articles: string,
    ) => `mutation { insert_author(objects: [{ name: "Ada", articles: { data: [${articles}] } },
      { name: "Bo", articles: { data: [{ title: "B" }] } }],
      on_conflict: { constraint: author_name_key, update_columns: [] }) { affected_rows returning { name } } }`;
    expect(await refusal(query('{ title: "A" }'), {}, admin)).toEqual([
      'not-supported',
      '$.selectionSet.insert_author.args.objects[0]',
      'cannot proceed to insert array relations since insert to table "author" affects zero rows',
    ]);
    expect(await rows('select * from article')).toEqual([]);
    expect(await world.ask(query(''), {}, admin)).toEqual({
      data: { insert_author: { affected_rows: 2, returning: [{ name: 'Bo' }] } },
    });
  });

  test('of related rows counts those that were written', async () => {
    await rows(
      `insert into author (id, name) values (50, 'Ada'); insert into article (id, title) values (9, 'old')`,
    );
    const query = `mutation { insert_author(objects: [{ name: "Cy", articles: { data: [{ id: 9, title: "new" }, { title: "other" }],
      on_conflict: { constraint: article_pkey, update_columns: [title, author_id] } } }]) { affected_rows returning { articles { title } } } }`;
    expect(await world.ask(query, {}, admin)).toEqual({
      data: {
        insert_author: {
          affected_rows: 3,
          returning: [{ articles: [{ title: 'new' }, { title: 'other' }] }],
        },
      },
    });
  });
});

describe('a failure', () => {
  test.each<[string, string, string, string, string]>([
    [
      'a column that the relationship decides',
      '{ title: "A", author_id: 1, author: { data: { name: "Ada" } } }',
      'validation-failed',
      '[0].author',
      'cannot insert object relationship "author" as "author_id" column values are already determined',
    ],
    [
      'a column that the parent decides',
      '{ title: "A", author: { data: { name: "Ada", articles: { data: [{ title: "B" }, { title: "C", author_id: 3 }] } } } }',
      'validation-failed',
      '[0].author.data.articles.data[1]',
      'cannot insert "author_id" columns as their values are already being determined by parent insert',
    ],
    [
      'a row that refers to another than its parent',
      '{ title: "A", tags: { data: [{ label: "x" }] }, replies: { data: [{ title: "B", parent: { data: { title: "C" } } }] } }',
      'validation-failed',
      '[0].replies.data[0].parent',
      'cannot insert object relationship "parent" as "parent_id" column values are already determined',
    ],
    [
      'a constraint of the row itself',
      '{ author: { data: { name: "Ada" } } }',
      'constraint-violation',
      '[0]',
      'Not-NULL violation. null value in column "title" of relation "article" violates not-null constraint',
    ],
    [
      'a constraint of a row referred to',
      '{ title: "A" }, { title: "B", author: { data: { name: "nobody" } } }',
      'constraint-violation',
      '[1].author.data',
      'Check constraint violation. new row for relation "author" violates check constraint "author_name_check"',
    ],
    [
      'a constraint of rows that refer to it',
      '{ title: "A", tags: { data: [{ label: "x" }, { label: "x" }] } }',
      'constraint-violation',
      '[0].tags.data',
      'Uniqueness violation. duplicate key value violates unique constraint "tag_pkey"',
    ],
  ])('of %s says where, and nothing was written', async (_name, objects, code, path, message) => {
    const query = `mutation { insert_article(objects: [${objects}]) { affected_rows } }`;
    expect(await refusal(query, {}, admin)).toEqual([
      code,
      `$.selectionSet.insert_article.args.objects${path}`,
      message,
    ]);
    await noRows();
  });

  test('of one mutation takes the others with it', async () => {
    const query = `mutation { a: insert_author(objects: [{ name: "Ada", articles: { data: [{ title: "A" }] } }]) { affected_rows }
      b: insert_author_one(object: { name: "nobody", articles: { data: [{ title: "A" }] } }) { id } }`;
    expect((await refusal(query, {}, admin))?.[1]).toBe('$.selectionSet.b.args.object[0]');
    await noRows();
  });
});

describe('a role', () => {
  const inputOf = async (type: string, role: string, mayUseBackendOnly = false) => {
    const { data } = await world.ask(
      `{ __type(name: "${type}") { inputFields { name } } }`,
      {},
      { role, mayUseBackendOnly },
    );
    const { inputFields } = data!['__type'] as { inputFields: { name: string }[] };
    return inputFields.map(({ name }) => name);
  };

  test('sees only relationships to tables it may insert into', async () => {
    expect(await inputOf('author_insert_input', 'user')).toEqual(['articles', 'by_hand', 'detail', 'name']);
    expect(await inputOf('article_insert_input', 'backend')).toEqual(['replies', 'parent', 'title'].sort());
    expect(await inputOf('article_insert_input', 'backend', true)).toContain('author');
    expect(await inputOf('author_obj_rel_insert_input', 'user')).toEqual(['data', 'on_conflict']);
    expect(await inputOf('article_arr_rel_insert_input', 'user')).toEqual(['data', 'on_conflict']);
    const query = (object: string) => `mutation { insert_author(objects: [${object}]) { affected_rows } }`;
    expect((await refusal(query('{ name: "Ada", country: { data: { code: "gb" } } }')))?.[2]).toBe(
      "field 'country' not found in type: 'author_insert_input'",
    );
    expect(
      (await refusal(query('{ name: "Ada", articles: { data: [{ title: "A", author_id: 1 }] } }')))?.[2],
    ).toBe("field 'author_id' not found in type: 'article_insert_input'");
    await noRows();
  });

  test('has presets and checks of every table, the check sees the rows written before it', async () => {
    const query = (
      rank: number,
    ) => `mutation { insert_author(objects: [{ name: "Ada", articles: { data: [{ title: "A", rank: ${rank} }] } }])
      { affected_rows returning { name } } }`;
    expect(await refusal(query(10))).toEqual([
      'permission-error',
      '$.selectionSet.insert_author.args.objects[0].articles.data',
      'check constraint of an insert/update permission has failed',
    ]);
    await noRows();
    expect(await world.ask(query(9))).toEqual({
      data: { insert_author: { affected_rows: 2, returning: [{ name: 'Ada' }] } },
    });
    expect(await rows('select owner from author')).toEqual([{ owner: 1 }]);
  });

  test('reads of the rows it has written only those it may read', async () => {
    await rows(`insert into author (id, name, owner) values (50, 'Bo', 2)`);
    const query = `mutation { insert_article(objects: [{ title: "A", author: { data: { name: "Bo" },
      on_conflict: { constraint: author_name_key, update_columns: [name] } } }]) { affected_rows } }`;
    expect((await refusal(query))?.[2]).toBe(
      'cannot proceed to insert object relation "author" since insert to table "author" affects zero rows',
    );
    expect(await rows('select * from article')).toEqual([]);
  });

  test('cannot change what a preset says through a relationship', async () => {
    await rows(`insert into author (id, name) values (1, 'Ada')`);
    const query = `mutation { insert_article(objects: [{ title: "A", tags: { data: [{ label: "x" }] } }]) { affected_rows } }`;
    expect(await world.ask(query, {}, { role: 'preset' })).toEqual({
      data: { insert_article: { affected_rows: 2 } },
    });
    expect(await rows('select author_id from article')).toEqual([{ author_id: 1 }]);
    expect(
      (
        await refusal(
          `mutation { insert_article(objects: [{ title: "A", author: { data: { name: "Bo" } } }]) { affected_rows } }`,
          {},
          { role: 'preset' },
        )
      )?.[2],
    ).toBe("field 'author' not found in type: 'article_insert_input'");
  });
});

describe('a large nested insert', () => {
  const INSERT = `mutation ($objects: [author_insert_input!]!) { insert_author(objects: $objects) { affected_rows } }`;
  const objects = (count: number) =>
    Array.from({ length: count }, (_, i) => ({ name: `a${i}`, articles: { data: [{ title: `t${i}` }] } }));

  test('is refused before it runs when a role needs too many statements, and not for an administrator', async () => {
    expect(await refusal(INSERT, { objects: objects(2501) })).toEqual([
      'validation-failed',
      '$.selectionSet.insert_author.args.objects[2500]',
      'the request needs more than 5000 statements that write; divide it: an object with related objects, its related rows and an update of a list are a statement each',
    ]);
    await noRows();
    expect(() =>
      planOf({ query: INSERT, variables: { objects: objects(2501) } }, planning('admin')),
    ).not.toThrow();
    expect(() =>
      planOf({ query: INSERT, variables: { objects: objects(2500) } }, planning('user')),
    ).not.toThrow();
  });

  test('is planned in linear time, a tenth of a millisecond for an object', () => {
    const planned = (count: number) => {
      const variables = { objects: objects(count) };
      const before = process.cpuUsage();
      planOf({ query: INSERT, variables }, planning('admin'));
      const { user, system } = process.cpuUsage(before);
      return (user + system) / 1000 / count;
    };
    planned(500);
    // Generous, for a machine under load: composing each statement by itself took 0.4 ms.
    expect(Math.min(planned(4000), planned(4001), planned(4002))).toBeLessThan(0.25);
  });

  const planning = (role: string) => ({
    model: world.model,
    session: { role, variables: { 'x-engine-user-id': '1' }, mayUseBackendOnly: false },
  });
});

test('an update of a list is refused before it runs when a role needs too many statements', async () => {
  const query = `mutation ($updates: [author_updates!]!) { update_author_many(updates: $updates) { affected_rows } }`;
  const updates = Array.from({ length: 5001 }, (_, i) => ({
    where: {},
    _set: { name: `b${i}` },
  }));
  expect((await refusal(query, { updates }))?.[2]).toContain('more than 5000 statements');
});
