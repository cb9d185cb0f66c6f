/** NativeQuery: SQL of an administrator as a root field, whose rows have the shape of a LogicalModel. It reads everything that the database
 *  user may read, so it is for administrators.
 *  Not here: the fields and permissions of its rows (logical-model.ts), parsing the SQL (engine/resolve/native-query-code.ts). */
import { Type } from '@pergola/engine/metadata';
import { Comment, closed, GraphqlName, keyedList } from './annotate.ts';
import { kindRow, specOf } from './kind.ts';
import { asRecord, optional, required } from './mapping.ts';
import { QueryRelationship } from './relationship.ts';
import { sourceField, sourceNamed } from './table-name.ts';

const Argument = closed({
  name: required('The name of the argument: {{name}} in the SQL stands for its value.', GraphqlName),
  type: required(
    'The Postgres type of the argument, for example integer or text.',
    Type.String({ minLength: 1, maxLength: 255 }),
  ),
  nullable: optional(
    'True: a client may leave the argument out or pass null. Absent: false.',
    Type.Boolean(),
  ),
  comment: optional('The description of the argument in the GraphQL schema.', Comment, 'description'),
});

export const NativeQuerySpec = specOf({
  source: sourceField('the query'),
  name: required('The name of the root field, for example overdueInvoices.', GraphqlName, 'root_field_name'),
  sql: required(
    'One SELECT statement. {{name}} is the value of an argument; the engine sends it as a parameter, never as text. Example: ' +
      'SELECT id, total FROM invoice WHERE due < {{day}}',
    Type.String({ minLength: 1, maxLength: 65_536 }),
    'code',
  ),
  returns: required('The name of the LogicalModel of the rows, in the same source.', GraphqlName),
  arguments: optional(
    'The arguments of the field, by name. Absent: none.',
    asRecord('name', keyedList('name', Argument, 100)),
  ),
  objectRelationships: optional(
    'Fields of the rows that lead to one other row.',
    keyedList('name', QueryRelationship, 500),
  ),
  arrayRelationships: optional(
    'Fields of the rows that lead to many other rows.',
    keyedList('name', QueryRelationship, 500),
  ),
  comment: optional('The description of the root field in the GraphQL schema.', Comment, 'description'),
});
export const nativeQuery = kindRow({
  kind: 'NativeQuery',
  plural: 'nativequeries',
  shortNames: ['gqlnq'],
  concerns: 'engine',
  description: 'SQL of an administrator as a root field. Its rows have the shape of a LogicalModel.',
  spec: NativeQuerySpec,
  selectableFields: ['.spec.engineRef.name', '.spec.source', '.spec.name'],
  target: (spec) => `native query ${sourceNamed(spec.source)}/${spec.name}`,
  objects: [{ kind: 'native_query', key: ['source', 'name'] }],
});
