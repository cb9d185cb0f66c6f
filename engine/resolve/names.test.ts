/** Names of tables and root fields, and what happens when two tables want the same one. */
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

test('a table GraphQL cannot name needs a custom name', () => {
  const catalog = catalogOf(tableIn('order line', { id: 'int4' }));
  expect(resolveTables({ 'order line': {} }, catalog).reasons).toEqual([
    'Inconsistent object: cannot include "order line" in the GraphQL schema because "order line" ' +
      'is not a valid GraphQL identifier',
  ]);
  const named = resolveTables({ 'order line': { configuration: { custom_name: 'line' } } }, catalog);
  expect(named.reasons).toEqual([]);
});

const USERS = catalogOf(
  tableIn('user', { id: 'int4!' }, { primaryKey: ['id'] }),
  tableIn('users', { id: 'int4!' }, { primaryKey: ['id'] }),
);

test('of two tables that define one field, the later is left out', () => {
  const { inconsistencies, table } = resolveTables(
    { user: {}, users: { configuration: { custom_root_fields: { select_by_pk: 'user' } } } },
    USERS,
  );
  expect(table('user')).toBeDefined();
  expect(table('users')).toBeUndefined();
  const text =
    "Encountered conflicting definitions in the selection set for 'subscription_root' for field 'user' " +
    'defined in [table user in source default, table users in source default]. ' +
    'Fields must not be defined more than once across all sources.';
  expect(inconsistencies.map(({ name, reason }) => [name, reason])).toEqual([
    ['table users in source default', `Inconsistent object: ${text}`],
  ]);
  const { cause } = inconsistencies[0]!;
  expect([cause!.status, cause!.codeIn('newer'), cause!.messageIn('specification')]).toEqual([
    500,
    'unexpected',
    text,
  ]);
});

test('several fields in conflict are listed together', () => {
  const { reasons } = resolveTables({ user: {}, users: { configuration: { custom_name: 'user' } } }, USERS);
  expect(reasons[0]).toContain("for 'mutation_root' for fields: [\n  'delete_user_by_pk' defined in [");
  expect(reasons[0]).toContain("],\n  'insert_user' defined in [");
  expect(reasons[0]).toContain(']\n]. Fields must');
});

test('a table may be in conflict with itself', () => {
  const { reasons } = resolveTables(
    { user: { configuration: { custom_root_fields: { select_by_pk: 'user' } } } },
    USERS,
  );
  expect(reasons).toHaveLength(1);
});

test('fields that are not offered are in nobody’s way', () => {
  const keyless = catalogOf(tableIn('user', { id: 'int4' }), tableIn('user_by_pk', { id: 'int4' }));
  expect(resolveTables({ user: {}, user_by_pk: {} }, keyless).reasons).toEqual([]);
});

test('two tables cannot share a type even when their fields differ', () => {
  const fields = (prefix: string) =>
    Object.fromEntries(
      Object.keys(namesOf(author, undefined).rootFields).map((kind) => [kind, `${prefix}_${kind}`]),
    );
  const { reasons } = resolveTables(
    { user: {}, users: { configuration: { custom_name: 'user', custom_root_fields: fields('x') } } },
    USERS,
  );
  expect(reasons[0]).toContain("conflicting definitions of the type 'user'");
});

test('a table cannot be called like a type every schema has', () => {
  const catalog = catalogOf(tableIn('order_by', { id: 'int4' }), tableIn('Int', { id: 'int4' }));
  expect(resolveTables({ order_by: {}, Int: {} }, catalog).reasons).toEqual([
    'Inconsistent object: "order_by" is a type of the GraphQL schema itself',
    'Inconsistent object: "Int" is a type of the GraphQL schema itself',
  ]);
});
