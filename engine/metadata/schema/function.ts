/** SQL functions: tracked as root fields, attached to tables as computed fields; native queries and logical models.
 *  Spec: "Tracked function constraints"; features.md 1.6. */
import Type, { type Static } from 'typebox';
import { Comment, GraphqlName, nullable, ObjectName, QualifiedName, RoleName } from './common.ts';
import { SelectRule } from './permission.ts';
import { ColumnMapping } from './relationship.ts';

export const FunctionConfiguration = Type.Object({
  custom_name: Type.Optional(GraphqlName),
  custom_root_fields: Type.Optional(
    Type.Object({
      function: Type.Optional(nullable(GraphqlName)),
      function_aggregate: Type.Optional(nullable(GraphqlName)),
    }),
  ),
  /** Name of the json argument that receives the session variables. */
  session_argument: Type.Optional(Type.String()),
  exposed_as: Type.Optional(Type.Union([Type.Literal('query'), Type.Literal('mutation')])),
  response: Type.Optional(
    Type.Object({
      type: Type.Union([Type.Literal('table'), Type.Literal('inferred')]),
      table: Type.Optional(QualifiedName),
    }),
  ),
});

export const TrackedFunction = Type.Object(
  {
    function: QualifiedName,
    configuration: Type.Optional(FunctionConfiguration),
    permissions: Type.Optional(Type.Array(Type.Object({ role: RoleName }))),
    comment: Type.Optional(Comment),
  },
  { additionalProperties: false },
);
export type TrackedFunction = Static<typeof TrackedFunction>;

export const ComputedField = Type.Object(
  {
    name: GraphqlName,
    definition: Type.Object({
      function: QualifiedName,
      table_argument: Type.Optional(nullable(Type.String())),
      session_argument: Type.Optional(nullable(Type.String())),
    }),
    comment: Type.Optional(Comment),
  },
  { additionalProperties: false },
);
export type ComputedField = Static<typeof ComputedField>;

const NativeRelationship = Type.Object({
  name: GraphqlName,
  using: Type.Object({
    column_mapping: ColumnMapping,
    remote_table: Type.Optional(QualifiedName),
    remote_native_query: Type.Optional(GraphqlName),
    insertion_order: Type.Optional(nullable(Type.String())),
  }),
  comment: Type.Optional(Comment),
});

export const NativeQuery = Type.Object({
  root_field_name: GraphqlName,
  code: Type.String({ minLength: 1 }),
  returns: ObjectName,
  arguments: Type.Optional(
    Type.Record(
      Type.String(),
      Type.Object({
        type: Type.String(),
        nullable: Type.Optional(Type.Boolean()),
        description: Type.Optional(Type.String()),
      }),
    ),
  ),
  object_relationships: Type.Optional(Type.Array(NativeRelationship)),
  array_relationships: Type.Optional(Type.Array(NativeRelationship)),
  description: Type.Optional(Type.String()),
});
export type NativeQuery = Static<typeof NativeQuery>;

export const LogicalModel = Type.Object({
  name: GraphqlName,
  description: Type.Optional(Type.String()),
  /** `type` is a scalar name, or `{scalar|logical_model|array, nullable?}` nested to any depth. */
  fields: Type.Array(
    Type.Object({
      name: GraphqlName,
      type: Type.Unknown(),
      nullable: Type.Optional(Type.Boolean()),
      description: Type.Optional(Type.String()),
    }),
  ),
  select_permissions: Type.Optional(
    Type.Array(Type.Object({ role: RoleName, permission: SelectRule, comment: Type.Optional(Comment) })),
  ),
});
export type LogicalModel = Static<typeof LogicalModel>;
