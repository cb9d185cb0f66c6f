/** Handlers: documents in, documents out, and what each refuses. */
import { expect, test } from 'vitest';
import { EngineError } from '../../errors/engine-error.ts';
import { type Links, noLinks } from '../../metadata/dependencies.ts';
import { exportMetadata } from '../../metadata/export.ts';
import { findObject, objectsOf } from '../../metadata/objects.ts';
import type { EditOperation } from '../../metadata/operations.ts';
import { parseArgs, parseMetadata } from '../../metadata/parse.ts';
import type { Metadata } from '../../metadata/schema/metadata.ts';
import type { Handler } from './handler.ts';
import { HANDLERS } from './index.ts';

const configuration = { connection_info: { database_url: { from_env: 'URL' } } };
const empty = parseMetadata({
  version: 3,
  sources: [{ name: 'default', kind: 'postgres', configuration, tables: [] }],
});

/** Two tables that point at each other, a permission that goes through both relationships, an allowed collection. */
const blog = [
  ['track_table', 'author'],
  ['track_table', { table: 'article' }],
  [
    'create_array_relationship',
    {
      table: 'author',
      name: 'articles',
      using: { foreign_key_constraint_on: { table: 'article', column: 'author_id' } },
    },
  ],
  [
    'create_object_relationship',
    { table: 'article', name: 'author', using: { foreign_key_constraint_on: 'author_id' } },
  ],
  [
    'create_select_permission',
    {
      table: 'author',
      role: 'user',
      permission: { columns: '*', filter: { articles: { author: { id: 1 } } } },
    },
  ],
  [
    'create_query_collection',
    { name: 'c', definition: { queries: [{ name: 'q', query: '{ author { id } }' }] } },
  ],
  ['add_collection_to_allowlist', { collection: 'c' }],
] as const;

const links: Links = {
  ...noLinks,
  field: (_, table, name) =>
    table.name === 'article' && name === 'author' ? { schema: 'public', name: 'author' } : undefined,
};

function edit(draft: Metadata, name: EditOperation, args: unknown): Metadata {
  const handler = HANDLERS[name as keyof typeof HANDLERS] as Handler<EditOperation>;
  return handler(draft, parseArgs(name, args) as never, links);
}

const made = blog.reduce((draft, [name, args]) => edit(draft, name, args), empty);

/** Code and message on `/v1/query`, then on `/v1/metadata`. */
function refusalOf(draft: Metadata, name: EditOperation, args: unknown): readonly string[] {
  try {
    edit(draft, name, args);
  } catch (error) {
    if (!(error instanceof EngineError)) throw error;
    const spoken = (['specification', 'newer'] as const).map(
      (d) => `${error.codeIn(d)}: ${error.messageIn(d)}`,
    );
    return [...new Set(spoken)];
  }
  throw new Error('it was accepted');
}

const keysOf = (draft: Metadata): readonly string[] => [...objectsOf(draft).keys()];
const definitionOf = (draft: Metadata, key: string): unknown => findObject(draft, key)?.definition;

test('a blog created operation by operation gives the expected document', () => {
  expect(exportMetadata(made)).toEqual({
    version: 3,
    sources: [
      {
        name: 'default',
        kind: 'postgres',
        configuration,
        tables: [
          {
            table: { schema: 'public', name: 'article' },
            object_relationships: [{ name: 'author', using: { foreign_key_constraint_on: 'author_id' } }],
          },
          {
            table: { schema: 'public', name: 'author' },
            array_relationships: [
              {
                name: 'articles',
                using: {
                  foreign_key_constraint_on: {
                    column: 'author_id',
                    table: { schema: 'public', name: 'article' },
                  },
                },
              },
            ],
            select_permissions: [
              { role: 'user', permission: { columns: '*', filter: { articles: { author: { id: 1 } } } } },
            ],
          },
        ],
      },
    ],
    query_collections: [{ name: 'c', definition: { queries: [{ name: 'q', query: '{ author { id } }' }] } }],
    allowlist: [{ collection: 'c', scope: { global: true } }],
  });
});

test.each<readonly [EditOperation, unknown, readonly string[]]>([
  [
    'track_table',
    'author',
    [
      'already-tracked: view/table already tracked : author',
      'already-tracked: view/table already tracked: "author"',
    ],
  ],
  [
    'track_table',
    { table: { schema: 's', name: 't' }, source: 'x' },
    ['not-exists: source with name "x" does not exist'],
  ],
  [
    'untrack_table',
    'nobody',
    [
      'already-untracked: view/table already untracked : nobody',
      'already-untracked: view/table already untracked: "nobody"',
    ],
  ],
  [
    'set_table_is_enum',
    { table: { schema: 's', name: 't' }, is_enum: true },
    ['not-exists: table s.t does not exist', 'not-exists: table "s.t" does not exist in source: default'],
  ],
  [
    'set_table_customization',
    { table: 'author1', configuration: {} },
    [
      'not-exists: table author1 does not exist',
      'not-exists: table "author1" does not exist in source: default',
    ],
  ],
  [
    'create_object_relationship',
    { table: 'author', name: 'articles', using: { foreign_key_constraint_on: 'x' } },
    [
      'already-exists: column/relationship of table author already exists',
      'already-exists: field with name "articles" already exists in table "author"',
    ],
  ],
  [
    'create_array_relationship',
    { table: 'author', name: 'articles', using: { foreign_key_constraint_on: { table: 'x', column: 'y' } } },
    [
      'already-exists: column/relationship of table author already exists',
      'already-exists: field with name "articles" already exists in table "author"',
    ],
  ],
  [
    'drop_relationship',
    { table: 'author', relationship: 'nothing' },
    ['not-exists: nothing does not exist', 'not-exists: relationship "nothing" does not exist'],
  ],
  [
    'rename_relationship',
    { table: 'author', name: 'nothing', new_name: 'b' },
    ['not-exists: nothing does not exist', 'not-exists: relationship "nothing" does not exist'],
  ],
  [
    'create_select_permission',
    { table: 'author', role: 'user', permission: { columns: [], filter: {} } },
    [
      'permission-error: select permission on author for role user already exists',
      'already-exists: select permission already defined on table "author" with role "user"',
    ],
  ],
  [
    'create_insert_permission',
    { table: 'author', role: 'admin', permission: { check: {} } },
    ['already-exists: insert permission already defined on table "author" with role "admin"'],
  ],
  [
    'drop_delete_permission',
    { table: 'author', role: 'user' },
    [
      'permission-error: delete permission on author for role user does not exist',
      'permission-denied: delete permission on "author" for role "user" does not exist',
    ],
  ],
  [
    'set_permission_comment',
    { table: 'author', role: 'user', type: 'update', comment: 'x' },
    [
      'permission-error: update permission on author for role user does not exist',
      'permission-denied: update permission on "author" for role "user" does not exist',
    ],
  ],
  [
    'create_query_collection',
    { name: 'c', definition: { queries: [] } },
    ['already-exists: query collection with name "c" already exists'],
  ],
  [
    'create_query_collection',
    {
      name: 'd',
      definition: {
        queries: [
          { name: 'q', query: 'a' },
          { name: 'q', query: 'b' },
        ],
      },
    },
    ['not-supported: found duplicate query names "q"'],
  ],
  [
    'add_query_to_collection',
    { collection_name: 'c', query_name: 'q', query: '{ a }' },
    ['already-exists: query with name "q" already exists in collection "c"'],
  ],
  [
    'add_query_to_collection',
    { collection_name: 'x', query_name: 'q', query: '{ a }' },
    ['not-exists: query collection with name "x" does not exist'],
  ],
  [
    'drop_query_from_collection',
    { collection_name: 'c', query_name: 'r' },
    ['not-found: query with name "r" not found in collection "c"'],
  ],
  [
    'drop_query_collection',
    { collection: 'c' },
    ['dependency-error: query collection with name "c" is present in allowlist; cannot proceed to drop'],
  ],
  [
    'rename_query_collection',
    { name: 'x', new_name: 'y' },
    ['not-exists: query collection with name "x" does not exist'],
  ],
  [
    'add_collection_to_allowlist',
    { collection: 'x' },
    ['not-exists: query collection with name "x" does not exist'],
  ],
  [
    'drop_collection_from_allowlist',
    { collection: 'x' },
    ['not-exists: query collection with name "x" does not exist'],
  ],
  [
    'pg_add_source',
    { name: 'default', configuration },
    ['already-exists: source with name "default" already exists'],
  ],
  ['pg_drop_source', { name: 'x' }, ['not-exists: source with name "x" does not exist']],
  ['rename_source', { name: 'x', new_name: 'y' }, ['not-exists: source with name "x" does not exist']],
])('%s %j is refused', (name, args, said) => {
  expect(refusalOf(made, name, args)).toEqual(said);
});

test('functions and their permissions are added and removed', () => {
  const tracked = edit(made, 'track_function', { schema: 'public', name: 'search' });
  const permission = { function: 'search', role: 'user' };
  const permitted = edit(tracked, 'create_function_permission', permission);
  expect(keysOf(permitted)).toContain('function_permission/default/public/search/user');
  expect(refusalOf(permitted, 'track_function', 'search')).toEqual([
    'already-tracked: function already tracked : search',
    'already-tracked: function already tracked: "search"',
  ]);
  expect(refusalOf(permitted, 'create_function_permission', permission).at(-1)).toContain('already exists');
  expect(refusalOf(tracked, 'drop_function_permission', permission).at(-1)).toContain('does not exist');
  expect(edit(permitted, 'drop_function_permission', permission)).toEqual(tracked);
  expect(edit(permitted, 'untrack_function', 'search')).toEqual(made);
  expect(refusalOf(made, 'untrack_function', 'search')[1]).toBe(
    'not-exists: function "search" does not exist',
  );
});

test('a function and a table may not share a name', () => {
  const tracked = edit(made, 'track_function', 'search');
  expect(refusalOf(tracked, 'track_table', 'search')).toEqual([
    'not-supported: function with name "search" already exists',
  ]);
  expect(refusalOf(made, 'track_function', 'author')).toEqual([
    'not-supported: table with name "author" already exists',
  ]);
});

test('a computed field is a field of its table, which permissions may use', () => {
  const field = { table: 'author', name: 'full', definition: { function: 'full_name' } };
  const added = edit(made, 'add_computed_field', field);
  expect(definitionOf(added, 'computed_field/default/public/author/full')).toEqual({
    name: 'full',
    definition: { function: { schema: 'public', name: 'full_name' } },
  });
  expect(refusalOf(added, 'add_computed_field', field)[0]).toContain('already exists');
  const permission = { columns: [], computed_fields: ['full'], filter: {} };
  const used = edit(added, 'create_select_permission', { table: 'author', role: 'guest', permission });
  expect(refusalOf(used, 'drop_computed_field', field)[1]).toBe(
    'dependency-error: cannot drop due to the following dependent objects: permission author.guest.select in source "default"',
  );
  expect(edit(used, 'drop_computed_field', { ...field, cascade: true })).toEqual(made);
  expect(refusalOf(made, 'drop_computed_field', field)[0]).toBe(
    'not-exists: computed field "full" does not exist',
  );
});

test('untracking a table that others refer to is refused with their names', () => {
  expect(refusalOf(made, 'untrack_table', 'author')[1]).toBe(
    'dependency-error: cannot drop due to the following dependent objects: relationship article.author in source "default"',
  );
});

test('untracking with cascade removes the objects that refer to the table, and their dependents', () => {
  const keys = keysOf(edit(made, 'untrack_table', { table: 'article', cascade: true }));
  expect(keys).toEqual([
    'source/default',
    'table/default/public/author',
    'query_collection/c',
    'allowlist/c',
  ]);
});

test('objects of a table are removed with it without cascade', () => {
  const alone = ['drop_relationship', { table: 'article', relationship: 'author', cascade: true }] as const;
  const next = edit(edit(made, ...alone), 'untrack_table', 'author');
  expect(keysOf(next)).toEqual([
    'source/default',
    'table/default/public/article',
    'query_collection/c',
    'allowlist/c',
  ]);
});

test('dropping a relationship that permissions use is refused with their names', () => {
  const args = { table: 'author', relationship: 'articles' };
  expect(refusalOf(made, 'drop_relationship', args)).toEqual([
    'dependency-error: cannot drop due to the following dependent objects : permission author.user.select in source "default"',
    'dependency-error: cannot drop due to the following dependent objects: permission author.user.select in source "default"',
  ]);
  const next = edit(made, 'drop_relationship', { ...args, cascade: true });
  expect(keysOf(next)).not.toContain('select_permission/default/public/author/user');
});

test('renaming a relationship renames it in permissions, at any depth, and keeps its position', () => {
  const next = edit(made, 'rename_relationship', { table: 'article', name: 'author', new_name: 'writer' });
  expect(definitionOf(next, 'object_relationship/default/public/article/writer')).toMatchObject({
    name: 'writer',
  });
  expect(definitionOf(next, 'select_permission/default/public/author/user')).toEqual({
    role: 'user',
    permission: { columns: '*', filter: { articles: { writer: { id: 1 } } } },
  });
  expect(keysOf(next)).toHaveLength(keysOf(made).length);
});

test('a relationship of another table with the same name is not changed', () => {
  const next = edit(made, 'rename_relationship', { table: 'author', name: 'articles', new_name: 'author' });
  expect(definitionOf(next, 'select_permission/default/public/author/user')).toMatchObject({
    permission: { filter: { author: { author: { id: 1 } } } },
  });
  expect(keysOf(next)).toContain('object_relationship/default/public/article/author');
});

test('comments are set and removed', () => {
  const of = { table: 'author', name: 'articles' };
  const key = 'array_relationship/default/public/author/articles';
  const commented = edit(made, 'set_relationship_comment', { ...of, comment: 'theirs' });
  expect(definitionOf(commented, key)).toMatchObject({ comment: 'theirs' });
  expect(edit(commented, 'set_relationship_comment', { ...of, comment: null })).toEqual(made);
  const permission = { table: 'author', role: 'user', type: 'select' };
  const remarked = edit(made, 'set_permission_comment', { ...permission, comment: 'why' });
  expect(definitionOf(remarked, 'select_permission/default/public/author/user')).toMatchObject({
    comment: 'why',
  });
  expect(edit(remarked, 'set_permission_comment', permission)).toEqual(made);
});

test('customization is replaced as a whole, and objects of the table are kept', () => {
  const first = edit(made, 'set_table_customization', {
    table: 'author',
    configuration: { custom_name: 'A' },
  });
  const second = edit(first, 'set_table_customization', {
    table: 'author',
    configuration: { custom_column_names: { id: 'key' } },
  });
  expect(definitionOf(second, 'table/default/public/author')).toEqual({
    table: { schema: 'public', name: 'author' },
    configuration: { custom_column_names: { id: 'key' } },
  });
  expect(edit(second, 'set_table_customization', { table: 'author' })).toEqual(made);
});

test('the older operation for field names keeps the name of the table and other settings of columns', () => {
  const id = { custom_name: 'key', comment: 'the key', nullable: false };
  const named = edit(made, 'set_table_customization', {
    table: 'author',
    configuration: { custom_name: 'A', column_config: { id, email: { custom_name: 'post' } } },
  });
  const next = edit(named, 'set_table_custom_fields', {
    table: 'author',
    custom_root_fields: { select: 'writers' },
    custom_column_names: { name: 'fullName' },
  });
  expect(definitionOf(next, 'table/default/public/author')).toEqual({
    table: { schema: 'public', name: 'author' },
    configuration: {
      custom_name: 'A',
      custom_root_fields: { select: 'writers' },
      column_config: { id: { comment: 'the key', nullable: false }, name: { custom_name: 'fullName' } },
    },
  });
});

test('is_enum is true or absent', () => {
  const next = edit(made, 'set_table_is_enum', { table: 'author', is_enum: true });
  expect(definitionOf(next, 'table/default/public/author')).toMatchObject({ is_enum: true });
  expect(edit(next, 'set_table_is_enum', { table: 'author', is_enum: false })).toEqual(made);
});

test('allowing a collection twice changes nothing, changing its scope does', () => {
  expect(edit(made, 'add_collection_to_allowlist', { collection: 'c', scope: { global: true } })).toBe(made);
  const scope = { global: false, roles: ['u'] };
  const scoped = edit(made, 'update_scope_of_collection_in_allowlist', { collection: 'c', scope });
  expect(definitionOf(scoped, 'allowlist/c')).toEqual({ collection: 'c', scope });
  const args = { collection: 'c', scope: { global: true } };
  const shared = edit(scoped, 'update_scope_of_collection_in_allowlist', args);
  expect(definitionOf(shared, 'allowlist/c')).toEqual(args);
});

test('a renamed collection is renamed on the allow list', () => {
  const next = edit(made, 'rename_query_collection', { name: 'c', new_name: 'd' });
  expect(keysOf(next)).toEqual(expect.arrayContaining(['query_collection/d', 'allowlist/d']));
  expect(keysOf(next)).not.toContain('allowlist/c');
});

test('dropping a collection with cascade removes it from the allow list', () => {
  const keys = keysOf(edit(made, 'drop_query_collection', { collection: 'c', cascade: true }));
  expect(keys.filter((key) => key.endsWith('/c'))).toEqual([]);
});

test('a source can be added, changed, renamed and dropped', () => {
  const customization = { root_fields: { prefix: 'a_' } };
  const added = edit(made, 'pg_add_source', { name: 'other', configuration, customization });
  expect(definitionOf(added, 'source/other')).toEqual({
    name: 'other',
    kind: 'postgres',
    configuration,
    customization,
  });
  const renamed = edit(added, 'rename_source', { name: 'default', new_name: 'main' });
  expect(keysOf(renamed)).toContain('select_permission/main/public/author/user');
  expect(refusalOf(renamed, 'rename_source', { name: 'main', new_name: 'other' })[0]).toContain(
    'already exists',
  );
  expect(edit(added, 'pg_drop_source', { name: 'other' })).toEqual(made);
});

test('replacing the configuration of a source keeps its tracked objects', () => {
  const moved = { connection_info: { database_url: { from_env: 'ELSEWHERE' } } };
  const next = edit(made, 'pg_add_source', {
    name: 'default',
    configuration: moved,
    replace_configuration: true,
  });
  expect(next.sources[0]?.configuration).toEqual(moved);
  expect(next.sources[0]?.tables).toEqual(made.sources[0]?.tables);
});

test('updating a source changes only the given settings', () => {
  const customization = { type_names: { prefix: 'T' } };
  const next = edit(made, 'pg_update_source', { name: 'default', customization });
  for (const nothing of [null, undefined]) {
    expect(edit(next, 'pg_update_source', { name: 'default', customization: nothing })).toEqual(next);
  }
  expect(edit(next, 'pg_update_source', { name: 'default', customization: {} })).toEqual(made);
  expect(next.sources[0]).toEqual({ ...made.sources[0], customization });
});

test('query tags of a source are replaced as a whole', () => {
  const tagged = edit(made, 'set_query_tags', { source_name: 'default', format: 'sqlcommenter' });
  expect(tagged.sources[0]?.query_tags).toEqual({ format: 'sqlcommenter' });
  const off = edit(tagged, 'set_query_tags', { source_name: 'default', disabled: true });
  expect(off.sources[0]).toEqual({ ...made.sources[0], query_tags: { disabled: true } });
  expect(() => edit(made, 'set_query_tags', { source_name: 'x' })).toThrow('source with name "x"');
});

test('a handler does not modify its document', () => {
  const before = JSON.stringify(made);
  edit(made, 'untrack_table', { table: 'author', cascade: true });
  edit(made, 'rename_relationship', { table: 'author', name: 'articles', new_name: 'a' });
  expect(JSON.stringify(made)).toBe(before);
});
