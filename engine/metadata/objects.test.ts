/** The document as keyed objects. */
import { expect, test } from 'vitest';
import { putObject, removeObject } from './edit.ts';
import {
  childKinds,
  findFragment,
  findObject,
  metadataOf,
  OBJECT_KINDS,
  objectKey,
  objectsOf,
  parentKeyOf,
  parseKey,
} from './objects.ts';
import { parseMetadata } from './parse.ts';

const document = parseMetadata({
  version: 3,
  sources: [
    {
      name: 'default',
      kind: 'postgres',
      configuration: { connection_info: { database_url: { from_env: 'URL' } } },
      tables: [
        {
          table: 'author',
          array_relationships: [
            {
              name: 'articles',
              using: { foreign_key_constraint_on: { table: 'article', column: 'author_id' } },
            },
          ],
          select_permissions: [{ role: 'user', permission: { columns: ['id'], filter: {} } }],
        },
        { table: { schema: 'a/b', name: 'x y' } },
      ],
      functions: [{ function: 'search', permissions: [{ role: 'user' }] }],
    },
  ],
  remote_schemas: [
    {
      name: 'billing',
      definition: { url: 'http://billing' },
      permissions: [{ role: 'user', definition: { schema: 'type Query { a: Int }' } }],
      remote_relationships: [
        {
          type_name: 'Invoice',
          relationships: [
            {
              name: 'author',
              definition: {
                to_source: {
                  source: 'default',
                  table: 'author',
                  relationship_type: 'object',
                  field_mapping: { author_id: 'id' },
                },
              },
            },
          ],
        },
      ],
    },
  ],
  custom_types: { enums: [{ name: 'Color', values: [{ value: 'red' }] }], scalars: [{ name: 'Money' }] },
  network: { tls_allowlist: [{ host: 'localhost', suffix: '8443' }] },
  api_limits: { depth_limit: { global: 5 } },
});

test('every object has a key made of its kind and the segments that identify it', () => {
  expect([...objectsOf(document).keys()]).toEqual([
    'source/default',
    'table/default/public/author',
    'array_relationship/default/public/author/articles',
    'select_permission/default/public/author/user',
    'table/default/a%2Fb/x%20y',
    'function/default/public/search',
    'function_permission/default/public/search/user',
    'remote_schema/billing',
    'remote_schema_permission/billing/user',
    'remote_schema_relationship/billing/Invoice/author',
    'custom_type/Money',
    'custom_type/Color',
    'api_limits',
    'tls/localhost/8443',
  ]);
});

test('an object holds nothing that is an object of its own', () => {
  expect(findObject(document, 'table/default/public/author')).toEqual({
    key: 'table/default/public/author',
    kind: 'table',
    parent: 'source/default',
    definition: { table: { schema: 'public', name: 'author' } },
  });
});

test('the objects of a document make the document', () => {
  expect(metadataOf(objectsOf(document).values())).toEqual(document);
});

test('a document cannot be made of an object without its parent', () => {
  const [, table] = objectsOf(document).values();
  expect(() => metadataOf([table!])).toThrow('source/default');
});

test('keys are read back into what they were made of', () => {
  const key = objectKey('table', 'default', 'a/b', 'x y');
  expect(parseKey(key)).toEqual({ kind: 'table', segments: ['default', 'a/b', 'x y'] });
  expect(parentKeyOf(key)).toBe('source/default');
  expect(parentKeyOf('source/default')).toBeNull();
});

test.each(['', 'tables/x', 'table/default/author', 'source/a/b', 'table/default/public/%', 'toString/x'])(
  '%j is not the key of anything',
  (key) => expect(parseKey(key)).toBeUndefined(),
);

test('putting an object that is there replaces it where it stands and keeps what is nested in it', () => {
  const object = findObject(document, 'table/default/public/author')!;
  const next = putObject(document, {
    ...object,
    definition: { ...(object.definition as object), is_enum: true },
  });
  const [author, other] = next.sources[0]!.tables;
  expect(author).toEqual({ ...document.sources[0]!.tables[0], is_enum: true });
  expect(other).toBe(document.sources[0]!.tables[1]);
});

test('putting a new object adds it after its siblings', () => {
  const definition = { role: 'editor', permission: { columns: '*', filter: {} } };
  const key = 'select_permission/default/public/author/editor';
  const next = putObject(document, { key, kind: 'select_permission', parent: null, definition });
  expect(next.sources[0]!.tables[0]!.select_permissions?.map((p) => p.role)).toEqual(['user', 'editor']);
  expect(document.sources[0]!.tables[0]!.select_permissions).toHaveLength(1);
});

test('a new source starts with no tables, not with none said', () => {
  const definition = { name: 'other', kind: 'postgres', configuration: {} };
  const next = putObject(document, { key: 'source/other', kind: 'source', parent: null, definition });
  expect(next.sources[1]).toEqual({ ...definition, tables: [] });
});

test('an object cannot be put where its parent is not', () => {
  const key = 'select_permission/default/public/nobody/editor';
  const put = () => putObject(document, { key, kind: 'select_permission', parent: null, definition: {} });
  expect(put).toThrow('table');
});

test('removing an object removes what is nested in it and its empty list', () => {
  const next = removeObject(document, 'remote_schema_relationship/billing/Invoice/author');
  expect(next.remote_schemas?.[0]).not.toHaveProperty('remote_relationships');
  const without = removeObject(document, 'source/default');
  expect(without.sources).toEqual([]);
  expect([...objectsOf(without).keys()].filter((key) => key.includes('default'))).toEqual([]);
});

test('removing the last of a kind takes its key out of the document', () => {
  const keys = ['tls/localhost/8443', 'api_limits', 'custom_type/Money', 'custom_type/Color'];
  const next = keys.reduce(removeObject, document);
  expect(Object.keys(next)).toEqual(['version', 'sources', 'remote_schemas']);
});

test('removing what is not there gives the same document', () => {
  expect(removeObject(document, 'table/default/public/nobody')).toBe(document);
  expect(removeObject(document, 'select_permission/other/public/author/user')).toBe(document);
  expect(removeObject(document, 'nonsense')).toBe(document);
});

test('a fragment is found with what is nested in it', () => {
  expect(findFragment(document, 'table/default/public/author')).toBe(document.sources[0]!.tables[0]);
  expect(findFragment(document, 'table/default/public/nobody')).toBeUndefined();
});

test('kinds come after the kinds they are nested in', () => {
  const early = OBJECT_KINDS.flatMap((kind) =>
    childKinds(kind).filter((child) => OBJECT_KINDS.indexOf(child) < OBJECT_KINDS.indexOf(kind)),
  );
  expect(early).toEqual([]);
});
