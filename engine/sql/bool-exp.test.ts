/** Twins of bool-exp.ts: the text of each kind of predicate, and what Postgres finds by it. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { testDatabase } from '../../testing/world.ts';
import { OPERATORS, type OperatorName } from '../catalog/operators.ts';
import { arrayOf } from '../catalog/types.ts';
import { type Database, openDatabase } from '../database/pool.ts';
import type { Predicate } from '../resolve/predicate.ts';
import { condition, whereClause } from './bool-exp.ts';
import { compile } from './fragment.ts';
import { OPERATOR_TEMPLATES } from './operators.ts';
import { Aliases, rowScope } from './scope.ts';
import {
  asc,
  compare,
  constant,
  int,
  int4,
  jsonb,
  many,
  named,
  rows,
  select,
  session,
  textType,
  to,
} from './testing/build.ts';
import { runPlan } from './testing/run.ts';

const textOf = (predicate: Predicate): string => {
  const aliases = new Aliases();
  return compile(condition(predicate, rowScope(aliases.next(), aliases))).text;
};
const one = compare('id', '_eq', constant('1'));
const two = compare('id', '_eq', constant('2'));
const ONE = '"t0"."id" = $1::"pg_catalog"."int4"';
const TWO = '"t0"."id" = $2::"pg_catalog"."int4"';

describe('the text of', () => {
  test('and, with an or inside', () => {
    expect(textOf({ kind: 'and', all: [one, { kind: 'or', any: [one, two] }] })).toBe(
      `${ONE} and (${ONE} or ${TWO})`,
    );
  });

  test('or, with an and inside', () => {
    expect(textOf({ kind: 'or', any: [{ kind: 'and', all: [one, two] }, two] })).toBe(
      `((${ONE} and ${TWO}) or ${TWO})`,
    );
  });

  test('not', () => {
    expect(textOf({ kind: 'not', not: one })).toBe(`not (${ONE})`);
  });

  test('is null, and is not', () => {
    const left = { column: 'name', type: textType };
    expect(textOf({ kind: 'is-null', left, isNull: true })).toBe('"t0"."name" is null');
    expect(textOf({ kind: 'is-null', left, isNull: false })).toBe('"t0"."name" is not null');
  });

  test('a related row: an exists with an alias of its own', () => {
    expect(textOf({ kind: 'related', join: to('author', 'author_id', 'id'), where: one })).toBe(
      'exists (select 1 from "public"."author" "t1" where "t1"."id" = "t0"."author_id" ' +
        'and "t1"."id" = $1::"pg_catalog"."int4")',
    );
  });

  test('an operand of the root row, from inside a relationship', () => {
    const root = compare('id', '_gt', { kind: 'column', column: 'score', scope: 'root', type: int4 });
    expect(textOf({ kind: 'related', join: to('author', 'author_id', 'id'), where: root })).toContain(
      '"t1"."id" > "t0"."score"',
    );
  });

  test("an operand of the root row, inside the related table's own filter: the related row", () => {
    const filter = compare('id', '_gt', { kind: 'column', column: 'score', scope: 'root', type: int4 });
    expect(
      textOf({ kind: 'related', join: to('author', 'author_id', 'id'), where: { kind: 'true' }, filter }),
    ).toContain('"t1"."id" > "t1"."score"');
  });

  test('an unrestricted where clause: nothing', () => {
    const aliases = new Aliases();
    const scope = rowScope(aliases.next(), aliases);
    expect(compile(whereClause([condition({ kind: 'true' }, scope)])).text).toBe('');
  });
});

test('every operator has a template, in the order of the table', () => {
  expect(Object.keys(OPERATOR_TEMPLATES)).toEqual(Object.keys(OPERATORS));
});

describe('what is found by', () => {
  const source = testDatabase();
  let database: Database;

  beforeAll(async () => {
    await source.sql(`
      create table author (id int primary key, score int);
      create table book (id int primary key, author_id int, title text, tags jsonb, pages int);
      insert into author values (1, 10), (2, null), (3, 1);
      insert into book values
        (1, 1, 'Alpha', '{"a": 1, "b": [1, 2]}', 5), (2, 1, 'beta', '["x", "y"]', 20),
        (3, 2, null, null, null), (4, 3, '100%', '{"c": null}', 1)`);
    database = openDatabase(source.url);
  });

  afterAll(() => database.close());

  const idsOf = async (table: string, where: Predicate, variables: Record<string, string> = {}) => {
    const plan = rows('all', select(table, [int('id')], { where, orderBy: [asc('id')] }));
    const { data } = await runPlan(database, plan, {
      session: { role: 'user', variables, mayUseBackendOnly: false },
    });
    return (data as { all: { id: number }[] }).all.map(({ id }) => id);
  };
  const texts = (...values: string[]) =>
    ({ kind: 'constant', value: values, type: arrayOf(textType) }) as const;
  const title = (operator: OperatorName, pattern: string) =>
    compare('title', operator, constant(pattern, textType), textType);
  const tags = (operator: OperatorName, value: string) =>
    compare('tags', operator, constant(value, jsonb), jsonb);

  test.each<[string, Predicate, number[]]>([
    ['_eq', title('_eq', 'beta'), [2]],
    ['_neq: a null is neither', title('_neq', 'beta'), [1, 4]],
    ['_gt', compare('pages', '_gt', constant('5')), [2]],
    ['_gte', compare('pages', '_gte', constant('5')), [1, 2]],
    ['_lt', compare('pages', '_lt', constant('5')), [4]],
    ['_lte', compare('pages', '_lte', constant('5')), [1, 4]],
    ['_in', compare('title', '_in', texts('beta', 'Alpha', "x' or 'y'='y"), textType), [1, 2]],
    ['_in nothing', compare('title', '_in', texts(), textType), []],
    ['_nin', compare('title', '_nin', texts('beta'), textType), [1, 4]],
    ['_nin nothing', compare('title', '_nin', texts(), textType), [1, 2, 3, 4]],
    ['_like', title('_like', '%a'), [1, 2]],
    ['_like of an escaped percent sign', title('_like', '100\\%'), [4]],
    ['_nlike', title('_nlike', '%a'), [4]],
    ['_ilike', title('_ilike', 'ALP%'), [1]],
    ['_nilike', title('_nilike', 'ALP%'), [2, 4]],
    ['_similar', title('_similar', '(Alpha|beta)'), [1, 2]],
    ['_nsimilar', title('_nsimilar', '(Alpha|beta)'), [4]],
    ['_regex', title('_regex', '^[a-z]+$'), [2]],
    ['_nregex', title('_nregex', '^[a-z]+$'), [1, 4]],
    ['_iregex', title('_iregex', '^[a-z]+$'), [1, 2]],
    ['_niregex', title('_niregex', '^[a-z]+$'), [4]],
    ['_contains', tags('_contains', '{"b": [2]}'), [1]],
    ['_contained_in', tags('_contained_in', '["x", "y", "z"]'), [2]],
    ['_has_key', compare('tags', '_has_key', constant('c', textType), jsonb), [4]],
    ['_has_keys_any', compare('tags', '_has_keys_any', texts('x', 'c'), jsonb), [2, 4]],
    ['_has_keys_all', compare('tags', '_has_keys_all', texts('a', 'b'), jsonb), [1]],
  ])('%s', async (_name, where, ids) => {
    expect(await idsOf('book', where)).toEqual(ids);
  });

  test('the negation of an or', async () => {
    const any = [title('_eq', 'beta'), title('_eq', 'Alpha')];
    expect(await idsOf('book', { kind: 'not', not: { kind: 'or', any } })).toEqual([4]);
  });

  test('a related row, and by its absence', async () => {
    const where: Predicate = {
      kind: 'related',
      join: many('book', 'id', 'author_id'),
      where: compare('pages', '_gt', constant('4')),
    };
    expect(await idsOf('author', where)).toEqual([1]);
    expect(await idsOf('author', { kind: 'not', not: where })).toEqual([2, 3]);
  });

  test('a column of the root row, two relationships away', async () => {
    // Authors who have a book whose author's score is that of the author at the root: all with a score.
    const score = compare('score', '_eq', { kind: 'column', column: 'score', scope: 'root', type: int4 });
    const ofBook: Predicate = { kind: 'related', join: to('author', 'author_id', 'id'), where: score };
    expect(
      await idsOf('author', { kind: 'related', join: many('book', 'id', 'author_id'), where: ofBook }),
    ).toEqual([1, 3]);
  });

  test('the existence of a row in a table that is not related', async () => {
    const exists: Predicate = {
      kind: 'exists',
      table: named('author'),
      where: {
        kind: 'and',
        all: [
          compare('id', '_eq', session('x-engine-user-id')),
          compare('score', '_gt', { kind: 'column', column: 'pages', scope: 'root', type: int4 }),
        ],
      },
    };
    expect(await idsOf('book', exists, { 'x-engine-user-id': '1' })).toEqual([1, 4]);
    expect(await idsOf('book', exists, { 'x-engine-user-id': '2' })).toEqual([]);
  });

  test('a session variable that tries to be SQL: a value that does not parse', async () => {
    const where = compare('id', '_eq', session('x-engine-user-id'));
    await expect(idsOf('book', where, { 'x-engine-user-id': '1 or true' })).rejects.toMatchObject({
      code: '22P02',
    });
  });
});
