/** LogicalModel: the shape of rows that no table has, for a NativeQuery to return, with the roles that may read them. The forms of a type in
 *  the metadata are fields here: `type` or `logicalModel`, and `list`. Each role is a separate object.
 *  Not here: the SQL (native-query.ts). */
import {
  isRecord,
  type LogicalModelField,
  type LogicalModelType,
  type PathStep,
  Type,
} from '@pergola/engine/metadata';
import { Comment, closed, exactlyOne, GraphqlName, Identifier, keyedList, MetadataName } from './annotate.ts';
import { kindRow, specOf } from './kind.ts';
import { inForm, optional, required } from './mapping.ts';
import { SelectSpec } from './permission.ts';
import { sourceField, sourceNamed } from './table-name.ts';

const Field = closed(
  {
    name: required('The name of the field, which is that of the column of the SQL.', GraphqlName),
    type: optional('The Postgres type of the field, for example integer.', Identifier),
    logicalModel: optional(
      'The LogicalModel of the rows that the field holds. The NativeQuery has a relationship with the name of the field.',
      GraphqlName,
    ),
    list: optional('True: the field holds a list of values of the type. Absent: false.', Type.Boolean()),
    nullable: optional('True: the field may be null. Absent: false.', Type.Boolean()),
    comment: optional('The description of the field in the GraphQL schema.', Comment, 'description'),
  },
  exactlyOne('a field', 'type', 'logicalModel'),
);

/** A field of a spec in snake_case. */
type GivenField = {
  readonly name: string;
  readonly type?: string;
  readonly logical_model?: string;
  readonly list?: boolean | undefined;
  readonly nullable?: boolean | undefined;
  readonly description?: string | null;
};

export const LogicalModelSpec = specOf({
  source: sourceField('the model'),
  name: required(
    'The name of the model, which is that of its type in the GraphQL schema, for example OverdueInvoice.',
    GraphqlName,
  ),
  fields: required(
    'The fields, by name.',
    keyedList('name', inForm(Field, { write: writtenField, read: readField, path: fieldPath }), 500),
  ),
  permissions: optional(
    'The roles that read rows of this model. Absent: none.',
    keyedList(
      'role',
      closed({
        role: required('The name of the role.', MetadataName),
        select: required('What the role reads.', SelectSpec, 'permission'),
        comment: optional('A note for administrators, which exports of the metadata contain.', Comment),
      }),
      500,
    ),
  ),
  comment: optional('The description of the type in the GraphQL schema.', Comment, 'description'),
});

export const logicalModel = kindRow({
  kind: 'LogicalModel',
  shortNames: ['gqllm'],
  concerns: 'engine',
  description: 'The shape of the rows of a NativeQuery, and the roles that read them.',
  spec: LogicalModelSpec,
  selectableFields: ['.spec.engineRef.name', '.spec.source', '.spec.name'],
  target: (spec) => `logical model ${sourceNamed(spec.source)}/${spec.name}`,
  objects: [
    { kind: 'logical_model', key: ['source', 'name'] },
    { kind: 'logical_model_permission', at: 'permissions', key: ['role'] },
  ],
});

/** Returns a field as the metadata has it, for one with the members `logical_model` and `list`. */
function writtenField({ type, logical_model: model, list, nullable, ...rest }: GivenField): object {
  const single = model === undefined ? type : { logical_model: model, ...(list ? {} : { nullable }) };
  // The nullability of other types is in the type.
  if (list || model !== undefined) return { ...rest, type: list ? { array: single, nullable } : single };
  return { ...rest, type: single, nullable };
}

/** Returns the inverse of `writtenField`. A list of lists is described as a list, which callers find to be inexact. */
function readField({ type, nullable, ...rest }: LogicalModelField): GivenField {
  const inner = typeof type === 'object' && 'array' in type ? type.array : type;
  return {
    ...rest,
    ...singleOf(inner),
    list: inner !== type || undefined,
    nullable: nullable || (typeof type === 'object' && type.nullable) || undefined,
  };
}

/** Returns the path of a part of a field: its type is `logicalModel` in the spec, or `type`. */
function fieldPath([step, ...rest]: readonly PathStep[], field: unknown): readonly PathStep[] {
  const isModel = step === 'type' && isRecord(field) && 'logicalModel' in field;
  return step === 'type' ? [isModel ? 'logical_model' : 'type'] : [step!, ...rest];
}

function singleOf(type: LogicalModelType): Pick<GivenField, 'type' | 'logical_model'> {
  if (typeof type === 'string') return { type };
  if ('array' in type) return singleOf(type.array);
  return 'scalar' in type ? { type: type.scalar } : { logical_model: type.logical_model };
}
