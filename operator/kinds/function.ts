/** Function: a database function as a root field, with the roles that may call it. Each role is a separate object. */
import {
  FunctionConfiguration,
  type MetadataObject,
  objectKey,
  parseKey,
  type Static,
  type TrackedFunction,
  Type,
} from '@pergola/engine/metadata';
import {
  Comment,
  closed,
  GraphqlName,
  Identifier,
  keyedList,
  MetadataName,
  withDescription,
} from './annotate.ts';
import { enumeration, metadataValue, pascalCase } from './enumeration.ts';
import { itemAt, wholeAt } from './field-path.ts';
import { type Inventory, kindRow, OBJECT_COLUMNS, type ResourceDraft, specOf } from './kind.ts';
import {
  describeSchema,
  describeSource,
  describeTableName,
  printTarget,
  qualifiedName,
  SCHEMA_OF_TABLE,
  schemaField,
  sourceField,
  sourceNamed,
} from './table-name.ts';

const { exposed_as: EXPOSED_AS, response: RESPONSE } = FunctionConfiguration.properties;
const RESPONSE_TYPE = RESPONSE.properties.type;

const Configuration = closed({
  customName: Type.Optional(
    withDescription(
      'The name that the root fields begin with, for example searchArticles. Absent: the name of the function.',
      GraphqlName,
    ),
  ),
  rootFields: Type.Optional(
    withDescription(
      'Names of single root fields. Absent: those that the engine derives.',
      closed({
        select: Type.Optional(
          withDescription('The name of the root field that calls the function.', GraphqlName),
        ),
        selectAggregate: Type.Optional(
          withDescription('The name of the root field that counts and aggregates its rows.', GraphqlName),
        ),
      }),
    ),
  ),
  sessionArgument: Type.Optional(
    withDescription(
      'The json argument that receives the session variables; clients cannot set it. Absent: none.',
      Identifier,
    ),
  ),
  exposedAs: Type.Optional(
    withDescription(
      'The root type of a volatile function. Absent: Mutation. Other functions are fields of Query.',
      enumeration(EXPOSED_AS),
    ),
  ),
  response: Type.Optional(
    withDescription(
      'The type of the rows that the function returns. Absent: the table that the function is declared to return.',
      closed(
        {
          type: withDescription(
            'Table: the rows of `table`. Inferred: as the function is declared.',
            enumeration(RESPONSE_TYPE),
          ),
          schema: schemaField('the table'),
          table: Type.Optional(
            withDescription('The tracked table whose rows the function returns.', Identifier),
          ),
        },
        SCHEMA_OF_TABLE,
      ),
    ),
  ),
});

export const FunctionSpec = specOf({
  source: sourceField('the function'),
  schema: schemaField('the function'),
  function: withDescription('The name of the function in the database.', Identifier),
  configuration: Type.Optional(
    withDescription(
      'How the function appears in the GraphQL schema. Absent: as in the database.',
      Configuration,
    ),
  ),
  permissions: Type.Optional(
    withDescription(
      'The roles that may call the function. Absent: those that read the rows it returns, unless the engine is started with ' +
        '--infer-function-permissions=false.',
      keyedList('role', closed({ role: withDescription('The name of the role.', MetadataName) }), 500),
    ),
  ),
  comment: Type.Optional(
    withDescription('The description of the root fields in the GraphQL schema.', Comment),
  ),
});
type FunctionSpec = Static<typeof FunctionSpec>;

// `function` is a reserved word.
export const trackedFunction = kindRow({
  kind: 'Function',
  plural: 'functions',
  singular: 'function',
  shortNames: ['gqlf'],
  concerns: 'object',
  description: 'A tracked function of a database.',
  spec: FunctionSpec,
  columns: OBJECT_COLUMNS,
  selectableFields: ['.spec.engineRef.name', '.spec.source'],
  deletionPolicy: 'Delete',
  target: (spec) => printTarget(spec.source, qualifiedName(spec.schema, spec.function)),
  translate: (spec) => functionObjects(spec),
  fieldPaths: (spec, { key, kind }) => {
    const own = parseKey(key)?.segments.at(-1);
    return kind === 'function_permission'
      ? wholeAt(itemAt('permissions', spec.permissions, ({ role }) => role === own))
      : [];
  },
  describe: (inventory) => inventory.all('function').map((object) => describeFunction(object, inventory)),
});

function functionObjects(spec: FunctionSpec): readonly MetadataObject[] {
  const { configuration, permissions = [], comment } = spec;
  const [source, name] = [sourceNamed(spec.source), qualifiedName(spec.schema, spec.function)];
  const key = objectKey('function', source, name.schema, name.name);
  return [
    {
      key,
      kind: 'function',
      parent: objectKey('source', source),
      definition: {
        function: name,
        configuration: configuration && configurationOf(configuration),
        comment,
      },
    },
    ...permissions.map(
      ({ role }): MetadataObject => ({
        key: objectKey('function_permission', source, name.schema, name.name, role),
        kind: 'function_permission',
        parent: key,
        definition: { role },
      }),
    ),
  ];
}

function configurationOf(given: NonNullable<FunctionSpec['configuration']>): unknown {
  const { rootFields: fields, response } = given;
  return {
    custom_name: given.customName,
    custom_root_fields: fields && { function: fields.select, function_aggregate: fields.selectAggregate },
    session_argument: given.sessionArgument,
    exposed_as: given.exposedAs && metadataValue(EXPOSED_AS, given.exposedAs),
    response: response && {
      type: metadataValue(RESPONSE_TYPE, response.type),
      table: response.table === undefined ? undefined : qualifiedName(response.schema, response.table),
    },
  };
}

function describeConfiguration(given: NonNullable<TrackedFunction['configuration']>): object {
  const { custom_root_fields: fields, response } = given;
  return {
    customName: given.custom_name,
    rootFields: fields && { select: fields.function, selectAggregate: fields.function_aggregate },
    sessionArgument: given.session_argument,
    exposedAs: given.exposed_as && pascalCase(given.exposed_as),
    response: response && {
      type: pascalCase(response.type),
      ...(response.table ? describeTableName(response.table) : {}),
    },
  };
}

function describeFunction({ key, definition }: MetadataObject, inventory: Inventory): ResourceDraft {
  const { function: name, configuration, comment } = definition as TrackedFunction;
  return {
    name: name.name,
    spec: {
      ...describeSource(parseKey(key)?.segments[0]),
      ...describeSchema(name.schema),
      function: name.name,
      configuration: configuration && describeConfiguration(configuration),
      permissions: inventory.under(key, 'function_permission').map((permission) => permission.definition),
      comment,
    },
  };
}
