/** Computed fields of a Table: the result of a database function for each row. */
import {
  type ComputedField,
  type MetadataObject,
  objectKey,
  type Static,
  Type,
} from '@pergola/engine/metadata';
import { Comment, closed, GraphqlName, Identifier, withDescription } from './annotate.ts';
import type { TableOfSource } from './relationship.ts';
import { describeSchema, qualifiedName, schemaField } from './table-name.ts';

export const ComputedFieldSpec = closed({
  name: withDescription('The name of the field in the GraphQL schema.', GraphqlName),
  schema: schemaField('the function'),
  function: withDescription(
    'The name of the function in the database, which takes a row of the table.',
    Identifier,
  ),
  tableArgument: Type.Optional(
    withDescription('The argument that receives the row. Absent: the first.', Identifier),
  ),
  sessionArgument: Type.Optional(
    withDescription('The json argument that receives the session variables. Absent: none.', Identifier),
  ),
  comment: Type.Optional(withDescription('The description of the field in the GraphQL schema.', Comment)),
});
type ComputedFieldSpec = Static<typeof ComputedFieldSpec>;

export function computedFieldObject(
  { source, table }: TableOfSource,
  field: ComputedFieldSpec,
): MetadataObject {
  return {
    key: objectKey('computed_field', source, table.schema, table.name, field.name),
    kind: 'computed_field',
    parent: objectKey('table', source, table.schema, table.name),
    definition: {
      name: field.name,
      definition: {
        function: qualifiedName(field.schema, field.function),
        table_argument: field.tableArgument,
        session_argument: field.sessionArgument,
      },
      comment: field.comment,
    },
  };
}

/** Returns the field of a spec, the inverse of `computedFieldObject`. */
export function describeComputedField({ definition: given }: MetadataObject): object {
  const { name, definition, comment } = given as ComputedField;
  return {
    name,
    ...describeSchema(definition.function.schema),
    function: definition.function.name,
    tableArgument: definition.table_argument,
    sessionArgument: definition.session_argument,
    comment,
  };
}
