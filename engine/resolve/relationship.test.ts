/** Relationships: over our keys, over theirs, over columns named by hand; and the ways they can be wrong. */
import { expect, test } from 'vitest';
import type { Table } from '../metadata/schema/table.ts';
import { AUTHORS, catalogOf, resolveTables, tableIn } from './testing/small-world.ts';

const ARTICLE = { schema: 'public', name: 'article' };
const AUTHOR = { schema: 'public', name: 'author' };
const PROFILE = { schema: 'public', name: 'profile' };
const ALL = { author: {}, article: {}, profile: {} };

const objectOn = (name: string, ...columns: string[]): Partial<Table> => ({
  object_relationships: [{ name, using: { foreign_key_constraint_on: columns } }],
});
const arrayOn = (name: string, table: typeof ARTICLE, ...columns: string[]): Partial<Table> => ({
  array_relationships: [{ name, using: { foreign_key_constraint_on: { table, columns } } }],
});
const manual = (remote_table: typeof ARTICLE, column_mapping: Record<string, string>): Partial<Table> => ({
  object_relationships: [
    { name: 'by_hand', using: { manual_configuration: { remote_table, column_mapping } } },
  ],
});

test('over its own foreign key a row has exactly one other, none only where the column is null', () => {
  const { table } = resolveTables({
    ...ALL,
    article: {
      object_relationships: [
        { name: 'author', using: { foreign_key_constraint_on: ['author_id'] }, comment: 'who wrote it' },
        { name: 'editor', using: { foreign_key_constraint_on: ['editor_id'] } },
      ],
    },
  });
  expect(table('article').relationships.get('author')).toEqual({
    kind: 'object',
    name: 'author',
    join: { table: AUTHOR, mapping: [['author_id', 'id']], isUnique: true },
    isNullable: false,
    insertion: 'before',
    comment: 'who wrote it',
  });
  expect(table('article').relationships.get('editor')!.isNullable).toBe(true);
});

test('over the other’s foreign key a row has many', () => {
  const { table } = resolveTables({ ...ALL, author: arrayOn('articles', ARTICLE, 'author_id') });
  expect(table('author').relationships.get('articles')).toMatchObject({
    kind: 'array',
    join: { table: ARTICLE, mapping: [['id', 'author_id']], isUnique: false },
  });
});

test('or one, where the other’s columns are unique', () => {
  const { table } = resolveTables({
    ...ALL,
    author: {
      object_relationships: [
        {
          name: 'profile',
          using: { foreign_key_constraint_on: { table: PROFILE, columns: ['author_id'] } },
        },
      ],
    },
  });
  expect(table('author').relationships.get('profile')).toMatchObject({
    kind: 'object',
    join: { table: PROFILE, mapping: [['id', 'author_id']], isUnique: true },
    isNullable: true,
  });
});

test('columns named by hand join at most one row when they cover a key', () => {
  const { table } = resolveTables({ ...ALL, article: manual(AUTHOR, { title: 'name', editor_id: 'id' }) });
  expect(table('article').relationships.get('by_hand')!.join).toEqual({
    table: AUTHOR,
    mapping: [
      ['title', 'name'],
      ['editor_id', 'id'],
    ],
    isUnique: true,
  });
  const loose = resolveTables({ ...ALL, article: manual(AUTHOR, { title: 'name' }) });
  expect(loose.table('article').relationships.get('by_hand')!.join.isUnique).toBe(false);
});

test('columns named by hand may match several rows when `=` is not the comparison of the key', () => {
  const catalog = (type: string) =>
    catalogOf(tableIn('page', { id: 'int8!' }, { primaryKey: ['id'] }), tableIn('note', { page: type }, {}));
  const target = { schema: 'public', name: 'page' };
  const isUnique = (type: string) => {
    const { table } = resolveTables({ page: {}, note: manual(target, { page: 'id' }) }, catalog(type));
    return table('note').relationships.get('by_hand')!.join.isUnique;
  };
  expect(['int8', 'int4', 'numeric', 'float8', 'float4'].map(isUnique)).toEqual([
    true,
    true,
    true,
    false,
    false,
  ]);
});

test('a table that others inherit from may have several rows of one key', () => {
  const tables = [...AUTHORS.tables.values()];
  const catalog = catalogOf(
    ...tables.map((each) => (each.name === 'author' ? { ...each, isParent: true as const } : each)),
  );
  const { table } = resolveTables({ ...ALL, article: objectOn('author', 'author_id') }, catalog);
  expect(table('article').relationships.get('author')!.join.isUnique).toBe(false);
  const byHand = resolveTables({ ...ALL, article: manual(AUTHOR, { author_id: 'id' }) }, catalog);
  expect(byHand.table('article').relationships.get('by_hand')!.join.isUnique).toBe(false);
});

test('a composite key is found in any order and paired as it was declared', () => {
  const catalog = catalogOf(
    tableIn('page', { book: 'int4!', nr: 'int4!' }, { primaryKey: ['book', 'nr'] }),
    tableIn('note', { p: 'int4', b: 'int4' }, { foreignKeys: [[['b', 'p'], 'page', ['book', 'nr']]] }),
  );
  const { table } = resolveTables({ page: {}, note: objectOn('page', 'p', 'b') }, catalog);
  expect(table('note').relationships.get('page')!.join.mapping).toEqual([
    ['b', 'book'],
    ['p', 'nr'],
  ]);
  const half = resolveTables({ page: {}, note: objectOn('page', 'b') }, catalog);
  expect(half.reasons[0]).toContain('no foreign constraint exists on the given column(s)');
});

test('a column without a foreign key makes an inconsistent relationship', () => {
  const { inconsistencies, table } = resolveTables({ ...ALL, article: objectOn('author', 'title') });
  expect(inconsistencies).toMatchObject([
    {
      type: 'object_relation',
      name: 'object_relation author in table article in source default',
      reason:
        'Inconsistent object: in table "article": in relationship "author": ' +
        'no foreign constraint exists on the given column(s)',
      definition: {
        using: { foreign_key_constraint_on: 'title' },
        name: 'author',
        source: 'default',
        comment: null,
        table: ARTICLE,
      },
      key: 'object_relationship/default/public/article/author',
    },
  ]);
  const { cause } = inconsistencies[0]!;
  expect([cause!.codeIn('specification'), cause!.messageIn('specification')]).toEqual([
    'constraint-error',
    'no foreign constraint exists on the given column',
  ]);
  expect(cause!.messageIn('newer')).toBe(inconsistencies[0]!.reason);
  expect(table('article').relationships.size).toBe(0);
  expect(table('article').columns).not.toHaveLength(0);
});

test('a foreign key of theirs to somebody else is none of ours', () => {
  const { reasons, inconsistencies } = resolveTables({
    ...ALL,
    profile: arrayOn('articles', ARTICLE, 'author_id'),
  });
  expect(reasons).toEqual([
    'Inconsistent object: in table "profile": in relationship "articles": ' +
      'no foreign constraint exists on the given column(s)',
  ]);
  expect(inconsistencies[0]!.definition).toMatchObject({
    using: { foreign_key_constraint_on: { column: 'author_id', table: ARTICLE } },
  });
});

test('two foreign keys over the same columns are ambiguous', () => {
  const catalog = catalogOf(
    tableIn('a', { id: 'int4!' }, { primaryKey: ['id'] }),
    tableIn('b', { id: 'int4!' }, { primaryKey: ['id'] }),
    tableIn(
      'c',
      { x: 'int4' },
      {
        foreignKeys: [
          [['x'], 'a', ['id']],
          [['x'], 'b', ['id']],
        ],
      },
    ),
  );
  expect(resolveTables({ a: {}, b: {}, c: objectOn('r', 'x') }, catalog).reasons[0]).toContain(
    'more than one foreign key constraint exists on the given column(s)',
  );
  const theirs = resolveTables(
    { a: arrayOn('cs', { schema: 'public', name: 'c' }, 'x'), b: {}, c: {} },
    catalog,
  );
  expect(theirs.reasons).toEqual([]);
});

test('a table that is not tracked cannot be reached', () => {
  const own = resolveTables({ article: objectOn('author', 'author_id') });
  expect(own.reasons).toEqual(['Inconsistent object: table "author" is not tracked']);
  const theirs = resolveTables({ author: arrayOn('articles', ARTICLE, 'author_id') });
  expect(theirs.reasons).toEqual([
    'Inconsistent object: in table "author": in relationship "articles": ' +
      'table "article" does not exist in source: default',
  ]);
  const byHand = resolveTables({ article: manual(AUTHOR, { title: 'name' }) });
  expect(byHand.reasons).toEqual(['Inconsistent object: table "author" is not tracked']);
});

test('unknown columns are named', () => {
  const reason = (entries: Parameters<typeof resolveTables>[0]) =>
    resolveTables({ ...ALL, ...entries }).reasons[0];
  expect(reason({ article: objectOn('author', 'nope') })).toContain('column "nope" does not exist');
  expect(reason({ author: arrayOn('articles', ARTICLE, 'nope') })).toContain('column "nope" does not exist');
  expect(reason({ article: manual(AUTHOR, { nope: 'id' }) })).toContain('column "nope" does not exist');
  expect(reason({ article: manual(AUTHOR, { id: 'nope' }) })).toContain('column "nope" does not exist');
});

test('a mapping of no columns would join everything with everything and is refused', () => {
  expect(resolveTables({ ...ALL, article: manual(AUTHOR, {}) }).reasons).toHaveLength(1);
});

test('a relationship cannot take a column’s name, nor another relationship’s', () => {
  const column = resolveTables({ ...ALL, article: objectOn('title', 'author_id') });
  expect(column.reasons).toEqual(['Inconsistent object: field definition conflicts with postgres column']);
  const custom = resolveTables({
    ...ALL,
    article: {
      ...objectOn('Writer', 'author_id'),
      configuration: { column_config: { id: { custom_name: 'Writer' } } },
    },
  });
  expect(custom.reasons).toEqual([
    'Inconsistent object: field definition conflicts with custom field name for postgres column "id"',
  ]);
  expect(custom.inconsistencies[0]!.cause!.codeIn('specification')).toBe('invalid-configuration');
  const twice = resolveTables({
    ...ALL,
    author: {
      object_relationships: [
        { name: 'x', using: { foreign_key_constraint_on: { table: PROFILE, columns: ['author_id'] } } },
      ],
      ...arrayOn('x', ARTICLE, 'author_id'),
    },
  });
  expect(twice.inconsistencies.map((i) => i.type)).toEqual(['array_relation']);
  expect(twice.table('author').relationships.get('x')!.kind).toBe('object');
});

test('a relationship to a native query that is not tracked is refused, and so is one to two targets', () => {
  const to = (manual: object) => {
    const using = { manual_configuration: { ...manual, column_mapping: { id: 'id' } } };
    const article = { array_relationships: [{ name: 'similar', using }] };
    return resolveTables({ ...ALL, article }).reasons;
  };
  const where = 'Inconsistent object: in table "article": in relationship "similar": ';
  expect(to({ remote_native_query: 'similar' })).toEqual([
    `${where}Native query "similar" not found in source "default".`,
  ]);
  const both = { remote_native_query: 'similar', remote_table: { schema: 'public', name: 'author' } };
  expect(to(both)[0]).toContain('and not both');
  expect(to({})[0]).toContain('must be given');
});
