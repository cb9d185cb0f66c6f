/** RemoteRelationship: from a table, or from a type of a remote schema, to a remote schema or to a table of another source. It is a
 *  separate kind because it connects objects of two teams. */
import {
  type MetadataObject,
  objectKey,
  parseKey,
  RelationshipType,
  type RemoteRelationship,
  type Static,
  Type,
} from '@pergola/engine/metadata';
import {
  closed,
  exactlyOne,
  GraphqlName,
  Identifier,
  MetadataName,
  OPEN_OBJECT,
  plainList,
  type Rule,
  textRecord,
  withDescription,
} from './annotate.ts';
import { enumeration, metadataValue, pascalCase } from './enumeration.ts';
import { kindRow, OBJECT_COLUMNS, type ResourceDraft, specOf } from './kind.ts';
import {
  describeSource,
  describeTableName,
  printTarget,
  qualifiedName,
  schemaField,
  sourceField,
  sourceNamed,
  tableFields,
  tableNamed,
} from './table-name.ts';

const ToSource = closed({
  source: sourceField('the other table'),
  ...tableFields('The other table.', 'the other table'),
  relationshipType: withDescription('Object: one row. Array: many rows.', enumeration(RelationshipType)),
  fieldMapping: withDescription(
    'The values that must be equal: fields of this side → columns of the table, for example {authorId: id}.',
    textRecord(),
  ),
});
const ToRemoteSchema = closed({
  remoteSchema: withDescription('The name of the RemoteSchema.', MetadataName),
  lhsFields: withDescription(
    'Fields or columns of this side that arguments may contain: [id] makes $id available.',
    plainList(Type.String({ maxLength: 255 }), 100),
  ),
  remoteField: withDescription(
    'The remote field with its arguments: {invoices: {arguments: {articleId: $id}}}.',
    Type.Unsafe<Readonly<Record<string, unknown>>>(OPEN_OBJECT),
  ),
});

const ONE_OWNER: Rule = {
  rule:
    'has(self.table) ? !has(self.remoteSchema) && !has(self.typeName) : ' +
    'has(self.remoteSchema) && has(self.typeName) && !has(self.source) && !has(self.schema)',
  message: 'a remote relationship begins at a table, or at remoteSchema and typeName; name one of them',
  holds: (spec) =>
    'table' in spec
      ? !('remoteSchema' in spec || 'typeName' in spec)
      : 'remoteSchema' in spec && 'typeName' in spec && !('source' in spec || 'schema' in spec),
};

export const RemoteRelationshipSpec = specOf(
  {
    source: sourceField('the table that the relationship starts from'),
    schema: schemaField('the table that the relationship starts from'),
    table: Type.Optional(withDescription('The table that the relationship starts from.', Identifier)),
    remoteSchema: Type.Optional(
      withDescription('The remote schema of the type that the relationship starts from.', MetadataName),
    ),
    typeName: Type.Optional(
      withDescription(
        'The type of the remote schema that the relationship starts from, for example Invoice.',
        GraphqlName,
      ),
    ),
    name: withDescription('The name of the field in the GraphQL schema.', GraphqlName),
    toSource: Type.Optional(withDescription('A table of another source, or of the same.', ToSource)),
    toRemoteSchema: Type.Optional(withDescription('A field of a remote schema.', ToRemoteSchema)),
  },
  ONE_OWNER,
  exactlyOne('spec', 'toSource', 'toRemoteSchema'),
);
type RemoteRelationshipSpec = Static<typeof RemoteRelationshipSpec>;

export const remoteRelationship = kindRow({
  kind: 'RemoteRelationship',
  plural: 'remoterelationships',
  singular: 'remoterelationship',
  shortNames: ['gqlrr'],
  concerns: 'object',
  description: 'A relationship to another source or a remote schema.',
  spec: RemoteRelationshipSpec,
  columns: OBJECT_COLUMNS,
  selectableFields: ['.spec.engineRef.name', '.spec.name'],
  deletionPolicy: 'Delete',
  target: (spec) => `${spec.name} of ${ownerOf(spec)}`,
  translate: (spec) => [relationshipObject(spec)],
  describe: (inventory) => [
    ...inventory.all('remote_relationship').map(describeRelationship),
    ...inventory.all('remote_schema_relationship').map(describeRelationship),
  ],
});

function ownerOf({ source, schema, table, remoteSchema, typeName }: RemoteRelationshipSpec): string {
  return table === undefined
    ? `${remoteSchema}/${typeName}`
    : printTarget(source, qualifiedName(schema, table));
}

function relationshipObject(spec: RemoteRelationshipSpec): MetadataObject {
  const { remoteSchema = '', typeName = '', name, toSource, toRemoteSchema } = spec;
  const definition = {
    to_source: toSource && {
      source: sourceNamed(toSource.source),
      table: tableNamed(toSource),
      relationship_type: metadataValue(RelationshipType, toSource.relationshipType),
      field_mapping: toSource.fieldMapping,
    },
    to_remote_schema: toRemoteSchema && {
      remote_schema: toRemoteSchema.remoteSchema,
      lhs_fields: toRemoteSchema.lhsFields,
      remote_field: toRemoteSchema.remoteField,
    },
  };
  if (spec.table !== undefined) {
    const source = sourceNamed(spec.source);
    const table = qualifiedName(spec.schema, spec.table);
    return {
      key: objectKey('remote_relationship', source, table.schema, table.name, name),
      kind: 'remote_relationship',
      parent: objectKey('table', source, table.schema, table.name),
      definition: { name, definition },
    };
  }
  return {
    key: objectKey('remote_schema_relationship', remoteSchema, typeName, name),
    kind: 'remote_schema_relationship',
    parent: objectKey('remote_schema', remoteSchema),
    definition: { type_name: typeName, name, definition },
  };
}

function describeRelationship({ key, kind, definition: given }: MetadataObject): ResourceDraft {
  const { name, definition } = given as RemoteRelationship;
  const { to_source: source, to_remote_schema: schema } = definition;
  const segments = parseKey(key)?.segments ?? [];
  const [first = '', second = '', third = ''] = segments;
  const owner =
    kind === 'remote_relationship'
      ? { ...describeSource(first), ...describeTableName({ schema: second, name: third }) }
      : { remoteSchema: first, typeName: second };
  return {
    name: `${kind === 'remote_relationship' ? third : second}-${name}`,
    spec: {
      ...owner,
      name,
      toSource: source && {
        ...describeSource(source.source),
        ...describeTableName(source.table),
        relationshipType: pascalCase(source.relationship_type),
        fieldMapping: source.field_mapping,
      },
      toRemoteSchema: schema && {
        remoteSchema: schema.remote_schema,
        lhsFields: schema.lhs_fields,
        remoteField: schema.remote_field,
      },
    },
  };
}
