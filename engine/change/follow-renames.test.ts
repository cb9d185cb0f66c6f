import { expect, test } from 'vitest';
import type { QualifiedName } from '../metadata/schema/common.ts';
import type { Metadata } from '../metadata/schema/metadata.ts';
import type { Table } from '../metadata/schema/table.ts';
import type { Renames } from './follow-renames.ts';
import { followRenames } from './follow-renames.ts';

const name = (table: string): QualifiedName => ({ schema: 'public', name: table });

/** `author` becomes `writer`; `author.id` becomes `author.key`, `article.title` becomes `article.heading`. */
const RENAMES: Renames = {
  source: 'default',
  texts: ['author', 'id', 'title'],
  table: (table) => (table.name === 'author' ? name('writer') : table),
  column: (table, column) =>
    table.name === 'author' && column === 'id'
      ? 'key'
      : table.name === 'article' && column === 'title'
        ? 'heading'
        : column,
  target: (table, relationship) =>
    table.name === 'author' && relationship === 'articles'
      ? name('article')
      : table.name === 'article' && relationship === 'author'
        ? name('author')
        : undefined,
};

function metadataOf(tables: Table[], source = 'default'): Metadata {
  const configuration = { connection_info: { database_url: 'postgres://x' } };
  return { version: 3, sources: [{ name: source, kind: 'postgres', configuration, tables }] };
}

function followed(table: Table, source = 'default'): Table {
  return followRenames(metadataOf([table], source), RENAMES).sources[0]!.tables[0]!;
}

test('a document without references to renamed objects is unchanged, and absent keys stay absent', () => {
  const metadata = metadataOf([
    { table: name('tag') },
    {
      table: name('label'),
      select_permissions: [{ role: 'user', permission: { columns: '*', filter: {} } }],
    },
  ]);
  expect(JSON.stringify(followRenames(metadata, RENAMES))).toBe(JSON.stringify(metadata));
});

test('the table itself, its column settings and its triggers', () => {
  const table = followed({
    table: name('author'),
    configuration: {
      custom_name: 'person',
      column_config: { id: { custom_name: 'ident' }, name: {} },
      custom_column_names: { id: 'ident' },
    },
    event_triggers: [
      {
        name: 'e',
        definition: {
          enable_manual: true,
          insert: { columns: '*' },
          update: { columns: ['id'], payload: ['id', 'name'] },
        },
        retry_conf: { num_retries: 0, interval_sec: 10 },
        webhook: 'http://x',
      },
    ],
  });
  expect(table.table).toEqual(name('writer'));
  expect(table.configuration).toEqual({
    custom_name: 'person',
    column_config: { key: { custom_name: 'ident' }, name: {} },
    custom_column_names: { key: 'ident' },
  });
  expect(table.event_triggers?.[0]?.definition).toEqual({
    enable_manual: true,
    insert: { columns: '*' },
    update: { columns: ['key'], payload: ['key', 'name'] },
  });
});

test('relationships by foreign key, on either side', () => {
  const author = followed({
    table: name('author'),
    array_relationships: [
      {
        name: 'articles',
        using: { foreign_key_constraint_on: { table: name('article'), columns: ['title'] } },
      },
    ],
    object_relationships: [{ name: 'self', using: { foreign_key_constraint_on: ['id'] } }],
  });
  expect(author.array_relationships?.[0]?.using).toEqual({
    foreign_key_constraint_on: { table: name('article'), columns: ['heading'] },
  });
  expect(author.object_relationships?.[0]?.using).toEqual({ foreign_key_constraint_on: ['key'] });
});

test('manual relationships: both tables and both sides of the mapping', () => {
  const article = followed({
    table: name('article'),
    object_relationships: [
      {
        name: 'author',
        using: {
          manual_configuration: { remote_table: name('author'), column_mapping: { title: 'id', id: 'name' } },
        },
      },
    ],
  });
  expect(article.object_relationships?.[0]?.using).toEqual({
    manual_configuration: { remote_table: name('writer'), column_mapping: { heading: 'key', id: 'name' } },
  });
});

test('permissions: columns, presets, and conditions through relationships, connectives and operators', () => {
  const article = followed({
    table: name('article'),
    insert_permissions: [
      {
        role: 'user',
        permission: {
          columns: ['title', 'id'],
          set: { title: 'x' },
          check: {
            _or: [
              { title: { _eq: 'id' } },
              { author: { id: 'x-engine-user-id', articles: { title: 'id' } } },
            ],
          },
        },
      },
    ],
    update_permissions: [
      {
        role: 'user',
        permission: { columns: '*', filter: { _not: { title: { _ceq: 'title' } } }, check: null },
      },
    ],
    delete_permissions: [
      {
        role: 'user',
        permission: {
          filter: {
            _exists: {
              _table: name('author'),
              _where: { id: { _cgt: ['$', 'title'] }, $and: [{ id: { $eq: { id: 1 } } }] },
            },
          },
        },
      },
    ],
  });
  expect(article.insert_permissions?.[0]?.permission).toEqual({
    columns: ['heading', 'id'],
    set: { heading: 'x' },
    check: {
      _or: [{ heading: { _eq: 'id' } }, { author: { key: 'x-engine-user-id', articles: { heading: 'id' } } }],
    },
  });
  expect(article.update_permissions?.[0]?.permission).toEqual({
    columns: '*',
    filter: { _not: { heading: { _ceq: 'heading' } } },
    check: null,
  });
  expect(article.delete_permissions?.[0]?.permission.filter).toEqual({
    _exists: {
      _table: name('writer'),
      _where: { key: { _cgt: ['$', 'heading'] }, $and: [{ key: { $eq: { id: 1 } } }] },
    },
  });
});

test('remote relationships: from the renamed source, and into it from another', () => {
  const toAuthor = {
    name: 'author',
    definition: {
      to_source: {
        source: 'default',
        table: name('author'),
        relationship_type: 'object' as const,
        field_mapping: { id: 'id' },
      },
    },
  };
  const elsewhere = followed({ table: name('author'), remote_relationships: [toAuthor] }, 'elsewhere');
  expect(elsewhere.table).toEqual(name('author'));
  expect(elsewhere.remote_relationships?.[0]?.definition.to_source).toMatchObject({
    table: name('writer'),
    field_mapping: { id: 'key' },
  });
  const own = followed({
    table: name('author'),
    remote_relationships: [
      {
        name: 'user',
        definition: {
          to_remote_schema: {
            remote_schema: 'r',
            lhs_fields: ['id'],
            remote_field: { user: { arguments: { id: '$id', all: ['$id', 'id'] } } },
          },
        },
      },
    ],
  });
  expect(own.remote_relationships?.[0]?.definition.to_remote_schema).toMatchObject({
    lhs_fields: ['key'],
    remote_field: { user: { arguments: { id: '$key', all: ['$key', 'id'] } } },
  });
});

test('a flat remote relationship, in which a document may be kept, stays flat', () => {
  const flat = {
    remote_schema: 'r',
    hasura_fields: ['id'],
    remote_field: { user: { arguments: { id: '$id' } } },
  };
  const own = followed({
    table: name('author'),
    remote_relationships: [{ name: 'user', definition: flat as object }],
  });
  expect(own.remote_relationships?.[0]?.definition).toEqual({
    remote_schema: 'r',
    hasura_fields: ['key'],
    remote_field: { user: { arguments: { id: '$key' } } },
  });
});

test('a flat remote relationship with the present name of its fields is followed, too', () => {
  const flat = (column: string) => ({
    remote_schema: 'r',
    lhs_fields: [column],
    remote_field: { user: { arguments: { id: `$${column}` } } },
  });
  const own = followed({
    table: name('author'),
    remote_relationships: [{ name: 'user', definition: flat('id') as object }],
  });
  expect(own.remote_relationships?.[0]?.definition).toEqual(flat('key'));
});

test('a condition behind a remote relationship compares columns of the rows that it leads to', () => {
  const article = followed({
    table: name('article'),
    remote_relationships: [
      {
        name: 'writer',
        definition: {
          to_source: {
            ...{ source: 'default', table: name('author'), relationship_type: 'object' },
            field_mapping: { title: 'id' },
          },
        },
      },
    ],
    delete_permissions: [
      { role: 'user', permission: { filter: { writer: { name: { _ceq: ['$', 'id'] } }, title: 'id' } } },
    ],
  });
  expect(article.delete_permissions?.[0]?.permission.filter).toEqual({
    writer: { name: { _ceq: ['$', 'key'] } },
    heading: 'id',
  });
});
