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
  immutable,
  keyedList,
  MetadataName,
  withDescription,
} from './annotate.ts';
import { itemAt, wholeAt } from './field-path.ts';
import { type Inventory, kindRow, OBJECT_COLUMNS, type ResourceDraft, specOf } from './kind.ts';
import { TableName } from './permission.ts';
import { projectValue, unproject } from './project.ts';

const Configuration = closed({
  customName: Type.Optional(GraphqlName),
  customRootFields: Type.Optional(
    closed({ function: Type.Optional(GraphqlName), functionAggregate: Type.Optional(GraphqlName) }),
  ),
  sessionArgument: Type.Optional(
    withDescription('The json argument that receives the session variables.', Identifier),
  ),
  exposedAs: Type.Optional(
    withDescription(
      'The root type of a volatile function. Other functions are fields of Query.',
      Type.Union([Type.Literal('query'), Type.Literal('mutation')]),
    ),
  ),
  response: Type.Optional(
    closed({
      type: Type.Union([Type.Literal('table'), Type.Literal('inferred')]),
      table: Type.Optional(TableName),
    }),
  ),
});

export const FunctionSpec = specOf(
  'Function',
  {
    source: MetadataName,
    function: withDescription('The schema and name of the function in the database.', TableName),
    configuration: Type.Optional(Configuration),
    permissions: Type.Optional(keyedList('role', closed({ role: MetadataName }), 500)),
    comment: Type.Optional(Comment),
  },
  immutable('source', 'create a new Function object for a function of another source'),
  immutable('function', 'create a new Function object for another database function'),
);
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
  target: (spec) => `${spec.source}/${spec.function.schema}.${spec.function.name}`,
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
  const { source, function: name, configuration, permissions = [], comment } = spec;
  const key = objectKey('function', source, name.schema, name.name);
  return [
    {
      key,
      kind: 'function',
      parent: objectKey('source', source),
      definition: {
        function: name,
        configuration: configuration && unproject(FunctionConfiguration, configuration),
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

function describeFunction({ key, definition }: MetadataObject, inventory: Inventory): ResourceDraft {
  const { function: name, configuration, comment } = definition as TrackedFunction;
  return {
    name: name.name,
    spec: {
      source: parseKey(key)?.segments[0],
      function: name,
      configuration: configuration && projectValue(FunctionConfiguration, configuration),
      permissions: inventory.under(key, 'function_permission').map((permission) => permission.definition),
      comment,
    },
  };
}
