/** Twins of table.ts, join.ts and order-by.ts: the statements of typical requests, and what Postgres answers to them. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { testDatabase } from '../../testing/world.ts';
import { type Database, openDatabase } from '../database/pool.ts';
import type { OrderItem, Select } from '../plan/query-types.ts';
import type { Plan } from '../plan/types.ts';
import { TRUE } from '../resolve/predicate.ts';
import { preparePlan } from './plan.ts';
import {
  array,
  asc,
  compare,
  constant,
  int,
  many,
  object,
  row,
  rows,
  select,
  text,
  to,
} from './testing/build.ts';
import * as chinook from './testing/chinook-plans.ts';
import { runPlan } from './testing/run.ts';

describe('statements over Chinook are those of the golden files', () => {
  test.each<[string, Plan]>([
    ['simple', chinook.simple],
    ['by_pk', chinook.byPk],
    ['complex', chinook.complex(1000)],
    ['nested', chinook.nested(20)],
    ['search', chinook.search(20)],
    ['flat', chinook.flat],
  ])('%s', async (name, plan) => {
    const [statement] = preparePlan(plan).statements;
    const lines = statement!.text.replaceAll(/ (?=(?:from|left join|where|order by|limit) )/g, '\n');
    await expect(`${lines}\n`).toMatchFileSnapshot(`testing/chinook/${name}.sql`);
  });
});

describe('Postgres answers', () => {
  const source = testDatabase();
  let database: Database;

  beforeAll(async () => {
    await source.sql(`
      create table author (id int primary key, name text, country text);
      create table book (id int primary key, author_id int, title text, pages int);
      create table note (book_id int, body text);
      insert into author values (1, 'Ada', 'UK'), (2, 'Bo', null), (3, 'Cy', 'IE');
      insert into book values
        (1, 1, 'Engines', 300), (2, 1, 'Notes', 120), (3, 2, 'Verses', 80), (4, null, 'Lost', null), (5, 3, 'Odd', 120);
      insert into note values (1, 'n1'), (1, 'n2'), (3, 'n3')`);
    database = openDatabase(source.url);
  });

  afterAll(() => database.close());

  const ask = async (query: Select): Promise<unknown> => {
    const { data } = await runPlan(database, rows('all', query));
    return (data as { all: unknown }).all;
  };
  const author = to('author', 'author_id', 'id');
  const books = many('book', 'id', 'author_id');
  const desc = (column: string): OrderItem => ({ path: [], column, direction: 'desc', nulls: 'first' });
  const byAuthor = (column: string, rest: Partial<OrderItem> = {}): OrderItem => ({
    path: [{ join: author, filter: TRUE }],
    column,
    direction: 'asc',
    nulls: 'last',
    ...rest,
  });
  const titles = async (rest: Partial<Select>) =>
    ((await ask(select('book', [text('title')], rest))) as { title: string }[]).map(({ title }) => title);

  test('an empty list when no row qualifies', async () => {
    expect(await ask(select('book', [int('id')], { where: { kind: 'false' } }))).toEqual([]);
  });

  test('an object relationship, null where there is no row', async () => {
    const query = select('book', [int('id'), object('author', author, [text('name', true)])], {
      orderBy: [asc('id')],
      where: compare('id', '_gt', constant('2')),
    });
    expect(await ask(query)).toEqual([
      { id: 3, author: { name: 'Bo' } },
      { id: 4, author: null },
      { id: 5, author: { name: 'Cy' } },
    ]);
  });

  test('an object relationship as null where its filter hides the row', async () => {
    const hidden = {
      kind: 'is-null',
      left: { column: 'country', type: constant('').type },
      isNull: false,
    } as const;
    const query = select('book', [object('author', author, [text('name', true)], hidden)], {
      where: compare('id', '_eq', constant('3')),
    });
    expect(await ask(query)).toEqual([{ author: null }]);
  });

  test('one of several rows of an object relationship without a key', async () => {
    const note = { ...many('note', 'id', 'book_id') };
    const query = select('book', [int('id'), object('note', note, [text('body', true)])], {
      orderBy: [asc('id')],
    });
    expect(await ask(query)).toMatchObject([
      { id: 1, note: { body: expect.stringMatching(/^n[12]$/) } },
      { id: 2, note: null },
      { id: 3, note: { body: 'n3' } },
      { id: 4, note: null },
      { id: 5, note: null },
    ]);
  });

  test('arrays inside objects inside arrays, each with its own rows', async () => {
    const inner = object('author', author, [
      array('books', books, [text('title')], { orderBy: [asc('title')], limit: 1 }),
    ]);
    const query = select(
      'author',
      [text('name', true), array('books', books, [text('title'), inner], { orderBy: [desc('id')] })],
      {
        orderBy: [asc('id')],
      },
    );
    expect(await ask(query)).toEqual([
      {
        name: 'Ada',
        books: [
          { title: 'Notes', author: { books: [{ title: 'Engines' }] } },
          { title: 'Engines', author: { books: [{ title: 'Engines' }] } },
        ],
      },
      { name: 'Bo', books: [{ title: 'Verses', author: { books: [{ title: 'Verses' }] } }] },
      { name: 'Cy', books: [{ title: 'Odd', author: { books: [{ title: 'Odd' }] } }] },
    ]);
  });

  test('no rows and no error for an array below an object that is null', async () => {
    const inner = object('author', author, [array('books', books, [int('id')])]);
    const query = select('book', [inner], { where: compare('id', '_eq', constant('4')) });
    expect(await ask(query)).toEqual([{ author: null }]);
  });

  test.each<[string, OrderItem[], string[]]>([
    ['ascending, nulls last', [asc('pages'), asc('title')], ['Verses', 'Notes', 'Odd', 'Engines', 'Lost']],
    ['descending, nulls first', [desc('pages'), asc('title')], ['Lost', 'Engines', 'Notes', 'Odd', 'Verses']],
    [
      'ascending, nulls first',
      [{ ...asc('pages'), nulls: 'first' }, asc('id')],
      ['Lost', 'Verses', 'Notes', 'Odd', 'Engines'],
    ],
    [
      'descending, nulls last',
      [{ ...desc('pages'), nulls: 'last' }, asc('id')],
      ['Engines', 'Notes', 'Odd', 'Verses', 'Lost'],
    ],
    ['by a relationship', [byAuthor('name'), desc('title')], ['Notes', 'Engines', 'Verses', 'Odd', 'Lost']],
  ])('rows ordered %s', async (_name, orderBy, expected) => {
    expect(await titles({ orderBy })).toEqual(expected);
  });

  test('rows ordered by what the role may see of a relationship: the hidden are nulls', async () => {
    const filter = compare('id', '_neq', constant('1'));
    const hidden = byAuthor('name', { path: [{ join: author, filter }] });
    expect(await titles({ orderBy: [hidden, asc('id')] })).toEqual([
      'Verses',
      'Odd',
      'Engines',
      'Notes',
      'Lost',
    ]);
  });

  test('a page: limit and offset after the order', async () => {
    expect(await titles({ orderBy: [asc('id')], limit: 2, offset: '1' })).toEqual(['Notes', 'Verses']);
    expect(await titles({ orderBy: [asc('id')], limit: 0 })).toEqual([]);
    expect(await titles({ orderBy: [asc('id')], offset: '99' })).toEqual([]);
  });

  test('a page in order although relationships are joined to it', async () => {
    const query = select('book', [text('title'), object('author', author, [text('name', true)])], {
      orderBy: [byAuthor('name', { direction: 'desc', nulls: 'last' }), asc('title')],
      limit: 3,
    });
    expect(await ask(query)).toEqual([
      { title: 'Odd', author: { name: 'Cy' } },
      { title: 'Verses', author: { name: 'Bo' } },
      { title: 'Engines', author: { name: 'Ada' } },
    ]);
  });

  test('the first of each group with distinct on', async () => {
    expect(await titles({ distinctOn: ['author_id'], orderBy: [asc('author_id'), desc('pages')] })).toEqual([
      'Engines',
      'Verses',
      'Odd',
      'Lost',
    ]);
  });

  test('one row, or null', async () => {
    const byId = (id: string) =>
      row('one', select('book', [text('title')], { where: compare('id', '_eq', constant(id)) }));
    expect((await runPlan(database, byId('1'))).data).toEqual({ one: { title: 'Engines' } });
    expect((await runPlan(database, byId('9'))).data).toEqual({ one: null });
  });

  test('several roots of a source by one statement', async () => {
    const plan: Plan = {
      operation: 'query',
      roots: [
        ...rows('a', select('author', [int('id')], { orderBy: [asc('id')] })).roots,
        { kind: 'local', alias: '__typename', json: '"query_root"' },
        ...row('none', select('book', [int('id')], { where: { kind: 'false' } })).roots,
        ...rows('b', select('book', [int('id')], { where: compare('id', '_lt', constant('3')) })).roots,
      ],
    };
    expect(preparePlan(plan).statements).toHaveLength(1);
    expect(Object.entries((await runPlan(database, plan)).data as object)).toEqual([
      ['a', [{ id: 1 }, { id: 2 }, { id: 3 }]],
      ['__typename', 'query_root'],
      ['none', null],
      ['b', [{ id: 1 }, { id: 2 }]],
    ]);
  });

  test('to names that try to be SQL as to any other', async () => {
    const name = `x"; drop table book; --`;
    await source.sql(`create table "${name.replaceAll('"', '""')}" ("${name.replaceAll('"', '""')}" text)`);
    await source.sql(`insert into "${name.replaceAll('"', '""')}" values ('v')`);
    const query = select(name, [{ ...text(name), alias: 'value' }], { orderBy: [asc(name)], limit: 1 });
    expect(await ask(query)).toEqual([{ value: 'v' }]);
    expect(await titles({ limit: 1, orderBy: [asc('id')] })).toEqual(['Engines']);
  });
});

test('two fields over the same relationship share a join', () => {
  const on = to('author', 'author_id', 'id');
  const query = select('book', [object('a', on, [text('name')]), object('b', on, [int('id')])], {
    orderBy: [{ path: [{ join: on, filter: TRUE }], column: 'name', direction: 'asc', nulls: 'last' }],
  });
  const [statement] = preparePlan(rows('all', query)).statements;
  expect(statement!.text.match(/left join/g)).toHaveLength(1);
});

test('two fields over the same relationship with different filters do not', () => {
  const on = to('author', 'author_id', 'id');
  const one = compare('id', '_eq', constant('1'));
  const query = select('book', [object('a', on, [text('name')]), object('b', on, [int('id')], one)]);
  const [statement] = preparePlan(rows('all', query)).statements;
  expect(statement!.text.match(/left join/g)).toHaveLength(2);
});
