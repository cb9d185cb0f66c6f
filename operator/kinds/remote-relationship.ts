/** RemoteRelationship: from a table, or from a type of a remote schema, to a remote schema or to a table of another source. It is a
 *  separate kind because it connects objects of two teams. */
import { RelationshipType, type Static, secret, Type } from '@pergola/engine/metadata';
import {
  closed,
  exactlyOne,
  GraphqlName,
  MetadataName,
  OPEN_OBJECT,
  plainList,
  type Rule,
  textRecord,
} from './annotate.ts';
import { enumeration } from './enumeration.ts';
import { kindRow, specOf } from './kind.ts';
import { optional, required } from './mapping.ts';
import { optionalTable, printTarget, qualifiedName, sourceField, tableFields } from './table-name.ts';

const ToSource = closed({
  source: sourceField('the other table', 'source'),
  ...tableFields('The other table.', 'table', 'the other table'),
  relationshipType: required('Object: one row. Array: many rows.', enumeration(RelationshipType)),
  fieldMapping: required(
    'The values that must be equal: fields of this side → columns of the table, for example {authorId: id}.',
    textRecord(),
  ),
});
const ToRemoteSchema = closed({
  remoteSchema: required('The name of the RemoteSchema.', MetadataName),
  lhsFields: required(
    'Fields or columns of this side that arguments may contain: [id] makes $id available.',
    plainList(Type.String({ maxLength: 255 }), 100),
  ),
  remoteField: required(
    'The remote field with its arguments: {invoices: {arguments: {articleId: $id}}}.',
    secret(Type.Unsafe<Readonly<Record<string, unknown>>>(OPEN_OBJECT)),
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
    ...optionalTable(
      'The table that the relationship starts from.',
      null,
      'the table that the relationship starts from',
    ),
    remoteSchema: optional(
      'The remote schema of the type that the relationship starts from.',
      MetadataName,
      null,
    ),
    typeName: optional(
      'The type of the remote schema that the relationship starts from, for example Invoice.',
      GraphqlName,
    ),
    name: required('The name of the field in the GraphQL schema.', GraphqlName),
    toSource: optional('A table of another source, or of the same.', ToSource, 'definition.to_source'),
    toRemoteSchema: optional('A field of a remote schema.', ToRemoteSchema, 'definition.to_remote_schema'),
  },
  ONE_OWNER,
  exactlyOne('spec', 'toSource', 'toRemoteSchema'),
);
type RemoteRelationshipSpec = Static<typeof RemoteRelationshipSpec>;

export const remoteRelationship = kindRow({
  kind: 'RemoteRelationship',
  shortNames: ['gqlrr'],
  concerns: 'object',
  description: 'A relationship to another source or a remote schema.',
  spec: RemoteRelationshipSpec,
  selectableFields: ['.spec.engineRef.name', '.spec.name'],
  target: (spec) => `${spec.name} of ${ownerOf(spec)}`,
  objects: [
    { kind: 'remote_relationship', key: ['source', 'schema', 'table', 'name'], when: 'table' },
    { kind: 'remote_schema_relationship', key: ['remoteSchema', 'typeName', 'name'], when: 'typeName' },
  ],
  drafts: { name: (segments) => segments.slice(-2).join('-') },
});

function ownerOf({ source, schema, table, remoteSchema, typeName }: RemoteRelationshipSpec): string {
  return table === undefined
    ? `${remoteSchema}/${typeName}`
    : printTarget(source, qualifiedName(schema, table));
}
