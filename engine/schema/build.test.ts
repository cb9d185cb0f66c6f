/** What a role's schema shows, and what it hides. */
import {
  type GraphQLNamedType,
  type GraphQLObjectType,
  isInputObjectType,
  isObjectType,
  validateSchema,
} from 'graphql';
import { expect, test } from 'vitest';
import type { Table } from '../metadata/schema/table.ts';
import { AUTHORS, catalogOf, resolveTables, tableIn } from '../resolve/testing/small-world.ts';
import { type RoleSchema, roleSchema } from './role-schemas.ts';

const VIEW = tableIn('author_view', { id: 'int4', name: 'text' }, { kind: 'view', isReadOnly: true });

const select = (role: string, columns: '*' | string[], rest: object = {}) => ({
  role,
  permission: { columns, filter: {}, ...rest },
});

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
      select('reader', ['name']),
      select('owner', '*', { filter: { id: { _eq: 'X-Engine-User-Id' } } }),
      select('nested', '*', { query_root_fields: ['select_by_pk'], subscription_root_fields: [] }),
    ],
  },
  article: {
    object_relationships: [
      { name: 'author', using: { foreign_key_constraint_on: ['author_id'] } },
      { name: 'editor', using: { foreign_key_constraint_on: ['editor_id'] } },
    ],
    select_permissions: [select('owner', ['id', 'title']), select('alone', ['id'])],
    insert_permissions: [{ role: 'writer', permission: { columns: ['title'], check: {} } }],
  },
  author_view: {},
};

const resolved = resolveTables(TABLES, catalogOf(...AUTHORS.tables.values(), VIEW));
const { model } = resolved;
const as = (role: string): RoleSchema => roleSchema(model, role, false);

/** `name: Type` of every field, with the arguments' names. */
function shapeOf(type: GraphQLNamedType | null | undefined): Record<string, string> {
  if (!isObjectType(type) && !isInputObjectType(type)) return {};
  return Object.fromEntries(Object.values(type.getFields()).map((field) => [field.name, String(field.type)]));
}
const names = (type: GraphQLObjectType | null) => Object.keys(type?.getFields() ?? {}).sort();
const typeOf = (role: string, name: string) => as(role).schema().getType(name);

test('the schema of every role is a valid one', () => {
  for (const role of ['admin', 'reader', 'owner', 'nested', 'writer', 'nobody']) {
    const problems = validateSchema(roleSchema(model, role, false).schema());
    expect(
      problems.map(({ message }) => message),
      role,
    ).toEqual([]);
  }
});

test('roots by key need all of the key', () => {
  expect(names(as('owner').roots.query)).toEqual(['article', 'article_by_pk', 'author', 'author_by_pk']);
  expect(names(as('reader').roots.query)).toEqual(['author']);
  expect(names(as('admin').roots.query)).toContain('author_view');
  expect(names(as('admin').roots.query)).not.toContain('author_view_by_pk');
});

test('root fields that came late can be hidden', () => {
  const features = new Set(['hide_update_many_fields', 'hide_stream_fields']);
  const { query, mutation, subscription } = roleSchema({ ...model, features }, 'admin', true).roots;
  expect(names(as('admin').roots.mutation)).toContain('update_author_many');
  expect(names(as('admin').roots.subscription)).toContain('author_stream');
  expect(names(mutation)).toContain('update_author_by_pk');
  expect(names(mutation).filter((name) => name.endsWith('_many'))).toEqual([]);
  expect(names(subscription)).toEqual(names(query));
});

test('the directives of a schema are those a request may use', () => {
  const { directives } = as('nobody').schema().toConfig();
  const told = directives.map(
    ({ name, args }) => `${name}(${args.map((arg) => `${arg.name}: ${arg.type}`)})`,
  );
  expect(told).toEqual([
    'include(if: Boolean!)',
    'skip(if: Boolean!)',
    'cached(ttl: Int!,refresh: Boolean!)',
  ]);
});

test('a permission chooses its roots; relationships still reach the table', () => {
  expect(names(as('nested').roots.query)).toEqual(['author_by_pk']);
  expect(as('nested').roots.subscription).toBeNull();
});

test('a role that may read nothing is told so', () => {
  expect(names(as('writer').roots.query)).toEqual(['no_queries_available']);
  expect(names(as('nobody').roots.query)).toEqual(['no_queries_available']);
  expect(as('nobody').roots.mutation).toBeNull();
  expect(names(as('writer').roots.mutation)).toEqual(['insert_article']);
});

test('columns and relationships appear as nullable as they are', () => {
  expect(shapeOf(typeOf('admin', 'article'))).toEqual({
    author: 'author!',
    author_id: 'Int!',
    editor: 'author',
    editor_id: 'Int',
    id: 'Int!',
    is_published: 'Boolean',
    title: 'String!',
  });
  expect(shapeOf(typeOf('admin', 'author'))).toMatchObject({
    articles: '[article!]!',
    tags: '[String!]',
    meta: 'jsonb',
  });
  expect(shapeOf(typeOf('admin', 'author_view'))).toEqual({ id: 'Int', name: 'String' });
});

test('an object that a filter may hide is nullable, whatever the foreign key says', () => {
  expect(shapeOf(typeOf('owner', 'article'))).toEqual({
    author: 'author',
    id: 'Int!',
    title: 'String!',
    editor: 'author',
  });
});

test('relationships to tables a role may not read do not exist for it, nor do conditions and orders on them', () => {
  expect(shapeOf(typeOf('reader', 'author'))).toEqual({ name: 'String!' });
  expect(Object.keys(shapeOf(typeOf('reader', 'author_bool_exp')))).toEqual(['_and', '_not', '_or', 'name']);
  expect(shapeOf(typeOf('alone', 'article'))).toEqual({ id: 'Int!' });
  expect(shapeOf(typeOf('alone', 'article_order_by'))).toEqual({ id: 'order_by' });
  expect(typeOf('alone', 'author')).toBeUndefined();
});

test('rows take the same arguments at the root and in a relationship', () => {
  const args = (type: GraphQLObjectType | null, field: string) =>
    Object.fromEntries(type!.getFields()[field]!.args.map((each) => [each.name, String(each.type)]));
  const expected = {
    distinct_on: '[article_select_column!]',
    limit: 'Int',
    offset: 'Int',
    order_by: '[article_order_by!]',
    where: 'article_bool_exp',
  };
  expect(args(as('admin').roots.query, 'article')).toEqual(expected);
  expect(args(typeOf('admin', 'author') as GraphQLObjectType, 'articles')).toEqual(expected);
  expect(args(as('admin').roots.query, 'article_by_pk')).toEqual({ id: 'Int!' });
  expect(args(typeOf('admin', 'author') as GraphQLObjectType, 'meta')).toEqual({ path: 'String' });
});

test('an object relationship orders, an array relationship does not', () => {
  expect(shapeOf(typeOf('admin', 'article_order_by'))).toMatchObject({
    author: 'author_order_by',
    id: 'order_by',
  });
  expect(Object.keys(shapeOf(typeOf('admin', 'author_order_by')))).not.toContain('articles');
});

test('a column offers the operators of its family', () => {
  const text = [
    '_ilike',
    '_iregex',
    '_like',
    '_nilike',
    '_niregex',
    '_nlike',
    '_nregex',
    '_nsimilar',
    '_regex',
    '_similar',
  ];
  const generic = ['_eq', '_gt', '_gte', '_in', '_is_null', '_lt', '_lte', '_neq', '_nin'];
  const json = ['_contained_in', '_contains', '_has_key', '_has_keys_all', '_has_keys_any'];
  const operators = (name: string) => Object.keys(shapeOf(typeOf('admin', `${name}_comparison_exp`))).sort();
  expect(operators('Int')).toEqual(generic);
  expect(operators('String')).toEqual([...generic, ...text].sort());
  expect(operators('jsonb')).toEqual(['_cast', ...generic, ...json].sort());
  expect(shapeOf(typeOf('admin', 'jsonb_comparison_exp'))).toMatchObject({
    _contains: 'jsonb',
    _has_key: 'String',
    _has_keys_any: '[String!]',
    _in: '[jsonb!]',
    _is_null: 'Boolean',
  });
});

test('a schema is built once for a model and role, and roles nobody names share the empty one', () => {
  expect(as('owner')).toBe(as('owner'));
  expect(as('owner')).not.toBe(roleSchema(model, 'owner', true));
  expect(as('nobody')).toBe(as('no one'));
  expect(as('nobody').role).not.toBe('admin');
  expect(resolveTables(TABLES).model).not.toBe(model);
  expect(roleSchema(resolveTables(TABLES).model, 'owner', false)).not.toBe(as('owner'));
});
