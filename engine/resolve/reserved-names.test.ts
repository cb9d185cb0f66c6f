/** Every name of the metadata that becomes one of GraphQL is reported when it begins with two underscores: as a declaration without effect,
 *  or as an inconsistent object. */
import { buildSchema, introspectionFromSchema } from 'graphql';
import { expect, test } from 'vitest';
import type { Metadata } from '../metadata/schema/metadata.ts';
import { emptyMetadata } from '../metadata/schema/metadata.ts';
import { readIntrospection } from './introspection.ts';
import { resolve } from './resolve.ts';
import { AUTHORS, metadataOf, typeOf } from './testing/small-world.ts';
import { unenforcedIn } from './unenforced.ts';

const source = (rest: object): Partial<Metadata> => ({
  sources: [{ name: 'main', kind: 'postgres', configuration: {}, tables: [], ...rest } as never],
});
const table = (rest: object) => source({ tables: [{ table: { schema: 'public', name: 't' }, ...rest }] });
const action = (name: string, rest: object = {}): Partial<Metadata> => ({
  actions: [{ name, definition: { handler: 'http://a', output_type: 'String', ...rest } } as never],
});
const types = (custom_types: object): Partial<Metadata> => ({ custom_types: custom_types as never });
const remote = (rest: object): Partial<Metadata> => ({
  remote_schemas: [{ name: 'r', definition: { url: 'http://a', ...rest }, ...rest } as never],
});

/** A position of a name, a document with the name there, and the key of the object that is reported. */
const POSITIONS: readonly (readonly [
  string,
  (name: string) => Partial<Metadata>,
  (name: string) => string,
])[] = [
  ['action', (name) => action(name), (name) => `action/${name}`],
  ['argument of an action', (name) => action('a', { arguments: [{ name, type: 'Int' }] }), () => 'action/a'],
  ['scalar', (name) => types({ scalars: [{ name }] }), (name) => `custom_type/${name}`],
  ['enum', (name) => types({ enums: [{ name, values: [] }] }), (name) => `custom_type/${name}`],
  [
    'value of an enum',
    (value) => types({ enums: [{ name: 'E', values: [{ value }] }] }),
    () => 'custom_type/E',
  ],
  [
    'input object',
    (name) => types({ input_objects: [{ name, fields: [] }] }),
    (name) => `custom_type/${name}`,
  ],
  [
    'field of an input object',
    (name) => types({ input_objects: [{ name: 'I', fields: [{ name, type: 'Int' }] }] }),
    () => 'custom_type/I',
  ],
  ['object', (name) => types({ objects: [{ name, fields: [] }] }), (name) => `custom_type/${name}`],
  [
    'field of an object',
    (name) => types({ objects: [{ name: 'O', fields: [{ name, type: 'Int' }] }] }),
    () => 'custom_type/O',
  ],
  [
    'relationship of an object',
    (name) => types({ objects: [{ name: 'O', fields: [], relationships: [{ name }] }] }),
    () => 'custom_type/O',
  ],
  [
    'object relationship',
    (name) => table({ object_relationships: [{ name }] }),
    (name) => `object_relationship/main/public/t/${name}`,
  ],
  [
    'array relationship',
    (name) => table({ array_relationships: [{ name }] }),
    (name) => `array_relationship/main/public/t/${name}`,
  ],
  [
    'remote relationship',
    (name) => table({ remote_relationships: [{ name }] }),
    (name) => `remote_relationship/main/public/t/${name}`,
  ],
  [
    'computed field',
    (name) => table({ computed_fields: [{ name }] }),
    (name) => `computed_field/main/public/t/${name}`,
  ],
  [
    'custom name of a column',
    (custom_name) => table({ configuration: { column_config: { c: { custom_name } } } }),
    () => 'table/main/public/t',
  ],
  [
    'custom name of a column, in the older form',
    (name) => table({ configuration: { custom_column_names: { c: name } } }),
    () => 'table/main/public/t',
  ],
  [
    'custom name of a table',
    (custom_name) => table({ configuration: { custom_name } }),
    () => 'table/main/public/t',
  ],
  [
    'namespace of a source',
    (namespace) => source({ customization: { root_fields: { namespace } } }),
    () => 'source/main',
  ],
  [
    'root field of an aggregate of a function',
    (name) =>
      source({
        functions: [
          {
            function: { schema: 'public', name: 'f' },
            configuration: { custom_root_fields: { function_aggregate: name } },
          },
        ],
      }),
    () => 'function/main/public/f',
  ],
  [
    'relationship of a native query',
    (name) => source({ native_queries: [{ root_field_name: 'q', array_relationships: [{ name }] }] }),
    () => 'native_query/main/q',
  ],
  [
    'namespace of a remote schema',
    (name) => remote({ customization: { root_fields_namespace: name } }),
    () => 'remote_schema/r',
  ],
  [
    'relationship of a type of a remote schema',
    (name) => remote({ remote_relationships: [{ type_name: 'T', relationships: [{ name }] }] }),
    (name) => `remote_schema_relationship/r/T/${name}`,
  ],
];

const found = (metadata: Partial<Metadata>) =>
  unenforcedIn({ ...emptyMetadata, ...metadata }, { namingConvention: 'default' } as never);

test.each(POSITIONS)('a reserved name of %s is reported, and another is not', (_, documentWith, keyFor) => {
  const reserved = found(documentWith('__odd'));
  expect(reserved.map(({ key }) => key)).toEqual([keyFor('__odd')]);
  expect(reserved[0]!.reason).toContain('"__odd"');
  for (const name of ['_odd', 'odd__']) expect(found(documentWith(name))).toEqual([]);
});

const CATALOG = { ...AUTHORS, types: new Map([['["pg_catalog","int4"]', typeOf('int4')]]) };
const MODEL = { name: 'm', fields: [{ name: 'id', type: 'integer' }] };
const QUERY = { root_field_name: 'q', code: 'select 1 as id', returns: 'm' };
const introspection = introspectionFromSchema(buildSchema('type Query { far: Far } type Far { id: Int }'));
const UPSTREAMS = new Map([['r', { introspection, schema: readIntrospection(introspection) }]]);
const authors = (rest: object, configuration: object = {}): Partial<Metadata> => ({
  sources: [
    {
      ...metadataOf([{ table: { schema: 'public', name: 'author' }, configuration }]).sources[0]!,
      ...rest,
    } as never,
  ],
});

/** A position of a name that makes its object inconsistent, a document with a part in front of its names, and the key of the object. */
const REFUSED: readonly (readonly [
  string,
  (start: string) => Partial<Metadata>,
  (start: string) => string,
])[] = [
  [
    'custom root field of a table',
    (start) => authors({}, { custom_root_fields: { select: `${start}a` } }),
    () => 'table/default/public/author',
  ],
  [
    'prefix of root fields of a source',
    (prefix) => authors({ customization: { root_fields: { prefix } } }),
    () => 'table/default/public/author',
  ],
  [
    'logical model',
    (start) => authors({ logical_models: [{ ...MODEL, name: `${start}m` }] }),
    (start) => `logical_model/default/${start}m`,
  ],
  [
    'field of a logical model',
    (start) => authors({ logical_models: [{ ...MODEL, fields: [{ name: `${start}id`, type: 'integer' }] }] }),
    () => 'logical_model/default/m',
  ],
  [
    'native query',
    (start) =>
      authors({ logical_models: [MODEL], native_queries: [{ ...QUERY, root_field_name: `${start}q` }] }),
    (start) => `native_query/default/${start}q`,
  ],
  [
    'argument of a native query',
    (start) =>
      authors({
        logical_models: [MODEL],
        native_queries: [{ ...QUERY, arguments: { [`${start}a`]: { type: 'integer' } } }],
      }),
    () => 'native_query/default/q',
  ],
  [
    'prefix of types of a remote schema',
    (prefix) => remote({ customization: { type_names: { prefix } } }),
    () => 'remote_schema/r',
  ],
  [
    'prefix of fields of a remote schema',
    (prefix) => remote({ customization: { field_names: [{ parent_type: 'Far', prefix }] } }),
    () => 'remote_schema/r',
  ],
];

test.each(REFUSED)(
  'a reserved name by the %s is inconsistent, and another is not',
  (_, documentWith, keyFor) => {
    const inconsistent = (start: string) =>
      resolve(
        { ...emptyMetadata, ...documentWith(start) },
        new Map([['default', CATALOG]]),
        { namingConvention: 'default' } as never,
        UPSTREAMS,
      ).inconsistencies.map(({ key }) => key);
    expect(inconsistent('__')).toEqual([keyFor('__')]);
    expect(inconsistent('x_')).toEqual([]);
  },
);

test('a prefix of types with two underscores is reported of each table', () => {
  const prefixed = (prefix: string) => found(authors({ customization: { type_names: { prefix } } }));
  expect(prefixed('__').map(({ key }) => key)).toEqual(['table/default/public/author']);
  expect(prefixed('x_')).toEqual([]);
});
