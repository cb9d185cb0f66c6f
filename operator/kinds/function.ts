/** Function: a database function as a root field, with the roles that may call it. Each role is a separate object. */
import { FunctionConfiguration } from '@pergola/engine/metadata';
import {
  Comment,
  closed,
  GraphqlName,
  Identifier,
  keyedList,
  MetadataName,
  withDescription,
} from './annotate.ts';
import { enumeration } from './enumeration.ts';
import { kindRow, specOf } from './kind.ts';
import { optional, required } from './mapping.ts';
import {
  optionalTable,
  printTarget,
  qualifiedName,
  SCHEMA_OF_TABLE,
  schemaField,
  sourceField,
} from './table-name.ts';

const { exposed_as: EXPOSED_AS, response: RESPONSE } = FunctionConfiguration.properties;

const Configuration = closed({
  customName: optional(
    'The name that the root fields begin with, for example searchArticles. Absent: the name of the function.',
    GraphqlName,
  ),
  rootFields: optional(
    'Names of single root fields. Absent: those that the engine derives.',
    closed({
      select: optional('The name of the root field that calls the function.', GraphqlName, 'function'),
      selectAggregate: optional(
        'The name of the root field that counts and aggregates its rows.',
        GraphqlName,
        'function_aggregate',
      ),
    }),
    'custom_root_fields',
  ),
  sessionArgument: optional(
    'The json argument that receives the session variables; clients cannot set it. Absent: none.',
    Identifier,
  ),
  exposedAs: optional(
    'The root type of a volatile function. Absent: Mutation. Other functions are fields of Query.',
    enumeration(EXPOSED_AS),
  ),
  response: optional(
    'The type of the rows that the function returns. Absent: the table that the function is declared to return.',
    closed(
      {
        type: required(
          'Table: the rows of `table`. Inferred: as the function is declared.',
          enumeration(RESPONSE.properties.type),
        ),
        ...optionalTable('The tracked table whose rows the function returns.', 'table'),
      },
      SCHEMA_OF_TABLE,
    ),
  ),
});

export const FunctionSpec = specOf({
  source: sourceField('the function'),
  schema: schemaField('the function', 'function', 'function'),
  function: required('The name of the function in the database.', Identifier, 'function.name'),
  configuration: optional(
    'How the function appears in the GraphQL schema. Absent: as in the database.',
    Configuration,
  ),
  permissions: optional(
    'The roles that may call the function. Absent: those that read the rows it returns, unless the engine is started with ' +
      '--infer-function-permissions=false.',
    keyedList('role', closed({ role: withDescription('The name of the role.', MetadataName) }), 500),
  ),
  comment: optional('The description of the root fields in the GraphQL schema.', Comment),
});

// `function` is a reserved word.
export const trackedFunction = kindRow({
  kind: 'Function',
  shortNames: ['gqlf'],
  concerns: 'object',
  description: 'A tracked function of a database.',
  spec: FunctionSpec,
  selectableFields: ['.spec.engineRef.name', '.spec.source'],
  target: (spec) => printTarget(spec.source, qualifiedName(spec.schema, spec.function)),
  objects: [
    { kind: 'function', key: ['source', 'schema', 'function'] },
    { kind: 'function_permission', at: 'permissions', key: ['role'] },
  ],
});
