/** Table: a tracked table or view with its names, relationships, and optionally its permissions. The configuration has another shape than
 *  in the metadata (lists instead of maps with user-defined keys), so it is declared and translated by hand.
 *  Not here: permission rules (permission.ts), relationships (relationship.ts), computed fields (computed-field.ts). */
import {
  FederationConfig,
  type MetadataObject,
  type ObjectKind,
  objectKey,
  parseKey,
  type Static,
  type Table,
  type TableConfiguration,
  type TSchema,
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
  permissionObjects,
  ruleFieldPaths,
  SOME_OPERATION,
} from './permission.ts';
import { camelCase, project, unproject } from './project.ts';
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
    withDescription(
      'Differences from the database: names, comments and nullability of columns.',
      keyedList(
        'name',
        closed({
          name: Identifier,
          customName: Type.Optional(GraphqlName),
          comment: Type.Optional(Comment),
          nullable: Type.Optional(
            withDescription('False for a column of a view that is never null.', Type.Literal(false)),
          ),
        }),
        1600,
      ),
    ),
  ),
  rootFields: Type.Optional(perRootField(GraphqlName)),
  rootFieldComments: Type.Optional(perRootField(Comment)),
  conflictIndexes: Type.Optional(
    withDescription(
      'Unique indexes, including partial ones, that `on_conflict` may name besides the constraints.',
      plainList(Identifier, 100),
    ),
  ),
});

export const TableSpec = specOf({
  source: sourceField('the table'),
  ...tableFields('The name of the table or view in the database.'),
  isEnum: Type.Optional(Type.Boolean({ description: 'True when the rows are the values of an enum.' })),
  configuration: Type.Optional(Configuration),
  apolloFederationConfig: Type.Optional(project(FederationConfig)),
  objectRelationships: Type.Optional(keyedList('name', ObjectRelationship)),
  arrayRelationships: Type.Optional(keyedList('name', ArrayRelationship)),
  computedFields: Type.Optional(keyedList('name', ComputedFieldSpec)),
  permissions: Type.Optional(
    keyedList('role', closed({ role: MetadataName, ...PERMISSION_RULES }, SOME_OPERATION), 500),
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
  translate: (spec) => {
    const own = { source: sourceNamed(spec.source), table: tableNamed(spec) };
    return [
      tableObject(spec, own),
      ...(spec.objectRelationships ?? []).map((r) => relationshipObject('object_relationship', own, r)),
      ...(spec.arrayRelationships ?? []).map((r) => relationshipObject('array_relationship', own, r)),
      ...(spec.computedFields ?? []).map((field) => computedFieldObject(own, field)),
      ...(spec.permissions ?? []).flatMap(({ role, ...rules }) =>
        permissionObjects(own.source, own.table, role, rules),
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
  return at === undefined ? [] : ruleFieldPaths(kind, at);
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
      apolloFederationConfig: apollo_federation_config,
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
  const fields = Object.entries(given.custom_root_fields ?? {});
  const part = (of: 'name' | 'comment') =>
    fields.flatMap(([field, value]) => {
      const text = typeof value === 'string' ? { name: value } : value;
      return text?.[of] == null ? [] : [[camelCase(field), text[of]] as const];
    });
  const object = (entries: readonly (readonly [string, string])[]) =>
    entries.length > 0 ? Object.fromEntries(entries) : undefined;
  return {
    customName: given.custom_name,
    comment: given.comment,
    columns: columns.length > 0 ? columns : undefined,
    rootFields: object(part('name')),
    rootFieldComments: object(part('comment')),
    conflictIndexes: given.conflict_indexes,
  };
}
