/** Table: a tracked table or view with its names, relationships, and optionally its permissions. The configuration has another shape than
 *  in the metadata (lists instead of maps with user-defined keys), so it is declared and translated by hand.
 *  Not here: permission rules (permission.ts), relationships (relationship.ts), computed fields (computed-field.ts). */
import {
  type MetadataObject,
  type ObjectKind,
  objectKey,
  parseKey,
  type Static,
  type Table,
  type TableConfiguration,
  Type,
} from '@pergola/engine/metadata';
import {
  Comment,
  closed,
  GraphqlName,
  Identifier,
  keyedList,
  MetadataName,
  plainList,
  withDescription,
} from './annotate.ts';
import { ComputedFieldSpec, computedFieldObject, describeComputedField } from './computed-field.ts';
import { type FieldPath, itemAt, wholeAt } from './field-path.ts';
import { type Inventory, kindRow, OBJECT_COLUMNS, type ResourceDraft, specOf } from './kind.ts';
import {
  describePermissions,
  PERMISSION_RULES,
  permissionFieldPaths,
  permissionObjects,
  SOME_OPERATION,
} from './permission.ts';
import { camelCase } from './project.ts';
import {
  ArrayRelationship,
  describeRelationship,
  ObjectRelationship,
  relationshipObject,
  type TableOfSource,
} from './relationship.ts';
import {
  describeSource,
  describeTableName,
  printTarget,
  sourceField,
  sourceNamed,
  tableFields,
  tableNamed,
} from './table-name.ts';

/** The root fields of a table in the metadata, with what each does. */
const ROOT_FIELDS = [
  ['select', 'reads rows'],
  ['select_by_pk', 'reads one row by its primary key'],
  ['select_aggregate', 'counts and aggregates rows'],
  ['select_stream', 'streams new rows in a subscription'],
  ['insert', 'inserts rows'],
  ['insert_one', 'inserts one row'],
  ['update', 'updates rows'],
  ['update_by_pk', 'updates one row by its primary key'],
  ['update_many', 'updates several sets of rows'],
  ['delete', 'deletes rows'],
  ['delete_by_pk', 'deletes one row by its primary key'],
] as const;

const RootField = closed({
  name: Type.Optional(
    withDescription('The name of the root field. Absent: the name that the engine derives.', GraphqlName),
  ),
  comment: Type.Optional(
    withDescription(
      'The description of the root field in the GraphQL schema. Absent: a generated one.',
      Comment,
    ),
  ),
});

const Configuration = closed({
  customName: Type.Optional(
    withDescription(
      'The name that the GraphQL names of the table begin with, for example Article. Absent: the name of the table, after its schema ' +
        'unless that is public.',
      GraphqlName,
    ),
  ),
  comment: Type.Optional(
    withDescription(
      'The description of the type in the GraphQL schema. Absent: the comment in the database. Empty: none.',
      Comment,
    ),
  ),
  columns: Type.Optional(
    withDescription(
      'Differences from the database, by column: names, comments and nullability. Absent: none.',
      keyedList(
        'name',
        closed({
          name: withDescription('The name of the column in the database.', Identifier),
          customName: Type.Optional(
            withDescription('The name of the field. Absent: the name of the column.', GraphqlName),
          ),
          comment: Type.Optional(
            withDescription(
              'The description of the field. Absent: the comment in the database. Empty: none.',
              Comment,
            ),
          ),
          nullable: Type.Optional(
            withDescription(
              'False: a column of a view that is never null. Absent: as the database says.',
              Type.Literal(false),
            ),
          ),
        }),
        1600,
      ),
    ),
  ),
  rootFields: Type.Optional(
    withDescription(
      'Names and descriptions of root fields. Absent: those that the engine derives.',
      closed(
        Object.fromEntries(
          ROOT_FIELDS.map(([field, what]) => [
            camelCase(field),
            Type.Optional(withDescription(`The root field that ${what}.`, RootField)),
          ]),
        ),
      ),
    ),
  ),
  conflictIndexes: Type.Optional(
    withDescription(
      'Unique indexes, including partial ones, that `on_conflict` may name besides the constraints. Absent: none.',
      plainList(Identifier, 100),
    ),
  ),
});

export const TableSpec = specOf({
  source: sourceField('the table'),
  ...tableFields('The name of the table or view in the database.'),
  isEnum: Type.Optional(
    Type.Boolean({
      description:
        'True: the rows are the values of a GraphQL enum: the primary key is the value, a second text column its description. Absent: ' +
        'false.',
    }),
  ),
  configuration: Type.Optional(
    withDescription(
      'How the table appears in the GraphQL schema. Absent: as in the database.',
      Configuration,
    ),
  ),
  federation: Type.Optional(
    withDescription(
      'Apollo Federation. Absent: the type is no entity.',
      closed({
        enabled: Type.Boolean({
          description: 'True: other subgraphs may refer to the rows by their primary key.',
        }),
      }),
    ),
  ),
  objectRelationships: Type.Optional(
    withDescription(
      'Fields that lead to one row of another table. A role has those whose table it reads.',
      keyedList('name', ObjectRelationship),
    ),
  ),
  arrayRelationships: Type.Optional(
    withDescription(
      'Fields that lead to many rows of another table. A role has those whose table it reads.',
      keyedList('name', ArrayRelationship),
    ),
  ),
  computedFields: Type.Optional(
    withDescription('Fields that a function of the database computes.', keyedList('name', ComputedFieldSpec)),
  ),
  permissions: Type.Optional(
    withDescription(
      'What each role may do. A TablePermission can add roles, for another team. Absent: only administrators see the table.',
      keyedList(
        'role',
        closed(
          {
            role: withDescription('The name of the role, for example editor.', MetadataName),
            ...PERMISSION_RULES,
          },
          SOME_OPERATION,
        ),
        500,
      ),
    ),
  ),
});
type TableSpec = Static<typeof TableSpec>;

export const table = kindRow({
  kind: 'Table',
  plural: 'tables',
  singular: 'table',
  shortNames: ['gqlt'],
  concerns: 'object',
  description: 'A tracked table or view.',
  spec: TableSpec,
  columns: [...OBJECT_COLUMNS, { name: 'Source', type: 'string', jsonPath: '.spec.source', priority: 1 }],
  selectableFields: ['.spec.engineRef.name', '.spec.source'],
  deletionPolicy: 'Delete',
  target: (spec) => printTarget(spec.source, tableNamed(spec)),
  translate: (spec, context) => {
    const own = { source: sourceNamed(spec.source), table: tableNamed(spec) };
    return [
      tableObject(spec, own),
      ...(spec.objectRelationships ?? []).map((r) => relationshipObject('object_relationship', own, r)),
      ...(spec.arrayRelationships ?? []).map((r) => relationshipObject('array_relationship', own, r)),
      ...(spec.computedFields ?? []).map((field) => computedFieldObject(own, field)),
      ...(spec.permissions ?? []).flatMap(({ role, ...rules }, i) =>
        permissionObjects(own, role, rules, `spec.permissions[${i}]`, context),
      ),
    ];
  },
  fieldPaths: (spec, object) => fieldPathsIn(spec, object),
  describe: (inventory) => inventory.all('table').map((object) => describeTable(object, inventory)),
});

/** The lists of the spec whose items are separate objects. */
const LISTS = {
  object_relationship: 'objectRelationships',
  array_relationship: 'arrayRelationships',
  computed_field: 'computedFields',
} as const;

function fieldPathsIn(
  spec: TableSpec,
  { key, kind }: Pick<MetadataObject, 'key' | 'kind'>,
): readonly FieldPath[] {
  const own = parseKey(key)?.segments.at(-1);
  const list = LISTS[kind as keyof typeof LISTS];
  if (list)
    return wholeAt(itemAt(list, spec[list] as readonly { name: string }[], ({ name }) => name === own));
  const at = itemAt('permissions', spec.permissions, ({ role }) => role === own);
  return at === undefined ? [] : permissionFieldPaths(kind, at);
}

function tableObject(spec: TableSpec, { source, table: name }: TableOfSource): MetadataObject {
  return {
    key: objectKey('table', source, name.schema, name.name),
    kind: 'table',
    parent: objectKey('source', source),
    definition: {
      table: name,
      is_enum: spec.isEnum,
      configuration: spec.configuration && configurationOf(spec.configuration),
      apollo_federation_config: spec.federation?.enabled ? { enable: 'v1' } : undefined,
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
    custom_root_fields: rootFieldsOf(given.rootFields ?? {}),
    column_config: Object.fromEntries(columnConfig),
    conflict_indexes: given.conflictIndexes,
  };
}

function rootFieldsOf(given: Readonly<Record<string, Static<typeof RootField> | undefined>>): unknown {
  const fields = ROOT_FIELDS.map(([field]) => {
    const { name, comment } = given[camelCase(field)] ?? {};
    return [field, comment === undefined ? name : { name, comment }] as const;
  });
  return Object.fromEntries(fields.filter(([, value]) => value !== undefined));
}

function describeTable({ key, definition: given }: MetadataObject, inventory: Inventory): ResourceDraft {
  const { table: name, is_enum, configuration, apollo_federation_config } = given as Table;
  const parts = (kind: ObjectKind, describeOne: (object: MetadataObject) => object) => {
    const found = inventory.under(key, kind).map(describeOne);
    return found.length > 0 ? found : undefined;
  };
  return {
    name: name.name,
    spec: {
      ...describeSource(parseKey(key)?.segments[0]),
      ...describeTableName(name),
      isEnum: is_enum,
      configuration: configuration && describeConfiguration(configuration),
      federation: apollo_federation_config ? { enabled: true } : undefined,
      objectRelationships: parts('object_relationship', describeRelationship),
      arrayRelationships: parts('array_relationship', describeRelationship),
      computedFields: parts('computed_field', describeComputedField),
      permissions: describePermissions((kind) => inventory.under(key, kind)),
    },
  };
}

function describeConfiguration(given: TableConfiguration): object {
  const columns = Object.entries(given.column_config ?? {}).map(
    ([name, { custom_name: customName, comment, nullable }]) => ({ name, customName, comment, nullable }),
  );
  const fields = Object.entries(given.custom_root_fields ?? {}).flatMap(([field, value]) => {
    const own = typeof value === 'string' ? { name: value } : value;
    return own ? [[camelCase(field), own] as const] : [];
  });
  return {
    customName: given.custom_name,
    comment: given.comment,
    columns: columns.length > 0 ? columns : undefined,
    rootFields: fields.length > 0 ? Object.fromEntries(fields) : undefined,
    conflictIndexes: given.conflict_indexes,
  };
}
