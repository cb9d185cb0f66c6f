/** The grammar of permission conditions, and what a rule that is wrong is refused with. */
import { expect, test } from 'vitest';
import { arrayOf } from '../catalog/types.ts';
import { EngineError, printPath } from '../errors/engine-error.ts';
import { qualifiedKey } from '../metadata/schema/common.ts';
import { type BoolExpScope, resolveBoolExp } from './bool-exp.ts';
import { FALSE, type Leaf, type Predicate, TRUE } from './predicate.ts';
import { catalogOf, resolveTables, tableIn, typeOf } from './testing/small-world.ts';

const world = resolveTables({
  author: {
    array_relationships: [
      {
        name: 'articles',
        using: {
          foreign_key_constraint_on: {
            table: { schema: 'public', name: 'article' },
            columns: ['author_id'],
          },
        },
      },
    ],
    // The target's own permission must not get into anybody's condition.
    select_permissions: [{ role: 'user', permission: { columns: '*', filter: { id: 7 } } }],
  },
  article: {
    object_relationships: [{ name: 'author', using: { foreign_key_constraint_on: ['author_id'] } }],
  },
});
const tables = world.model.sources.get('default')!.tables;

const on = (name: string, condition: unknown): Predicate => {
  const table = world.table(name);
  const scope: BoolExpScope = { table, root: table, tables };
  return resolveBoolExp(condition, scope);
};
const constant = (value: string | null | string[], type: string): Leaf => ({
  kind: 'constant',
  value,
  type: typeOf(type),
});
const compare = (column: string, type: string, operator: string, right: unknown) => ({
  kind: 'compare',
  left: { column, type: typeOf(type) },
  operator,
  right,
});
const idIs = (value: string) => compare('id', 'int4', '_eq', constant(value, 'int4'));

test('the empty condition is true', () => {
  expect(on('author', {})).toBe(TRUE);
  expect(on('author', { _and: [] })).toBe(TRUE);
  expect(on('author', { _not: {} })).toBe(FALSE);
});

test('no alternative at all is false', () => {
  expect(on('author', { _or: [] })).toBe(FALSE);
});

test('a bare value is equality, in every spelling', () => {
  expect(on('author', { id: 1 })).toEqual(idIs('1'));
  expect(on('author', { id: { _eq: 1 } })).toEqual(idIs('1'));
  expect(on('author', { id: { $eq: 1 } })).toEqual(idIs('1'));
  expect(on('author', { id: [{ $eq: 1 }] })).toEqual(idIs('1'));
});

test('a bare null compares with null, which no row satisfies', () => {
  expect(on('author', { id: null })).toEqual(compare('id', 'int4', '_eq', constant(null, 'int4')));
});

test('a bare list is an array’s value', () => {
  expect(on('author', { tags: ['a', 'b'] })).toEqual(
    compare('tags', 'text[]', '_eq', constant(['a', 'b'], 'text[]')),
  );
});

test('keys of an object are conjoined', () => {
  expect(on('author', { id: { _gt: 1, _lt: 5 }, name: { _ne: 'x' } })).toEqual({
    kind: 'and',
    all: [
      compare('id', 'int4', '_gt', constant('1', 'int4')),
      compare('id', 'int4', '_lt', constant('5', 'int4')),
      compare('name', 'text', '_neq', constant('x', 'text')),
    ],
  });
});

test('logic nests, in both spellings', () => {
  expect(on('author', { $or: [{ id: 1 }, { $and: [{ id: 2 }, { $not: { id: 3 } }] }] })).toEqual({
    kind: 'or',
    any: [idIs('1'), { kind: 'and', all: [idIs('2'), { kind: 'not', not: idIs('3') }] }],
  });
  expect(on('author', { _or: { id: 1 } })).toEqual(idIs('1'));
});

test('a session variable is a leaf, not text', () => {
  expect(on('author', { id: { _eq: 'X-Engine-User-Id' } })).toEqual(
    compare('id', 'int4', '_eq', { kind: 'session', variable: 'x-engine-user-id', type: typeOf('int4') }),
  );
});

test('_in takes a list or a session variable that holds one', () => {
  expect(on('author', { id: { _in: [1, 2] } })).toEqual(
    compare('id', 'int4', '_in', constant(['1', '2'], 'int4[]')),
  );
  expect(on('author', { id: { $nin: 'x-engine-ids' } })).toEqual(
    compare('id', 'int4', '_nin', {
      kind: 'session',
      variable: 'x-engine-ids',
      type: arrayOf(typeOf('int4')),
    }),
  );
});

test('_is_null is a predicate of its own', () => {
  expect(on('author', { email: { _is_null: true } })).toEqual({
    kind: 'is-null',
    left: { column: 'email', type: typeOf('text') },
    isNull: true,
  });
});

test('json operators take text where they mean keys', () => {
  expect(on('author', { meta: { _contains: { a: 1 } } })).toEqual(
    compare('meta', 'jsonb', '_contains', constant('{"a":1}', 'jsonb')),
  );
  expect(on('author', { meta: { _has_key: 'a' } })).toEqual(
    compare('meta', 'jsonb', '_has_key', constant('a', 'text')),
  );
  expect(on('author', { meta: { _has_keys_any: ['a', 'b'] } })).toEqual(
    compare('meta', 'jsonb', '_has_keys_any', constant(['a', 'b'], 'text[]')),
  );
});

test('a relationship asks for a related row, without the role’s own filter there', () => {
  expect(on('article', { author: { id: 1 } })).toEqual({
    kind: 'related',
    join: { table: { schema: 'public', name: 'author' }, mapping: [['author_id', 'id']], isUnique: true },
    where: idIs('1'),
  });
  expect(on('author', { articles: {} })).toMatchObject({ kind: 'related', where: TRUE });
});

test('_exists asks any table of the source', () => {
  const expected = { kind: 'exists', table: { schema: 'public', name: 'author' }, where: idIs('1') };
  expect(on('article', { _exists: { _table: 'author', _where: { id: 1 } } })).toEqual(expected);
  expect(
    on('article', { $exists: { _table: { schema: 'public', name: 'author' }, _where: { id: 1 } } }),
  ).toEqual(expected);
});

test('a column may be compared with another of its row, or of the permission’s own table', () => {
  const column = (name: string, type: string, scope: string) => ({
    kind: 'column',
    column: name,
    scope,
    type: typeOf(type),
  });
  expect(on('article', { author_id: { _ceq: 'editor_id' } })).toEqual(
    compare('author_id', 'int4', '_eq', column('editor_id', 'int4', 'row')),
  );
  expect(on('article', { id: { $cgt: ['editor_id'] } })).toEqual(
    compare('id', 'int4', '_gt', column('editor_id', 'int4', 'row')),
  );
  expect(on('article', { author: { id: { _cne: ['$', 'editor_id'] } } })).toMatchObject({
    kind: 'related',
    where: compare('id', 'int4', '_neq', column('editor_id', 'int4', 'root')),
  });
  expect(
    on('article', { _exists: { _table: 'author', _where: { name: { _ceq: ['$', 'title'] } } } }),
  ).toMatchObject({ where: compare('name', 'text', '_eq', column('title', 'text', 'root')) });
});

test.for([
  ['day', 'moment', 'taken'],
  ['day', 'key', 'refused'],
  ['ints', 'ints', 'taken'],
  ['ints', 'bigints', 'refused'],
  ['n', 'big', 'taken'],
  ['key', 'key', 'taken'],
] as const)('%s and %s: Postgres has an = between them or the rule is refused', ([left, right, verdict]) => {
  const sample = tableIn('sample', {
    n: 'int4',
    big: 'int8',
    day: 'date',
    moment: 'timestamptz',
    key: 'uuid',
    ints: 'int4[]',
    bigints: 'int8[]',
  });
  const { table, model } = resolveTables({ sample: {} }, catalogOf(sample));
  const scope: BoolExpScope = {
    table: table('sample'),
    root: table('sample'),
    tables: model.sources.get('default')!.tables,
  };
  const compared = () => resolveBoolExp({ [left]: { _ceq: right } }, scope);
  if (verdict === 'taken') expect(compared()).toMatchObject({ kind: 'compare' });
  else expect(compared).toThrow(/incompatible column types/);
});

test.for([
  ['an unknown field', { nope: 1 }, 'not-exists', '$.nope'],
  ['a column of the other table', { title: 'x' }, 'not-exists', '$.title'],
  ['an unknown field behind a relationship', { articles: { nope: 1 } }, 'not-exists', '$.articles.nope'],
  ['an unknown logic word', { _xor: [] }, 'not-exists', '$._xor'],
  ['an unknown operator', { id: { _foo: 1 } }, 'unexpected-payload', '$.id._foo'],
  ['an operator without its mark', { id: { eq: 1 } }, 'unexpected-payload', '$.id.eq'],
  ['an operator of other types', { id: { _like: 'a' } }, 'unexpected-payload', '$.id._like'],
  ['a cast of a type that has none', { id: { _cast: { String: {} } } }, 'unexpected-payload', '$.id._cast'],
  [
    'a cast to a type there is none to',
    { meta: { _cast: { Int: {} } } },
    'unexpected-payload',
    '$.meta._cast',
  ],
  ['a value of the wrong kind', { _and: [{}, { id: true }] }, 'parse-failed', '$._and[1].id'],
  ['no list where one belongs', { id: { _in: 1 } }, 'parse-failed', '$.id._in'],
  ['no boolean for _is_null', { id: { _is_null: 'x-engine-a' } }, 'parse-failed', '$.id._is_null'],
  ['null for a condition', { _not: null }, 'parse-failed', '$._not'],
  ['null for a relationship', { articles: null }, 'parse-failed', '$.articles'],
  ['text for a condition', { _or: ['id'] }, 'parse-failed', '$._or[0]'],
  ['no column name', { id: { _ceq: 1 } }, 'unexpected-payload', '$.id._ceq'],
  ['an unknown column', { id: { _ceq: 'nope' } }, 'not-exists', '$.id._ceq'],
  ['an unknown root column', { id: { _ceq: ['$', 'title'] } }, 'not-exists', '$.id._ceq'],
  ['columns that do not compare', { id: { _ceq: 'name' } }, 'unexpected-payload', '$.id._ceq'],
  ['_exists without a table', { _exists: { _where: {} } }, 'parse-failed', '$._exists._table'],
  [
    '_exists over an untracked table',
    { _exists: { _table: 'profile', _where: {} } },
    'not-exists',
    '$._exists._table',
  ],
  ['_exists without a condition', { _exists: { _table: 'author' } }, 'parse-failed', '$._exists._where'],
] as const)('%s is refused, with its place', ([, condition, code, path]) => {
  let error: unknown;
  try {
    on('author', condition);
  } catch (raised) {
    error = raised;
  }
  expect(error).toBeInstanceOf(EngineError);
  expect([(error as EngineError).codeIn('specification'), printPath((error as EngineError).path)]).toEqual([
    code,
    path,
  ]);
});

test('a condition without end is refused before it fills the stack', () => {
  let condition: unknown = {};
  for (let i = 0; i < 50_000; i++) condition = { _not: condition };
  expect(() => on('author', condition)).toThrow('nested too deeply');
});

test('names of every object’s own properties are no columns', () => {
  for (const key of ['constructor', 'toString', '__proto__x']) {
    expect(() => on('author', { [key]: 1 }), key).toThrow(EngineError);
    expect(() => on('author', { id: { [key]: 1 } }), key).toThrow(EngineError);
  }
});

test('a cast compares the value as another type', () => {
  expect(on('author', { meta: { _cast: { String: { _like: '%x%' } } } })).toEqual({
    kind: 'compare',
    left: { column: 'meta', type: typeOf('text'), cast: typeOf('text') },
    operator: '_like',
    right: { ...constant('%x%', 'text'), pattern: 'like' },
  });
});

test('a relationship to a remote schema is refused by its name, at any depth', () => {
  const table = world.table('author');
  const to_remote_schema = { remote_schema: 'bills', lhs_fields: ['id'], remote_field: {} };
  const billing = { name: 'billing', definition: { to_remote_schema } };
  const remote = new Map([[qualifiedKey(table.table), [billing]]]);
  const scope: BoolExpScope = { table, root: table, tables, remote };
  expect(() => resolveBoolExp({ _not: { billing: { paid: true } } }, scope)).toThrow(
    'a permission cannot ask the remote relationship "billing"',
  );
});
