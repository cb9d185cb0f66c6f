/** Names of tables and root fields. */
import { expect, test } from 'vitest';
import type { TableConfiguration } from '../metadata/schema/table.ts';
import { isGraphqlName, namesOf as namesBy } from './names.ts';
import { namingOf } from './naming.ts';
import { catalogOf, resolveTables, tableIn } from './testing/small-world.ts';

const namesOf = (table: { schema: string; name: string }, configuration?: TableConfiguration) =>
  namesBy(table, configuration, namingOf(undefined, undefined));

const author = { schema: 'public', name: 'author' };
const rootNames = (...args: Parameters<typeof namesOf>) =>
  Object.values(namesOf(...args).rootFields).map((field) => field.name);

test('a table in public goes by its own name', () => {
  expect(namesOf(author, undefined).typeName).toBe('author');
  expect(rootNames(author, undefined)).toEqual([
    'author',
    'author_by_pk',
    'author_aggregate',
    'author_stream',
    'insert_author',
    'insert_author_one',
    'update_author',
    'update_author_by_pk',
    'update_author_many',
    'delete_author',
    'delete_author_by_pk',
  ]);
});

test('a table elsewhere has its schema in front', () => {
  expect(namesOf({ schema: 'sales', name: 'order' }, undefined).typeName).toBe('sales_order');
});

test('a custom name takes the place of both', () => {
  expect(rootNames({ schema: 'sales', name: 'order' }, { custom_name: 'Purchase' })[1]).toBe(
    'Purchase_by_pk',
  );
});

test('a root field may be named, or named and described', () => {
  const { rootFields } = namesOf(author, {
    custom_root_fields: {
      select: 'authors',
      select_by_pk: { name: 'oneAuthor', comment: 'just one' },
      insert: { comment: 'adds' },
      delete: null,
    },
  });
  expect(rootFields.select).toEqual({
    name: 'authors',
    description: 'fetch data from the table: "author"',
  });
  expect(rootFields.select_by_pk).toEqual({ name: 'oneAuthor', description: 'just one' });
  expect(rootFields.insert).toEqual({ name: 'insert_author', description: 'adds' });
  expect(rootFields.delete.name).toBe('delete_author');
});

test('GraphQL’s own prefix and other alphabets are no names', () => {
  expect(['a', '_a', 'A1_'].every(isGraphqlName)).toBe(true);
  expect(['', '__a', '1a', 'a b', 'ä', 'a-b'].some(isGraphqlName)).toBe(false);
});

test('a table that GraphQL cannot name is outside every schema until it has a custom name', () => {
  const catalog = catalogOf(tableIn('order line', { id: 'int4' }));
  const unnamed = resolveTables({ 'order line': {} }, catalog);
  expect(unnamed.reasons).toEqual([]);
  expect(unnamed.table('order line').isUnnameable).toBe(true);
  const named = resolveTables({ 'order line': { configuration: { custom_name: 'line' } } }, catalog);
  expect(named.reasons).toEqual([]);
});

test('a table cannot be called like a type every schema has', () => {
  const catalog = catalogOf(
    ...['order_by', 'Int', 'uuid_comparison_exp'].map((name) => tableIn(name, { id: 'int4' })),
  );
  const { reasons } = resolveTables({ order_by: {}, Int: {}, uuid_comparison_exp: {} }, catalog);
  expect(reasons).toEqual([
    'Inconsistent object: "order_by" is a type of the GraphQL schema itself',
    'Inconsistent object: "Int" is a type of the GraphQL schema itself',
    'Inconsistent object: "uuid_comparison_exp" is a type of the GraphQL schema itself',
  ]);
});
