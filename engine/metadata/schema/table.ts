/** One tracked table or view with its relationships, permissions and triggers. Spec: "Table file fields", "Table configuration". */

import { ColumnName, Comment, GraphqlName, nullable, ObjectName, QualifiedName } from './common.ts';
import { EventTrigger } from './event.ts';
import { ComputedField } from './function.ts';
import { ownName } from './marks.ts';
import { DeletePermission, InsertPermission, SelectPermission, UpdatePermission } from './permission.ts';
import { ArrayRelationship, ObjectRelationship, RemoteRelationship } from './relationship.ts';
import { type Static, Type } from './type.ts';

/** The name of a root field, or its name and description; null for the default name. */
export const CustomRootField = nullable(
  Type.Union([
    GraphqlName,
    Type.Object({ name: Type.Optional(nullable(GraphqlName)), comment: Type.Optional(Comment) }),
  ]),
);
export type CustomRootField = Static<typeof CustomRootField>;

export const CustomRootFields = Type.Object(
  {
    select: Type.Optional(CustomRootField),
    select_by_pk: Type.Optional(CustomRootField),
    select_aggregate: Type.Optional(CustomRootField),
    select_stream: Type.Optional(CustomRootField),
    insert: Type.Optional(CustomRootField),
    insert_one: Type.Optional(CustomRootField),
    update: Type.Optional(CustomRootField),
    update_by_pk: Type.Optional(CustomRootField),
    update_many: Type.Optional(CustomRootField),
    delete: Type.Optional(CustomRootField),
    delete_by_pk: Type.Optional(CustomRootField),
  },
  { additionalProperties: false },
);
export type CustomRootFields = Static<typeof CustomRootFields>;
export type RootFieldKind = keyof CustomRootFields;

const ColumnConfig = Type.Object({
  custom_name: Type.Optional(nullable(GraphqlName)),
  comment: Type.Optional(Comment),
  /** False when the column is never null and the database does not know it, as in views. An extension of the reference. */
  nullable: Type.Optional(Type.Literal(false)),
});

export const TableConfiguration = Type.Object({
  /** The base of GraphQL names. The `identifier` of the specification is read as this. */
  custom_name: Type.Optional(nullable(GraphqlName)),
  /** The description; "" suppresses the one of the database. */
  comment: Type.Optional(Comment),
  custom_root_fields: Type.Optional(CustomRootFields),
  column_config: Type.Optional(Type.Record(ColumnName, ColumnConfig)),
  custom_column_names: Type.Optional(Type.Record(ColumnName, GraphqlName)),
  /** Unique indexes, also partial ones, that `on_conflict` may name besides the constraints. An extension of the reference. */
  conflict_indexes: Type.Optional(Type.Array(ObjectName)),
});
export type TableConfiguration = Static<typeof TableConfiguration>;

export const FederationConfig = nullable(Type.Object({ enable: Type.Literal('v1') }));

export const Table = Type.Object({
  table: ownName('table', QualifiedName),
  is_enum: Type.Optional(Type.Boolean()),
  configuration: Type.Optional(TableConfiguration),
  object_relationships: Type.Optional(Type.Array(ObjectRelationship)),
  array_relationships: Type.Optional(Type.Array(ArrayRelationship)),
  computed_fields: Type.Optional(Type.Array(ComputedField)),
  remote_relationships: Type.Optional(Type.Array(RemoteRelationship)),
  insert_permissions: Type.Optional(Type.Array(InsertPermission)),
  select_permissions: Type.Optional(Type.Array(SelectPermission)),
  update_permissions: Type.Optional(Type.Array(UpdatePermission)),
  delete_permissions: Type.Optional(Type.Array(DeletePermission)),
  event_triggers: Type.Optional(Type.Array(EventTrigger)),
  apollo_federation_config: Type.Optional(FederationConfig),
});
export type Table = Static<typeof Table>;
