/** NativeQuery: SQL of an administrator as a root field, whose rows have the shape of a LogicalModel. It reads everything that the database
 *  user may read, so it is for administrators.
 *  Not here: the fields and permissions of its rows (logical-model.ts), parsing the SQL (engine/resolve/native-query-code.ts). */
import {
  type MetadataObject,
  type NativeQuery,
  type NativeQueryArgument,
  objectKey,
  parseKey,
  type Static,
  Type,
} from '@pergola/engine/metadata';
import { Comment, closed, GraphqlName, keyedList, withDescription } from './annotate.ts';
import { type FieldPath, itemAt } from './field-path.ts';
import { kindRow, OBJECT_COLUMNS, type ResourceDraft, specOf } from './kind.ts';
import { describeQueryRelationship, QueryRelationship, queryRelationshipOf } from './relationship.ts';
import { describeSource, sourceField, sourceNamed } from './table-name.ts';

const Argument = closed({
  name: withDescription('The name of the argument: {{name}} in the SQL stands for its value.', GraphqlName),
  type: Type.String({
    minLength: 1,
    maxLength: 255,
    description: 'The Postgres type of the argument, for example integer or text.',
  }),
  nullable: Type.Optional(
    Type.Boolean({ description: 'True: a client may leave the argument out or pass null. Absent: false.' }),
  ),
  comment: Type.Optional(withDescription('The description of the argument in the GraphQL schema.', Comment)),
});

export const NativeQuerySpec = specOf({
  source: sourceField('the query'),
  name: withDescription('The name of the root field, for example overdueInvoices.', GraphqlName),
  sql: Type.String({
    minLength: 1,
    maxLength: 65_536,
    description:
      'One SELECT statement. {{name}} is the value of an argument; the engine sends it as a parameter, never as text. Example: ' +
      'SELECT id, total FROM invoice WHERE due < {{day}}',
  }),
  returns: withDescription('The name of the LogicalModel of the rows, in the same source.', GraphqlName),
  arguments: Type.Optional(
    withDescription('The arguments of the field, by name. Absent: none.', keyedList('name', Argument, 100)),
  ),
  objectRelationships: Type.Optional(
    withDescription(
      'Fields of the rows that lead to one other row.',
      keyedList('name', QueryRelationship, 500),
    ),
  ),
  arrayRelationships: Type.Optional(
    withDescription(
      'Fields of the rows that lead to many other rows.',
      keyedList('name', QueryRelationship, 500),
    ),
  ),
  comment: Type.Optional(
    withDescription('The description of the root field in the GraphQL schema.', Comment),
  ),
});
type NativeQuerySpec = Static<typeof NativeQuerySpec>;

export const nativeQuery = kindRow({
  kind: 'NativeQuery',
  plural: 'nativequeries',
  singular: 'nativequery',
  shortNames: ['gqlnq'],
  concerns: 'engine',
  description: 'SQL of an administrator as a root field. Its rows have the shape of a LogicalModel.',
  spec: NativeQuerySpec,
  columns: OBJECT_COLUMNS,
  selectableFields: ['.spec.engineRef.name', '.spec.source', '.spec.name'],
  deletionPolicy: 'Delete',
  target: (spec) => `native query ${sourceNamed(spec.source)}/${spec.name}`,
  translate: (spec) => [queryObject(spec)],
  fieldPaths: (spec) => fieldPathsIn(spec),
  describe: (inventory) => inventory.all('native_query').map(describeQuery),
});

function fieldPathsIn(spec: NativeQuerySpec): readonly FieldPath[] {
  const ofArguments = (spec.arguments ?? []).map(({ name }) => ({
    at: itemAt('arguments', spec.arguments, (argument) => argument.name === name)!,
    of: ['arguments', name],
  }));
  return [
    ...ofArguments,
    { at: 'spec.sql', of: ['code'] },
    { at: 'spec.returns', of: ['returns'] },
    ...(spec.objectRelationships ? [{ at: 'spec.objectRelationships', of: ['object_relationships'] }] : []),
    ...(spec.arrayRelationships ? [{ at: 'spec.arrayRelationships', of: ['array_relationships'] }] : []),
  ];
}

function queryObject(spec: NativeQuerySpec): MetadataObject {
  const source = sourceNamed(spec.source);
  const given = (spec.arguments ?? []).map(({ name, type, nullable, comment }) => [
    name,
    { type, nullable, description: comment },
  ]);
  return {
    key: objectKey('native_query', source, spec.name),
    kind: 'native_query',
    parent: objectKey('source', source),
    definition: {
      root_field_name: spec.name,
      code: spec.sql,
      returns: spec.returns,
      arguments: Object.fromEntries(given),
      object_relationships: spec.objectRelationships?.map(queryRelationshipOf),
      array_relationships: spec.arrayRelationships?.map(queryRelationshipOf),
      description: spec.comment,
    },
  };
}

function describeQuery({ key, definition }: MetadataObject): ResourceDraft {
  const query = definition as NativeQuery;
  const given = Object.entries(query.arguments ?? {}).map(([name, argument]) => {
    const { type, nullable, description } = argument as Static<typeof NativeQueryArgument>;
    return { name, type, nullable, comment: description };
  });
  return {
    name: query.root_field_name,
    spec: {
      ...describeSource(parseKey(key)?.segments[0]),
      name: query.root_field_name,
      sql: query.code,
      returns: query.returns,
      arguments: given,
      objectRelationships: query.object_relationships?.map(describeQueryRelationship),
      arrayRelationships: query.array_relationships?.map(describeQueryRelationship),
      comment: query.description,
    },
  };
}
