/** Conditions on values over related rows, and on computed fields: asked of a real database, as people who may see part. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openWorld, type World } from '../execute/testing/world.ts';

const SCHEMA = `
  create table author (id int primary key, name text not null);
  create table article (
    id int primary key, author_id int references author, title text, words float8, score float8, is_published bool);
  insert into author values (1, 'Ada'), (2, 'Bo'), (3, 'Cy');
  insert into article values
    (1, 1, 'a', 10, 1.5, true), (2, 1, 'b', 20, 2.5, true), (3, 1, 'b', null, 4, false),
    (4, 2, 'c', 50, 5, false), (5, 2, 'd', 60, 6, true);
  create function shouted(author, times int, sign text default '!') returns text language sql stable
    as $$ select upper($1.name) || repeat($3, $2) $$;
  create table payment (id int primary key, amount money, lasted interval, day date, at timestamptz, key uuid, label text);
  insert into payment values (1, '1.50', '1 hour', '2020-01-02', '2020-01-02T00:00:00Z', null, 'b'),
    (2, '2.50', '3 hours', '2021-01-02', null, '0b2f1b1e-0000-4000-8000-000000000000', 'a');
  create function doubled(payment) returns int language sql stable as 'select $1.id * 2';
  create function best(author) returns setof article language sql stable
    as $$ select * from article where author_id = $1.id and score > 2 $$;
  create function longer(author, than int, at_least float8 default 0) returns setof article language sql stable
    as $$ select * from article where author_id = $1.id and words > $2 and score >= $3 $$;`;

const public_ = (name: string) => ({ schema: 'public', name });
const computed = (name: string) => ({ name, definition: { function: public_(name) } });
const filter = { is_published: { _eq: true } };
const WORLD = {
  tables: [
    {
      table: public_('author'),
      array_relationships: [
        {
          name: 'articles',
          using: { foreign_key_constraint_on: { table: public_('article'), column: 'author_id' } },
        },
      ],
      computed_fields: [computed('shouted'), computed('best'), computed('longer')],
      select_permissions: [
        { role: 'user', permission: { columns: ['id', 'name'], filter: {} } },
        { role: 'counter', permission: { columns: ['id'], filter: {} } },
      ],
    },
    { table: public_('payment'), computed_fields: [computed('doubled')] },
    {
      table: public_('article'),
      select_permissions: [
        { role: 'user', permission: { columns: ['id', 'title'], filter } },
        {
          role: 'counter',
          permission: { columns: ['id', 'words', 'is_published'], filter, allow_aggregations: true },
        },
      ],
    },
  ],
};

let world: World;
beforeAll(async () => {
  world = await openWorld(SCHEMA, WORLD);
});
afterAll(() => world.close());

const admin = { role: 'admin' };
const counter = { role: 'counter' };

async function authors(where: string, who: object = admin, rest = ''): Promise<unknown> {
  const query = `{ author(where: ${where}, order_by: [${rest} { id: asc }]) { id } }`;
  const { data, errors } = await world.ask(query, {}, who);
  return errors ? errors[0]!.message : (data!['author'] as { id: number }[]).map(({ id }) => id);
}

const articles = (condition: string) => `{ articles_aggregate: { ${condition} } }`;

test.each([
  ['count: { predicate: { _eq: 0 } }', [3]],
  ['count: { predicate: { _gte: 2, _lt: 3 } }', [2]],
  ['count: { arguments: [title], distinct: true, predicate: { _eq: 2 } }', [1, 2]],
  ['count: { arguments: [title, is_published], distinct: true, predicate: { _eq: 3 } }', [1]],
  ['count: { arguments: [words], predicate: { _eq: 2 } }', [1, 2]],
  ['count: { filter: { words: { _gt: 15 } }, predicate: { _eq: 1 } }', [1]],
  ['bool_and: { arguments: is_published, predicate: { _eq: true } }', []],
  ['bool_or: { arguments: is_published, predicate: { _eq: true } }', [1, 2]],
  ['avg: { arguments: words, predicate: { _eq: 15 } }', [1]],
  ['sum: { arguments: words, distinct: true, predicate: { _gt: 100.5 } }', [2]],
  ['max: { arguments: score, predicate: { _eq: 4 } }', [1]],
  ['min: { arguments: score, predicate: { _lt: 2 } }', [1]],
  ['stddev_samp: { arguments: words, predicate: { _gt: 7.07 } }', [1, 2]],
  ['var_samp: { arguments: words, predicate: { _is_null: true } }', [3]],
  ['corr: { arguments: { X: words, Y: score }, predicate: { _gt: 0.9 } }', [1, 2]],
  ['covar_samp: { arguments: { X: words, Y: score }, predicate: { _eq: 5 } }', [1, 2]],
])('%s', async (condition, ids) => {
  expect(await authors(articles(condition))).toEqual(ids);
});

test('they are not there with hide_aggregation_predicates', async () => {
  const options = { stringifyNumericTypes: false, features: ['hide_aggregation_predicates'] };
  const hidden = await openWorld(SCHEMA, WORLD, options);
  const where = '{ articles_aggregate: { count: { predicate: { _eq: 0 } } } }';
  const { errors } = await hidden.ask(`{ author(where: ${where}) { id } }`, {}, admin);
  await hidden.close();
  expect(errors![0]!.message).toBe("field 'articles_aggregate' not found in type: 'author_bool_exp'");
});

test('several conditions are combined by _and, one object holds exactly one', async () => {
  const [many, published] = [
    'count: { predicate: { _gt: 1 } }',
    'bool_and: { arguments: is_published, predicate: { _eq: false } }',
  ];
  expect(await authors(`{ _and: [${articles(many)}, ${articles(published)}] }`)).toEqual([1, 2]);
  expect(await authors(`{ _not: ${articles(many)} }`)).toEqual([3]);
  const refusal = 'exactly one predicate should be specified';
  expect(await authors(articles(`${many} ${published}`))).toBe(refusal);
  expect(await authors('{ articles_aggregate: {} }')).toBe(refusal);
});

test('values that differ share one statement; null where a condition belongs is refused', async () => {
  const query = `query ($n: Int, $f: article_bool_exp) {
    author(where: { articles_aggregate: { count: { filter: $f, predicate: { _gt: $n } } } }) { id } }`;
  expect((await world.ask(query, { n: 2, f: {} }, admin)).data).toEqual({ author: [{ id: 1 }] });
  expect((await world.ask(query, { n: 9, f: {} }, admin)).data).toEqual({ author: [] });
  expect((await world.ask(query, { n: 2 }, admin)).errors![0]!.message).toMatch(/article_bool_exp/);
});

test('a role counts only rows it may see, over columns it may read, where it may aggregate', async () => {
  const published = articles('count: { predicate: { _eq: 2 } }');
  expect(await authors(published, counter)).toEqual([1]);
  expect(
    await authors(articles('count: { filter: { words: { _eq: 50 } }, predicate: { _gt: 0 } }'), counter),
  ).toEqual([]);
  expect(await authors(articles('max: { arguments: score, predicate: { _gt: 0 } }'), counter)).toMatch(
    /score/,
  );
  expect(await authors(articles('count: { arguments: [title], predicate: { _gt: 0 } }'), counter)).toMatch(
    /title/,
  );
  expect(await authors(published, { role: 'user' })).toBe(
    "field 'articles_aggregate' not found in type: 'author_bool_exp'",
  );
});

test('a computed field that returns rows takes a condition that one of them satisfies', async () => {
  expect(await authors('{ best: { title: { _eq: "c" } } }')).toEqual([2]);
  expect(await authors('{ _not: { best: {} } }')).toEqual([3]);
  // Its article is not published.
  expect(await authors('{ best: { title: { _eq: "c" } } }', { role: 'user' })).toEqual([]);
});

test('a computed field with arguments is compared and ordered by beside them', async () => {
  const args = 'args: { times: 2, sign: "?" }';
  expect(await authors(`{ shouted: { ${args}, _eq: "BO??" } }`)).toEqual([2]);
  expect(await authors('{ shouted: { args: { times: 1 }, _in: ["ADA!", "CY!"] } }')).toEqual([1, 3]);
  expect(await authors('{ shouted: { _eq: "BO" } }')).toBe("missing required field 'args'");
  const descending = `{ shouted: { ${args}, ordering: desc } }`;
  expect(await authors('{}', admin, descending)).toEqual([3, 2, 1]);
  expect(await authors(`{ shouted: { ${args}, _eq: "BO??" } }`, { role: 'user' })).toMatch(/not found/);
});

test('rows are ordered by aggregates over what a computed field returns for arguments', async () => {
  const ordered = (by: string, who?: object) => authors('{}', who, `{ longer_aggregate: { ${by} } }`);
  const most = 'args: { than: 15 }, count: desc';
  expect(await ordered(most)).toEqual([2, 1, 3]);
  expect(await ordered('args: { than: 15, at_least: 6 }, sum: { words: asc }')).toEqual([2, 1, 3]);
  expect(await ordered('args: { than: 99 }, count: desc')).toEqual([1, 2, 3]);
  expect(await ordered('args: { than: 99 }')).toEqual([1, 2, 3]);
  expect(await ordered('count: desc')).toBe("missing required field 'args'");
  // One of the second author's two is not published, and the score is not theirs to read.
  expect(await ordered(most, counter)).toEqual([1, 2, 3]);
  expect(await ordered('args: { than: 15 }, max: { score: asc }', counter)).toMatch(/score/);
  expect(await ordered(most, { role: 'user' })).toBe(
    "field 'longer_aggregate' not found in type: 'author_order_by'",
  );
});

test('money and intervals are added up, whatever has an order has a first and a last', async () => {
  const query = `{ payment_aggregate { aggregate {
    sum { amount lasted doubled } avg { lasted id doubled } max { amount day key label doubled } min { lasted at label }
    stddev_pop { id } } } }`;
  expect((await world.ask(query, {}, admin)).data).toEqual({
    payment_aggregate: {
      aggregate: {
        sum: { amount: '$4.00', lasted: '04:00:00', doubled: 6 },
        avg: { lasted: '02:00:00', id: 1.5, doubled: 3 },
        max: {
          amount: '$2.50',
          day: '2021-01-02',
          key: '0b2f1b1e-0000-4000-8000-000000000000',
          label: 'b',
          doubled: 4,
        },
        min: { lasted: '01:00:00', at: '2020-01-02T00:00:00+00:00', label: 'a' },
        stddev_pop: { id: 0.5 },
      },
    },
  });
  const refused = await world.ask('{ payment_aggregate { aggregate { avg { amount } } } }', {}, admin);
  expect(refused.errors![0]!.message).toBe("field 'amount' not found in type: 'payment_avg_fields'");
});
