/** Computed fields of a Table: the result of a database function for each row. */
import { Comment, closed, GraphqlName, Identifier } from './annotate.ts';
import { optional, required } from './mapping.ts';
import { schemaField } from './table-name.ts';

export const ComputedFieldSpec = closed({
  name: required('The name of the field in the GraphQL schema.', GraphqlName),
  schema: schemaField('the function', 'definition.function', 'function'),
  function: required(
    'The name of the function in the database, which takes a row of the table.',
    Identifier,
    'definition.function.name',
  ),
  tableArgument: optional(
    'The argument that receives the row. Absent: the first.',
    Identifier,
    'definition.table_argument',
  ),
  sessionArgument: optional(
    'The json argument that receives the session variables. Absent: none.',
    Identifier,
    'definition.session_argument',
  ),
  comment: optional('The description of the field in the GraphQL schema.', Comment),
});
