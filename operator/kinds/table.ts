/** Table: a tracked table or view with its names, relationships, and permissions for those who keep them together.
 *  Configuration and relationships differ in shape from the metadata's (maps keyed by users are lists here, `using` is spread
 *  out), so they are declared and translated by hand.
 *  Not here: permission rules (permission.ts). */
import {
  FederationConfig,
  type MetadataObject,
  objectKey,
  type Static,
  type TSchema,
  Type,
} from '@pergola/engine/metadata';
import {
  Comment,
  closed,
  described,
  GraphqlName,
  Identifier,
  immutable,
  keyedList,
  MetadataName,
  plainList,
} from './annotate.ts';
import { kindRow, OBJECT_COLUMNS, specOf } from './kind.ts';
import { PERMISSION_RULES, permissionObjects, SOME_OPERATION, TableName } from './permission.ts';
import { camelCase, project, unproject } from './project.ts';

const ROOT_FIELDS = [
  'select',
  'select_by_pk',
  'select_aggregate',
  'select_stream',
  'insert',
  'insert_one',
  'update',
  'update_by_pk',
  'update_many',
  'delete',
  'delete_by_pk',
] as const;

const perRootField = <T extends TSchema>(value: T) =>
  closed(Object.fromEntries(ROOT_FIELDS.map((field) => [camelCase(field), Type.Optional(value)])));

const Configuration = closed({
  customName: Type.Optional(GraphqlName),
  comment: Type.Optional(Comment),
  columns: Type.Optional(
    described(
      'What differs from the database: names and comments of columns, and that one is never null.',
      keyedList(
        'name',
        closed({
          name: Identifier,
          customName: Type.Optional(GraphqlName),
          comment: Type.Optional(Comment),
          nullable: Type.Optional(
            described('False in a view whose column is never null.', Type.Literal(false)),
          ),
        }),
        1600,
      ),
    ),
  ),
  rootFields: Type.Optional(perRootField(GraphqlName)),
  rootFieldComments: Type.Optional(perRootField(Comment)),
  conflictIndexes: Type.Optional(
    described(
      'Unique indexes, partial ones too, that `on_conflict` may name beside the constraints.',
      plainList(Identifier, 100),
    ),
  ),
});

const Manual = closed({
  table: TableName,
  columnMapping: described(
    'Column of this table → column of the other.',
    Type.Record(Type.String(), Identifier, { minProperties: 1, maxProperties: 100 }),
  ),
  insertionOrder: Type.Optional(Type.Union([Type.Literal('before_parent'), Type.Literal('after_parent')])),
});

const columns = plainList(Identifier, 32);
const ONE_OF_TWO = {
  rule: 'has(self.foreignKey) != has(self.manual)',
  message: 'a relationship has either foreignKey or manual; name one of them',
  holds: (relationship: object) => 'foreignKey' in relationship !== 'manual' in relationship,
};

const ObjectRelationship = closed(
  {
    name: GraphqlName,
    foreignKey: Type.Optional(
      described(
        'Own columns that refer to the other table; with `table`, columns of that table that refer here.',
        closed({ columns, table: Type.Optional(TableName) }),
      ),
    ),
    manual: Type.Optional(Manual),
    comment: Type.Optional(Comment),
  },
  ONE_OF_TWO,
);

const ArrayRelationship = closed(
  {
    name: GraphqlName,
    foreignKey: Type.Optional(
      described('Columns of the other table that refer here.', closed({ columns, table: TableName })),
    ),
    manual: Type.Optional(Manual),
    comment: Type.Optional(Comment),
  },
  ONE_OF_TWO,
);
type Relationship = Static<typeof ObjectRelationship> | Static<typeof ArrayRelationship>;

export const TableSpec = specOf(
  'Table',
  {
    source: MetadataName,
    table: TableName,
    isEnum: Type.Optional(Type.Boolean({ description: 'Its rows are the values of an enum.' })),
    configuration: Type.Optional(Configuration),
    apolloFederationConfig: Type.Optional(project(FederationConfig)),
    objectRelationships: Type.Optional(keyedList('name', ObjectRelationship)),
    arrayRelationships: Type.Optional(keyedList('name', ArrayRelationship)),
    permissions: Type.Optional(
      keyedList('role', closed({ role: MetadataName, ...PERMISSION_RULES }, SOME_OPERATION), 500),
    ),
  },
  immutable('source', 'create a new Table object for a table of another source'),
  immutable('table', 'create a new Table object for another database table'),
);
type TableSpec = Static<typeof TableSpec>;

export const table = kindRow({
  kind: 'Table',
  plural: 'tables',
  singular: 'table',
  shortNames: ['gqlt'],
  description: 'A tracked table or view.',
  spec: TableSpec,
  columns: [...OBJECT_COLUMNS, { name: 'Source', type: 'string', jsonPath: '.spec.source', priority: 1 }],
  selectableFields: ['.spec.engineRef.name', '.spec.source'],
  deletionPolicy: 'Delete',
  target: (spec) => `${spec.source}/${spec.table.schema}.${spec.table.name}`,
  translate: (spec) => [
    tableObject(spec),
    ...(spec.objectRelationships ?? []).map((r) => relationshipObject('object_relationship', spec, r)),
    ...(spec.arrayRelationships ?? []).map((r) => relationshipObject('array_relationship', spec, r)),
    ...(spec.permissions ?? []).flatMap(({ role, ...rules }) =>
      permissionObjects(spec.source, spec.table, role, rules),
    ),
  ],
});

function tableKey({ source, table: name }: TableSpec): string {
  return objectKey('table', source, name.schema, name.name);
}

function tableObject(spec: TableSpec): MetadataObject {
  return {
    key: tableKey(spec),
    kind: 'table',
    parent: objectKey('source', spec.source),
    definition: {
      table: spec.table,
      is_enum: spec.isEnum,
      configuration: spec.configuration && configurationOf(spec.configuration),
      apollo_federation_config:
        spec.apolloFederationConfig && unproject(FederationConfig, spec.apolloFederationConfig),
    },
  };
}

function configurationOf(given: NonNullable<TableSpec['configuration']>): unknown {
  const columnConfig = (given.columns ?? []).map(({ name, customName, comment, nullable }) => [
    name,
    { custom_name: customName, comment, nullable },
  ]);
  return {
    custom_name: given.customName,
    comment: given.comment,
    custom_root_fields: rootFieldsOf(given.rootFields ?? {}, given.rootFieldComments ?? {}),
    column_config: Object.fromEntries(columnConfig),
    conflict_indexes: given.conflictIndexes,
  };
}

function rootFieldsOf(
  names: Readonly<Record<string, string | undefined>>,
  comments: Readonly<Record<string, string | undefined>>,
): unknown {
  const fields = ROOT_FIELDS.map((field) => {
    const [name, comment] = [names[camelCase(field)], comments[camelCase(field)]];
    return [field, comment === undefined ? name : { name, comment }] as const;
  });
  return Object.fromEntries(fields.filter(([, value]) => value !== undefined));
}

function relationshipObject(
  kind: 'object_relationship' | 'array_relationship',
  spec: TableSpec,
  { name, foreignKey, manual, comment }: Relationship,
): MetadataObject {
  const using = manual
    ? {
        manual_configuration: {
          remote_table: manual.table,
          column_mapping: manual.columnMapping,
          insertion_order: manual.insertionOrder,
        },
      }
    : { foreign_key_constraint_on: foreignKey?.table ? foreignKey : foreignKey?.columns };
  return {
    key: objectKey(kind, spec.source, spec.table.schema, spec.table.name, name),
    kind,
    parent: tableKey(spec),
    definition: { name, using, comment },
  };
}
