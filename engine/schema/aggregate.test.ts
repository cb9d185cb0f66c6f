/** Which aggregates a role is shown. */
import { type GraphQLObjectType, isInputObjectType, isObjectType, validateSchema } from 'graphql';
import { expect, test } from 'vitest';
import type { Table } from '../metadata/schema/table.ts';
import type { ResolvedFunction } from '../resolve/model/function.ts';
import type { Model } from '../resolve/model/model.ts';
import { AUTHORS, catalogOf, resolveTables, tableIn } from '../resolve/testing/small-world.ts';
import { roleSchema } from './role-schemas.ts';

const permission = (role: string, columns: '*' | string[], rest: object = {}) => ({
  role,
  permission: { columns, filter: {}, ...rest },
});
const counting = { allow_aggregations: true };

const TABLES: Readonly<Record<string, Partial<Table>>> = {
  author: {
    array_relationships: [
      {
        name: 'articles',
        using: {
          foreign_key_constraint_on: { table: { schema: 'public', name: 'article' }, columns: ['author_id'] },
        },
      },
    ],
    select_permissions: [
      permission('counter', ['id', 'name'], counting),
      permission('reader', ['id', 'name']),
      permission('rowless', ['id'], {
        ...counting,
        query_root_fields: ['select'],
        subscription_root_fields: [],
      }),
    ],
  },
  article: {
    configuration: { custom_root_fields: { select_aggregate: 'articleStatistics' } },
    object_relationships: [{ name: 'author', using: { foreign_key_constraint_on: ['author_id'] } }],
    select_permissions: [permission('counter', ['title'], counting), permission('reader', '*')],
  },
  sample: { select_permissions: [permission('counter', [], counting)] },
};
const SAMPLE = tableIn('sample', {
  id: 'int8!',
  key: 'uuid',
  exact: 'numeric',
  ratio: 'float4',
  day: 'date',
  is_on: 'bool',
  raw: 'json',
  data: 'jsonb',
  tags: 'text[]',
  area: 'box',
  odd: { type: { schema: 'public', name: 'range', kind: 'range', element: null, base: null } },
  mood: { type: { schema: 'public', name: 'mood', kind: 'enum', element: null, base: null } },
});
const { model } = resolveTables(TABLES, catalogOf(...AUTHORS.tables.values(), SAMPLE));

const as = (role: string, of: Model = model) => roleSchema(of, role, false);
const roots = (role: string, of: Model = model) => Object.keys(as(role, of).roots.query.getFields());
function fields(role: string, name: string): Record<string, string> {
  const type = as(role).schema().getType(name);
  if (!isObjectType(type) && !isInputObjectType(type)) return {};
  return Object.fromEntries(Object.values(type.getFields()).map((field) => [field.name, String(field.type)]));
}

test('only who may aggregate has the root, under its custom name, in queries and subscriptions', () => {
  expect(roots('counter')).toEqual(expect.arrayContaining(['author_aggregate', 'articleStatistics']));
  expect(roots('admin')).toContain('sample_aggregate');
  expect(Object.keys(as('counter').roots.subscription!.getFields())).toContain('author_aggregate');
  expect(roots('reader')).toEqual(['author', 'author_by_pk', 'article', 'article_by_pk']);
  expect(as('reader').schema().getType('author_aggregate')).toBeUndefined();
});

test('a permission that lists root fields lists this one too', () => {
  expect(roots('rowless')).toEqual(['author']);
});

test('a relationship has its aggregate where the other table may be aggregated', () => {
  expect(fields('counter', 'author')).toMatchObject({ articles_aggregate: 'article_aggregate!' });
  expect(fields('counter', 'author_order_by')).toMatchObject({
    articles_aggregate: 'article_aggregate_order_by',
  });
  expect(fields('reader', 'author')).not.toHaveProperty('articles_aggregate');
  expect(fields('reader', 'author_order_by')).not.toHaveProperty('articles_aggregate');
  expect(Object.keys(fields('admin', 'article')).filter((name) => name.endsWith('aggregate'))).toEqual([]);
});

test('sums keep the column’s type, statistics are floats, extremes need an order', () => {
  expect(fields('admin', 'sample_aggregate')).toEqual({
    aggregate: 'sample_aggregate_fields',
    nodes: '[sample!]!',
  });
  const sums = { id: 'bigint', exact: 'numeric', ratio: 'Float' };
  expect(fields('admin', 'sample_sum_fields')).toEqual(sums);
  expect(fields('admin', 'sample_var_pop_fields')).toEqual({ id: 'Float', exact: 'Float', ratio: 'Float' });
  expect(fields('admin', 'sample_max_fields')).toEqual({
    ...sums,
    key: 'uuid',
    day: 'date',
    tags: '[String!]',
    mood: 'mood',
  });
  expect(Object.keys(fields('admin', 'article_min_order_by')).sort()).toEqual([
    'author_id',
    'editor_id',
    'id',
    'title',
  ]);
});

test('columns a role may not read are in none of it', () => {
  expect(fields('counter', 'article_aggregate_fields')).toEqual({
    count: 'Int!',
    max: 'article_max_fields',
    min: 'article_min_fields',
  });
  expect(fields('counter', 'article_max_fields')).toEqual({ title: 'String' });
  expect(fields('counter', 'article_aggregate_order_by')).not.toHaveProperty('sum');
});

test('without columns there is a count, which takes none', () => {
  const type = as('counter').schema().getType('sample_aggregate_fields') as GraphQLObjectType;
  expect(fields('counter', 'sample_aggregate_fields')).toEqual({ count: 'Int!' });
  expect(type.getFields()['count']!.args.map(({ name }) => name)).toEqual(['distinct']);
  const other = as('counter').schema().getType('author_aggregate_fields') as GraphQLObjectType;
  expect(other.getFields()['count']!.args.map(({ name, type: of }) => `${name}: ${of}`)).toEqual([
    'columns: [author_select_column!]',
    'distinct: Boolean',
  ]);
});

test('a function that answers a query with rows has an aggregate for those who may aggregate them', () => {
  const search: ResolvedFunction = {
    source: 'default',
    function: { schema: 'public', name: 'search' },
    argsTypeName: 'search_args',
    rootField: 'search',
    aggregateRootField: 'found',
    description: null,
    returns: { schema: 'public', name: 'author' },
    returnsSet: true,
    exposedAs: 'query',
    isVolatile: false,
    isForReaders: true,
    arguments: [],
    roles: new Set(),
  };
  const withFunction = (fn: Partial<ResolvedFunction>): Model => {
    const source = model.sources.get('default')!;
    const functions = new Map([['search', { ...search, ...fn }]]);
    return { ...model, sources: new Map([['default', { ...source, functions }]]) };
  };
  expect(roots('counter', withFunction({}))).toEqual(expect.arrayContaining(['search', 'found']));
  expect(roots('reader', withFunction({}))).not.toContain('found');
  expect(roots('admin', withFunction({ returnsSet: false }))).toContain('found');
  const mutation = as('admin', withFunction({ exposedAs: 'mutation' })).roots.mutation!;
  expect(Object.keys(mutation.getFields())).toContain('search');
  expect(Object.keys(mutation.getFields())).not.toContain('found');
});

test('the schema stays valid', () => {
  expect(validateSchema(as('admin').schema())).toEqual([]);
});
