/** LogicalModel: the shape of rows that no table has, for a NativeQuery to return, with the roles that may read them. The forms of a type in
 *  the metadata are fields here: `type` or `logicalModel`, and `list`. Each role is a separate object.
 *  Not here: the SQL (native-query.ts). */
import {
  type LogicalModel,
  type LogicalModelField,
  type LogicalModelPermission,
  type LogicalModelType,
  type MetadataObject,
  objectKey,
  parseKey,
  SelectRule,
  type Static,
  Type,
} from '@pergola/engine/metadata';
import {
  Comment,
  closed,
  exactlyOne,
  GraphqlName,
  Identifier,
  keyedList,
  MetadataName,
  withDescription,
} from './annotate.ts';
import { type FieldPath, itemAt } from './field-path.ts';
import {
  type Inventory,
  kindRow,
  OBJECT_COLUMNS,
  type ResourceDraft,
  specOf,
  type TranslateContext,
} from './kind.ts';
import { describeRule, ruleFieldPaths, ruleOf, SelectSpec } from './permission.ts';
import { describeSource, sourceField, sourceNamed } from './table-name.ts';

const Field = closed(
  {
    name: withDescription('The name of the field, which is that of the column of the SQL.', GraphqlName),
    type: Type.Optional(withDescription('The Postgres type of the field, for example integer.', Identifier)),
    logicalModel: Type.Optional(
      withDescription(
        'The LogicalModel of the rows that the field holds. The NativeQuery has a relationship with the name of the field.',
        GraphqlName,
      ),
    ),
    list: Type.Optional(
      Type.Boolean({ description: 'True: the field holds a list of values of the type. Absent: false.' }),
    ),
    nullable: Type.Optional(Type.Boolean({ description: 'True: the field may be null. Absent: false.' })),
    comment: Type.Optional(withDescription('The description of the field in the GraphQL schema.', Comment)),
  },
  exactlyOne('a field', 'type', 'logicalModel'),
);
type Field = Static<typeof Field>;

export const LogicalModelSpec = specOf({
  source: sourceField('the model'),
  name: withDescription(
    'The name of the model, which is that of its type in the GraphQL schema, for example OverdueInvoice.',
    GraphqlName,
  ),
  fields: withDescription('The fields, by name.', keyedList('name', Field, 500)),
  permissions: Type.Optional(
    withDescription(
      'The roles that read rows of this model. Absent: none.',
      keyedList(
        'role',
        closed({
          role: withDescription('The name of the role.', MetadataName),
          select: withDescription('What the role reads.', SelectSpec),
          comment: Type.Optional(
            withDescription('A note for administrators, which exports of the metadata contain.', Comment),
          ),
        }),
        500,
      ),
    ),
  ),
  comment: Type.Optional(withDescription('The description of the type in the GraphQL schema.', Comment)),
});
type LogicalModelSpec = Static<typeof LogicalModelSpec>;

export const logicalModel = kindRow({
  kind: 'LogicalModel',
  plural: 'logicalmodels',
  singular: 'logicalmodel',
  shortNames: ['gqllm'],
  concerns: 'engine',
  description: 'The shape of the rows of a NativeQuery, and the roles that read them.',
  spec: LogicalModelSpec,
  columns: OBJECT_COLUMNS,
  selectableFields: ['.spec.engineRef.name', '.spec.source', '.spec.name'],
  deletionPolicy: 'Delete',
  target: (spec) => `logical model ${sourceNamed(spec.source)}/${spec.name}`,
  translate: (spec, context) => modelObjects(spec, context),
  fieldPaths: (spec, object) => fieldPathsIn(spec, object),
  describe: (inventory) => inventory.all('logical_model').map((object) => describeModel(object, inventory)),
});

function fieldPathsIn(
  spec: LogicalModelSpec,
  { key, kind }: Pick<MetadataObject, 'key' | 'kind'>,
): readonly FieldPath[] {
  if (kind === 'logical_model') return [{ at: 'spec.fields', of: ['fields'] }];
  const own = parseKey(key)?.segments.at(-1);
  const at = itemAt('permissions', spec.permissions, ({ role }) => role === own);
  return at === undefined ? [] : ruleFieldPaths(SelectRule, `${at}.select`);
}

function modelObjects(spec: LogicalModelSpec, context: TranslateContext): readonly MetadataObject[] {
  const source = sourceNamed(spec.source);
  const key = objectKey('logical_model', source, spec.name);
  return [
    {
      key,
      kind: 'logical_model',
      parent: objectKey('source', source),
      definition: { name: spec.name, description: spec.comment, fields: spec.fields.map(fieldOf) },
    },
    ...(spec.permissions ?? []).map(
      ({ role, select, comment }, i): MetadataObject => ({
        key: objectKey('logical_model_permission', source, spec.name, role),
        kind: 'logical_model_permission',
        parent: key,
        definition: {
          role,
          permission: ruleOf(SelectRule, select, `spec.permissions[${i}].select`, context),
          comment,
        },
      }),
    ),
  ];
}

function fieldOf({ name, type, logicalModel: model, list, nullable, comment }: Field): object {
  const isScalar = model === undefined;
  const single = isScalar ? type : { logical_model: model, ...(list ? {} : { nullable }) };
  return {
    name,
    type: list ? { array: single, nullable } : single,
    // The nullability of other types is in the type.
    nullable: isScalar && !list ? nullable : undefined,
    description: comment,
  };
}

function describeModel({ key, definition }: MetadataObject, inventory: Inventory): ResourceDraft {
  const { name, description, fields } = definition as LogicalModel;
  const permissions = inventory.under(key, 'logical_model_permission').map((object) => {
    const { role, permission, comment } = object.definition as LogicalModelPermission;
    return { role, select: describeRule(SelectRule, permission), comment };
  });
  return {
    name,
    spec: {
      ...describeSource(parseKey(key)?.segments[0]),
      name,
      fields: fields.map(describeField),
      permissions,
      comment: description,
    },
  };
}

/** Returns the field of a spec, the inverse of `fieldOf`. A list of lists is described as a list, which callers find to be inexact. */
function describeField({ name, type, nullable, description }: LogicalModelField): object {
  const inner = typeof type === 'object' && 'array' in type ? type.array : type;
  const isList = inner !== type;
  return {
    name,
    ...singleOf(inner),
    list: isList || undefined,
    nullable: nullable || (typeof type === 'object' && type.nullable) || undefined,
    comment: description,
  };
}

function singleOf(type: LogicalModelType): object {
  if (typeof type === 'string') return { type };
  if ('array' in type) return singleOf(type.array);
  return 'scalar' in type ? { type: type.scalar } : { logicalModel: type.logical_model };
}
