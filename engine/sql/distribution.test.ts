/** Twin of distribution.ts: which form a query has, and that every form is answered as the plain one, whatever each table is in a cluster. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createDatabase, type TestDatabase } from '../../testing/database.ts';
import type { Distribution } from '../catalog/distribution.ts';
import { type Database, openDatabase } from '../database/pool.ts';
import { bind } from '../execute/bind.ts';
import type { Field, OrderItem, QueryRoot, Select } from '../plan/query-types.ts';
import type { Root } from '../plan/types.ts';
import type { RowsDistribution } from '../resolve/distributions.ts';
import type { Join, Predicate } from '../resolve/predicate.ts';
import { and, TRUE } from '../resolve/predicate.ts';
import type { DistributionOf } from './distribution.ts';
import { preparePlan, renderRoot, UNNAMED } from './plan.ts';
import {
  array,
  asc,
  compare,
  constant,
  int,
  many,
  named,
  object,
  select,
  text,
  to,
} from './testing/build.ts';

const by = (column: string, colocation = 1): Distribution => ({ kind: 'distributed', column, colocation });
const one = (colocation: number): Distribution => ({ kind: 'single-shard', colocation });
const reference: Distribution = { kind: 'reference' };

/** The distributions of each table that are tried: by the column of its relationships or by another one, and colocated with different tables. */
const POSSIBLE: Readonly<Record<string, readonly (RowsDistribution | null)[]>> = {
  author: [null, reference, by('id'), one(3), { kind: 'view' }],
  book: [null, reference, by('author_id'), by('author_id', 2), by('id'), one(3)],
  note: [null, reference, by('book_id'), by('author_id')],
};

const author = to('author', 'author_id', 'id');
const books = many('book', 'id', 'author_id');
const notes: Join = {
  ...many('note', 'id', 'book_id'),
  mapping: [
    ['id', 'book_id'],
    ['author_id', 'author_id'],
  ],
};
const byId = { orderBy: [asc('id')] };
const allNotes = array('notes', notes, [text('body')], { orderBy: [asc('body')] });
const related = (join: Join, where: Predicate): Predicate => ({ kind: 'related', join, where });
const count: Extract<Field, { kind: 'aggregate' }>['output'] = [
  {
    kind: 'values',
    alias: 'aggregate',
    members: [{ kind: 'value', alias: 'count', value: { kind: 'count', columns: [], isDistinct: false } }],
  },
];
const counted: Field = {
  kind: 'aggregate',
  alias: 'counted',
  join: books,
  select: select('book', []),
  output: count,
};
const nodes = [
  ...count,
  { kind: 'nodes' as const, alias: 'nodes', fields: [int('id'), allNotes], limit: null },
];
const byAuthor: OrderItem = {
  path: [{ join: author, filter: TRUE }],
  column: 'name',
  direction: 'desc',
  nulls: 'last',
};
const rows = (table: string, fields: readonly Field[], rest: Partial<Select> = {}): QueryRoot => ({
  kind: 'rows',
  select: select(table, fields, { ...byId, ...rest }),
});

const int8 = { schema: 'pg_catalog', name: 'int8' };

const ROOTS: Readonly<Record<string, QueryRoot>> = {
  'a list': rows('author', [int('id'), text('name')]),
  'a list with a limit': rows('author', [int('id')], { limit: 2, offset: '1' }),
  'a filter over a relationship': rows('book', [int('id')], {
    where: related(author, compare('id', '_lt', constant('3'))),
  }),
  'a filter over rows': rows('author', [int('id')], {
    where: related(books, compare('pages', '_gt', constant('100'))),
  }),
  'an unrelated row': rows('author', [int('id')], {
    where: { kind: 'exists', table: notes.table, where: compare('book_id', '_eq', constant('1')) },
  }),
  'a nested list': rows('author', [int('id'), array('books', books, [int('id'), allNotes], byId)]),
  'limits at two levels': rows(
    'author',
    [int('id'), array('books', books, [int('id'), allNotes], { ...byId, limit: 1 })],
    { limit: 2 },
  ),
  'an object and its lists': rows(
    'book',
    [int('id'), object('author', author, [text('name'), array('books', books, [int('id')], byId)])],
    { limit: 4 },
  ),
  'an order by an object': rows('book', [int('id'), object('author', author, [text('name')])], {
    orderBy: [byAuthor, asc('id')],
    limit: 3,
  }),
  'distinct rows': rows('book', [int('id'), allNotes], {
    distinctOn: ['author_id'],
    orderBy: [asc('author_id'), asc('id')],
  }),
  'a nested aggregate': rows('author', [int('id'), counted], { limit: 2 }),
  'an aggregate': { kind: 'aggregate', select: select('book', []), output: count },
  'an aggregate with nodes': { kind: 'aggregate', select: select('book', [], byId), output: nodes },
  'an aggregate of a page': {
    kind: 'aggregate',
    select: select('book', [], { ...byId, limit: 3 }),
    output: nodes,
  },
  groups: {
    kind: 'groups',
    groups: {
      table: named('book'),
      where: TRUE,
      keys: ['author_id'],
      having: TRUE,
      orderBy: [{ by: { kind: 'key', column: 'author_id' }, direction: 'desc', nulls: 'last' }],
      limit: null,
      offset: null,
      output: [{ kind: 'keys', alias: 'keys', fields: [int('author_id', true)] }, ...count] as never,
    },
  },
  'groups that pass a condition over relationships': {
    kind: 'groups',
    groups: {
      table: named('book'),
      where: TRUE,
      keys: ['author_id'],
      having: {
        kind: 'compare',
        operator: '_gte',
        left: {
          column: '',
          type: int8,
          aggregate: {
            fn: 'count',
            columns: [],
            isDistinct: false,
            join: null,
            where: related(author, compare('id', '_lt', constant('3'))),
          },
        },
        right: constant('1'),
      } as never,
      orderBy: [{ by: { kind: 'key', column: 'author_id' }, direction: 'desc', nulls: 'last' }],
      limit: 2,
      offset: '1',
      output: [{ kind: 'keys', alias: 'keys', fields: [int('author_id', true)] }, ...count] as never,
    },
  },
  'no row, in the order of an object': rows('book', [int('id'), object('author', author, [text('name')])], {
    where: { kind: 'false' },
    orderBy: [byAuthor, asc('id')],
    limit: 3,
  }),
  'a relationship to no row': rows('author', [int('id')], {
    where: { kind: 'not', not: related(books, { kind: 'false' }) },
  }),
  'a row by key': {
    kind: 'row',
    select: select('author', [text('name'), array('books', books, [int('id'), allNotes], byId)], {
      where: compare('id', '_eq', constant('1')),
    }),
  },
};

const assignments = POSSIBLE['author']!.flatMap((a) =>
  POSSIBLE['book']!.flatMap((b) => POSSIBLE['note']!.map((n) => ({ author: a, book: b, note: n }))),
);
type Assignment = (typeof assignments)[number];
const within =
  (assignment: Assignment): DistributionOf =>
  ({ name }) =>
    assignment[name as keyof Assignment];
const colocated = within({ author: by('id'), book: by('author_id'), note: by('author_id') });
const undistributed = within({ author: null, book: reference, note: null });
const textOf = (root: QueryRoot, distributionOf: DistributionOf | null) =>
  renderRoot(root, distributionOf).text;

describe('the form of a query', () => {
  test('has no CTE while no table of it is distributed', () => {
    for (const root of Object.values(ROOTS)) expect(textOf(root, undistributed)).toMatch(/^select/);
  });

  test('reads local rows by a CTE beside rows on shards, also where they belong to a row of a reference table', () => {
    const ofNotes: Field = { ...counted, join: notes, select: select('note', []) };
    const book = object('book', to('book', 'id', 'author_id'), [int('id'), ofNotes]);
    const places = within({ author: by('id'), book: reference, note: null });
    expect(textOf(rows('author', [int('id'), book]), places)).toContain('"gathered ');
  });

  test('orders the texts of local rows, which may be on shards since the catalog was read', () => {
    expect(textOf(ROOTS['a list']!, undistributed)).toContain(`',' order by "t1"."order 0")`);
  });

  test('makes the text of each row before it limits the rows, where all rows are with those that they belong to', () => {
    expect(textOf(ROOTS['limits at two levels']!, colocated)).toMatchInlineSnapshot(
      `"select '[' || coalesce(string_agg("t11"."json", ',' order by "t11"."order 0"), '') || ']' from (select '{"id":' || "t6"."id"::text || ',"books":[' || coalesce((select string_agg("t10"."json", ',' order by "t10"."order 0") from (select '{"id":' || "t7"."id"::text || ',"notes":[' || coalesce((select string_agg("t9"."json", ',' order by "t9"."order 0") from (select '{"body":' || to_json("t8"."body")::text || '}' as "json", "t8"."body" as "order 0" from "public"."note" "t8" where "t8"."book_id" = "t7"."id" and "t8"."author_id" = "t7"."author_id") "t9"), '') || ']}' as "json", "t7"."id" as "order 0" from "public"."book" "t7" where "t7"."author_id" = "t6"."id" order by "t7"."id" limit 1) "t10"), '') || ']}' as "json", "t6"."id" as "order 0" from "public"."author" "t6" order by "t6"."id" limit 2) "t11""`,
    );
  });

  test('reads the rows of each table by a CTE where they are not', () => {
    const apart = within({ author: by('id'), book: by('id', 2), note: reference });
    expect(textOf(ROOTS['limits at two levels']!, apart)).toMatchInlineSnapshot(
      `"with "gathered t12" as materialized (select "t12".* from "public"."author" "t12" order by "t12"."id" limit 2), "gathered t13" as materialized (select "t13".* from "public"."book" "t13" where exists (select 1 from "gathered t12" "t12" where "t13"."author_id" = "t12"."id")), "gathered t14" as materialized (select "t14".* from "public"."note" "t14" where exists (select 1 from "gathered t13" "t13" where "t14"."book_id" = "t13"."id" and "t14"."author_id" = "t13"."author_id")), "anchor" as materialized (select true as "is there") select "answer".* from "anchor" cross join lateral (select '[' || coalesce(string_agg('{"id":' || "t12"."id"::text || ',"books":[' || coalesce((select string_agg('{"id":' || "t13"."id"::text || ',"notes":[' || coalesce((select string_agg("t15"."json", ',') from (select '{"body":' || to_json("t14"."body")::text || '}' as "json" from "gathered t14" "t14" where "t14"."book_id" = "t13"."id" and "t14"."author_id" = "t13"."author_id" order by "t14"."body") "t15"), '') || ']}', ',') from (select "t13".* from "gathered t13" "t13" where "t13"."author_id" = "t12"."id" order by "t13"."id" limit 1) "t13"), '') || ']}', ','), '') || ']' from (select "t12".* from "gathered t12" "t12" where ("anchor"."is there" or ("t12" is null) is null) order by "t12"."id" limit 2) "t12") "answer""`,
    );
  });
});

describe('Citus cannot plan', () => {
  const textsOf = (root: QueryRoot) => assignments.map((each) => textOf(root, within(each)));
  const forCluster = (root: QueryRoot) => {
    const others = [textOf(root, null), textOf(root, undistributed)];
    return textsOf(root).filter((each) => !others.includes(each));
  };

  test('an outer join beside a condition without columns, which no statement has', () => {
    for (const [name, root] of Object.entries(ROOTS)) {
      for (const each of forCluster(root)) expect(each, name).not.toMatch(/\bfalse\b/);
    }
  });

  test('an outer join beside two values of one column, of which Postgres sees the first only', () => {
    const idIs = (id: string) => compare('id', '_eq', constant(id));
    const root = rows('author', [int('id'), allNotes], { where: and(idIs('1'), idIs('2')) });
    const again = /"id" = \$1::"pg_catalog"\."int4" and \("t\d+"\."id" = \$2::"pg_catalog"\."int4"\) is true/;
    expect(textOf(root, colocated)).toMatch(again);
    expect(textOf(root, null)).not.toContain('is true');
  });

  test('an outer join beside a column that equals a value and a column outside without it', () => {
    const idIs = (column: string, value: string) => compare(column, '_eq', constant(value));
    const withBooks = (where: Predicate) =>
      rows('author', [array('books', books, [int('id'), allNotes], { where: idIs('author_id', '1') })], {
        where,
      });
    const derived = /\("t\d+"\."author_id" = \$\d+::"pg_catalog"\."int4"\) is true/;
    for (const outside of [TRUE, { kind: 'false' } as const, idIs('id', '2')]) {
      expect(textOf(withBooks(outside), colocated)).toMatch(derived);
    }
    expect(textOf(withBooks(idIs('id', '1')), colocated)).not.toContain('is true');
    expect(textOf(withBooks(TRUE), null)).not.toContain('is true');
  });

  test('an outer join beside a column of a row outside that only equals a column with the value', () => {
    const bookOne = { where: compare('author_id', '_eq', constant('1')) };
    const noteOne = { where: compare('author_id', '_eq', constant('1')) };
    const withNotes = (of: object) =>
      rows(
        'author',
        [array('books', books, [int('id'), array('notes', notes, [text('body')], noteOne)], of)],
        {
          where: compare('id', '_eq', constant('1')),
        },
      );
    const derived = /\("t\d+"\."author_id" = \$\d+::"pg_catalog"\."int4"\) is true/;
    expect(textOf(withNotes({}), colocated)).toMatch(derived);
    expect(textOf(withNotes(bookOne), colocated)).not.toContain('is true');
  });

  test('an outer join beside two values of one column, one of which all members of a disjunction have', () => {
    const idIs = (id: string) => compare('id', '_eq', constant(id));
    const named = (name: string) => and(idIs('1'), compare('name', '_eq', constant(name)));
    const root = rows('author', [int('id'), allNotes], {
      where: and({ kind: 'or', any: [named('a'), named('b')] }, idIs('2')),
    });
    expect(textOf(root, colocated)).toMatch(/\("t\d+"\."id" = \$\d+::"pg_catalog"\."int4"\) is true/);
  });

  test('an outer join of gathered rows beside a view, unless each condition is about a row', () => {
    const apart = within({ author: { kind: 'view' }, book: by('id'), note: null });
    expect(textOf(ROOTS['no row, in the order of an object']!, apart)).toMatch(
      /where \("anchor"\."is there" or \("t\d+" is null\) is null\)/,
    );
  });

  test('rows on the shards beside gathered ones: each query that a cluster distributes by itself is a CTE', () => {
    const distributionOf = within({ author: by('id'), book: by('author_id'), note: by('book_id', 2) });
    const database = (alias: string, query: QueryRoot): Root => ({
      kind: 'database',
      alias,
      source: 'main',
      query,
    });
    const { statements } = preparePlan(
      {
        operation: 'query',
        roots: [database('a', ROOTS['limits at two levels']!), database('b', ROOTS['an aggregate']!)],
      },
      { ...UNNAMED, clusterOf: () => distributionOf },
    );
    expect(statements).toHaveLength(1);
    // Behind another statement it would wait for a worker that it does not need.
    expect(statements[0]!.preparation.once.mayShare).toBe(false);
    expect(statements[0]!.text).toMatch(
      /"root 1" as materialized \(select \(select .* from "public"\."book" /,
    );
  });

  test('an ordered aggregate over nothing but a call, in which it crashes', () => {
    const from = { function: { schema: 'public', name: 'authors' }, arguments: [] };
    const root = rows('author', [int('id')], { from });
    expect(textOf(root, undistributed)).toBe(textOf(root, null));
  });

  test('a subquery in HAVING, which no statement has', () => {
    const texts = forCluster(ROOTS['groups that pass a condition over relationships']!);
    expect(texts.length).toBeGreaterThan(0);
    for (const each of texts) expect(each).not.toContain(' having ');
  });

  test('a condition over a relationship of a reference table on the shards: its rows are gathered', () => {
    const root = rows('note', [text('body')], {
      orderBy: [asc('body')],
      where: related(books, related(author, compare('id', '_lt', constant('3')))),
    });
    const distributionOf = within({ author: reference, book: reference, note: by('author_id') });
    expect(textOf(root, distributionOf)).toMatch(/^with "gathered/);
  });
});

describe('the answer is that of the plain form', () => {
  let source: TestDatabase;
  let database: Database;

  beforeAll(async () => {
    source = await createDatabase();
    await source.sql(`
      create table author (id int primary key, name text);
      create table book (id int primary key, author_id int, pages int);
      create table note (book_id int, author_id int, body text);
      insert into author values (1, 'Ada'), (2, 'Bo'), (3, 'Cy'), (4, 'Di');
      insert into book values (1, 1, 300), (2, 1, 120), (3, 2, 80), (4, null, 500), (5, 3, 120);
      insert into note values (1, 1, 'n1'), (1, 1, 'n2'), (3, 2, 'n3'), (5, 9, 'n4')`);
    database = openDatabase(source.url);
  });

  afterAll(async () => {
    await database.close();
    await source.drop();
  });

  const answerTo = async (root: QueryRoot, distributionOf: DistributionOf | null) => {
    const { text, parameters } = renderRoot(root, distributionOf);
    const session = { role: 'admin', variables: {}, mayUseBackendOnly: false };
    return database.run({ name: '', text }, bind(parameters, { session, variables: {} }));
  };

  test.for(Object.entries(ROOTS))('%s', async ([, root]) => {
    const expected = await answerTo(root, null);
    const texts = new Set<string>();
    for (const assignment of assignments) {
      const distributionOf = within(assignment);
      const text = textOf(root, distributionOf);
      if (texts.has(text)) continue;
      texts.add(text);
      expect(await answerTo(root, distributionOf), JSON.stringify(assignment)).toEqual(expected);
    }
  });
});
