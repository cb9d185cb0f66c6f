/** Who stands on whom. */
import { expect, test } from 'vitest';
import { dependentsOf, type Links, noLinks, removeObjects } from './dependencies.ts';
import { objectsOf } from './objects.ts';
import { parseMetadata } from './parse.ts';

const connection = { connection_info: { database_url: { from_env: 'URL' } } };
const manual = (remote_table: string) => ({
  manual_configuration: { remote_table, column_mapping: { id: 'id' } },
});
const metadata = parseMetadata({
  version: 3,
  sources: [
    {
      name: 'default',
      kind: 'postgres',
      configuration: connection,
      tables: [
        {
          table: 'author',
          array_relationships: [
            {
              name: 'articles',
              using: { foreign_key_constraint_on: { table: 'article', column: 'author_id' } },
            },
          ],
          select_permissions: [
            { role: 'reader', permission: { columns: '*', filter: { articles: { comments: { id: 1 } } } } },
            { role: 'guest', permission: { columns: '*', filter: {} } },
          ],
        },
        {
          table: 'article',
          object_relationships: [{ name: 'author', using: { foreign_key_constraint_on: 'author_id' } }],
          array_relationships: [{ name: 'comments', using: manual('comment') }],
          delete_permissions: [
            {
              role: 'mod',
              permission: {
                filter: { _or: [{ _exists: { _table: 'banned', _where: { log: { id: 1 } } } }] },
              },
            },
          ],
        },
        { table: 'comment' },
        { table: 'banned', object_relationships: [{ name: 'log', using: manual('log') }] },
        { table: 'log' },
      ],
    },
    {
      name: 'other',
      kind: 'postgres',
      configuration: connection,
      tables: [
        {
          table: 'sale',
          remote_relationships: [
            {
              name: 'writer',
              definition: {
                to_source: {
                  source: 'default',
                  table: 'author',
                  relationship_type: 'object',
                  field_mapping: { a: 'id' },
                },
              },
            },
          ],
        },
      ],
    },
  ],
  query_collections: [{ name: 'c', definition: { queries: [{ name: 'q', query: '{ a }' }] } }],
  allowlist: [{ collection: 'c' }],
  rest_endpoints: [
    {
      name: 'e',
      url: 'e',
      methods: ['GET'],
      definition: { query: { collection_name: 'c', query_name: 'q' } },
    },
  ],
});

/** What a database with a foreign key knows. */
const links: Links = {
  ...noLinks,
  field: (_, table, name) =>
    table.name === 'article' && name === 'author' ? { schema: 'public', name: 'author' } : undefined,
};

test('a table carries what is nested in it and what leads to it, from any source', () => {
  expect(dependentsOf(metadata, 'table/default/public/author')).toEqual([
    'array_relationship/default/public/author/articles',
    'select_permission/default/public/author/reader',
    'select_permission/default/public/author/guest',
    'remote_relationship/other/public/sale/writer',
  ]);
});

test('where a foreign key leads, only a database knows', () => {
  const key = 'object_relationship/default/public/article/author';
  expect(dependentsOf(metadata, 'table/default/public/author')).not.toContain(key);
  expect(dependentsOf(metadata, 'table/default/public/author', links)).toContain(key);
});

test('permissions stand on the relationships they go through, however deep', () => {
  expect(dependentsOf(metadata, 'array_relationship/default/public/article/comments')).toEqual([
    'select_permission/default/public/author/reader',
  ]);
  expect(dependentsOf(metadata, 'table/default/public/comment')).toEqual([
    'select_permission/default/public/author/reader',
    'array_relationship/default/public/article/comments',
  ]);
});

test('permissions stand on the tables they ask about under _exists', () => {
  expect(dependentsOf(metadata, 'table/default/public/banned')).toEqual([
    'delete_permission/default/public/article/mod',
    'object_relationship/default/public/banned/log',
  ]);
  expect(dependentsOf(metadata, 'object_relationship/default/public/banned/log')).toEqual([
    'delete_permission/default/public/article/mod',
  ]);
});

test('the allow list and REST endpoints stand on their collection', () => {
  expect(dependentsOf(metadata, 'query_collection/c')).toEqual(['allowlist/c', 'rest_endpoint/e']);
});

test('what nothing stands on has no dependents', () => {
  expect(dependentsOf(metadata, 'select_permission/default/public/author/guest')).toEqual([]);
  expect(dependentsOf(metadata, 'table/default/public/nobody')).toEqual([]);
});

test('objects are removed with what is nested in them and nothing else', () => {
  const before = objectsOf(metadata);
  const after = objectsOf(removeObjects(metadata, ['table/default/public/author', 'allowlist/c']));
  expect([...before.keys()].filter((key) => !after.has(key))).toEqual([
    'table/default/public/author',
    'array_relationship/default/public/author/articles',
    'select_permission/default/public/author/reader',
    'select_permission/default/public/author/guest',
    'allowlist/c',
  ]);
});
