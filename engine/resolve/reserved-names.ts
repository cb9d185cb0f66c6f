/** Names of the metadata that begin with two underscores, which GraphQL reserves for introspection. The engine serves such fields and types,
 *  as the reference does, but clients that check a schema refuse it whole. A column with such a name is left out.
 *  In: Metadata. Out: one entry per object. Pure, total. Not here: tables, whose names the source composes (without-effect.ts); root
 *  fields of tables and functions, native queries, logical models, and types and fields of remote schemas, which are inconsistent with such a
 *  name (names.ts, function.ts, native-query.ts, logical-model.ts, remote-names.ts). */
import { objectKey } from '../metadata/objects.ts';
import type { Action, CustomTypes } from '../metadata/schema/action.ts';
import { printQualified } from '../metadata/schema/common.ts';
import type { Metadata } from '../metadata/schema/metadata.ts';
import type { NativeQuery } from '../metadata/schema/native-query.ts';
import type { RemoteSchema } from '../metadata/schema/remote-schema.ts';
import type { Source } from '../metadata/schema/source.ts';
import type { Table } from '../metadata/schema/table.ts';
import type { Memo } from './memo.ts';
import type { Unenforced } from './model/inconsistency.ts';
import { entry } from './without-effect.ts';

type Named = { readonly name: string };

export function reservedNamesIn(metadata: Metadata, memo: Memo): readonly Unenforced[] {
  const { sources, actions = [], custom_types = {}, remote_schemas = [] } = metadata;
  return [
    ...sources.flatMap((source) => ofSource(source, memo)),
    ...remote_schemas.flatMap((remote) => memo.of(ofRemoteSchema, remote)),
    ...memo.of(ofCustomTypes, custom_types),
    ...actions.flatMap((action) => memo.of(ofAction, action)),
  ];
}

/** Returns the problem of a name that GraphQL reserves; null for any other. */
function problem(what: string, name: string | null | undefined): string | null {
  return name?.startsWith('__')
    ? `${what} "${name}" begins with two underscores, which GraphQL reserves, so that clients refuse the schema: use another name`
    : null;
}

const problems = (what: string, named: readonly Named[] = []) => named.map(({ name }) => problem(what, name));

function ofSource(source: Source, memo: Memo): readonly Unenforced[] {
  const { name, tables, functions = [], native_queries = [], customization } = source;
  return [
    ...entry(objectKey('source', name), 'source', `source ${name}`, [
      problem('the namespace', customization?.root_fields?.namespace),
    ]),
    ...tables.flatMap((table) => memo.of(ofTable, table, name)),
    ...functions.flatMap(({ function: { schema, name: own }, configuration }) =>
      entry(
        objectKey('function', name, schema, own),
        'function',
        `function ${printQualified({ schema, name: own })} in source ${name}`,
        [problem('the root field', configuration?.custom_root_fields?.function_aggregate)],
      ),
    ),
    ...native_queries.flatMap((query) => memo.of(ofNativeQuery, query, name)),
  ];
}

function ofTable(definition: Table, source: string): readonly Unenforced[] {
  const { table, configuration = {} } = definition;
  const at = [source, table.schema, table.name] as const;
  const where = `of table ${printQualified(table)} in source ${source}`;
  const { column_config = {}, custom_column_names = {} } = configuration;
  const columns = [
    ...Object.entries(custom_column_names),
    ...Object.entries(column_config).map(([column, { custom_name }]) => [column, custom_name] as const),
  ];
  const named = new Map(columns.filter(([, custom]) => custom?.startsWith('__')));
  const missing = [...named].map(
    ([column, custom]) =>
      `the API does not have the column ${column}, because its name "${custom}" begins with two underscores, which GraphQL reserves: use another name`,
  );
  const inside = [
    ['object_relationship', 'relationship', definition.object_relationships],
    ['array_relationship', 'relationship', definition.array_relationships],
    ['remote_relationship', 'relationship', definition.remote_relationships],
    ['computed_field', 'computed field', definition.computed_fields],
  ] as const;
  return [
    ...entry(
      objectKey('table', ...at),
      'table',
      `table ${printQualified(table)} in source ${source}`,
      missing,
    ),
    ...inside.flatMap(([kind, what, list = []]) =>
      list.flatMap(({ name }) =>
        entry(objectKey(kind, ...at, name), kind, `${kind} ${name} ${where}`, [
          problem(`the name of the ${what}`, name),
        ]),
      ),
    ),
  ];
}

function ofNativeQuery(query: NativeQuery, source: string): readonly Unenforced[] {
  const { root_field_name: name, object_relationships, array_relationships } = query;
  return entry(
    objectKey('native_query', source, name),
    'native_query',
    `native_query ${name} in source ${source}`,
    [
      ...problems('the relationship', object_relationships),
      ...problems('the relationship', array_relationships),
    ],
  );
}

function ofRemoteSchema({
  name,
  definition,
  remote_relationships = [],
}: RemoteSchema): readonly Unenforced[] {
  return [
    ...entry(objectKey('remote_schema', name), 'remote_schema', `remote_schema ${name}`, [
      problem('the namespace', definition.customization?.root_fields_namespace),
    ]),
    ...remote_relationships.flatMap(({ type_name: type, relationships }) =>
      relationships.flatMap(({ name: own }) =>
        entry(
          objectKey('remote_schema_relationship', name, type, own),
          'remote_schema_relationship',
          `remote_schema_relationship ${own} of type ${type} in remote schema ${name}`,
          [problem('the name of the relationship', own)],
        ),
      ),
    ),
  ];
}

function ofCustomTypes({
  scalars = [],
  enums = [],
  input_objects = [],
  objects = [],
}: CustomTypes): readonly Unenforced[] {
  const types: readonly (readonly [string, readonly (string | null)[]])[] = [
    ...scalars.map(({ name }) => [name, []] as const),
    ...enums.map(
      ({ name, values }) => [name, values.map(({ value }) => problem('the value', value))] as const,
    ),
    ...input_objects.map(({ name, fields }) => [name, problems('the field', fields)] as const),
    ...objects.map(
      ({ name, fields, relationships }) =>
        [name, [...problems('the field', fields), ...problems('the relationship', relationships)]] as const,
    ),
  ];
  return types.flatMap(([name, inside]) =>
    entry(objectKey('custom_type', name), 'custom_type', `custom_type ${name}`, [
      problem('the name of the type', name),
      ...inside,
    ]),
  );
}

function ofAction({ name, definition }: Action): readonly Unenforced[] {
  return entry(objectKey('action', name), 'action', `action ${name}`, [
    problem('the name of the action', name),
    ...problems('the argument', definition.arguments),
  ]);
}
